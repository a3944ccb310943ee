/* ggcheck_data.h - the numbers that operands are filled with, so that D is of a useful size. */
#ifndef GGCHECK_DATA_H
#define GGCHECK_DATA_H

#include "ggcheck_case.h"
#include "ggcheck_operand.h"

/* Fills operand `which` of a case as its fill says; special values are not among them. */
void ggcheck_fill_operand(const gg_kernel *row, const ggcheck_case *c, ggi_operand which,
                          ggcheck_operand *o, ggcheck_random *random);

/* NaN and infinities in A, B or C, where they reach some of D, never all of it if m, n > 2. */
void ggcheck_fill_special(ggcheck_operand *o);

/* A factor for alpha that brings sums of k products of normal data to D's range, where D is narrow
 * and the operands are wide and no scale does it: for s8 D of s8 operands; else 1. */
double ggcheck_alpha_unit(const gg_kernel *row, int64_t k);

#endif
