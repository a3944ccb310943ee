/* test_specs.c - kernels of every spec of the repository pass the default check: all edges, all
 * scalars, five random schedules.
 *
 * With GEMMGEN_CHECK=all every kernel; else those that cover what differs: each family with each
 * type, layout and variant, each architecture's with each layout and with each variant, and each
 * family's tile, over all specs together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPECS_MAX = 64, TRAITS_MAX = 4096, NAME_MAX_BYTES = 160 };

static char traits[TRAITS_MAX][NAME_MAX_BYTES]; /* of the kernels taken so far */
static size_t trait_count;

/* true, and noted, if nothing before had it. */
static bool is_new(const char *trait) {
  for (size_t i = 0; i < trait_count; i++)
    if (strcmp(traits[i], trait) == 0) return false;
  assert_true(trait_count < TRAITS_MAX);
  snprintf(traits[trait_count++], NAME_MAX_BYTES, "%s", trait);
  return true;
}

/* Start of "_nn_", "_nt_", "_tn_" or "_tt_" in a kernel's name, or NULL. */
static const char *layout_in(const char *name) {
  for (const char *at = name; (at = strchr(at, '_')); at++)
    if ((at[1] == 'n' || at[1] == 't') && (at[2] == 'n' || at[2] == 't') && at[3] == '_') return at;
  return NULL;
}

/* A name is ARCH_FAMILY_TYPES_LAYOUT_TILE..._VARIANT. */
static bool adds_something(const char *name) {
  const char *layout = layout_in(name), *variant = strrchr(name, '_');
  if (!layout || variant <= layout) return is_new(name);
  const char *family = strchr(name, '_') + 1, *types = family + strcspn(family, "_");
  const struct {
    const char *start, *end, *more;
    int more_size;
  } parts[] = {{family, layout + 3, variant, (int)strlen(variant)},
               {name, types, layout, 3},
               {name, types, variant, (int)strlen(variant)},
               {family, types, layout + 3, (int)(variant - layout) - 3}};
  bool any = false;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    char trait[NAME_MAX_BYTES];
    snprintf(trait, sizeof trait, "%.*s%.*s", (int)(parts[i].end - parts[i].start), parts[i].start,
             parts[i].more_size, parts[i].more);
    any |= is_new(trait);
  }
  return any;
}

/* " --kernel NAME" for each kernel to check; "" for all. Caller frees. */
static char *chosen(const char *spec) {
  const char *all = getenv("GEMMGEN_CHECK");
  if (all && strcmp(all, "all") == 0) return strdup("");
  int code;
  char *list = shell(&code, "'%s' list '%s' 2>/dev/null", GEMMGEN, spec);
  assert_int_equal(code, 0);
  size_t size = 2 * strlen(list) + 1, used = 0;
  char *options = calloc(size, 1), *rest = NULL;
  assert_non_null(options);
  for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char name[NAME_MAX_BYTES];
    if (sscanf(line, "%159s", name) != 1 || strncmp(name, "sm", 2) != 0) continue;
    if (adds_something(name))
      used += (size_t)snprintf(options + used, size - used, " --kernel %s", name);
  }
  free(list);
  return options;
}

static void test_spec(void **state) {
  const char *spec = *state;
  int code;
  double start = seconds_now();
  char *kernels = chosen(spec);
  const char *all = getenv("GEMMGEN_CHECK");
  if (!*kernels && !(all && strcmp(all, "all") == 0)) { /* nothing that another spec has not */
    free(kernels);
    return;
  }
  char *out = shell(&code, "'%s' check '%s'%s", GEMMGEN, spec, kernels);
  if (code) {
    print_error("%s: exit %d\n%s\n", spec, code, out);
    fail();
  }
  const char *last = strstr(out, " kernels checked");
  while (last && last > out && last[-1] != '\n')
    last--;
  printf("%s: %.1f s; %s", spec, seconds_now() - start, last ? last : "\n");
  free(out);
  free(kernels);
}

int main(void) {
  struct CMUnitTest tests[SPECS_MAX];
  glob_t found;
  if (glob("../../specs/*.lua", 0, NULL, &found) != 0) return 1;
  size_t count = found.gl_pathc < SPECS_MAX ? found.gl_pathc : SPECS_MAX;
  for (size_t i = 0; i < count; i++)
    tests[i] = (struct CMUnitTest){found.gl_pathv[i], test_spec, NULL, NULL, found.gl_pathv[i]};
  int failed = _cmocka_run_group_tests("check: specs", tests, count, NULL, NULL);
  globfree(&found);
  return failed;
}
