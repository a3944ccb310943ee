/* plan_types.c - which types go together, as far as families agree about it. */
#include "plan_build.h"

void plan_require_rest(plan_builder *b, int acc) {
  const kernel_plan *p = b->plan;
  const struct {
    plan_field plan;
    spec_field spec;
    int wanted;
  } same[] = {{PLAN_type_b, SPEC_DTYPE_B, p->type_a},
              {PLAN_type_d, SPEC_DTYPE_D, p->type_a},
              {PLAN_type_c, SPEC_DTYPE_C, p->type_a},
              {PLAN_type_acc, SPEC_DTYPE_ACC, acc}};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; ++i) {
    int other = plan_value(p, same[i].plan);
    if (other != same[i].wanted)
      plan_refuse(b, same[i].spec, "dtype-family",
                  "%s where family %s with dtype.a = %s computes in %s; use that",
                  dtype_name(other), spec_family_name(p->family), dtype_name(p->type_a),
                  dtype_name(same[i].wanted));
  }
}

void plan_require_types(plan_builder *b) {
  const kernel_plan *p = b->plan;
  if (p->type_a != GG_F32 && p->type_a != GG_F64)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-family",
                "%s is not served by CUDA-core FMAs in family %s; use f32, f64 or family naive",
                dtype_name(p->type_a), spec_family_name(p->family));
  const struct {
    spec_field field;
    int type;
  } same[] = {{SPEC_DTYPE_B, p->type_b}, {SPEC_DTYPE_ACC, p->type_acc}};
  for (int i = 0; i < 2; ++i)
    if (same[i].type != p->type_a)
      plan_refuse(b, same[i].field, "dtype-family",
                  "%s where family %s with dtype.a = %s computes in %s; use that, or family naive",
                  dtype_name(same[i].type), spec_family_name(p->family), dtype_name(p->type_a),
                  dtype_name(p->type_a));
  plan_require_output(b);
}

bool plan_is_integer(int type) {
  return type == GG_S8 || type == GG_U8 || type == GG_S32;
}

/* May C be read into, or D be rounded from, the epilogue's type? */
static bool converts(int epilogue, int type) {
  switch (epilogue) {
  case GG_F64:
    return type == GG_F64 || type == GG_F32 || type == GG_TF32;
  case GG_S32:
    return plan_is_integer(type);
  default:
    return type != GG_F64;
  }
}

void plan_require_output(plan_builder *b) {
  const kernel_plan *p = b->plan;
  const struct {
    spec_field field;
    int type;
  } matrices[] = {{SPEC_DTYPE_D, p->type_d}, {SPEC_DTYPE_C, p->type_c}};
  for (int i = 0; i < 2; ++i)
    if (!converts(p->type_epilogue, matrices[i].type))
      plan_refuse(b, matrices[i].field, "dtype-family",
                  "%s, but alpha, beta and the other steps compute in %s, which has no conversion "
                  "%s it; use %s",
                  dtype_name(matrices[i].type), dtype_name(p->type_epilogue),
                  i == 0 ? "to" : "from", dtype_name(p->type_epilogue));
}
