/* plan_mma_types.c - which types mma.sync multiplies, by which instruction, and what that asks of
 * the sums.
 */
#include "plan_epilogue.h"
#include "plan_mma.h"
#include "plan_sums.h"

#include <stdio.h>
#include <string.h>

/* What mma.sync multiplies, and since which architecture; n is 8. Of equal types the first that
 * the GPU has is the default. */
typedef struct mma_shape {
  int a, b, acc, m, k, arch;
} mma_shape;

static const mma_shape shapes[] = {
    {GG_BF16, GG_BF16, GG_F32, 16, 16, 80}, {GG_F16, GG_F16, GG_F32, 16, 16, 80},
    {GG_F16, GG_F16, GG_F32, 16, 8, 75},    {GG_F16, GG_F16, GG_F16, 16, 16, 80},
    {GG_F16, GG_F16, GG_F16, 16, 8, 75},    {GG_TF32, GG_TF32, GG_F32, 16, 8, 80},
    {GG_E4M3, GG_E4M3, GG_F32, 16, 32, 89}, {GG_E5M2, GG_E5M2, GG_F32, 16, 32, 89},
    {GG_E4M3, GG_E5M2, GG_F32, 16, 32, 89}, {GG_E5M2, GG_E4M3, GG_F32, 16, 32, 89},
    {GG_S8, GG_S8, GG_S32, 16, 32, 80},     {GG_U8, GG_U8, GG_S32, 16, 32, 80},
    {GG_S8, GG_U8, GG_S32, 16, 32, 80},     {GG_U8, GG_S8, GG_S32, 16, 32, 80},
    {GG_S8, GG_S8, GG_S32, 16, 16, 80},     {GG_U8, GG_U8, GG_S32, 16, 16, 80},
    {GG_S8, GG_U8, GG_S32, 16, 16, 80},     {GG_U8, GG_S8, GG_S32, 16, 16, 80},
    {GG_S8, GG_S8, GG_S32, 8, 16, 75},      {GG_U8, GG_U8, GG_S32, 8, 16, 75},
    {GG_S8, GG_U8, GG_S32, 8, 16, 75},      {GG_U8, GG_S8, GG_S32, 8, 16, 75},
    {GG_F64, GG_F64, GG_F64, 16, 8, 90},    {GG_F64, GG_F64, GG_F64, 16, 4, 90},
    {GG_F64, GG_F64, GG_F64, 16, 16, 90},   {GG_F64, GG_F64, GG_F64, 8, 4, 80},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool multiplies(const mma_shape *s, const kernel_plan *p) {
  return s->a == p->type_a && s->b == p->type_b && s->acc == p->type_acc;
}

/* Words for what is wrong where no shape serves the types and what was asked. */
static void refuse_instruction(plan_builder *b) {
  const kernel_plan *p = b->plan;
  int arch = 0;
  char known[96] = "";
  for (int i = 0; i < SHAPES; ++i) {
    const mma_shape *s = &shapes[i];
    if (!multiplies(s, p)) continue;
    if (arch == 0 || s->arch < arch) arch = s->arch;
    size_t at = strlen(known);
    if (s->arch <= b->gpu->arch)
      snprintf(known + at, sizeof known - at, "%s%dx8x%d", at > 0 ? ", " : "", s->m, s->k);
  }
  if (arch == 0)
    plan_refuse(
        b, SPEC_DTYPE_A, "dtype-family",
        "mma.sync does not multiply %s by %s with sums in %s; use bf16, f16, tf32 or f64 alike, "
        "e4m3 and e5m2, or s8 and u8, or family simt",
        dtype_name(p->type_a), dtype_name(p->type_b), dtype_name(p->type_acc));
  else if (arch > b->gpu->arch)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-gpu",
                "mma.sync takes %s from sm_%d on, %s is sm_%d; use %s", dtype_name(p->type_a), arch,
                b->gpu->name, b->gpu->arch, b->gpu->arch >= 75 ? "f16" : "family simt or wmma");
  else
    plan_refuse(b,
                plan_given(b, SPEC_INST_K)   ? SPEC_INST_K
                : plan_given(b, SPEC_INST_M) ? SPEC_INST_M
                                             : SPEC_INST_N,
                "instruction", "%s has no such shape of mma.sync for %s; use %s", b->gpu->name,
                dtype_name(p->type_a), known);
}

static void choose_instruction(plan_builder *b) {
  kernel_plan *p = b->plan;
  const mma_shape *usual = NULL, *found = NULL;
  for (int i = 0; i < SHAPES && found == NULL; ++i) {
    const mma_shape *s = &shapes[i];
    if (!multiplies(s, p) || s->arch > b->gpu->arch) continue;
    if (usual == NULL) usual = s;
    if (plan_asked(b, SPEC_INST_M, s->m) == s->m && plan_asked(b, SPEC_INST_N, 8) == 8 &&
        plan_asked(b, SPEC_INST_K, s->k) == s->k)
      found = s;
  }
  if (found == NULL) {
    refuse_instruction(b);
    return;
  }
  TAKE(inst_m, INST_M, usual->m, "im", "of the shape that sm_%d has for %s", b->gpu->arch,
       dtype_name(p->type_a));
  TAKE(inst_n, INST_N, 8, NULL, "mma.sync's only one");
  SET(inst_k, found->k, "of the shape%s", found == usual ? "" : " that is asked");
  if (found->m == usual->m && found->k != usual->k) buf_printf(&b->suffix, "_ik%d", found->k);
  int step = 32 / p->element;
  if (p->type_a == GG_F64)
    SET(step_k, p->inst_k, "one instruction's k: fragments of f64 are large");
  else
    SET(step_k, step, "32 bytes: what one ldmatrix brings of 16 rows%s",
        p->inst_k < step ? ", two instructions' k" : "");
}

void plan_mma_types(plan_builder *b) {
  choose_instruction(b);
  plan_require_output(b);
  if (b->result != PLAN_OK) return;
  plan_promotion(b);
  if (b->plan->promote_k == 0) plan_refuse_parts(b);
}
