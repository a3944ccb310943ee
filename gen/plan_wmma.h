/* plan_wmma.h - what the parts of family wmma's planner share. */
#ifndef GEN_PLAN_WMMA_H
#define GEN_PLAN_WMMA_H

#include "plan_copy.h"

/* Padding of operand 0's (A) or 1's (B) rows at which copies (by cp.async, or by shared stores) and
 * fragment loads together cost least. Needs types, layout and tiles. */
plan_padding plan_wmma_padding(const kernel_plan *p, int operand, bool async);

/* How many lanes of a fragment load meet in one bank, at the plan's pitch. */
int plan_wmma_ways(const kernel_plan *p, int operand);

#endif
