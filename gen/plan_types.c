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

void plan_require_types(plan_builder *b, bool narrow) {
  const kernel_plan *p = b->plan;
  bool short_float = narrow && (p->type_a == GG_F16 || p->type_a == GG_BF16);
  if (p->type_a != GG_F32 && p->type_a != GG_F64 && !short_float)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-family",
                "%s is not served by CUDA-core FMAs in family %s; use f32 or f64",
                dtype_name(p->type_a), spec_family_name(p->family));
  plan_require_rest(b, short_float ? GG_F32 : p->type_a);
}

static bool is_integer(int type) {
  return type == GG_S8 || type == GG_U8 || type == GG_S32;
}

/* May C be read into, or D be rounded from, the epilogue's type? */
static bool converts(int epilogue, int type) {
  switch (epilogue) {
  case GG_F64:
    return type == GG_F64 || type == GG_F32 || type == GG_TF32;
  case GG_S32:
    return is_integer(type);
  default:
    return type != GG_F64;
  }
}

void plan_require_output(plan_builder *b) {
  const kernel_plan *p = b->plan;
  if (!converts(p->type_epilogue, p->type_d))
    plan_refuse(b, SPEC_DTYPE_D, "dtype-family", "%s cannot hold what is computed in %s; use %s",
                dtype_name(p->type_d), dtype_name(p->type_epilogue), dtype_name(p->type_epilogue));
  if (!converts(p->type_epilogue, p->type_c))
    plan_refuse(b, SPEC_DTYPE_C, "dtype-family",
                "%s cannot be added to what is computed in %s; use %s", dtype_name(p->type_c),
                dtype_name(p->type_epilogue), dtype_name(p->type_epilogue));
}
