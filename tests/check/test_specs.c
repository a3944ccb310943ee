/* test_specs.c - every kernel of every spec of the repository passes the default check: all edges,
 * all scalars, five random schedules.
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

enum { SPECS_MAX = 64 };

static void test_spec(void **state) {
  const char *spec = *state;
  int code;
  double start = seconds_now();
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, spec);
  if (code) {
    print_error("%s: exit %d\n%s\n", spec, code, out);
    fail();
  }
  const char *last = strstr(out, " kernels checked");
  while (last && last > out && last[-1] != '\n')
    last--;
  printf("%s: %.1f s; %s", spec, seconds_now() - start, last ? last : "\n");
  free(out);
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
