/* ggcheck_epilogue.c - one value through bias, activation, residual, scale and rounding.
 *
 * With u the unit roundoff of the epilogue's type, v the exact value before a step and g the bound
 * on the kernel's difference from it, the kernel has some x with |x - v| <= g:
 *   x + b      |fl(x + b) - (v + b)| <= g + u (|v + b| + g). An operand that is rounded when it is
 *              widened (s32 to f32) brings u |b| more.
 *   f(x)       |F(x) - f(v)| <= L g + a (|v| + g) + h: L is the largest |f'|, F the kernel's
 *              function, whose error is a |x| + h. relu is exact and L = 1. For the smooth ones
 *              a = 3 u (docs/epilogue.md), h is the smallest subnormal and, rounded up,
 *                gelu       L = 1.129    at sqrt 2, Phi(sqrt 2) + sqrt 2 phi(sqrt 2)
 *                gelu_tanh  L = 1.129    at 1.41
 *                silu       L = 1.1      at 2.4
 *              f(-infinity) = 0: there the kernel's x ends at some -reach > -32.
 *   x * s      g |s| + u (|v| + g) |s| + h
 *   D          g + half the distance between D's numbers at |v| + g; conversions that end at the
 *              largest number do not widen it (ggcheck_compare.c cuts v there).
 * The reference's own roundings are in double, with u_ref = 2^-53: in f64, where the pair high +
 * low has about twice the bits, they do not count; else u + 2 u_ref stands for u. Of f, which libm
 * and its argument's rounding miss by a few units, a has 4 u_ref more.
 */
#include "ggcheck_epilogue.h"
#include "ggcheck_number.h"

#include <math.h>

/* An infinite argument of an activation counts as this size: see the top. */
static const double REACH = 32;
static const double ACTIVATION_ROUNDOFFS = 3;

static double roundoff(gg_dtype epilogue) {
  double u = ggcheck_roundoff(epilogue);
  return epilogue == GG_F64 ? u : u + 2 * ggcheck_roundoff(GG_F64);
}

bool ggcheck_widening_rounds(gg_dtype from, gg_dtype epilogue) {
  if (from == GG_S32) return ggcheck_fraction_bits(epilogue) < 31 && !ggcheck_is_integer(epilogue);
  return ggcheck_fraction_bits(from) > ggcheck_fraction_bits(epilogue) &&
         !ggcheck_is_integer(epilogue);
}

/* x + y = sum + *error exactly (Knuth's TwoSum). */
static double two_sum(double x, double y, double *error) {
  double sum = x + y;
  double part = sum - x;
  *error = (x - (sum - part)) + (y - part);
  return sum;
}

/* Infinities and NaN: the plain sum, low stays. */
void ggcheck_add_product(ggcheck_value *v, double factor, double x) {
  double product = factor * x;
  double product_error = fma(factor, x, -product);
  double sum_error;
  v->high = two_sum(v->high, product, &sum_error);
  double error = product_error + sum_error;
  if (isfinite(error)) v->low += error;
}

void ggcheck_step_add(ggcheck_value *v, double x, gg_dtype from, gg_dtype epilogue) {
  double u = roundoff(epilogue);
  double widening = ggcheck_widening_rounds(from, epilogue) ? u * fabs(x) : 0;
  ggcheck_add_product(v, 1, x);
  if (!v->exact) v->error += widening + u * (fabs(v->high) + v->error + widening);
}

static double gelu(double x) {
  return x / 2 * erfc(-x * sqrt(0.5));
}

static double silu(double x) {
  return x < 0 ? x * exp(x) / (1 + exp(x)) : x / (1 + exp(-x));
}

/* x/2 (1 + tanh y) = x / (1 + exp -2y). */
static double gelu_tanh(double x) {
  double y = 2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
  return y < 0 ? x * exp(y) / (1 + exp(y)) : x / (1 + exp(-y));
}

void ggcheck_step_activation(ggcheck_value *v, gg_activation activation, gg_dtype epilogue) {
  static const struct {
    double (*of)(double);
    double slope;
  } smooth[] = {[GG_ACTIVATION_GELU] = {gelu, 1.129},
                [GG_ACTIVATION_SILU] = {silu, 1.1},
                [GG_ACTIVATION_GELU_TANH] = {gelu_tanh, 1.129}};
  double x = v->high + v->low;
  if (activation == GG_ACTIVATION_NONE || isnan(x)) return;
  if (activation == GG_ACTIVATION_RELU) {
    if (x < 0) v->high = v->low = 0;
    if (!isfinite(v->error)) v->error = 0; /* -infinity has become 0 */
    return;
  }
  double error = isfinite(x) ? v->error : 0, size = isfinite(x) ? fabs(x) + error : REACH;
  v->high = x < -1e6 ? 0 : x > 1e6 ? x : smooth[activation].of(x);
  v->low = 0;
  double a = ACTIVATION_ROUNDOFFS * ggcheck_roundoff(epilogue) + 4 * ggcheck_roundoff(GG_F64);
  v->error = smooth[activation].slope * error + a * size + ggcheck_tiny(epilogue);
  v->exact = false;
}

void ggcheck_step_scale(ggcheck_value *v, double scale, gg_dtype epilogue) {
  ggcheck_value scaled = {.exact = v->exact};
  ggcheck_add_product(&scaled, scale, v->high);
  if (isfinite(scaled.high)) scaled.low += scale * v->low;
  if (!v->exact) {
    double size = fabs(scaled.high) + v->error * fabs(scale);
    scaled.error = v->error * fabs(scale) + roundoff(epilogue) * size + ggcheck_tiny(epilogue);
  }
  *v = scaled;
}

void ggcheck_step_store(ggcheck_value *v, gg_dtype d, gg_dtype epilogue) {
  gg_dtype type = d == GG_TF32 ? GG_F32 : d; /* in memory */
  bool narrow = ggcheck_fraction_bits(type) < ggcheck_fraction_bits(epilogue);
  if (v->exact) { /* nothing but this rounding */
    v->high = ggcheck_round(type, v->high + v->low);
    v->low = v->error = 0;
  } else if (narrow) {
    double size = fmin(fabs(v->high) + v->error, ggcheck_largest(type));
    v->error += ggcheck_half_ulp(type, size);
  }
}
