/* ggcheck_data.c - random numbers for every operand.
 *
 * Normal data: floats are standard normal, integers uniform over their range. Scales bring integer
 * operands to about 1 and D back to about half of what its type holds, so that few of its elements
 * saturate, but some do. Integer data: whole numbers and powers of two so small that every
 * intermediate value is exact.
 */
#include "ggcheck_data.h"
#include "epilogue.h"

#include <math.h>

/* Root mean square of normal data. */
static double size_of(gg_dtype type) {
  if (type == GG_S8) return 74; /* -128 .. 127 */
  if (type == GG_U8) return 147;
  return 1;
}

static bool is_narrow(gg_dtype d) {
  return d == GG_S8 || d == GG_U8 || d == GG_E4M3;
}

/* About half of what D holds. */
static double target(gg_dtype d) {
  return 0.5 * fmin(ggcheck_largest(d), 256);
}

/* Sum of k products of elements of sizes a and b: those of u8 have one sign. */
static double sum_size(const gg_kernel *row, int64_t k, double a, double b) {
  bool one_sign = row->type_a == GG_U8 && row->type_b == GG_U8;
  double steps = k > 1 ? (double)k : 1;
  return a * b * (one_sign ? steps : sqrt(steps));
}

double ggcheck_alpha_unit(const gg_kernel *row, int64_t k) {
  if (row->scaling_d || !is_narrow(row->type_d) || row->type_d == GG_E4M3) return 1;
  double a = row->scaling_a ? 1 : size_of(row->type_a);
  double b = row->scaling_b ? 1 : size_of(row->type_b);
  return target(row->type_d) / sum_size(row, k, a, b);
}

/* Small whole numbers whose sums the accumulator holds exactly: at most 16 k below 2^24, k below
 * 2^11. Unsigned ones start at zero. */
static double whole(const gg_kernel *row, const ggcheck_case *c, gg_dtype type,
                    ggcheck_random *random) {
  int range = c->k > 100000 || row->type_acc == GG_F16 ? 3 : 9;
  return ggcheck_random_below(random, range) - (type == GG_U8 ? 0 : range / 2);
}

/* s32 (C and the residual) of a size with the products. */
static double normal(gg_dtype type, ggcheck_random *random) {
  switch (type) {
  case GG_S8:
    return ggcheck_random_below(random, 256) - 128;
  case GG_U8:
    return ggcheck_random_below(random, 256);
  case GG_S32:
    return ggcheck_random_below(random, 1 << 20) - (1 << 19);
  default:
    return ggcheck_random_normal(random);
  }
}

/* From 1/2 to 4 units. As integer data 1/4 to 2; sums of many products leave no room for digits. */
static double scale(const gg_kernel *row, const ggcheck_case *c, ggi_operand which,
                    ggcheck_random *random) {
  if (c->fill == GGCHECK_INTEGER)
    return c->k > 2000 ? 1 + ggcheck_random_below(random, 2)
                       : ldexp(1, ggcheck_random_below(random, 4) - 2);
  double unit = 1;
  if (which == GGI_SCALE_A) unit = 1 / size_of(row->type_a);
  if (which == GGI_SCALE_B) unit = 1 / size_of(row->type_b);
  if (which == GGI_SCALE_D && is_narrow(row->type_d)) {
    double a = row->scaling_a ? 1 : size_of(row->type_a);
    double b = row->scaling_b ? 1 : size_of(row->type_b);
    unit = target(row->type_d) / sum_size(row, c->k, a, b) / 2;
  }
  double digits = 1 + (double)ggcheck_random_below(random, 1 << 16) / (1 << 16);
  return unit * ldexp(digits, ggcheck_random_below(random, 3) - 1);
}

static double value_of(const gg_kernel *row, const ggcheck_case *c, ggi_operand which,
                       gg_dtype type, ggcheck_random *random) {
  if (which == GGI_ABSMAX) return c->absmax_before;
  if (which >= GGI_SCALE_A) return scale(row, c, which, random);
  if (c->fill == GGCHECK_INTEGER) return whole(row, c, type, random);
  bool large = which == GGI_BIAS && !row->scaling_d && ggcheck_is_integer(row->type_d);
  return normal(type, random) * (large ? target(row->type_d) : 1);
}

void ggcheck_fill_operand(const gg_kernel *row, const ggcheck_case *c, ggi_operand which,
                          ggcheck_operand *o, ggcheck_random *random) {
  for (int64_t matrix = 0; matrix < o->matrices; matrix++)
    for (int64_t i = 0; i < o->rows; i++)
      for (int64_t j = 0; j < o->cols; j++)
        ggcheck_store(o->type, ggcheck_operand_at(o, matrix, i, j),
                      value_of(row, c, which, o->type, random));
}

/* e4m3 has NaN only, integers have neither. */
void ggcheck_fill_special(ggcheck_operand *o) {
  if (!o->size || ggcheck_is_integer(o->type)) return;
  int64_t row = o->rows - 1, col = o->cols - 1;
  double first = o->name == 'b' ? (double)-INFINITY : (double)INFINITY;
  if (!ggcheck_has_infinity(o->type)) first = (double)NAN;
  ggcheck_store(o->type, ggcheck_operand_at(o, 0, 0, col / 2), first);
  ggcheck_store(o->type, ggcheck_operand_at(o, 0, row, col), o->name == 'b' ? 0 : (double)NAN);
}
