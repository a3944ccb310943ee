/* test_steps.c - the epilogue's steps in the reference: their bound admits what a kernel may
 * compute in the epilogue's type, and nothing that a typical mistake makes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "epilogue.h"
#include "ggcheck_compare.h"
#include "ggcheck_data.h"
#include "ggcheck_epilogue.h"
#include "ggcheck_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 6, K = 300 };

/* What the kernel gets wrong. */
typedef enum mistake {
  NONE,
  NO_BIAS,
  OTHER_BIAS, /* of the neighbouring row or column */
  NO_ACTIVATION,
  RESIDUAL_BEFORE_ACTIVATION,
  NO_RESIDUAL,
  SCALE_OF_NEIGHBOUR,
  SCALE_OF_NEXT_BLOCK,
  SCALE_D_TWICE,
  ABSMAX_AFTER_SCALE
} mistake;

/* One way through k and the steps, as a kernel may take it; values in the epilogue's f32. */
typedef struct simulation {
  const gg_kernel *row;
  const ggcheck_reference *r;
  float alpha, beta;
  mistake wrong;
  float absmax;
} simulation;

static float scale(const double *scales, gg_scaling scaling, int extent, int at, int p) {
  switch (scaling) {
  case GG_SCALING_TENSOR:
    return (float)scales[0];
  case GG_SCALING_VECTOR:
    return (float)scales[at];
  case GG_SCALING_GROUP:
    return (float)scales[p / 128 * extent + at];
  case GG_SCALING_BLOCK:
    return (float)scales[p / 128];
  case GG_SCALING_NONE:
    break;
  }
  return 1;
}

static float accumulator(const simulation *s, int i, int j) {
  const ggcheck_reference *r = s->r;
  int at = s->wrong == SCALE_OF_NEIGHBOUR ? (i + 1) % M : i;
  int shift = s->wrong == SCALE_OF_NEXT_BLOCK ? 128 : 0;
  float sum = 0, part = 0;
  for (int p = 0; p < K; p++) {
    part = fmaf((float)r->a[i * K + p], (float)r->b[p * N + j], part);
    if (p % 128 < 127 && p < K - 1) continue;
    int of = p + shift < K ? p + shift : p;
    float a = scale(r->scale_a, s->row->scaling_a, M, at, of);
    float b = scale(r->scale_b, s->row->scaling_b, N, j, p);
    sum = fmaf(part, a * b, sum);
    part = 0;
  }
  return sum;
}

static double smooth(gg_activation activation, double x) {
  double y = x + 0.044715 * x * x * x;
  if (activation == GG_ACTIVATION_GELU) return x / 2 * (1 + erf(x * sqrt(0.5)));
  if (activation == GG_ACTIVATION_SILU) return x / (1 + exp(-x));
  return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * y));
}

/* Off by nearly as much as docs/epilogue.md allows, up or down. */
static float activation(const simulation *s, float x, int sign) {
  gg_activation a = s->row->activation;
  if (a == GG_ACTIVATION_NONE || s->wrong == NO_ACTIVATION) return x;
  if (a == GG_ACTIVATION_RELU) return x < 0 ? 0 : x;
  double off = 2.4 * 0x1p-24 * (double)fabsf(x);
  return (float)(smooth(a, (double)x) + sign * off);
}

static float element(simulation *s, int i, int j) {
  const ggcheck_reference *r = s->r;
  const gg_kernel *row = s->row;
  float x = s->alpha * accumulator(s, i, j);
  int at = row->bias == GG_BIAS_N ? j : i;
  if (s->wrong == OTHER_BIAS) at = (at + 1) % M;
  if (s->beta != 0) x = fmaf(s->beta, (float)r->c[i * N + j], x);
  if (row->bias && s->wrong != NO_BIAS) x += (float)r->bias[at];
  float residual = row->residual ? (float)r->residual[i * N + j] : 0;
  if (s->wrong == RESIDUAL_BEFORE_ACTIVATION) x += residual;
  x = activation(s, x, (i + j) % 2 ? 1 : -1);
  if (s->wrong != NO_RESIDUAL && s->wrong != RESIDUAL_BEFORE_ACTIVATION) x += residual;
  if (s->wrong != ABSMAX_AFTER_SCALE) s->absmax = fmaxf(s->absmax, fabsf(x));
  if (row->scaling_d) x *= (float)r->scale_d;
  if (s->wrong == SCALE_D_TWICE) x *= (float)r->scale_d;
  if (s->wrong == ABSMAX_AFTER_SCALE) s->absmax = fmaxf(s->absmax, fabsf(x));
  return x;
}

static void fill(double *to, int64_t count, gg_dtype type, ggcheck_random *random) {
  for (int64_t i = 0; i < count; i++) {
    double bits;
    ggcheck_store(type, &bits, ggcheck_random_normal(random));
    to[i] = ggcheck_load(type, &bits);
  }
}

static void fill_scales(double *to, int64_t count, ggcheck_random *random) {
  for (int64_t i = 0; i < count; i++)
    to[i] = (double)(float)(0.5 + ggcheck_random_below(random, 1000) * 0x1p-9);
}

typedef struct outcome {
  ggcheck_difference d;
  bool absmax_wrong;
} outcome;

static outcome run(const gg_kernel *row, mistake wrong, uint64_t seed) {
  ggcheck_random random = {seed};
  ggcheck_reference r;
  assert_true(ggcheck_reference_alloc(&r, row, M, N, K));
  fill(r.a, M * K, row->type_a, &random);
  fill(r.b, K * N, row->type_b, &random);
  fill(r.c, M * N, row->type_c, &random);
  fill(r.bias, M > N ? M : N, ggi_bias_type(row->type_d), &random);
  if (row->residual) fill(r.residual, M * N, row->type_d, &random);
  fill_scales(r.scale_a, ggi_scale_count(row->scaling_a, M, K), &random);
  fill_scales(r.scale_b, ggi_scale_count(row->scaling_b, N, K), &random);
  fill_scales(&r.scale_d, row->scaling_d ? 1 : 0, &random);

  simulation s = {row, &r, row->alpha == GG_SCALAR_ONE ? 1 : 0.3f, -0.7f, wrong, 0};
  gg_emu *emu = gg_emu_create(NULL);
  ggcheck_operand d = {.name = 'd',
                       .type = row->type_d,
                       .rows = M,
                       .cols = N,
                       .ld = N,
                       .stride = M * N,
                       .matrices = 1};
  assert_non_null(emu);
  assert_true(ggcheck_operand_alloc(&d, emu, 0, false));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      ggcheck_store(row->type_d, ggcheck_operand_at(&d, 0, i, j), (double)element(&s, i, j));
  ggcheck_reference_compute(&r, row, (double)s.alpha, (double)s.beta, false);
  outcome out = {.absmax_wrong = false};
  ggcheck_compare(&d, 0, &r, &out.d);
  ggcheck_report report = {.row = row};
  out.absmax_wrong =
      row->absmax && ggcheck_compare_absmax((double)s.absmax, 0, &r, 0, "", &report) != 0;
  ggcheck_operand_free(&d, emu);
  gg_emu_destroy(emu);
  ggcheck_reference_free(&r);
  return out;
}

static gg_kernel row_of(gg_dtype type, gg_dtype d) {
  gg_kernel row = {.family = "simt", .tile_m = 8, .tile_n = 8, .tile_k = 8, .k_slices = 1};
  row.type_a = row.type_b = type;
  row.type_c = row.type_d = d;
  row.type_acc = GG_F32;
  return row;
}

static gg_kernel full_row(gg_activation activation, gg_dtype d) {
  gg_kernel row = row_of(GG_BF16, d);
  row.bias = GG_BIAS_N;
  row.activation = activation;
  row.scaling_a = GG_SCALING_GROUP, row.scaling_b = GG_SCALING_TENSOR;
  row.scaling_d = GG_SCALING_TENSOR;
  row.residual = row.absmax = 1;
  return row;
}

static void test_bound_holds(void **state) {
  (void)state;
  static const gg_dtype types[] = {GG_F32, GG_F16, GG_BF16, GG_E4M3, GG_E5M2, GG_S8, GG_U8, GG_S32};
  double worst = 0;
  for (int a = GG_ACTIVATION_NONE; a <= GG_ACTIVATION_GELU_TANH; a++)
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
      for (int scaling = GG_SCALING_NONE; scaling <= GG_SCALING_BLOCK; scaling++) {
        gg_kernel row = full_row((gg_activation)a, types[t]);
        row.scaling_a = (gg_scaling)scaling;
        row.scaling_b = (gg_scaling)((scaling + 2) % 5);
        if (t % 2) row.bias = GG_BIAS_M;
        outcome out = run(&row, NONE, (uint64_t)(a * 100 + (int)t * 10 + scaling));
        if (out.d.wrong || out.absmax_wrong)
          fail_msg("activation %d, D %d, scaling %d: %d wrong, worst %g", a, (int)types[t], scaling,
                   (int)out.d.wrong, out.d.worst);
        worst = fmax(worst, out.d.worst);
      }
  assert_true(worst > 0.8 && worst <= 1); /* D's own rounding nearly reaches it */
}

static void test_mistakes(void **state) {
  (void)state;
  for (int wrong = NO_BIAS; wrong <= SCALE_D_TWICE; wrong++)
    for (int a = GG_ACTIVATION_RELU; a <= GG_ACTIVATION_GELU_TANH; a++) {
      gg_kernel row = full_row((gg_activation)a, a % 2 ? GG_BF16 : GG_F32);
      outcome out = run(&row, (mistake)wrong, (uint64_t)(wrong * 10 + a));
      /* relu hides what happens below zero */
      if (out.d.wrong < M * N / 4)
        fail_msg("mistake %d, activation %d: %d of %d found", wrong, a, (int)out.d.wrong, M * N);
    }
  gg_kernel row = full_row(GG_ACTIVATION_NONE, GG_F32);
  assert_true(run(&row, ABSMAX_AFTER_SCALE, 3).absmax_wrong);
  assert_false(run(&row, NONE, 3).absmax_wrong);
}

/* Of an exact argument: the value, and what is allowed. */
static void test_activation(void **state) {
  (void)state;
  gg_kernel row = row_of(GG_F32, GG_F32);
  for (int a = GG_ACTIVATION_GELU; a <= GG_ACTIVATION_GELU_TANH; a++) {
    row.activation = (gg_activation)a;
    ggcheck_value v = {.high = 1.5, .exact = true};
    ggcheck_step_activation(&v, row.activation, GG_F32);
    assert_true(v.error < 6 * 0x1p-24 && v.error > 4 * 0x1p-24);
    assert_true(fabs(v.high - smooth(row.activation, 1.5)) < 1e-15);
    assert_false(v.exact);
  }
}

/* What IEEE says. */
static void test_infinities(void **state) {
  (void)state;
  for (int a = GG_ACTIVATION_NONE; a <= GG_ACTIVATION_GELU_TANH; a++) {
    ggcheck_value nan = {.high = (double)NAN}, plus = {.high = (double)INFINITY},
                  minus = {.high = (double)-INFINITY, .error = (double)INFINITY};
    ggcheck_step_activation(&nan, (gg_activation)a, GG_F32);
    ggcheck_step_activation(&plus, (gg_activation)a, GG_F32);
    ggcheck_step_activation(&minus, (gg_activation)a, GG_F32);
    assert_true(isnan(nan.high));
    assert_true(isinf(plus.high));
    if (a == GG_ACTIVATION_NONE) continue;
    assert_true(minus.high == 0 && minus.error < 1e-4);
  }
}

/* Small whole numbers, powers of two: equality, also through relu and to whole D. */
static void test_exact(void **state) {
  (void)state;
  gg_kernel row = full_row(GG_ACTIVATION_RELU, GG_S8);
  row.type_a = row.type_b = GG_S8, row.type_acc = GG_S32;
  row.scaling_a = GG_SCALING_VECTOR;
  ggcheck_reference r;
  assert_true(ggcheck_reference_alloc(&r, &row, 1, 2, 1));
  for (int pass = 0; pass < 2; pass++) { /* the scales are multiplied into A and B */
    r.a[0] = 3, r.b[0] = 5, r.b[1] = -7;
    r.c[0] = r.c[1] = 1;
    r.bias[0] = 2, r.bias[1] = 30;
    r.residual[0] = -3, r.residual[1] = 1;
    r.scale_a[0] = 0.25, r.scale_b[0] = 2, r.scale_d = pass ? 64 : 0.25;
    r.absmax_least = r.absmax_most = 0;
    ggcheck_reference_compute(&r, &row, 2, -1, true);
    /* 2 * 7.5 - 1 + 2 = 16, 13 with the residual; 2 * -10.5 - 1 + 30 = 8, 9 */
    assert_true(r.high[0] == (pass ? 127 : 3)); /* 832; 3.25 */
    assert_true(r.high[1] == (pass ? 127 : 2)); /* 576; 2.25 */
    assert_true(r.bound[0] == 0 && r.bound[1] == 0);
    assert_true(r.absmax_least == 13 && r.absmax_most == 13);
  }
  ggcheck_reference_free(&r);
}

/* An s32 accumulator that f32 cannot hold is rounded once. */
static void test_conversion(void **state) {
  (void)state;
  gg_kernel row = row_of(GG_S8, GG_F32);
  row.type_acc = GG_S32;
  ggcheck_reference r;
  assert_true(ggcheck_reference_alloc(&r, &row, 1, 1, 1100));
  for (int p = 0; p < 1100; p++)
    r.a[p] = 127, r.b[p] = p ? 127 : 126;
  ggcheck_reference_compute(&r, &row, 1, 0, false);
  double sum = 1100 * 127 * 127 - 127; /* above 2^24 */
  assert_true(r.high[0] == sum);
  assert_true(fabs((double)(float)sum - sum) > 0);
  assert_true(r.bound[0] >= fabs((double)(float)sum - sum) && r.bound[0] < 4);
  ggcheck_reference_free(&r);
}

/* Blocks of a cluster add their sums. */
static void test_parts(void **state) {
  (void)state;
  gg_kernel row = row_of(GG_F32, GG_F32);
  row.k_slices = 4;
  assert_int_equal(ggcheck_roundings(&row, 100), 29);
  row.cluster_k = 3;
  assert_int_equal(ggcheck_roundings(&row, 100), 31);
  gg_kernel tensor = row_of(GG_BF16, GG_F32), split = tensor;
  tensor.family = split.family = "wgmma";
  split.cluster_k = 8;
  assert_true(ggcheck_sum_error(&split, 256) > ggcheck_sum_error(&tensor, 256));
  /* Sums of 128 that leave the tensor core: two of them and an FMA each are closer than 256 in it.
   */
  gg_kernel blocks = row_of(GG_E4M3, GG_F32);
  blocks.family = "wgmma";
  double whole = ggcheck_sum_error(&blocks, 2048);
  blocks.scaling_b = GG_SCALING_BLOCK;
  assert_true(ggcheck_sum_error(&blocks, 2048) < whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bound_holds), cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_activation),  cmocka_unit_test(test_infinities),
      cmocka_unit_test(test_exact),       cmocka_unit_test(test_conversion),
      cmocka_unit_test(test_parts),
  };
  return cmocka_run_group_tests_name("check: steps", tests, NULL, NULL);
}
