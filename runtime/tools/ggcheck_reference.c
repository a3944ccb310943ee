/* ggcheck_reference.c - D in higher precision, and the bound that a kernel's D is held to.
 *
 * The bound is derived from the kernel's arithmetic, not fitted to its results.
 *
 * Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002: the
 * model fl(x op y) = (x op y)(1 + d), |d| <= u (2.4), with underflow (x op y)(1 + d) + e (2.8);
 * Lemma 3.1: a product of t factors (1 + d_i)^(+-1) is 1 + theta_t with
 *   |theta_t| <= gamma_t = t u / (1 - t u);
 * section 3.1: an inner product evaluated in any order differs by at most gamma_t sum |a_p||b_p|,
 * where t is the number of roundings on the longest way of one product into the sum.
 *
 * How far the accumulator may be from the sum of the products is ggcheck_sum.c's: sigma P, sigma =
 * gamma_t for FMAs. It starts at zero and is exact where all sums are.
 *
 * Scales of A and B. The reference multiplies the operands by them, so P = |A||B| has them in it. A
 * kernel multiplies the accumulator (TENSOR, VECTOR), or each sum of 128 of k before it goes into
 * an accumulator outside (GROUP, BLOCK; ggcheck_sum.c has those additions): each scale is one
 * rounding more on the way of a product.
 *
 * Then alpha * acc + beta * C, either fl(fl(alpha acc) + beta C) with the last two fused, or
 * fl(alpha acc + fl(beta C)) with the first two fused. The way of a product gets at most two
 * roundings more, that of C has at most two; an s32 accumulator or C that becomes f32 has one more.
 * They are counted only where they happen: multiplying by 1 is exact, and without beta nothing is
 * added. So, elementwise, with u now that of the epilogue's type,
 *
 *   |x - exact| <= g = ((1 + sigma)(1 + gamma_e) - 1) |alpha| P + gamma_(2 + s32) |beta| |C|
 *                      + (t + 4) max(1, |alpha|) max(1, scales) h
 *   e = [alpha != 1] + [beta != 0] + [scale of A] + [scale of B] + [s32 accumulator in f32];
 *   the term with C only where beta != 0;
 *   h = the smallest subnormal of accumulator and epilogue (each rounding or truncation may
 *       underflow; an addition cannot, so this overcounts).
 * From there on each step carries the bound on: ggcheck_epilogue.c. Whole numbers (an s32 epilogue,
 * and integers and powers of two small enough) leave only D's rounding, which must be the right
 * one.
 *
 * The reference has an error of its own. f32 in f64: products of two floats are exact in double,
 * with scales they have one rounding, the sum has gamma_k(2^-53) P, and alpha and beta two
 * roundings more. f64: compensated, Dot2 of Ogita, Rump, Oishi (Accurate sum and dot product, SIAM
 * J. Sci. Comput. 26, 2005, Prop. 5.5): |err| <= u |exact| + gamma_k^2 P   before its final
 * rounding, which is not made here: the value stays the pair high + low, whose own arithmetic adds
 * a few u^2; an f64 operand times its scale is rounded, which adds u for each. All of it is added
 * to the bound.
 *
 * absmax is the largest |x| before scale_d: at least the largest |exact| - g, at most the largest
 * |exact| + g, each rounded to f32.
 */
#include "ggcheck_reference.h"
#include "dtype.h"
#include "epilogue.h"
#include "ggcheck_epilogue.h"
#include "ggcheck_operand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int64_t count) {
  return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

bool ggcheck_reference_alloc(ggcheck_reference *r, const gg_kernel *row, int64_t m, int64_t n,
                             int64_t k) {
  *r = (ggcheck_reference){.m = m, .n = n, .k = k, .scale_d = 1};
  r->b_rows = row->kind == GG_KIND_REDUCE ? m : 0;
  r->a = doubles(m * k);
  r->b = doubles(k * n * (r->b_rows > 0 ? m : 1));
  r->c = doubles(m * n);
  r->bias = doubles(m > n ? m : n);
  r->residual = doubles(row->residual ? m * n : 0);
  r->scale_a = doubles(ggi_scale_count(row->scaling_a, m, k));
  r->scale_b = doubles(ggi_scale_count(row->scaling_b, n, k));
  r->high = doubles(m * n);
  r->low = doubles(m * n);
  r->bound = doubles(m * n);
  if (r->a && r->b && r->c && r->bias && r->residual && r->scale_a && r->scale_b && r->high &&
      r->low && r->bound)
    return true;
  ggcheck_reference_free(r);
  return false;
}

void ggcheck_reference_free(ggcheck_reference *r) {
  double *const all[] = {r->a,       r->b,       r->c,    r->bias, r->residual,
                         r->scale_a, r->scale_b, r->high, r->low,  r->bound};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    free(all[i]);
  *r = (ggcheck_reference){0};
}

/* high += a * b, size += |a| * |b|. Four at a time, which compilers make vectors of. */
static void add_row(double *restrict high, double *restrict size, double a,
                    const double *restrict b, int64_t n) {
  double a_size = fabs(a);
  int64_t j = 0;
  for (; j + 4 <= n; j += 4)
    for (int l = 0; l < 4; l++) {
      high[j + l] += a * b[j + l];
      size[j + l] += a_size * fabs(b[j + l]);
    }
  for (; j < n; j++) {
    high[j] += a * b[j];
    size[j] += a_size * fabs(b[j]);
  }
}

/* What element p of A's row i is multiplied with. */
static double *row_of_b(const ggcheck_reference *r, int64_t i, int64_t p) {
  return r->b + (r->b_rows > 0 ? p * r->b_rows + i : p) * r->n;
}

/* Row i of A times B: plain double sums. */
static void row_plain(ggcheck_reference *r, int64_t i, double *high, double *size) {
  for (int64_t p = 0; p < r->k; p++)
    add_row(high, size, r->a[i * r->k + p], row_of_b(r, i, p), r->n);
}

static void row_compensated(ggcheck_reference *r, int64_t i, double *high, double *low,
                            double *size) {
  for (int64_t p = 0; p < r->k; p++) {
    double a = r->a[i * r->k + p], a_size = fabs(a);
    const double *b = row_of_b(r, i, p);
    for (int64_t j = 0; j < r->n; j++) {
      ggcheck_value sum = {.high = high[j], .low = low[j]};
      ggcheck_add_product(&sum, a, b[j]);
      high[j] = sum.high;
      low[j] = sum.low;
      size[j] += a_size * fabs(b[j]);
    }
  }
}

/* The scale of element `at` of `extent` and of step p of k. */
static double scale_of(const double *scales, gg_scaling scaling, int64_t extent, int64_t at,
                       int64_t p) {
  switch (scaling) {
  case GG_SCALING_NONE:
    break;
  case GG_SCALING_TENSOR:
    return scales[0];
  case GG_SCALING_VECTOR:
    return scales[at];
  case GG_SCALING_GROUP:
    return scales[p / 128 * extent + at];
  case GG_SCALING_BLOCK:
    return scales[p / 128 * ((extent + 127) / 128) + at / 128];
  }
  return 1;
}

/* Multiplies A and B by their scales. */
static void apply_scales(ggcheck_reference *r, const gg_kernel *row) {
  for (int64_t i = 0; row->scaling_a && i < r->m; i++)
    for (int64_t p = 0; p < r->k; p++)
      r->a[i * r->k + p] *= scale_of(r->scale_a, row->scaling_a, r->m, i, p);
  int64_t rows = r->k * (r->b_rows > 0 ? r->b_rows : 1); /* of parts: no scale depends on p */
  for (int64_t p = 0; row->scaling_b && p < rows; p++)
    for (int64_t j = 0; j < r->n; j++)
      r->b[p * r->n + j] *= scale_of(r->scale_b, row->scaling_b, r->n, j, p);
}

static double largest_scale(const double *scales, int64_t count) {
  double largest = 1;
  for (int64_t i = 0; i < count; i++)
    largest = fmax(largest, fabs(scales[i]));
  return largest;
}

/* What the bound is made of, per element: see the top. */
typedef struct factors {
  double product; /* of |alpha| |A||B| */
  double c;       /* of |beta| |C| */
  double tiny;    /* underflow */
} factors;

static factors factors_of(const ggcheck_reference *r, const gg_kernel *row, double alpha,
                          double beta) {
  gg_dtype type = ggi_row_epilogue(row);
  bool wide = row->type_acc == GG_F64, whole = ggcheck_is_integer(row->type_acc);
  double u = ggcheck_roundoff(type), u_ref = ggcheck_roundoff(GG_F64), n = (double)r->k;
  double sum = alpha != 0 ? ggcheck_sum_error(row, r->k) : 0;
  double roundings = alpha != 0 ? (double)ggcheck_roundings(row, r->k) : 0;
  int scaled = (row->scaling_a != GG_SCALING_NONE) + (row->scaling_b != GG_SCALING_NONE);
  int converted = ggcheck_widening_rounds(row->type_acc, type);
  double epilogue = ggcheck_gamma((alpha != 1) + (beta != 0) + scaled + converted, u);
  double reference = wide ? ggcheck_gamma(n, u_ref) * ggcheck_gamma(n, u_ref) + 8 * u_ref * u_ref +
                                ggcheck_gamma(scaled, u_ref)
                          : ggcheck_gamma(n + 2 + scaled, u_ref);
  double tiny = fmax(ggcheck_tiny(type), whole ? 0 : ggcheck_tiny(row->type_acc));
  double scale = largest_scale(r->scale_a, ggi_scale_count(row->scaling_a, r->m, r->k)) *
                 largest_scale(r->scale_b, ggi_scale_count(row->scaling_b, r->n, r->k));
  /* Truncation loses a whole subnormal where rounding loses half of one. */
  return (factors){.product = (1 + sum) * (1 + epilogue) - 1 + reference,
                   .c =
                       ggcheck_gamma(2 + ggcheck_widening_rounds(row->type_c, type), u) + reference,
                   .tiny = (roundings + 2 + scaled) * fmax(1, fabs(alpha)) * scale * tiny};
}

/* absmax = max(absmax, |x|), in f32. */
static void note_largest(ggcheck_reference *r, const ggcheck_value *v) {
  double x = fabs(v->high + v->low);
  if (isnan(x)) r->absmax_nan = true;
  r->absmax_least = fmax(r->absmax_least, ggcheck_round(GG_F32, isinf(x) ? x : x - v->error));
  r->absmax_most = fmax(r->absmax_most, ggcheck_round(GG_F32, isinf(x) ? x : x + v->error));
}

/* From the accumulator to D: all that stands behind alpha and beta. */
static void finish(ggcheck_reference *r, const gg_kernel *row, int64_t i, int64_t j,
                   ggcheck_value *v) {
  gg_dtype type = ggi_row_epilogue(row);
  if (row->bias != GG_BIAS_NONE)
    ggcheck_step_add(v, r->bias[row->bias == GG_BIAS_N ? j : i], ggi_bias_type(row->type_d), type);
  ggcheck_step_activation(v, row->activation, type);
  if (row->residual) ggcheck_step_add(v, r->residual[i * r->n + j], row->type_d, type);
  note_largest(r, v);
  if (row->scaling_d) ggcheck_step_scale(v, r->scale_d, type);
  ggcheck_step_store(v, row->type_d, type);
}

void ggcheck_reference_compute(ggcheck_reference *r, const gg_kernel *row, double alpha,
                               double beta, bool exact) {
  bool wide = row->type_acc == GG_F64;
  bool whole = ggcheck_is_integer(ggi_row_epilogue(row));
  double *size = r->bound; /* |A||B| until the bound replaces it */

  memset(r->high, 0, (size_t)(r->m * r->n) * sizeof(double));
  memset(r->low, 0, (size_t)(r->m * r->n) * sizeof(double));
  memset(size, 0, (size_t)(r->m * r->n) * sizeof(double));
  if (alpha != 0) apply_scales(r, row);
  factors f = factors_of(r, row, alpha, beta);
  for (int64_t i = 0; i < r->m; i++) {
    int64_t at = i * r->n;
    if (alpha != 0 && wide)
      row_compensated(r, i, r->high + at, r->low + at, size + at);
    else if (alpha != 0)
      row_plain(r, i, r->high + at, size + at);
    for (int64_t j = 0; j < r->n; j++, at++) {
      ggcheck_value v = {.exact = exact || whole};
      if (alpha != 0) {
        ggcheck_add_product(&v, alpha, r->high[at]);
        v.low += isfinite(v.high) ? alpha * r->low[at] : 0;
      }
      if (beta != 0) ggcheck_add_product(&v, beta, r->c[at]);
      double c_size = beta != 0 ? fabs(beta) * fabs(r->c[at]) : 0;
      if (!v.exact) v.error = f.product * fabs(alpha) * size[at] + f.c * c_size + f.tiny;
      finish(r, row, i, j, &v);
      r->high[at] = v.high;
      r->low[at] = v.low;
      r->bound[at] = v.error;
    }
  }
}
