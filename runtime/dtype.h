/* dtype.h - facts of element types. ORDER DTYPE (gg_kernel.h, gen/spec.c). */
#ifndef GGI_DTYPE_H
#define GGI_DTYPE_H

#include "gg.h"

int ggi_dtype_bytes(gg_dtype type);        /* bytes of an element; 0: not a type */
const char *ggi_dtype_name(gg_dtype type); /* "f32", "tf32"; "none" or "?" */
gg_dtype ggi_dtype_find(const char *name); /* GG_NONE if unknown */
/* The accumulator that goes without saying: f64 for f64, s32 for s8 and u8, else f32. */
gg_dtype ggi_dtype_accumulator(gg_dtype type);
/* The type of C and D in memory: f32 for tf32, else the type. */
gg_dtype ggi_dtype_memory(gg_dtype type);
/* A scalar of the epilogue's type (epilogue.h). */
double ggi_scalar_value(gg_scalar s, gg_dtype epilogue);
gg_scalar ggi_scalar_of(double value, gg_dtype epilogue);

#endif
