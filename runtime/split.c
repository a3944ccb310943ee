/* split.c - how k is cut, what that takes, and its launches.
 *
 * A part is a matrix of a batch whose A and B begin `k` further on; nothing else of the kernel that
 * sums them differs. All parts are of one size, whole k tiles, so k must be a multiple of it.
 */
#include "split.h"
#include "dtype.h"
#include "epilogue.h"
#include "launch.h"

#include <string.h>

enum { ROW_ALIGN = 128, WAVES_MOST = 4 }; /* bytes; more rounds of blocks than that gain nothing */

/* k is cut where the prediction is clear. */
static const double MARGIN = 1.05;

/* The call as the kernel of the sums sees it. false: no memory holds the parts. */
static bool sums_call(const ggi_call *call, const gg_kernel *row, gg_i64 parts, ggi_split *split,
                      ggi_call *sums) {
  gg_i64 element = ggi_dtype_bytes(row->type_acc), unit = ROW_ALIGN / element, elements;
  split->parts = parts;
  split->k = call->k / parts;
  split->ld = (call->n + unit - 1) / unit * unit;
  if (!ggi_product_fits(call->m, split->ld, &split->stride) ||
      !ggi_product_fits(split->stride, parts, &elements) ||
      !ggi_product_fits(elements, element, &split->bytes))
    return false;
  split->bytes =
      (split->bytes + GGI_WORKSPACE_ALIGN - 1) / GGI_WORKSPACE_ALIGN * GGI_WORKSPACE_ALIGN;
  *sums = (ggi_call){.type_a = call->type_a,
                     .type_b = call->type_b,
                     .type_c = row->type_acc,
                     .type_d = row->type_acc,
                     .type_acc = call->type_acc,
                     .order_a = call->order_a,
                     .order_b = call->order_b,
                     .alpha = GG_SCALAR_ONE,
                     .beta = GG_SCALAR_ZERO,
                     .fast_accum = call->fast_accum,
                     .m = call->m,
                     .n = call->n,
                     .k = split->k,
                     .batch = parts};
  memcpy(sums->ld, call->ld, sizeof sums->ld);
  memcpy(sums->align, call->align, sizeof sums->align);
  sums->ld[3] = split->ld;
  sums->stride[3] = split->stride;
  sums->align[3] = GGI_WORKSPACE_ALIGN;
  return ggi_product_fits(split->k, call->order_a == GG_ORDER_T ? call->ld[0] : 1,
                          &sums->stride[0]) &&
         ggi_product_fits(split->k, call->order_b == GG_ORDER_N ? call->ld[1] : 1,
                          &sums->stride[1]);
}

/* The call as the reduction sees it. */
static ggi_call reduce_call(const ggi_call *call, const ggi_split *split) {
  ggi_call c = *call;
  c.type_a = c.type_b = call->type_acc;
  c.order_a = c.order_b = GG_ORDER_N;
  c.k = split->parts;
  c.ld[1] = split->ld, c.stride[1] = split->stride, c.align[1] = GGI_WORKSPACE_ALIGN;
  return c;
}

double ggi_split_ns(const ggi_split *split, const ggi_call *call, const gg_device_info *device) {
  enum { L2_SHARE = 2, L2_SPEED = 2 };
  double outputs = (double)call->m * (double)call->n;
  double element = ggi_dtype_bytes(call->type_acc), d = ggi_dtype_bytes(call->type_d);
  /* Parts are written and read; D was to be written anyway. */
  double parts = 2 * outputs * (double)split->parts * element;
  if (parts / 2 <= (double)device->l2_bytes / L2_SHARE) parts /= L2_SPEED;
  return split->reduce->overhead_ns + (parts + outputs * d) / ggi_row_gbs(split->reduce, device);
}

/* The reduction for a call; NULL: the tables have none. */
static const gg_kernel *find_reduce(const gg_kernel_table *const *tables, size_t count,
                                    const ggi_call *call, const ggi_split *split,
                                    const gg_device_info *device) {
  const ggi_call seen = reduce_call(call, split);
  for (size_t i = 0; i < count; ++i)
    for (int j = 0; j < tables[i]->count; ++j) {
      const gg_kernel *row = &tables[i]->kernels[j];
      if (ggi_reduce_applies(row, tables[i]->emulated, &seen, device)) return row;
    }
  return NULL;
}

/* Could sums in this row's D be parts of the call's? */
static bool may_sum(const gg_kernel *row, const ggi_call *call) {
  return call->batch == 1 && row->kind == GG_KIND_GEMM && row->sm_gflops > 0 &&
         row->type_d == row->type_acc && call->k > 0 && row->tile_k > 0;
}

bool ggi_split_find(const gg_kernel_table *const *tables, size_t count, const gg_kernel *row,
                    int emulated, const ggi_call *call, const gg_device_info *device,
                    ggi_split *split, double *time) {
  *split = (ggi_split){.reduce = NULL};
  if (!may_sum(row, call)) return false;
  gg_i64 k_tiles = call->k / row->tile_k;
  double blocks = (double)((call->m + row->tile_m - 1) / row->tile_m) *
                  (double)((call->n + row->tile_n - 1) / row->tile_n);
  double most = (double)WAVES_MOST * device->sms / blocks;
  bool applies = false;
  for (gg_i64 parts = 2; parts <= k_tiles && (double)parts <= most; ++parts) {
    ggi_split one = {.reduce = NULL};
    ggi_call sums;
    if (call->k % (parts * row->tile_k) != 0 || !sums_call(call, row, parts, &one, &sums)) continue;
    if (!applies && ggi_row_applies(row, emulated, &sums, device, NULL, 0) != GGI_APPLIES) continue;
    applies = true; /* and for all further numbers of parts: each begins at a k tile */
    one.reduce = split->reduce ? split->reduce : find_reduce(tables, count, call, &one, device);
    if (!one.reduce) return false;
    double rest = ggi_row_ns(row, call, device, ggi_split_ns(&one, call, device));
    double own = MARGIN * ((double)parts * ggi_row_time(row, &sums, device) + rest);
    if (split->reduce && own >= *time) continue;
    one.early = ggi_row_early(row, &sums, device);
    *split = one;
    *time = own;
  }
  return split->reduce != NULL;
}

gg_status ggi_split_launch(gg_device *device, const gg_kernel *row, const ggi_split *split,
                           int resident, const gg_args *args, void *parts, bool product,
                           void *stream) {
  gg_args sums;
  memset(&sums, 0, sizeof sums);
  sums.a = args->a, sums.b = args->b, sums.d = parts;
  sums.m = args->m, sums.n = args->n, sums.k = split->k, sums.batch = split->parts;
  sums.lda = args->lda, sums.ldb = args->ldb, sums.ldd = split->ld;
  sums.stride_a = split->k * (row->order_a == GG_ORDER_T ? args->lda : 1);
  sums.stride_b = split->k * (row->order_b == GG_ORDER_N ? args->ldb : 1);
  sums.stride_d = split->stride;
  sums.alpha = ggi_scalar_of(1, ggi_row_epilogue(row));
  gg_status status =
      product ? ggi_launch(device, row, resident, split->early, &sums, stream) : GG_OK;
  if (status != GG_OK) return status;
  gg_args rest = *args;
  rest.a = NULL;
  rest.b = product ? parts : NULL, rest.ldb = split->ld, rest.stride_b = split->stride;
  rest.k = product ? split->parts : 0;
  return ggi_launch(device, split->reduce, 1, split->reduce->programmatic, &rest, stream);
}
