/* test_reference.c - the bound that kernels are held to: it holds for every order of summation that
 * a kernel may choose, it is not so wide that faults slip through, and the f64 reference is better
 * than f64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ggcheck_compare.h"
#include "ggcheck_operand.h"
#include "ggcheck_reference.h"

#include <math.h>
#include <string.h>

static gg_kernel row_of(gg_dtype type, int tile_k, int slices) {
  gg_kernel row = {.tile_m = 8, .tile_n = 8, .tile_k = tile_k, .k_slices = slices};
  row.type_a = row.type_b = row.type_c = row.type_d = row.type_acc = type;
  return row;
}

static void test_roundings(void **state) {
  (void)state;
  gg_kernel plain = row_of(GG_F32, 8, 1), sliced = row_of(GG_F32, 8, 4);
  assert_int_equal(ggcheck_roundings(&plain, 0), 0);
  assert_int_equal(ggcheck_roundings(&plain, 1), 1);
  assert_int_equal(ggcheck_roundings(&plain, 100), 100);
  /* 13 tiles of 2 steps a slice, then 3 additions */
  assert_int_equal(ggcheck_roundings(&sliced, 100), 29);
  assert_int_equal(ggcheck_roundings(&sliced, 1), 1);
}

/* Random operands, values of the element's type. */
static void fill(ggcheck_reference *r, gg_dtype type, uint64_t seed) {
  ggcheck_random random = {seed};
  double *const all[] = {r->a, r->b, r->c};
  const int64_t sizes[] = {r->m * r->k, r->k * r->n, r->m * r->n};
  for (int o = 0; o < 3; o++)
    for (int64_t i = 0; i < sizes[o]; i++) {
      double value = ggcheck_random_normal(&random);
      all[o][i] = type == GG_F64 ? value : (double)(float)value;
    }
}

/* fl(alpha acc) + beta C, fused, as kernels do; acc by FMAs, over the k steps begin, begin + step.
 */
static float product(const ggcheck_reference *r, int64_t i, int64_t j, int64_t begin, int64_t end,
                     int64_t step) {
  float acc = 0;
  for (int64_t p = begin; p != end; p += step)
    acc = fmaf((float)r->a[i * r->k + p], (float)r->b[p * r->n + j], acc);
  return acc;
}

static void test_bound_holds(void **state) {
  (void)state;
  enum { M = 24, N = 24 };
  const float alpha = 1.3f, beta = -0.7f;
  double worst = 0;
  for (int k = 1; k <= 512; k = 2 * k + 1) {
    ggcheck_reference r;
    gg_kernel row = row_of(GG_F32, 8, 1);
    assert_true(ggcheck_reference_alloc(&r, &row, M, N, k));
    fill(&r, GG_F32, (uint64_t)k);
    ggcheck_reference_compute(&r, &row, (double)alpha, (double)beta, false);
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        const float c = (float)r.c[i * N + j];
        const float sums[] = {product(&r, i, j, 0, k, 1), product(&r, i, j, k - 1, -1, -1),
                              product(&r, i, j, 0, k / 2, 1) + product(&r, i, j, k / 2, k, 1)};
        for (int s = 0; s < 3; s++) {
          const float d[] = {fmaf(beta, c, alpha * sums[s]), fmaf(alpha, sums[s], beta * c)};
          for (int e = 0; e < 2; e++) {
            double error = fabs((double)d[e] - r.high[i * N + j]);
            assert_true(error <= r.bound[i * N + j]);
            worst = fmax(worst, error / r.bound[i * N + j]);
          }
        }
      }
    ggcheck_reference_free(&r);
  }
  assert_true(worst > 0.3); /* with few steps the bound is nearly reached: it is not slack */
}

/* What typical mistakes change is far outside the bound. */
static void test_bound_is_tight(void **state) {
  (void)state;
  enum { M = 16, N = 16, K = 64 };
  ggcheck_reference r;
  gg_kernel row = row_of(GG_F32, 8, 1);
  int caught = 0, total = 0;
  assert_true(ggcheck_reference_alloc(&r, &row, M, N, K));
  fill(&r, GG_F32, 7);
  ggcheck_reference_compute(&r, &row, 1.0, 0.0, false);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double left_out = fabs(r.a[i * K + K - 1] * r.b[(K - 1) * N + j]);
      total++;
      caught += left_out > 2 * r.bound[i * N + j];
    }
  assert_true(caught > total * 9 / 10); /* one product of 64 left out */
  ggcheck_reference_free(&r);
}

/* Dot2 against a sum that cancels: exact value known. */
static void test_compensated(void **state) {
  (void)state;
  enum { K = 5 };
  ggcheck_reference r;
  gg_kernel row = row_of(GG_F64, 8, 1);
  const double a[K] = {1e16, 1, -1e16, 0x1p-40, 3}, b[K] = {1, 1, 1, 1, 1};
  assert_true(ggcheck_reference_alloc(&r, &row, 1, 1, K));
  memcpy(r.a, a, sizeof a);
  memcpy(r.b, b, sizeof b);
  ggcheck_reference_compute(&r, &row, 1.0, 0.0, false);
  assert_true(fabs(r.high[0] + r.low[0] - 4.0) < 1e-9);
  assert_true((r.high[0] - 4.0) + r.low[0] == 0x1p-40);
  ggcheck_reference_free(&r);
}

static void test_scalars(void **state) {
  (void)state;
  ggcheck_reference r;
  gg_kernel row = row_of(GG_F32, 8, 1);
  assert_true(ggcheck_reference_alloc(&r, &row, 1, 1, 1));
  r.a[0] = (double)NAN;
  r.b[0] = 2;
  r.c[0] = 5;
  ggcheck_reference_compute(&r, &row, 0.0, 3.0, false); /* A is not looked at */
  assert_true(r.high[0] == 15.0);
  r.c[0] = (double)NAN;
  ggcheck_reference_compute(&r, &row, 0.0, 0.0, false);
  assert_true(r.high[0] == 0.0);
  r.a[0] = (double)INFINITY;
  ggcheck_reference_compute(&r, &row, -1.0, 0.0, false);
  assert_true(r.high[0] == (double)-INFINITY);
  ggcheck_reference_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_roundings),      cmocka_unit_test(test_bound_holds),
      cmocka_unit_test(test_bound_is_tight), cmocka_unit_test(test_compensated),
      cmocka_unit_test(test_scalars),
  };
  return cmocka_run_group_tests_name("check: reference", tests, NULL, NULL);
}
