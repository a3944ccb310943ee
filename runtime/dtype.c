/* dtype.c - facts of element types, one table. ORDER DTYPE. */
#include "dtype.h"

#include <stdbool.h>
#include <string.h>

static const struct {
  const char *name;
  int bytes;
  gg_dtype accumulator;
} types[] = {
    [GG_NONE] = {"none", 0, GG_NONE}, [GG_F64] = {"f64", 8, GG_F64},
    [GG_F32] = {"f32", 4, GG_F32},    [GG_TF32] = {"tf32", 4, GG_F32},
    [GG_F16] = {"f16", 2, GG_F32},    [GG_BF16] = {"bf16", 2, GG_F32},
    [GG_E4M3] = {"e4m3", 1, GG_F32},  [GG_E5M2] = {"e5m2", 1, GG_F32},
    [GG_S8] = {"s8", 1, GG_S32},      [GG_U8] = {"u8", 1, GG_S32},
    [GG_S32] = {"s32", 4, GG_S32},
};
enum { TYPE_COUNT = (int)(sizeof types / sizeof types[0]) };

static bool known(gg_dtype type) {
  return (int)type >= 0 && (int)type < TYPE_COUNT;
}

int ggi_dtype_bytes(gg_dtype type) {
  return known(type) ? types[type].bytes : 0;
}

const char *ggi_dtype_name(gg_dtype type) {
  return known(type) ? types[type].name : "?";
}

gg_dtype ggi_dtype_accumulator(gg_dtype type) {
  return known(type) ? types[type].accumulator : GG_NONE;
}

gg_dtype ggi_dtype_find(const char *name) {
  for (int i = 1; i < TYPE_COUNT; ++i)
    if (strcmp(name, types[i].name) == 0) return (gg_dtype)i;
  return GG_NONE;
}

gg_dtype ggi_dtype_memory(gg_dtype type) {
  return type == GG_TF32 ? GG_F32 : type;
}

gg_scalar ggi_scalar_of(double value, gg_dtype epilogue) {
  if (epilogue == GG_S32) return gg_scalar_s32((int)value);
  return epilogue == GG_F64 ? gg_scalar_f64(value) : gg_scalar_f32((float)value);
}

double ggi_scalar_value(gg_scalar s, gg_dtype epilogue) {
  if (epilogue == GG_F64) return s.f64;
  if (epilogue == GG_S32) return s.s32;
  return (double)s.f32;
}
