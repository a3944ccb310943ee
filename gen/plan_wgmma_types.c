/* plan_wgmma_types.c - family wgmma: which types the tensor cores take, and what that asks of the
 * sums.
 *
 * Rows of shared memory are 128 bytes and an instruction takes 32 bytes of k, whatever the type.
 * 16-bit types may lie MN-major; the others only K-major. fp8 sums keep about 14 bits inside the
 * tensor core and are moved into f32 registers every 128 of k unless fast_accum is asked.
 */
#include "plan_wgmma.h"

static bool is_fp8(int type) {
  return type == GG_E4M3 || type == GG_E5M2;
}

static bool is_whole(int type) {
  return type == GG_S8 || type == GG_U8;
}

static void require_factors(plan_builder *b) {
  const kernel_plan *p = b->plan;
  int type = p->type_a;
  if (type == GG_F32)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-family",
                "tensor cores do not multiply f32; use tf32 (10 bits of fraction), or family simt");
  else if (type != GG_BF16 && type != GG_F16 && !is_fp8(type))
    plan_refuse(b, SPEC_DTYPE_A, "dtype-family",
                "%s is not served by family wgmma yet; use bf16, f16, e4m3 or e5m2",
                dtype_name(type));
  bool mixed = is_fp8(type) && is_fp8(p->type_b);
  if (p->type_b != type && !mixed)
    plan_refuse(b, SPEC_DTYPE_B, "dtype-family", "%s does not multiply with %s; use %s",
                dtype_name(p->type_b), dtype_name(type),
                is_fp8(type) ? "e4m3 or e5m2" : dtype_name(type));
  int acc = is_whole(type) ? GG_S32 : GG_F32;
  if (p->type_acc != acc)
    plan_refuse(b, SPEC_DTYPE_ACC, "dtype-family", "%s where family wgmma sums %s in %s; use that",
                dtype_name(p->type_acc), dtype_name(type), dtype_name(acc));
}

static void require_results(plan_builder *b) {
  const kernel_plan *p = b->plan;
  const struct {
    int type;
    spec_field spec;
  } results[] = {{p->type_d, SPEC_DTYPE_D}, {p->type_c, SPEC_DTYPE_C}};
  for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i)
    if (results[i].type != GG_F16 && results[i].type != GG_BF16)
      plan_refuse(b, results[i].spec, "dtype-family",
                  "%s is not stored by family wgmma yet; use bf16 or f16",
                  dtype_name(results[i].type));
}

static void choose_promotion(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool fp8 = is_fp8(p->type_a), fast = fp8 && plan_asked(b, SPEC_FAST_ACCUM, 0) != 0;
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

void plan_wgmma_types(plan_builder *b) {
  if (!b->gpu->has_wgmma)
    plan_refuse(b, SPEC_FAMILY, "family-gpu", "wgmma needs sm_90a, %s is sm_%d; use family simt",
                b->gpu->name, b->gpu->arch);
  require_factors(b);
  require_results(b);
  if (b->result == PLAN_OK && b->variant != VARIANT_NARROW) choose_promotion(b);
}

bool plan_wgmma_native(const kernel_plan *p) {
  return p->element == 2 || (plan_contiguous_k(p, 0) && plan_contiguous_k(p, 1));
}
