/* test_faults.c - proof that the check can fail: every seeded fault is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "faults.h"
#include "faults_cluster.h"
#include "faults_epilogue.h"
#include "faults_few.h"
#include "faults_gemv.h"
#include "faults_launch.h"
#include "faults_mma.h"
#include "faults_mma_tma.h"
#include "faults_reduce.h"
#include "faults_repack.h"
#include "faults_types.h"
#include "faults_wmma.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static const struct {
  const seeded_fault *first;
  size_t count;
} lists[] = {{faults, LENGTH(faults)},
             {cluster_faults, LENGTH(cluster_faults)},
             {epilogue_faults, LENGTH(epilogue_faults)},
             {few_faults, LENGTH(few_faults)},
             {gemv_faults, LENGTH(gemv_faults)},
             {launch_faults, LENGTH(launch_faults)},
             {mma_faults, LENGTH(mma_faults)},
             {mma_tma_faults, LENGTH(mma_tma_faults)},
             {reduce_faults, LENGTH(reduce_faults)},
             {repack_faults, LENGTH(repack_faults)},
             {types_faults, LENGTH(types_faults)},
             {wmma_faults, LENGTH(wmma_faults)}};

enum {
  ALL_FAULTS = LENGTH(faults) + LENGTH(cluster_faults) + LENGTH(epilogue_faults) +
               LENGTH(few_faults) + LENGTH(gemv_faults) + LENGTH(launch_faults) +
               LENGTH(mma_faults) + LENGTH(mma_tma_faults) + LENGTH(reduce_faults) +
               LENGTH(repack_faults) + LENGTH(types_faults) + LENGTH(wmma_faults)
};

static const seeded_fault *fault(size_t i) {
  size_t list = 0;
  while (i >= lists[list].count)
    i -= lists[list++].count;
  return &lists[list].first[i];
}

static char *emitted; /* folder of untouched kernels */

static int set_up(void **state) {
  (void)state;
  emitted = make_folder();
  must("'%s' seeded.lua seeded_older.lua -o '%s'", GEMMGEN, emitted);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  remove_folder(emitted);
  return 0;
}

/* The changed kernel, alone with the table in a folder of its own; *source: its text. */
static char *seed(const seeded_fault *f, char **name, char **source) {
  char *folder = make_folder(), *kernel = find_kernel(emitted, f->kernel), path[1024];
  char *text = read_text(kernel);
  *name = kernel_name(kernel);
  snprintf(path, sizeof path, "%s/gg_table.c", emitted);
  char *table = read_text(path);
  char *changed = replaced(f->in_table ? table : text, f->find, f->with, f->n);
  if (!changed) fail_msg("%s: the pattern is not in %s: %s", f->name, *name, f->find);
  snprintf(path, sizeof path, "%s/gg_table.c", folder);
  write_text(path, f->in_table ? changed : table);
  snprintf(path, sizeof path, "%s/%s.cu", folder, *name);
  write_text(path, f->in_table ? text : changed);
  *source = f->in_table ? strdup(text) : strdup(changed);
  free(changed);
  free(table);
  free(text);
  free(kernel);
  return folder;
}

/* Does the report hold a finding of this kind at such a line with such a text? */
static bool reported(const char *report, const char *kind, const seeded_fault *f,
                     const char *source) {
  char start[80];
  snprintf(start, sizeof start, "{\"kind\":\"%s\",\"line\":", kind);
  for (const char *at = report; (at = strstr(at, start));) {
    at += strlen(start);
    char *line = line_of(source, atoi(at));
    const char *end = strstr(at, "\"}");
    char *rest = strndup(at, end ? (size_t)(end - at) : strlen(at));
    bool found = (!f->line || strstr(line, f->line)) && (!f->text || strstr(rest, f->text));
    free(line);
    free(rest);
    if (found) return true;
  }
  return false;
}

static bool any_reported(const char *report, const seeded_fault *f, const char *source) {
  char kinds[128];
  snprintf(kinds, sizeof kinds, "%s", f->kinds);
  for (char *kind = strtok(kinds, " "); kind; kind = strtok(NULL, " "))
    if (reported(report, kind, f, source)) return true;
  return false;
}

static void test_fault(void **state) {
  const seeded_fault *f = *state;
  char *name, *source;
  int code;
  char *folder = seed(f, &name, &source);
  char *report = shell(&code, "'%s' check '%s' --kernel %s --json", GEMMGEN, folder, name);
  bool silent = !*f->kinds;
  if (code != (silent ? 0 : 4) || (!silent && !any_reported(report, f, source))) {
    print_error("%s: exit %d, expected %s%s%s\n%s\n", f->name, code,
                silent ? "no finding" : f->kinds, f->line ? " at " : "", f->line ? f->line : "",
                report);
    fail();
  }
  free(report);
  free(name);
  free(source);
  remove_folder(folder);
}

/* With an argument only faults whose name matches that pattern, "*ring*"; with "1/4" every fourth
 * from the first on, with "2/4" from the second. */
int main(int argc, char **argv) {
  unsigned part = 1, parts = 1;
  if (argc > 1 && sscanf(argv[1], "%u/%u", &part, &parts) != 2) cmocka_set_test_filter(argv[1]);
  if (part < 1 || part > parts) return 1;
  struct CMUnitTest tests[ALL_FAULTS];
  size_t count = 0;
  double start = seconds_now();
  for (size_t i = part - 1; i < ALL_FAULTS; i += parts)
    tests[count++] = (struct CMUnitTest){fault(i)->name, test_fault, NULL, NULL, (void *)fault(i)};
  int failed = _cmocka_run_group_tests("seeded faults", tests, count, set_up, tear_down);
  printf("%d of %d seeded faults, %.1f s\n", (int)count, (int)ALL_FAULTS, seconds_now() - start);
  return failed;
}
