/* plan_sums.h - what tensor cores keep of the sums of fp8 products, for the families that use them.
 */
#ifndef GEN_PLAN_SUMS_H
#define GEN_PLAN_SUMS_H

#include "plan_build.h"

enum { PROMOTE_K = 128 }; /* elements: the k of one block of 8-bit types */

/* e4m3 or e5m2? */
bool plan_is_fp8(int type);
/* Sets promote_k and fast_accum: sums of fp8 keep about 14 bits inside the tensor core, so they
 * move to full precision every PROMOTE_K of k unless the spec asks for fast_accum, which is refused
 * for other types. */
void plan_promotion(plan_builder *b);

#endif
