/* ggcheck_reference.h - what D must be, and by how much a kernel may miss it. */
#ifndef GGCHECK_REFERENCE_H
#define GGCHECK_REFERENCE_H

#include "ggcheck_case.h"
#include <stdbool.h>

/* One matrix of a case: dense operands and, per element of D, the value and the bound. */
typedef struct ggcheck_reference {
  int64_t m, n, k;
  double *a, *b, *c;  /* m x k, k x n, m x n, as read from the operands */
  double *high, *low; /* value of D: high + low; low is 0 unless the elements are f64 */
  double *bound;      /* |D - value| may be at most this; 0 for exact cases, whose value is a number
                         of D's type */
} ggcheck_reference;

/* false: out of memory. */
bool ggcheck_reference_alloc(ggcheck_reference *r, int64_t m, int64_t n, int64_t k);
void ggcheck_reference_free(ggcheck_reference *r);

/* Fills high, low and bound from a, b and c. Where alpha is 0, a and b are not looked at; where
 * beta is 0, c is not. exact: every intermediate value is representable, the bound is 0. */
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
