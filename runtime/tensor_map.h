/* tensor_map.h - TMA descriptors of a call: can there be one, and what is in it. */
#ifndef GGI_TENSOR_MAP_H
#define GGI_TENSOR_MAP_H

#include "gg.h"
#include <stdbool.h>

/* What a tensor map must hold (CUDA driver API, cuTensorMapEncodeTiled). */
enum { GGI_MAP_ALIGN = 16, GGI_MAP_BOX = 256 };

/* A rank-3 map in plain numbers, for the device's encoder. */
typedef struct ggi_map {
  const void *base;
  gg_dtype type;
  gg_i64 extent[3]; /* elements: contiguous axis, other axis, batch; each at least 1 */
  gg_i64 pitch[2];  /* bytes between steps of the last two */
  int box[2];       /* elements; 1 along the batch */
  int swizzle;      /* bytes; 0: none */
  int promotion;    /* bytes; 0: none */
} ggi_map;

/* Sizes of one operand, as selection and launch know them. */
typedef struct ggi_map_shape {
  gg_i64 inner, outer, batch; /* elements along the contiguous axis, the other; matrices */
  gg_i64 ld, stride;          /* elements */
  gg_dtype type;
  bool written; /* D */
} ggi_map_shape;

/* The shape of operand 0 to 3 (a, b, c, d) of a call with a row of these orders and types. */
ggi_map_shape ggi_map_shape_of(int operand, const gg_kernel *row, gg_i64 m, gg_i64 n, gg_i64 k,
                               gg_i64 batch, gg_i64 ld, gg_i64 stride);

/* Can a map hold it? Else the reason, one clause, in text. */
bool ggi_map_holds(const ggi_map_shape *s, char *text, size_t size);

/* Is the recipe one that some map can have? Else the reason in text. */
bool ggi_map_recipe_sound(const gg_map_recipe *r, gg_dtype type, char *text, size_t size);

/* Bytes that the row asks of an operand's pointer, its map included. */
int ggi_row_align(const gg_kernel *row, int operand);

/* Fills the maps of the row's recipes from the other arguments; maps of operands that are not read
 * are zeroed. */
gg_status ggi_maps_fill(gg_device *device, const gg_kernel *row, gg_args *args);

#endif
