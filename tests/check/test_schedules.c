/* test_schedules.c - correct kernels stay silent: two of each family on their smallest problem
 * under 100 random schedules, with unchanged bits. Every other kernel of the specs gets five
 * (test_specs.c).
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

/* Words of the kernel's name, and a problem of one block (a cluster, where there are such) that
 * fills its ring and goes around; of ping-pong a problem of three. */
static const struct {
  const char *kernel, *problem;
} pairs[] = {
    {"naive f32 nn full", "16x16x12"},     {"naive_f32_nn_16x16_narrow", "15x13x11"},
    {"smem nn full", "16x16x48"},          {"smem nn narrow", "15x13x37"},
    {"simt tn_ t4x4_s3 edge", "28x28x41"}, {"simt nn_ t4x4_k2_s3 narrow", "31x29x41"},
    {"wmma nt edge", "31x28x136"},         {"wmma nt narrow", "31x29x137"},
    {"_mma_bf16_nt_ edge", "31x32x136"},   {"_mma_bf16_nt_32 narrow", "31x29x137"},
    {"_mma_e4m3_ _tn_ edge", "32x32x272"}, {"sm75_mma_f16_nn_ edge", "31x32x136"},
    {"wgmma_f16_nt full", "100x56x264"},   {"wgmma_f16_tn full", "264x104x200"},
    {"wgmma_e5m2_nt full", "60x136x600"},  {"wgmma_f16_nn full", "20x120x264"},
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

static char *emitted;

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

static void test_silent(void **state) {
  int i = *(const int *)*state, code;
  char *path = find_kernel(emitted, pairs[i].kernel), *name = kernel_name(path);
  double start = seconds_now();
  char *out = shell(&code, "'%s' check '%s' --kernel %s --problem %s --schedules 100 --json",
                    GEMMGEN, emitted, name, pairs[i].problem);
  if (code || !strstr(out, "\"launches\":102")) { /* the fixed schedule on two data sets, and 100 */
    print_error("%s: exit %d\n%s\n", name, code, out);
    fail();
  }
  printf("%s: 100 schedules of %s, %.1f s\n", name, pairs[i].problem, seconds_now() - start);
  free(out);
  free(name);
  free(path);
}

int main(void) {
  struct CMUnitTest tests[PAIRS];
  static int indices[PAIRS];
  double start = seconds_now();
  for (int i = 0; i < PAIRS; i++) {
    indices[i] = i;
    tests[i] = (struct CMUnitTest){pairs[i].kernel, test_silent, NULL, NULL, &indices[i]};
  }
  int failed = cmocka_run_group_tests_name("check: schedules", tests, set_up, tear_down);
  printf("%.1f s\n", seconds_now() - start);
  return failed;
}
