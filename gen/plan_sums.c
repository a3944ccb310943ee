/* plan_sums.c - precision of sums inside tensor cores. Only fp8 leaves a choice; by how much sums
 * may be off is runtime/tools/ggcheck_sum.c's.
 */
#include "plan_sums.h"

bool plan_is_fp8(int type) {
  return type == GG_E4M3 || type == GG_E5M2;
}

void plan_promotion(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool fp8 = plan_is_fp8(p->type_a), fast = fp8 && plan_asked(b, SPEC_FAST_ACCUM, 0) != 0;
  if (!fp8 && plan_given(b, SPEC_FAST_ACCUM))
    plan_refuse(b, SPEC_FAST_ACCUM, "field-family",
                "sums of %s have one precision: only those of e4m3 and e5m2 may be fast; leave it "
                "out",
                dtype_name(p->type_a));
  SET(fast_accum, fast,
      fast  ? "asked by the spec"
      : fp8 ? "unless asked: sums would keep about 14 bits"
            : "the tensor core's sums are those of the accumulator's type");
  if (fast) buf_puts(&b->suffix, "_fast");
  SET(promote_k, fp8 && !fast ? PROMOTE_K : 0,
      fp8 && !fast ? "one block of k: its sum is exact enough, those of many are not"
                   : "sums stay where they are");
}
