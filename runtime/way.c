/* way.c - what a call takes besides a kernel: copies of operands, or k in parts.
 *
 * A copy changes what selection sees of one operand (order, pitch, stride, alignment) and nothing
 * else, so the tests of select.h decide for copied operands as for any other.
 */
#include "way.h"
#include "device.h"
#include "dtype.h"
#include "launch.h"
#include "tensor_map.h"

#include <stdio.h>
#include <string.h>

static gg_dtype type_of(const ggi_call *call, int operand) {
  return operand == 0 ? call->type_a : call->type_b;
}

static gg_order order_of(const ggi_call *call, int operand) {
  return operand == 0 ? call->order_a : call->order_b;
}

static gg_i64 round_up(gg_i64 value, gg_i64 unit) {
  return (value + unit - 1) / unit * unit;
}

/* The shape of an operand's copy; false: no memory or no launch holds it. */
static bool copy_shape(const ggi_call *call, int operand, const gg_kernel *pass, gg_i64 blocks,
                       ggi_copy *copy) {
  gg_i64 element = ggi_dtype_bytes(type_of(call, operand));
  const gg_i64 extents[2][2] = {{call->m, call->k}, {call->k, call->n}};
  bool stored_turned = order_of(call, operand) == GG_ORDER_T;
  gg_i64 rows = extents[operand][stored_turned], columns = extents[operand][!stored_turned];
  bool turned = pass->order_a == GG_ORDER_T;
  bool shared = call->batch <= 1 || call->stride[operand] == 0;
  gg_i64 lines = turned ? columns : rows, elements, bytes, tiles;
  *copy = (ggi_copy){.pass = pass,
                     .rows = rows,
                     .columns = columns,
                     .matrices = shared ? 1 : call->batch,
                     .ld = round_up(turned ? rows : columns, pass->align[3] / element)};
  if (!ggi_product_fits(lines, copy->ld, &copy->stride) ||
      !ggi_product_fits(copy->stride, copy->matrices, &elements) ||
      !ggi_product_fits(elements, element, &bytes) ||
      !ggi_product_fits(round_up(rows, pass->tile_m) / pass->tile_m,
                        round_up(columns, pass->tile_n) / pass->tile_n, &tiles) ||
      tiles > blocks)
    return false;
  copy->bytes = round_up(bytes, GGI_WORKSPACE_ALIGN);
  if (shared) copy->stride = 0;
  return true;
}

double ggi_copy_ns(const ggi_copy *copy, const gg_device_info *device) {
  const gg_kernel *pass = copy->pass;
  double rows = (double)round_up(copy->rows, pass->tile_m);
  double columns = (double)round_up(copy->columns, pass->tile_n);
  double elements = (double)copy->rows * (double)copy->columns;
  double least = rows * columns * pass->partial_percent / 100;
  double bytes = (double)copy->matrices * (least > elements ? least : elements) *
                 ggi_dtype_bytes(pass->type_a);
  return pass->overhead_ns + 2 * bytes / ggi_row_gbs(pass, device);
}

/* The fastest copy of an operand, turned or not; false: the tables have none. */
static bool find_copy(const ggi_rows *rows, const ggi_call *call, int operand, bool turned,
                      ggi_copy *best) {
  best->pass = NULL;
  for (size_t i = 0; i < rows->count; ++i)
    for (int j = 0; j < rows->tables[i]->count; ++j) {
      const gg_kernel *pass = &rows->tables[i]->kernels[j];
      ggi_copy copy;
      if (pass->kind != GG_KIND_REPACK || (pass->order_a == GG_ORDER_T) != turned ||
          ggi_dtype_bytes(pass->type_a) != ggi_dtype_bytes(type_of(call, operand)) ||
          !ggi_row_runs(pass, rows->tables[i]->emulated, rows->device) ||
          !copy_shape(call, operand, pass, rows->device->blocks_launch, &copy))
        continue;
      if (!best->pass || ggi_copy_ns(&copy, rows->device) < ggi_copy_ns(best, rows->device))
        *best = copy;
    }
  return best->pass != NULL;
}

/* What a kernel sees of an operand in its copy. */
static void see_copy(ggi_call *call, int operand, const ggi_copy *copy, gg_order order) {
  if (operand == 0)
    call->order_a = order;
  else
    call->order_b = order;
  call->ld[operand] = copy->ld;
  call->stride[operand] = copy->stride;
  call->align[operand] = GGI_WORKSPACE_ALIGN;
}

/* The way with copies of the operands in mask; false: there is none. */
static bool way_with(const ggi_rows *rows, const gg_kernel *row, int emulated, const ggi_call *call,
                     unsigned mask, ggi_way *way) {
  ggi_call seen = *call;
  double ns = 0;
  *way = (ggi_way){.row = row};
  for (int i = 0; i < 2; ++i) {
    if (!(mask & 1u << i)) continue;
    gg_order order = i == 0 ? row->order_a : row->order_b;
    if (!find_copy(rows, call, i, order != order_of(call, i), &way->copy[i])) return false;
    see_copy(&seen, i, &way->copy[i], order);
    ns += ggi_copy_ns(&way->copy[i], rows->device);
  }
  if (ggi_row_applies(row, emulated, &seen, rows->device, NULL, 0) != GGI_APPLIES) return false;
  way->time = ggi_row_time(row, &seen, rows->device) + ggi_row_ns(row, call, rows->device, ns);
  return true;
}

/* The way with copies that opens the row to the call; row NULL: none does. */
static ggi_way with_copies(const ggi_rows *rows, const gg_kernel *row, int emulated,
                           const ggi_call *call) {
  ggi_way best = {.row = NULL};
  for (unsigned mask = 1; mask <= 3; ++mask) {
    ggi_way one;
    if (!way_with(rows, row, emulated, call, mask, &one)) continue;
    if (!best.row || one.time < best.time) best = one;
  }
  return best;
}

ggi_why ggi_way_of(const ggi_rows *rows, const gg_kernel *row, int emulated, const ggi_call *call,
                   bool workspace, bool split, ggi_way *way, char *text, size_t size) {
  *way = (ggi_way){.row = NULL};
  ggi_why why = ggi_row_applies(row, emulated, call, rows->device, text, size);
  if (why == GGI_APPLIES)
    *way = (ggi_way){.row = row, .time = ggi_row_time(row, call, rows->device)};
  else if (workspace && row->sm_gflops > 0 && (why == GGI_ORDER || why == GGI_ALIGN))
    *way = with_copies(rows, row, emulated, call);
  if (way->row) way->early = ggi_row_early(row, call, rows->device);
  ggi_way cut = {.row = row};
  if (workspace && (split || !way->row) &&
      ggi_split_find(rows->tables, rows->count, row, emulated, call, rows->device, &cut.split,
                     &cut.time) &&
      (!way->row || cut.time < way->time))
    *way = cut;
  if (way->row && size) text[0] = '\0';
  return way->row ? GGI_APPLIES : why;
}

static bool is_pinned(const gg_kernel *row, const char *pin) {
  return strcmp(row->name, pin) == 0 || (row->symbol && strcmp(row->symbol, pin) == 0);
}

void ggi_select(const ggi_rows *rows, const ggi_call *call, const char *pin, bool workspace,
                ggi_choice *choice) {
  *choice = (ggi_choice){.nearest = GGI_BACKEND};
  for (size_t i = 0; i < rows->count; ++i) {
    const gg_kernel_table *table = rows->tables[i];
    for (int j = 0; j < table->count; ++j) {
      const gg_kernel *row = &table->kernels[j];
      if (pin && !is_pinned(row, pin)) continue;
      char text[160];
      ggi_way way;
      ggi_why why =
          ggi_way_of(rows, row, table->emulated, call, workspace, !pin, &way, text, sizeof text);
      if (why == GGI_APPLIES) {
        if (choice->way.row && !(way.time < choice->way.time)) continue;
        choice->way = way;
      } else if (why > choice->nearest || choice->text[0] == '\0') {
        choice->nearest = why;
        snprintf(choice->text, sizeof choice->text, "%.100s: %s", row->name, text);
      }
    }
  }
}

bool ggi_way_copies(const ggi_way *way) {
  return way->copy[0].pass || way->copy[1].pass;
}

gg_i64 ggi_way_workspace(const ggi_way *way) {
  return way->copy[0].bytes + way->copy[1].bytes + way->split.bytes;
}

gg_i64 ggi_way_batch(const ggi_way *way, gg_i64 batch) {
  return way->split.reduce ? way->split.parts : batch;
}

int ggi_way_align(const ggi_way *way, int operand) {
  if (operand < 2 && way->copy[operand].pass) return 1;
  bool ends = operand >= 2 && way->split.reduce;
  return ggi_row_align(ends ? way->split.reduce : way->row, operand);
}

/* ---- Running ---- */

gg_status ggi_way_load(gg_device *device, const ggi_way *way, int *resident) {
  gg_status status = device->ops->load(device, way->row);
  for (int i = 0; i < 2 && status == GG_OK; ++i)
    if (way->copy[i].pass) status = device->ops->load(device, way->copy[i].pass);
  if (status == GG_OK && way->split.reduce) status = device->ops->load(device, way->split.reduce);
  if (status == GG_OK && way->row->persistent)
    status = device->ops->resident(device, way->row, resident);
  return status;
}

/* Copies an operand to `to`. */
static gg_status launch_copy(gg_device *device, const ggi_copy *copy, const void *from, gg_i64 ld,
                             gg_i64 stride, void *to, void *stream) {
  gg_args args;
  memset(&args, 0, sizeof args);
  args.a = from, args.lda = ld;
  args.d = to, args.ldd = copy->ld;
  args.m = copy->rows, args.n = copy->columns, args.batch = copy->matrices;
  if (copy->matrices > 1) args.stride_a = stride, args.stride_d = copy->stride;
  return ggi_launch(device, copy->pass, 1, copy->pass->programmatic, &args, stream);
}

gg_status ggi_way_launch(gg_device *device, const ggi_way *way, int resident, const gg_args *args,
                         bool product, void *stream) {
  if (way->split.reduce)
    return ggi_split_launch(device, way->row, &way->split, resident, args, args->workspace, product,
                            stream);
  gg_args seen = *args;
  char *free_memory = args->workspace;
  const void **const pointers[2] = {&seen.a, &seen.b};
  gg_i64 *const ld[2] = {&seen.lda, &seen.ldb};
  gg_i64 *const strides[2] = {&seen.stride_a, &seen.stride_b};
  for (int i = 0; i < 2; ++i) {
    const ggi_copy *copy = &way->copy[i];
    if (!copy->pass) continue;
    if (product) {
      gg_status status =
          launch_copy(device, copy, *pointers[i], *ld[i], *strides[i], free_memory, stream);
      if (status != GG_OK) return status;
    }
    *pointers[i] = free_memory;
    *ld[i] = copy->ld;
    *strides[i] = copy->stride;
    free_memory += copy->bytes;
  }
  return ggi_launch(device, way->row, resident, way->early, &seen, stream);
}
