/* epilogue.h - what the steps of an epilogue read, in which types and how much of it.
 *
 * The steps are those at gg_bias in gg_kernel.h.
 */
#ifndef GGI_EPILOGUE_H
#define GGI_EPILOGUE_H

#include "gg.h"
#include <stdbool.h>

/* The type of alpha, beta and everything between accumulator and D. steps: has any step besides
 * them. */
gg_dtype ggi_epilogue_type(gg_dtype acc, gg_dtype d, bool steps);

/* Has the row (the checked problem) a step besides alpha and beta? */
bool ggi_row_steps(const gg_kernel *row);
bool ggi_problem_steps(const gg_problem *p);

/* The type of a row's (a checked problem's) scalars. */
gg_dtype ggi_row_epilogue(const gg_kernel *row);
gg_dtype ggi_problem_epilogue(const gg_problem *p);

gg_dtype ggi_bias_type(gg_dtype d);

/* Scales of one matrix with `extent` rows of A or columns of B: 0 for NONE, and for GROUP and BLOCK
 * where k is 0; -1 if they exceed 64 bits. */
gg_i64 ggi_scale_count(gg_scaling scaling, gg_i64 extent, gg_i64 k);

/* Scales between two matrices of a batch: 0 for NONE and TENSOR. Else as ggi_scale_count. */
gg_i64 ggi_scale_stride(gg_scaling scaling, gg_i64 extent, gg_i64 k);

/* "none", "n", "gelu_tanh", "vector"; "?" for what is none. */
const char *ggi_bias_name(gg_bias bias);
const char *ggi_activation_name(gg_activation activation);
const char *ggi_scaling_name(gg_scaling scaling);

#endif
