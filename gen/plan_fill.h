/* plan_fill.h - what writing the ring costs shared memory. */
#ifndef GEN_PLAN_FILL_H
#define GEN_PLAN_FILL_H

#include "plan.h"

/* Wavefronts of one k tile of operand 0 (A) or 1 (B), all threads of the block. Pure. */
int plan_fill_waves(const kernel_plan *p, int operand);

#endif
