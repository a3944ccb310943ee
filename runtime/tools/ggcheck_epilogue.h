/* ggcheck_epilogue.h - the epilogue's steps on one value, exactly, with a bound on what a kernel's
 * own arithmetic may add at each of them.
 */
#ifndef GGCHECK_EPILOGUE_H
#define GGCHECK_EPILOGUE_H

#include "gg_kernel.h"
#include <stdbool.h>

/* A value on its way from the accumulator to D: high + low, and by how much a kernel's may differ
 * from it. exact: a kernel's is equal, all arithmetic so far having had nothing to round. */
typedef struct ggcheck_value {
  double high, low, error;
  bool exact;
} ggcheck_value;

/* Does an operand of this type in memory round when it is widened to the epilogue's type? */
bool ggcheck_widening_rounds(gg_dtype from, gg_dtype epilogue);

/* value += x * factor without an error of its own; compensated. */
void ggcheck_add_product(ggcheck_value *value, double factor, double x);

/* Bias or residual: an addition in the epilogue's type of an operand of type `from`. */
void ggcheck_step_add(ggcheck_value *value, double x, gg_dtype from, gg_dtype epilogue);
void ggcheck_step_activation(ggcheck_value *value, gg_activation activation, gg_dtype epilogue);
void ggcheck_step_scale(ggcheck_value *value, double scale, gg_dtype epilogue);
/* D's rounding, where its type has fewer bits than the epilogue's. */
void ggcheck_step_store(ggcheck_value *value, gg_dtype d, gg_dtype epilogue);

#endif
