/* epilogue.c - types, extents and names of the epilogue's steps. */
#include "epilogue.h"

/* Elements of k, rows or columns that one scale of GROUP or BLOCK covers (gg_kernel.h). */
enum { SCALE_BLOCK = 128 };

gg_dtype ggi_epilogue_type(gg_dtype acc, gg_dtype d, bool steps) {
  if (acc == GG_F64) return GG_F64;
  return acc == GG_S32 && d == GG_S32 && !steps ? GG_S32 : GG_F32;
}

bool ggi_row_steps(const gg_kernel *r) {
  return r->bias || r->activation || r->scaling_a || r->scaling_b || r->scaling_d || r->residual ||
         r->absmax;
}

bool ggi_problem_steps(const gg_problem *p) {
  return p->bias || p->activation || p->scaling_a || p->scaling_b || p->scaling_d || p->residual ||
         p->absmax;
}

gg_dtype ggi_row_epilogue(const gg_kernel *row) {
  return ggi_epilogue_type(row->type_acc, row->type_d, ggi_row_steps(row));
}

gg_dtype ggi_problem_epilogue(const gg_problem *p) {
  return ggi_epilogue_type(p->type_acc, p->type_d, ggi_problem_steps(p));
}

gg_dtype ggi_bias_type(gg_dtype d) {
  return d == GG_F64 || d == GG_F16 || d == GG_BF16 ? d : GG_F32;
}

static gg_i64 blocks(gg_i64 extent) {
  return extent / SCALE_BLOCK + (extent % SCALE_BLOCK != 0);
}

static gg_i64 product(gg_i64 x, gg_i64 y) {
  gg_i64 result;
  return __builtin_mul_overflow(x, y, &result) ? -1 : result;
}

gg_i64 ggi_scale_count(gg_scaling scaling, gg_i64 extent, gg_i64 k) {
  switch (scaling) {
  case GG_SCALING_NONE:
    break;
  case GG_SCALING_TENSOR:
    return 1;
  case GG_SCALING_VECTOR:
    return extent;
  case GG_SCALING_GROUP:
    return product(blocks(k), extent);
  case GG_SCALING_BLOCK:
    return product(blocks(k), blocks(extent));
  }
  return 0;
}

gg_i64 ggi_scale_stride(gg_scaling scaling, gg_i64 extent, gg_i64 k) {
  return scaling == GG_SCALING_TENSOR ? 0 : ggi_scale_count(scaling, extent, k);
}

/* ---- Names, ORDER of the enumerations in gg_kernel.h ---- */

static const char *name_of(const char *const *names, int count, int value) {
  return value >= 0 && value < count ? names[value] : "?";
}

const char *ggi_bias_name(gg_bias bias) {
  static const char *const names[] = {"none", "n", "m"};
  return name_of(names, 3, (int)bias);
}

const char *ggi_activation_name(gg_activation activation) {
  static const char *const names[] = {"none", "relu", "gelu", "silu", "gelu_tanh"};
  return name_of(names, 5, (int)activation);
}

const char *ggi_scaling_name(gg_scaling scaling) {
  static const char *const names[] = {"none", "tensor", "vector", "group", "block"};
  return name_of(names, 5, (int)scaling);
}
