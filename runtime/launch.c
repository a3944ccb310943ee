/* launch.c - from a row and a call to launches.
 *
 * All counting is in 64 bits and checked: a grid is either exact or an error.
 */
#include "launch.h"
#include "detail.h"
#include "dtype.h"
#include "epilogue.h"
#include "tensor_map.h"

static gg_i64 ceil_div(gg_i64 a, int b) {
  return a / b + (a % b != 0);
}

/* The next multiple of unit, or the largest number where that would be larger. */
static gg_i64 padded(gg_i64 tiles, int unit) {
  gg_i64 result;
  return __builtin_mul_overflow(ceil_div(tiles, unit), unit, &result) ? INT64_MAX : result;
}

gg_status ggi_grid_plan(const gg_kernel *row, gg_i64 m, gg_i64 n, gg_i64 batch, gg_i64 limit,
                        ggi_grid *grid) {
  if (m <= 0 || n <= 0 || batch <= 0) {
    *grid = (ggi_grid){0, 0, 0};
    return GG_OK;
  }
  gg_i64 tiles_m = padded(ceil_div(m, row->tile_m), row->cluster_m);
  gg_i64 tiles_n = padded(ceil_div(n, row->tile_n), row->cluster_n);
  gg_i64 tiles;
  limit /= row->cluster_k;
  if (__builtin_mul_overflow(tiles_m, tiles_n, &tiles) || tiles > limit)
    return ggi_fail(GG_ERR_LIMIT,
                    "m = %lld, n = %lld: %lld x %lld tiles of kernel %s exceed the %lld blocks of "
                    "one launch; split the problem along m or n",
                    m, n, tiles_m, tiles_n, row->name, limit);
  gg_i64 most = limit / tiles;
  gg_i64 launch = batch < most ? batch : most;
  *grid = (ggi_grid){tiles, launch, batch / launch + (batch % launch != 0)};
  return GG_OK;
}

static const void *advance(const void *p, gg_i64 matrices, gg_i64 stride, gg_dtype type) {
  if (!p || stride == 0) return p;
  return (const char *)p + matrices * stride * ggi_dtype_bytes(type);
}

/* The part of a batch that starts at matrix `first`: every pointer moved on. scale_d is one value
 * for all matrices, and so is absmax. */
static void advance_all(const gg_kernel *row, const gg_args *whole, gg_i64 first, gg_args *part) {
  const gg_args *w = whole;
  part->a = advance(w->a, first, w->stride_a, row->type_a);
  part->b = advance(w->b, first, w->stride_b, row->type_b);
  part->c = advance(w->c, first, w->stride_c, row->type_c);
  part->d = (void *)(uintptr_t)advance(w->d, first, w->stride_d, row->type_d);
  part->bias = advance(w->bias, first, w->stride_bias, ggi_bias_type(row->type_d));
  part->residual = advance(w->residual, first, w->stride_residual, row->type_d);
  part->scale_a = advance(w->scale_a, first, ggi_scale_stride(row->scaling_a, w->m, w->k), GG_F32);
  part->scale_b = advance(w->scale_b, first, ggi_scale_stride(row->scaling_b, w->n, w->k), GG_F32);
}

int ggi_cluster_blocks(const gg_kernel *row) {
  return row->cluster_m * row->cluster_n * row->cluster_k;
}

unsigned ggi_blocks(const gg_kernel *row, gg_i64 tiles, int resident) {
  gg_i64 clusters = tiles / (row->cluster_m * row->cluster_n);
  if (row->persistent) {
    gg_i64 rounds = ceil_div(clusters, resident);
    clusters = clusters / rounds + (clusters % rounds != 0);
  }
  return (unsigned)(clusters * ggi_cluster_blocks(row));
}

/* One launch; args are the caller's to change. */
static gg_status launch(gg_device *device, const gg_kernel *row, gg_i64 tiles, int resident,
                        bool early, gg_args *args, void *stream) {
  gg_status status = ggi_maps_fill(device, row, args);
  if (status != GG_OK) return status;
  return device->ops->launch(device, row, ggi_blocks(row, tiles * args->batch, resident), early,
                             args, stream);
}

gg_status ggi_launch(gg_device *device, const gg_kernel *row, int resident, bool early,
                     const gg_args *args, void *stream) {
  ggi_grid grid;
  gg_status status =
      ggi_grid_plan(row, args->m, args->n, args->batch, device->info.blocks_launch, &grid);
  if (status != GG_OK) return status;
  if (row->persistent && resident < 1)
    return ggi_fail(GG_ERR_DEVICE, "kernel %s: the device runs %d of its clusters at once",
                    row->name, resident);

  for (gg_i64 first = 0; first < args->batch && grid.launches > 0; first += grid.batch_launch) {
    gg_i64 left = args->batch - first;
    gg_args part = *args;
    part.batch = left < grid.batch_launch ? left : grid.batch_launch;
    advance_all(row, args, first, &part);
    status = launch(device, row, grid.tiles, resident, early, &part, stream);
    if (status != GG_OK) return status;
  }
  return GG_OK;
}
