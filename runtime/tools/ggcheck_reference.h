/* ggcheck_reference.h - what D must be, and by how much a kernel may miss it. */
#ifndef GGCHECK_REFERENCE_H
#define GGCHECK_REFERENCE_H

#include "ggcheck_case.h"
#include <stdbool.h>

/* One matrix of a case: dense operands and, per element of D, the value and the bound. */
typedef struct ggcheck_reference {
  int64_t m, n, k;
  double *a, *b, *c;         /* m x k, k x n, m x n, as read from the operands */
  int64_t b_rows;            /* 0, or m: each row of D has a k x n of its own, row i + p * m is its
                                p-th: a reduction's parts, a is one throughout */
  double *bias;              /* n or m */
  double *residual;          /* m x n */
  double *scale_a, *scale_b; /* as they lie in memory */
  double scale_d;
  double *high, *low; /* value of D: high + low; low is 0 unless the elements are f64 */
  double *bound;      /* |D - value| may be at most this; 0 for exact cases, whose value is a number
                         of D's type */
  /* Of all matrices computed since the fields were last set: absmax lies from the one to the other,
   * unless an element is NaN. */
  double absmax_least, absmax_most;
  bool absmax_nan;
} ggcheck_reference;

/* Of the operands that the row has; scale_d is 1. false: out of memory. */
bool ggcheck_reference_alloc(ggcheck_reference *r, const gg_kernel *row, int64_t m, int64_t n,
                             int64_t k);
void ggcheck_reference_free(ggcheck_reference *r);

/* Fills high, low and bound from the operands, and raises absmax_least and absmax_most. Where alpha
 * is 0, a and b are not looked at, else their scales are multiplied into them; where beta is 0, c
 * is not. exact: every intermediate value is representable, up to an activation with an exponential
 * (the bound is 0 without one). */
void ggcheck_reference_compute(ggcheck_reference *r, const gg_kernel *row, double alpha,
                               double beta, bool exact);

/* ---- ggcheck_sum.c ---- */

/* By what part of sum |a||b| the accumulator may miss the sum of k products. */
double ggcheck_sum_error(const gg_kernel *row, int64_t k);
/* FMAs: roundings on the longest way of a product a*b into the accumulator. */
int64_t ggcheck_roundings(const gg_kernel *row, int64_t k);
/* gamma_t = t u / (1 - t u). */
double ggcheck_gamma(double roundings, double u);

#endif
