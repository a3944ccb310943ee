/* test_numbers.c - element types of the check: bits and rounding of every type, canaries, and the
 * bound for tensor cores: it admits their truncating sums and little else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dtype.h"
#include "ggcheck_compare.h"
#include "ggcheck_operand.h"
#include "ggcheck_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every bit pattern of the narrow types survives load and store, NaN as NaN. */
static void test_round_trip(void **state) {
  (void)state;
  static const gg_dtype types[] = {GG_F16, GG_BF16, GG_E4M3, GG_E5M2, GG_S8, GG_U8};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    int bytes = ggi_dtype_bytes(types[t]);
    for (uint32_t bits = 0; bits < 1u << 8 * bytes; bits++) {
      uint32_t back = 0;
      double value = ggcheck_load(types[t], &bits);
      ggcheck_store(types[t], &back, value);
      if (isnan(value))
        assert_true(isnan(ggcheck_load(types[t], &back)));
      else
        assert_int_equal(back, bits);
      if (isfinite(value)) assert_true(fabs(value) <= fmax(ggcheck_largest(types[t]), 128));
    }
  }
}

static void test_rounding(void **state) {
  (void)state;
  const struct {
    gg_dtype type;
    double value, expected;
  } cases[] = {
      {GG_BF16, 1 + 0x1p-8, 1},
      {GG_BF16, 1 + 0x1.8p-7, 1 + 0x1p-6},
      {GG_BF16, 0x1.ffp127, INFINITY},
      {GG_BF16, 0x1p-134, 0},
      {GG_BF16, -0x1.8p-134, -0x1p-133},
      {GG_F16, 65519, 65504},
      {GG_F16, 65520, INFINITY},
      {GG_F16, 0x1p-25, 0},
      {GG_F16, 0x1.8p-25, 0x1p-24},
      {GG_TF32, 1 + 0x1p-11, 1},
      {GG_TF32, 1 + 0x1.8p-11, 1 + 0x1p-10},
      {GG_E4M3, 447, 448},
      {GG_E4M3, 1e9, 448},
      {GG_E4M3, -INFINITY, -448},
      {GG_E4M3, 0x1p-10, 0},
      {GG_E4M3, 0x1.8p-10, 0x1p-9},
      {GG_E5M2, 57343, 57344},
      {GG_E5M2, 1e9, 57344},
      {GG_S8, 127.5, 127},
      {GG_S8, -1000, -128},
      {GG_S8, 2.5, 2},
      {GG_U8, -3, 0},
      {GG_S32, 3e9, 2147483647.0},
      {GG_F32, 1 + 0x1p-24, 1},
      {GG_F64, 0.1, 0.1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double got = ggcheck_round(cases[i].type, cases[i].value);
    if (got != cases[i].expected)
      fail_msg("%s of %g: %g, expected %g", ggi_dtype_name(cases[i].type), cases[i].value, got,
               cases[i].expected);
  }
  assert_true(isnan(ggcheck_round(GG_E4M3, (double)NAN)));
  assert_true(ggcheck_round(GG_S8, (double)NAN) == 0);
  assert_true(ggcheck_roundoff(GG_BF16) == 0x1p-8 && ggcheck_roundoff(GG_F16) == 0x1p-11);
  assert_true(ggcheck_half_ulp(GG_BF16, 1.99) == 0x1p-8 &&
              ggcheck_half_ulp(GG_BF16, 0) == 0x1p-134);
  assert_true(ggcheck_tiny(GG_E4M3) == 0x1p-9 && ggcheck_tiny(GG_E5M2) == 0x1p-16);
}

/* What a canary says where its type has room, and that narrow ones still show. */
static void test_canaries(void **state) {
  (void)state;
  gg_emu_options options;
  gg_emu_options_init(&options);
  gg_emu *emu = gg_emu_create(&options);
  assert_non_null(emu);
  for (int type = GG_F64; type <= GG_S32; type++)
    for (char name = 'a'; name <= 'd'; name++) {
      ggcheck_operand o = {
          .name = name, .type = (gg_dtype)type, .rows = 2, .cols = 3, .ld = 5, .matrices = 1};
      assert_true(ggcheck_operand_alloc(&o, emu, 0, false));
      char got = 0;
      bool narrow = ggi_dtype_bytes(o.type) == 1;
      ggcheck_canary kind = ggcheck_canary_of(o.type, ggcheck_operand_at(&o, 0, 0, 4), &got);
      if (!narrow || name == 'd') {
        assert_int_equal(kind, GGCHECK_CANARY_GAP);
        assert_int_equal(got, name);
      }
      if (!narrow) {
        ggcheck_operand_poison(&o);
        kind = ggcheck_canary_of(o.type, ggcheck_operand_at(&o, 0, 1, 2), &got);
        assert_int_equal(kind, GGCHECK_CANARY_POISON);
        assert_int_equal(got, name);
      }
      int64_t matrix, row, col;
      assert_false(ggcheck_operand_gap_written(&o, &matrix, &row, &col));
      ggcheck_store(o.type, ggcheck_operand_at(&o, 0, 0, 4), 1);
      assert_true(ggcheck_operand_gap_written(&o, &matrix, &row, &col));
      assert_true(row == 0 && col == 4);
      ggcheck_operand_free(&o, emu);
    }
  gg_emu_destroy(emu);
}

/* ---- Tensor cores ---- */

static gg_kernel row_of(const char *family, gg_dtype type, gg_dtype acc, gg_dtype d) {
  gg_kernel row = {.family = family, .tile_m = 8, .tile_n = 8, .tile_k = 64, .k_slices = 1};
  row.type_a = row.type_b = type;
  row.type_c = row.type_d = d;
  row.type_acc = acc;
  return row;
}

static double cut(double x, int bits, int exponent) {
  double unit = ldexp(1, exponent - bits);
  return trunc(x / unit) * unit;
}

/* One instruction's sum, as tensor cores make it: aligned to the largest exponent, every term cut
 * `bits` behind the point there, the sum cut to `keep` bits. */
static double instruction(const double *a, const double *b, int count, double c, int bits,
                          int keep) {
  int top = c != 0 ? ilogb(c) : -1000;
  for (int i = 0; i < count; i++)
    if (a[i] != 0 && b[i] != 0 && ilogb(a[i]) + ilogb(b[i]) > top) top = ilogb(a[i]) + ilogb(b[i]);
  double sum = cut(c, bits, top);
  for (int i = 0; i < count; i++)
    sum += cut(a[i] * b[i], bits, top);
  return sum == 0 ? 0 : cut(sum, keep, ilogb(sum));
}

enum { M = 24, N = 24 };

typedef struct tensor_case {
  gg_dtype type, d;
  int slice, bits, keep;
  int promote; /* elements of k that are summed apart, then added in f32; 0: all of it */
} tensor_case;

static const tensor_case tensor_cases[] = {
    {GG_BF16, GG_BF16, 16, 25, 23, 0},   {GG_BF16, GG_F32, 16, 25, 23, 0},
    {GG_F16, GG_F16, 16, 25, 23, 0},     {GG_TF32, GG_TF32, 8, 25, 23, 0},
    {GG_E4M3, GG_BF16, 32, 13, 13, 0},   {GG_E5M2, GG_F32, 32, 13, 13, 0},
    {GG_E4M3, GG_BF16, 32, 13, 13, 128}, {GG_E5M2, GG_F32, 32, 13, 13, 128},
};

/* Sum of k products as the tensor cores form it, in parts of t->promote. */
static double tensor_sum(const tensor_case *t, const double *a, const double *b, int k) {
  double acc = 0;
  float promoted = 0;
  for (int p = 0; p < k; p += t->slice) {
    acc = instruction(a + p, b + p, k - p < t->slice ? k - p : t->slice, acc, t->bits, t->keep);
    if (t->promote && ((p + t->slice) % t->promote == 0 || p + t->slice >= k)) {
      promoted += (float)acc;
      acc = 0;
    }
  }
  return t->promote ? (double)promoted : acc;
}

/* D as such a kernel would leave it, times (1 + fault) before it is rounded; the comparison. */
static ggcheck_difference run(const tensor_case *t, gg_emu *emu, int k, double fault) {
  ggcheck_reference r;
  gg_kernel row = row_of("wgmma", t->type, GG_F32, t->d);
  row.promote_k = t->promote;
  assert_true(ggcheck_reference_alloc(&r, &row, M, N, k));
  ggcheck_random random = {(uint64_t)k};
  double *const all[] = {r.a, r.b};
  for (int o = 0; o < 2; o++)
    for (int64_t i = 0; i < (int64_t)M * k; i++)
      all[o][i] = ggcheck_round(t->type, ggcheck_random_normal(&random));
  ggcheck_operand d = {
      .name = 'd', .type = t->d, .rows = M, .cols = N, .ld = N, .stride = M * N, .matrices = 1};
  assert_true(ggcheck_operand_alloc(&d, emu, 0, false));
  double *column = malloc((size_t)k * sizeof *column);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int p = 0; p < k; p++)
        column[p] = r.b[p * N + j];
      double acc = tensor_sum(t, r.a + i * k, column, k);
      float value = (float)(acc * (1 + fault));
      if (t->d == GG_TF32)
        memcpy(ggcheck_operand_at(&d, 0, i, j), &value, sizeof value);
      else
        ggcheck_store(t->d, ggcheck_operand_at(&d, 0, i, j), (double)value);
    }
  ggcheck_reference_compute(&r, &row, 1, 0, false);
  ggcheck_difference difference = {0};
  ggcheck_compare(&d, 0, &r, &difference);
  free(column);
  ggcheck_operand_free(&d, emu);
  ggcheck_reference_free(&r);
  return difference;
}

static void test_truncating_sums(void **state) {
  (void)state;
  gg_emu_options options;
  gg_emu_options_init(&options);
  gg_emu *emu = gg_emu_create(&options);
  assert_non_null(emu);
  for (size_t i = 0; i < sizeof tensor_cases / sizeof tensor_cases[0]; i++)
    for (int k = 1; k <= 700; k = 3 * k + 1) {
      ggcheck_difference d = run(&tensor_cases[i], emu, k, 0);
      assert_int_equal(d.elements, M * N);
      assert_int_equal(d.wrong, 0);
    }
  /* bf16: an error of one unit in the last place of D, most of which rounding cannot hide. */
  for (int k = 4; k <= 400; k *= 10) {
    ggcheck_difference d = run(&tensor_cases[0], emu, k, 0x1p-7);
    assert_true(d.wrong > M * N / 2);
  }
  gg_emu_destroy(emu);
}

/* A large product, then small ones that short sums lose: no rounding of parts of 128 excuses that.
 */
static void test_promotion_is_told(void **state) {
  (void)state;
  enum { K = 8192 };
  const tensor_case parts = {GG_E4M3, GG_F32, 32, 13, 13, 128},
                    whole = {GG_E4M3, GG_F32, 32, 13, 13, 0};
  ggcheck_reference r;
  gg_kernel row = row_of("wgmma", GG_E4M3, GG_F32, GG_F32);
  row.promote_k = parts.promote;
  assert_true(ggcheck_reference_alloc(&r, &row, 1, 1, K));
  for (int p = 0; p < K; p++)
    r.a[p] = r.b[p] = p ? 1 : 448;
  double promoted = tensor_sum(&parts, r.a, r.b, K), fast = tensor_sum(&whole, r.a, r.b, K);
  ggcheck_reference_compute(&r, &row, 1, 0, false);
  assert_true(fabs(promoted - r.high[0]) <= r.bound[0]);
  assert_true(fabs(fast - r.high[0]) > r.bound[0]);
  row.promote_k = 0;
  for (int p = 0; p < K; p++)
    r.a[p] = r.b[p] = p ? 1 : 448;
  ggcheck_reference_compute(&r, &row, 1, 0, false);
  assert_true(fabs(fast - r.high[0]) <= r.bound[0]);
  ggcheck_reference_free(&r);
}

/* Whole numbers have no slack: D is the rounded sum or wrong. */
static void test_whole(void **state) {
  (void)state;
  ggcheck_reference r;
  gg_kernel row = row_of("mma", GG_S8, GG_S32, GG_S8);
  assert_true(ggcheck_reference_alloc(&r, &row, 1, 1, 2));
  r.a[0] = 100, r.b[0] = 100, r.a[1] = 3, r.b[1] = -2;
  ggcheck_reference_compute(&r, &row, 2, 0, true); /* s8 is rounded from f32 */
  assert_true(r.high[0] == 127 && r.bound[0] == 0);
  row.type_d = GG_S32;
  ggcheck_reference_compute(&r, &row, 2, 0, false);
  assert_true(r.high[0] == 2 * (10000 - 6) && r.bound[0] == 0);
  row = row_of("mma", GG_BF16, GG_F32, GG_BF16);
  ggcheck_reference_compute(&r, &row, 1, 0, true);
  assert_true(r.high[0] == ggcheck_round(GG_BF16, 9994) && r.bound[0] == 0);
  ggcheck_reference_free(&r);
}

/* Infinity where the sum may have passed f16's largest number by rounding; 448 for e4m3. */
static void test_overflow(void **state) {
  (void)state;
  gg_emu_options options;
  gg_emu_options_init(&options);
  gg_emu *emu = gg_emu_create(&options);
  ggcheck_reference r;
  gg_kernel plain = row_of("mma", GG_F16, GG_F32, GG_F16);
  assert_true(ggcheck_reference_alloc(&r, &plain, 1, 1, 1));
  const struct {
    gg_dtype d;
    double value, got;
    bool right;
  } cases[] = {
      {GG_F16, 65519.9, INFINITY, true}, {GG_F16, 65519.9, 65504, true},
      {GG_F16, 60000, INFINITY, false},  {GG_F16, 70000, INFINITY, true},
      {GG_F16, 70000, 65504, false},     {GG_F16, -70000, INFINITY, false},
      {GG_E4M3, 3000, 448, true},        {GG_E4M3, 3000, 416, false},
      {GG_E4M3, INFINITY, 448, true},    {GG_E4M3, NAN, NAN, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    gg_kernel row = row_of("mma", GG_F16, GG_F32, cases[i].d);
    r.a[0] = cases[i].value, r.b[0] = 1;
    ggcheck_reference_compute(&r, &row, 1, 0, false);
    ggcheck_operand d = {
        .name = 'd', .type = cases[i].d, .rows = 1, .cols = 1, .ld = 1, .matrices = 1};
    assert_true(ggcheck_operand_alloc(&d, emu, 0, false));
    ggcheck_store(cases[i].d, d.bytes, cases[i].got);
    ggcheck_difference difference = {0};
    ggcheck_compare(&d, 0, &r, &difference);
    if ((difference.wrong == 0) != cases[i].right) fail_msg("case %zu", i);
    ggcheck_operand_free(&d, emu);
  }
  ggcheck_reference_free(&r);
  gg_emu_destroy(emu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),        cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_canaries),          cmocka_unit_test(test_truncating_sums),
      cmocka_unit_test(test_promotion_is_told), cmocka_unit_test(test_whole),
      cmocka_unit_test(test_overflow),
  };
  return cmocka_run_group_tests_name("check: numbers", tests, NULL, NULL);
}
