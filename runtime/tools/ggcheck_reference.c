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
 * Epilogue: D = alpha * acc + beta * C, either fl(fl(alpha acc) + beta C) with the last two fused,
 * or fl(alpha acc + fl(beta C)) with the first two fused. The way of a product gets at most two
 * roundings more, that of C has at most two. They are counted only where they happen: multiplying
 * by 1 is exact, and without beta nothing is added. If D's type is narrower than the accumulator's,
 * its rounding comes last and applies to the whole. So, elementwise, with P = |A||B|:
 *
 *   |D - exact| <= g + half_ulp_d(|exact| + g),   the last term only for a narrower D,
 *   g = ((1 + sigma)(1 + gamma_(e_alpha + e_beta)) - 1) |alpha| P + gamma_2 |beta| |C|
 *       + (t + 2) max(1, |alpha|) h
 *   e_alpha = [alpha != 1], e_beta = [beta != 0]; the beta term only where beta != 0;
 *   h = the smallest subnormal of the accumulator (each rounding or truncation may underflow; an
 *       addition cannot, so this overcounts).
 * half_ulp_d is half the distance between D's numbers there, at most u_d (|exact| + g), and never
 * more than at D's largest number, where conversions end (ggcheck_round). Whole numbers (s32, and
 * integers small enough for the accumulator) leave only D's rounding, which must be the right one.
 *
 * The reference has an error of its own. f32 in f64: products of two floats are exact in double,
 * the sum has gamma_k(2^-53) P, and the epilogue two roundings more. f64: compensated, Dot2 of
 * Ogita, Rump, Oishi (Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, Prop. 5.5):
 *   |err| <= u |exact| + gamma_k^2 P   before its final rounding, which is not made here: the value
 * stays the pair high + low, whose own arithmetic adds a few u^2. Both are added to the bound.
 */
#include "ggcheck_reference.h"
#include "ggcheck_operand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int64_t count) {
  return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

bool ggcheck_reference_alloc(ggcheck_reference *r, int64_t m, int64_t n, int64_t k) {
  *r = (ggcheck_reference){.m = m, .n = n, .k = k};
  r->a = doubles(m * k);
  r->b = doubles(k * n);
  r->c = doubles(m * n);
  r->high = doubles(m * n);
  r->low = doubles(m * n);
  r->bound = doubles(m * n);
  if (r->a && r->b && r->c && r->high && r->low && r->bound) return true;
  ggcheck_reference_free(r);
  return false;
}

void ggcheck_reference_free(ggcheck_reference *r) {
  free(r->a);
  free(r->b);
  free(r->c);
  free(r->high);
  free(r->low);
  free(r->bound);
  *r = (ggcheck_reference){0};
}

/* x + y = sum + *error exactly (Knuth's TwoSum). */
static double two_sum(double x, double y, double *error) {
  double sum = x + y;
  double part = sum - x;
  *error = (x - (sum - part)) + (y - part);
  return sum;
}

/* (high, low) += x * y, compensated. Infinities and NaN: the plain sum, low stays 0. */
static void add_product(double *high, double *low, double x, double y) {
  double product = x * y;
  double product_error = fma(x, y, -product);
  double sum_error;
  *high = two_sum(*high, product, &sum_error);
  double error = product_error + sum_error;
  if (isfinite(error)) *low += error;
}

/* Row i of A times B: plain double sums. */
static void row_plain(ggcheck_reference *r, int64_t i, double *high, double *size) {
  for (int64_t p = 0; p < r->k; p++) {
    double a = r->a[i * r->k + p], a_size = fabs(a);
    const double *b = r->b + p * r->n;
    for (int64_t j = 0; j < r->n; j++) {
      high[j] += a * b[j];
      size[j] += a_size * fabs(b[j]);
    }
  }
}

static void row_compensated(ggcheck_reference *r, int64_t i, double *high, double *low,
                            double *size) {
  for (int64_t p = 0; p < r->k; p++) {
    double a = r->a[i * r->k + p], a_size = fabs(a);
    const double *b = r->b + p * r->n;
    for (int64_t j = 0; j < r->n; j++) {
      add_product(&high[j], &low[j], a, b[j]);
      size[j] += a_size * fabs(b[j]);
    }
  }
}

/* What the bound is made of, per element: see the top. */
typedef struct factors {
  double product; /* of |alpha| |A||B| */
  double c;       /* of |beta| |C| */
  double tiny;    /* underflow */
} factors;

static factors factors_of(const gg_kernel *row, int64_t k, double alpha, double beta) {
  bool wide = row->type_acc == GG_F64;
  double u = ggcheck_roundoff(row->type_acc), u_ref = ggcheck_roundoff(GG_F64), n = (double)k;
  double sum = alpha != 0 ? ggcheck_sum_error(row, k) : 0;
  double roundings = alpha != 0 ? (double)ggcheck_roundings(row, k) : 0;
  double epilogue = ggcheck_gamma((alpha != 1) + (beta != 0), u);
  double reference = wide ? ggcheck_gamma(n, u_ref) * ggcheck_gamma(n, u_ref) + 8 * u_ref * u_ref
                          : ggcheck_gamma(n + 2, u_ref);
  /* Truncation loses a whole subnormal where rounding loses half of one. */
  return (factors){.product = (1 + sum) * (1 + epilogue) - 1 + reference,
                   .c = ggcheck_gamma(2, u) + reference,
                   .tiny = (roundings + 2) * fmax(1, fabs(alpha)) * ggcheck_tiny(row->type_acc)};
}

void ggcheck_reference_compute(ggcheck_reference *r, const gg_kernel *row, double alpha,
                               double beta, bool exact) {
  bool wide = row->type_acc == GG_F64;
  bool whole = ggcheck_is_integer(row->type_acc);
  bool narrow_d = ggcheck_fraction_bits(row->type_d) < ggcheck_fraction_bits(row->type_acc);
  /* In memory tf32 is f32. */
  gg_dtype type_d = row->type_d == GG_TF32 ? GG_F32 : row->type_d;
  if (type_d == GG_F32 && !wide) narrow_d = false;
  factors f = factors_of(row, r->k, alpha, beta);
  double *size = r->bound; /* |A||B| until the bound replaces it */

  memset(r->high, 0, (size_t)(r->m * r->n) * sizeof(double));
  memset(r->low, 0, (size_t)(r->m * r->n) * sizeof(double));
  memset(size, 0, (size_t)(r->m * r->n) * sizeof(double));
  for (int64_t i = 0; i < r->m; i++) {
    int64_t at = i * r->n;
    if (alpha != 0 && wide)
      row_compensated(r, i, r->high + at, r->low + at, size + at);
    else if (alpha != 0)
      row_plain(r, i, r->high + at, size + at);
    for (int64_t j = at; j < at + r->n; j++) {
      double high = 0, low = 0;
      if (alpha != 0) {
        add_product(&high, &low, alpha, r->high[j]);
        low += isfinite(high) ? alpha * r->low[j] : 0;
      }
      if (beta != 0) add_product(&high, &low, beta, r->c[j]);
      double c_size = beta != 0 ? fabs(beta) * fabs(r->c[j]) : 0;
      double g = f.product * fabs(alpha) * size[j] + f.c * c_size + f.tiny;
      if (exact || whole) { /* nothing but D's own rounding */
        high = ggcheck_round(type_d, high + low);
        low = g = 0;
      } else if (narrow_d) {
        g += ggcheck_half_ulp(type_d, fmin(fabs(high) + g, ggcheck_largest(type_d)));
      }
      r->high[j] = high;
      r->low[j] = low;
      r->bound[j] = g;
    }
  }
}
