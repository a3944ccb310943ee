/* tensor_map.c - from a recipe and a call to tensor maps.
 *
 * Selection has asked ggi_map_holds, so that here every number fits; what the device's encoder
 * still refuses is an error in words, not a wrong map.
 */
#include "tensor_map.h"
#include "detail.h"
#include "device.h"
#include "dtype.h"
#include "epilogue.h"

#include <stdio.h>
#include <string.h>

static const gg_i64 EXTENT_END = (gg_i64)1 << 31;   /* elements: coordinates are s32 */
static const gg_i64 DISTANCE_END = (gg_i64)1 << 40; /* bytes */

ggi_map_shape ggi_map_shape_of(int operand, const gg_kernel *row, gg_i64 m, gg_i64 n, gg_i64 k,
                               gg_i64 batch, gg_i64 ld, gg_i64 stride) {
  const gg_dtype types[4] = {row->type_a, row->type_b, row->type_c, row->type_d};
  const gg_i64 rows[4] = {m, k, m, m}, columns[4] = {k, n, n, n};
  bool turned =
      (operand == 0 && row->order_a == GG_ORDER_T) || (operand == 1 && row->order_b == GG_ORDER_T);
  return (ggi_map_shape){.inner = turned ? rows[operand] : columns[operand],
                         .outer = turned ? columns[operand] : rows[operand],
                         .batch = batch > 1 && stride != 0 ? batch : 1,
                         .ld = ld,
                         .stride = batch > 1 ? stride : 0,
                         .type = types[operand],
                         .written = operand == 3};
}

/* A distance of `elements` is what a map can take: a multiple of 16 bytes below 2^40. */
static bool distance_fits(gg_i64 elements, int bytes) {
  if (elements % GGI_MAP_ALIGN * bytes % GGI_MAP_ALIGN != 0) return false;
  return elements < DISTANCE_END / bytes;
}

bool ggi_map_holds(const ggi_map_shape *s, char *text, size_t size) {
  int bytes = ggi_dtype_bytes(s->type);
  const gg_i64 extents[3] = {s->inner, s->outer, s->batch};
  for (int i = 0; i < 3; ++i)
    if (extents[i] >= EXTENT_END) {
      snprintf(text, size, "an extent of %lld is not below 2^31", extents[i]);
      return false;
    }
  /* A store writes all 16 bytes in which a row ends (seen on an H200); a load reads elements only.
   */
  if (s->written && s->inner % GGI_MAP_ALIGN * bytes % GGI_MAP_ALIGN != 0) {
    snprintf(text, size,
             "a store would pass the end of rows of %lld elements, no multiple of 16 bytes",
             s->inner);
    return false;
  }
  if (s->outer > 1 && !distance_fits(s->ld, bytes)) {
    snprintf(text, size, "rows of %lld elements are no multiple of 16 bytes below 2^40", s->ld);
    return false;
  }
  if (s->batch > 1 && !distance_fits(s->stride, bytes)) {
    snprintf(text, size, "a batch stride of %lld elements is no multiple of 16 bytes below 2^40",
             s->stride);
    return false;
  }
  return true;
}

bool ggi_map_recipe_sound(const gg_map_recipe *r, gg_dtype type, char *text, size_t size) {
  int bytes = r->box_inner * ggi_dtype_bytes(type);
  text[0] = '\0';
  if (!r->used) return true;
  if (r->swizzle != 0 && r->swizzle != 32 && r->swizzle != 64 && r->swizzle != 128)
    snprintf(text, size, "a swizzle of %d bytes; there are 0, 32, 64 and 128", r->swizzle);
  else if (r->promotion != 0 && r->promotion != 64 && r->promotion != 128 && r->promotion != 256)
    snprintf(text, size, "a promotion to %d bytes; there are 0, 64, 128 and 256", r->promotion);
  else if (r->box_inner < 1 || r->box_inner > GGI_MAP_BOX || r->box_outer < 1 ||
           r->box_outer > GGI_MAP_BOX)
    snprintf(text, size, "a box of %d x %d elements; each side has 1 to 256", r->box_inner,
             r->box_outer);
  else if (bytes % GGI_MAP_ALIGN != 0 || (r->swizzle != 0 && bytes > r->swizzle))
    snprintf(text, size, "a box of %d bytes; they are a multiple of 16%s", bytes,
             r->swizzle ? ", at most the swizzle's bytes" : "");
  return text[0] == '\0';
}

int ggi_row_align(const gg_kernel *row, int operand) {
  int ask = row->align[operand];
  return row->maps[operand].used && ask < GGI_MAP_ALIGN ? GGI_MAP_ALIGN : ask;
}

/* One map; the shape has no zero extent. */
static gg_status fill(gg_device *device, const gg_kernel *row, int operand, const void *base,
                      const ggi_map_shape *s, gg_tensor_map *to) {
  char reason[160];
  if (!ggi_map_holds(s, reason, sizeof reason))
    return ggi_fail(GG_ERR_ALIGNMENT, "kernel %s, tensor map of %c: %s", row->name, "ABCD"[operand],
                    reason);
  const gg_map_recipe *r = &row->maps[operand];
  gg_i64 bytes = ggi_dtype_bytes(s->type);
  /* The distance along an extent of 1 is never walked, but must be one that a map can take. */
  gg_i64 whole = (s->inner * bytes + GGI_MAP_ALIGN - 1) / GGI_MAP_ALIGN * GGI_MAP_ALIGN;
  gg_i64 pitch = s->outer > 1 ? s->ld * bytes : whole;
  const ggi_map map = {.base = base,
                       .type = s->type,
                       .extent = {s->inner, s->outer, s->batch},
                       .pitch = {pitch, s->batch > 1 ? s->stride * bytes : pitch},
                       .box = {r->box_inner, r->box_outer},
                       .swizzle = r->swizzle,
                       .promotion = r->promotion};
  gg_status status = device->ops->encode(device, &map, to);
  if (status == GG_OK) return GG_OK;
  snprintf(reason, sizeof reason, "%s", gg_error_detail());
  return ggi_fail(status, "kernel %s, tensor map of %c, %lld x %lld x %lld elements: %s", row->name,
                  "ABCD"[operand], s -> batch, s -> outer, s -> inner, reason);
}

gg_status ggi_maps_fill(gg_device *device, const gg_kernel *row, gg_args *args) {
  const void *const bases[4] = {args->a, args->b, args->c, args->d};
  const gg_i64 ld[4] = {args->lda, args->ldb, args->ldc, args->ldd};
  const gg_i64 strides[4] = {args->stride_a, args->stride_b, args->stride_c, args->stride_d};
  gg_tensor_map *const maps[4] = {&args->map_a, &args->map_b, &args->map_c, &args->map_d};
  gg_dtype scalars = ggi_row_epilogue(row);
  bool product = args->k > 0 && ggi_scalar_value(args->alpha, scalars) != 0;
  const bool read[4] = {product, product, ggi_scalar_value(args->beta, scalars) != 0, true};
  for (int i = 0; i < 4; ++i) {
    if (!row->maps[i].used) continue;
    memset(maps[i], 0, sizeof *maps[i]);
    if (!read[i]) continue;
    ggi_map_shape s =
        ggi_map_shape_of(i, row, args->m, args->n, args->k, args->batch, ld[i], strides[i]);
    gg_status status = fill(device, row, i, bases[i], &s, maps[i]);
    if (status != GG_OK) return status;
  }
  return GG_OK;
}
