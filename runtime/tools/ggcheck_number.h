/* ggcheck_number.h - the numbers of each element type: bits, rounding, spacing.
 *
 * tf32 is f32 in memory; its numbers are those f32 that have 10 fraction bits.
 */
#ifndef GGCHECK_NUMBER_H
#define GGCHECK_NUMBER_H

#include "gg_kernel.h"
#include <stdbool.h>

/* Is the type one that ggcheck can check? */
bool ggcheck_type_known(gg_dtype type);
bool ggcheck_is_integer(gg_dtype type);
bool ggcheck_has_infinity(gg_dtype type);
/* Bits behind the point of a normal number; of integers 0. */
int ggcheck_fraction_bits(gg_dtype type);
/* Unit roundoff u (half the distance from 1 to the next number); of integers 0. */
double ggcheck_roundoff(gg_dtype type);
/* The smallest positive number, subnormals included. */
double ggcheck_tiny(gg_dtype type);
/* The largest finite number, and the smallest. */
double ggcheck_largest(gg_dtype type);
double ggcheck_least(gg_dtype type);
/* Half the distance between neighbours near `size` >= 0: no value up to there is farther from a
 * number of the type, as long as there is no overflow. */
double ggcheck_half_ulp(gg_dtype type, double size);

/* The number that a kernel stores for `value`: the nearest, ties to even. Beyond the largest number
 * f64 to bf16 have infinity, e4m3, e5m2 and integers stay at their largest (as PTX cvt.satfinite
 * and cvt.sat do). NaN stays NaN; of integers it is 0. */
double ggcheck_round(gg_dtype type, double value);

double ggcheck_load(gg_dtype type, const void *at);
/* Rounds, tf32 to 10 bits; infinity stays where the type has it. */
void ggcheck_store(gg_dtype type, void *at, double value);

#endif
