/* test_sizes.c - sizes that broke other GEMM libraries: odd in every extent, leading dimensions
 * that are no multiple of 16 bytes, long sums, more matrices in a batch than a grid's y and z axes
 * hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sizes[] = "--problem 1x105x107 --problem 3x1733x5 --problem 33x9x2880 "
                            "--problem 2x3x7392 --problem 1x1x1 --problem 5x2x3x33";
static const char batch[] = "--problem 1x1x1x65537";

static const struct {
  const char *kernel, *problems;
} runs[] = {
    {"naive_f32_nn narrow", sizes},     {"smem nn narrow", sizes},
    {"simt nn_ t4x4_s1 narrow", sizes}, {"simt nn_ t4x4_s3 narrow", sizes},
    {"simt tn_ t4x4_s3 narrow", sizes}, {"simt nn_ t4x4_k2_s3 narrow", sizes},
    {"naive_f32_nn narrow", batch},
};

enum { RUNS = sizeof runs / sizeof *runs };

static char *emitted;

static int set_up(void **state) {
  (void)state;
  emitted = make_folder();
  must("'%s' seeded.lua -o '%s'", GEMMGEN, emitted);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  remove_folder(emitted);
  return 0;
}

static void test_run(void **state) {
  int i = *(const int *)*state, code;
  char *path = find_kernel(emitted, runs[i].kernel), *name = kernel_name(path);
  double start = seconds_now();
  char *out = shell(&code, "'%s' check '%s' --kernel %s %s --schedules 0", GEMMGEN, emitted, name,
                    runs[i].problems);
  if (code || strstr(out, "not run")) {
    print_error("%s: exit %d\n%s\n", name, code, out);
    fail();
  }
  printf("%s: %s: %.1f s\n", name, runs[i].problems, seconds_now() - start);
  free(out);
  free(name);
  free(path);
}

int main(void) {
  struct CMUnitTest tests[RUNS];
  static int indices[RUNS];
  for (int i = 0; i < RUNS; i++) {
    indices[i] = i;
    tests[i] = (struct CMUnitTest){runs[i].kernel, test_run, NULL, NULL, &indices[i]};
  }
  return cmocka_run_group_tests_name("check: sizes", tests, set_up, tear_down);
}
