/* plan_epilogue.h - planning of the steps between the sum and D. */
#ifndef GEN_PLAN_EPILOGUE_H
#define GEN_PLAN_EPILOGUE_H

#include "plan_build.h"

/* What a family that has all steps lists in its plan_takes_<family>. */
#define PLAN_EPILOGUE_FIELDS                                                                       \
  SPEC_BIAS, SPEC_ACTIVATION, SPEC_RESIDUAL, SPEC_SCALE_A, SPEC_SCALE_B, SPEC_SCALE_D, SPEC_ABSMAX

/* Sets the steps and the type that they are computed in. */
void plan_epilogue(plan_builder *b);
/* Adds the steps that are not usual to a kernel's name: "_beta0_bias_n_relu". */
void plan_epilogue_name(const kernel_plan *p, buf *out);

/* Do scales of A or B come every 128 of k? Such sums are formed in parts. */
bool plan_has_parts(const kernel_plan *p);
/* Refuses scales that come every 128 of k; a family calls it whose main loop has no parts. */
void plan_refuse_parts(plan_builder *b);

/* Instructions of one output between the sum and D, in machine code of sm_90, C once; 0 where there
 * is nothing but alpha and beta. What belongs to rows and columns is not in it. */
int plan_step_instructions(const kernel_plan *p);
/* Registers of a thread for their constants and intermediate values; 0 as above. */
int plan_step_registers(const kernel_plan *p);

#endif
