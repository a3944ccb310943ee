/* plan_wgmma.h - what the files of family wgmma's planner share. */
#ifndef GEN_PLAN_WGMMA_H
#define GEN_PLAN_WGMMA_H

#include "plan_copy.h"

enum { PROMOTE_K = 128 }; /* elements: the k of one block of 8-bit types */

/* Refuses types that the tensor cores do not take; sets promote_k. */
void plan_wgmma_types(plan_builder *b);
/* Do the tensor cores read both operands as they lie? 16-bit types in every layout, others K-major
 * alone. */
bool plan_wgmma_native(const kernel_plan *p);

#endif
