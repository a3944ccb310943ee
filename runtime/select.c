/* select.c - rows against calls. Every test has its own reason in words; the order of the tests is
 * the order of ggi_why, so that the nearest miss can be named.
 */
#include "select.h"
#include "dtype.h"
#include "epilogue.h"
#include "tensor_map.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const operand_name[GGI_MATRICES] = {"A", "B", "C", "D", "the residual"};

gg_i64 ggi_pointer_align(const void *pointer) {
  uintptr_t low = (uintptr_t)pointer & 4095;
  return low ? (gg_i64)(low & (~low + 1)) : 4096;
}

/* A row under test and where its reason goes. */
typedef struct test {
  const gg_kernel *row;
  const ggi_call *call;
  const gg_device_info *device;
  char *text;
  size_t size;
} test;

__attribute__((format(printf, 3, 4))) static ggi_why no(const test *t, ggi_why why,
                                                        const char *format, ...) {
  if (t->size) {
    va_list list;
    va_start(list, format);
    vsnprintf(t->text, t->size, format, list);
    va_end(list);
  }
  return why;
}

static ggi_why test_types(const test *t) {
  const gg_kernel *r = t->row;
  const ggi_call *c = t->call;
  const gg_dtype has[5] = {r->type_a, r->type_b, r->type_c, r->type_d, r->type_acc};
  const gg_dtype want[5] = {c->type_a, c->type_b, c->type_c, c->type_d, c->type_acc};
  static const char *const name[5] = {"A", "B", "C", "D", "the accumulator"};
  for (int i = 0; i < 5; ++i) {
    if (i == 2 && (c->beta == GG_SCALAR_ZERO || r->beta == GG_SCALAR_ZERO)) continue; /* C unread */
    bool same = has[i] == want[i];
    if (i == 2 || i == 3) same = ggi_dtype_memory(has[i]) == ggi_dtype_memory(want[i]);
    if (!same)
      return no(t, GGI_TYPE, "%s is %s, the kernel's is %s", name[i], ggi_dtype_name(want[i]),
                ggi_dtype_name(has[i]));
  }
  if (r->fast_accum && !c->fast_accum)
    return no(t, GGI_TYPE, "the kernel's sums keep about 14 bits; fast_accum would allow that");
  return GGI_APPLIES;
}

static ggi_why test_orders(const test *t) {
  const gg_order has[2] = {t->row->order_a, t->row->order_b};
  const gg_order want[2] = {t->call->order_a, t->call->order_b};
  for (int i = 0; i < 2; ++i)
    if (has[i] != want[i])
      return no(t, GGI_ORDER, "%s is stored %c, the kernel's is %c", operand_name[i],
                want[i] == GG_ORDER_T ? 't' : 'n', has[i] == GG_ORDER_T ? 't' : 'n');
  return GGI_APPLIES;
}

static ggi_why test_scalars(const test *t) {
  const gg_scalar_class has[2] = {t->row->alpha, t->row->beta};
  const gg_scalar_class want[2] = {t->call->alpha, t->call->beta};
  static const char *const name[2] = {"alpha", "beta"};
  static const char *const text[3] = {"any value", "zero", "one"};
  for (int i = 0; i < 2; ++i)
    if (has[i] != GG_SCALAR_ANY && has[i] != want[i])
      return no(t, GGI_SCALAR, "%s may be %s, the kernel's is %s", name[i], text[want[i]],
                text[has[i]]);
  return GGI_APPLIES;
}

static ggi_why test_epilogue(const test *t) {
  const gg_kernel *r = t->row;
  const ggi_call *c = t->call;
  const struct {
    const char *step, *has, *want;
  } steps[] = {
      {"bias", ggi_bias_name(r->bias), ggi_bias_name(c->bias)},
      {"activation", ggi_activation_name(r->activation), ggi_activation_name(c->activation)},
      {"scaling of A", ggi_scaling_name(r->scaling_a), ggi_scaling_name(c->scaling_a)},
      {"scaling of B", ggi_scaling_name(r->scaling_b), ggi_scaling_name(c->scaling_b)},
      {"scaling of D", ggi_scaling_name(r->scaling_d), ggi_scaling_name(c->scaling_d)},
  };
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i)
    if (strcmp(steps[i].has, steps[i].want) != 0)
      return no(t, GGI_EPILOGUE, "%s is %s, the kernel's is %s", steps[i].step, steps[i].want,
                steps[i].has);
  if ((r->residual != 0) != (c->residual != 0))
    return no(t, GGI_EPILOGUE, "the kernel %s a residual", r->residual ? "adds" : "does not add");
  if ((r->absmax != 0) != (c->absmax != 0))
    return no(t, GGI_EPILOGUE, "the kernel %s absmax", r->absmax ? "delivers" : "has no");
  return GGI_APPLIES;
}

static ggi_why test_device(const test *t) {
  const gg_kernel *r = t->row;
  const gg_device_info *d = t->device;
  if (r->arch_suffix && r->arch != d->arch)
    return no(t, GGI_ARCH, "built for sm_%d%c, which runs on sm_%d only; the device is sm_%d",
              r->arch, r->arch_suffix, r->arch, d->arch);
  if (r->arch > d->arch)
    return no(t, GGI_ARCH, "built for sm_%d and later; the device is sm_%d", r->arch, d->arch);
  if (r->shared_bytes > d->shared_block)
    return no(t, GGI_DEVICE_LIMIT, "needs %d bytes of shared memory a block; the device has %d",
              r->shared_bytes, d->shared_block);
  if (r->threads > d->threads_block)
    return no(t, GGI_DEVICE_LIMIT, "has %d threads a block; the device allows %d", r->threads,
              d->threads_block);
  if (r->cluster_m * r->cluster_n > 1 && d->arch < 90)
    return no(t, GGI_DEVICE_LIMIT, "asks for clusters, which are there from sm_90 on");
  return GGI_APPLIES;
}

static ggi_why test_shape(const test *t) {
  const gg_kernel *r = t->row;
  const gg_i64 size[3] = {t->call->m, t->call->n, t->call->k};
  const int multiple[3] = {r->multiple_m, r->multiple_n, r->multiple_k};
  for (int i = 0; i < 3; ++i)
    if (multiple[i] > 1 && size[i] % multiple[i] != 0)
      return no(t, GGI_SHAPE, "%c = %lld is not a multiple of %d", "mnk"[i], size[i], multiple[i]);
  if (t->call->k < r->min_k)
    return no(t, GGI_SHAPE, "k = %lld is less than %d", t->call->k, r->min_k);
  return GGI_APPLIES;
}

static ggi_why test_alignment(const test *t) {
  const gg_kernel *r = t->row;
  const ggi_call *c = t->call;
  const gg_dtype type[GGI_MATRICES] = {c->type_a, c->type_b, c->type_c, c->type_d, c->type_d};
  for (int i = 0; i < GGI_MATRICES; ++i) {
    if (i == 4 && !c->residual) continue;
    if (i == 2 && (c->beta == GG_SCALAR_ZERO || r->beta == GG_SCALAR_ZERO)) continue; /* C unread */
    gg_i64 ask = ggi_row_align(r, i < 4 ? i : 3), bytes = ggi_dtype_bytes(type[i]);
    if (ask <= 1) continue;
    if (c->align[i] % ask != 0)
      return no(t, GGI_ALIGN, "%s's pointer is aligned to %lld bytes, the kernel asks for %lld",
                operand_name[i], c->align[i], ask);
    /* Distances are taken modulo what is asked, so that their bytes cannot overflow. */
    if (c->ld[i] % ask * bytes % ask != 0)
      return no(t, GGI_ALIGN, "%s's leading dimension of %lld is not a multiple of %lld bytes",
                operand_name[i], c->ld[i], ask);
    if (c->batch > 1 && c->stride[i] % ask * bytes % ask != 0)
      return no(t, GGI_ALIGN, "%s's batch stride of %lld is not a multiple of %lld bytes",
                operand_name[i], c->stride[i], ask);
  }
  return GGI_APPLIES;
}

static ggi_why test_maps(const test *t) {
  const gg_kernel *r = t->row;
  const ggi_call *c = t->call;
  for (int i = 0; i < 4; ++i) {
    if (!r->maps[i].used) continue;
    if (i == 2 && (c->beta == GG_SCALAR_ZERO || r->beta == GG_SCALAR_ZERO)) continue; /* C unread */
    ggi_map_shape s = ggi_map_shape_of(i, r, c->m, c->n, c->k, c->batch, c->ld[i], c->stride[i]);
    char reason[120];
    if (!ggi_map_holds(&s, reason, sizeof reason))
      return no(t, GGI_ALIGN, "%s fits no tensor map: %s", operand_name[i], reason);
  }
  return GGI_APPLIES;
}

/* What a kernel waits for the one before, where it is not launched while that ends
 * (docs/launching.md: 300 to 550 ns on an H200). */
static const double LAUNCH_GAP_NS = 500;

/* Tiles along one axis, padded to whole clusters: those outside of D take their time as well. */
static double tiles_along(gg_i64 extent, int tile, int cluster) {
  double tiles = (double)((extent + tile - 1) / tile);
  return cluster > 1 ? ceil(tiles / cluster) * cluster : tiles;
}

double ggi_row_ns(const gg_kernel *row, const ggi_call *call, const gg_device_info *device,
                  double ns) {
  double outputs = (double)call->m * (double)call->n * (double)call->batch;
  return outputs > 0 ? ns * device->sms * row->sm_gflops / (2000 * outputs) : 0;
}

double ggi_row_gbs(const gg_kernel *row, const gg_device_info *device) {
  bool known = row->memory_gbs > 0 && device->memory_gbs > 0;
  return known ? (double)row->copy_gbs * device->memory_gbs / row->memory_gbs : row->copy_gbs;
}

/* The time of A, B and D, each once, in the unit of ggi_row_time; 0: nothing is known of it. */
static double memory_time(const gg_kernel *r, const ggi_call *c, const gg_device_info *device) {
  if (r->copy_gbs <= 0) return 0;
  const double elements[3] = {(double)c->m * (double)c->k, (double)c->k * (double)c->n,
                              (double)c->m * (double)c->n};
  const int bytes[3] = {ggi_dtype_bytes(c->type_a), ggi_dtype_bytes(c->type_b),
                        ggi_dtype_bytes(c->type_d)};
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    bool shared = c->batch > 1 && c->stride[i == 2 ? 3 : i] == 0;
    bool again = i == 1 && r->tile_n == 1;
    double times = again ? (double)((c->m + r->tile_m - 1) / r->tile_m) : 1;
    sum += elements[i] * bytes[i] * times * (shared ? 1 : (double)c->batch);
  }
  return ggi_row_ns(r, c, device, sum / ggi_row_gbs(r, device));
}

/* Blocks of the grid before persistence, padding included. */
static double grid_blocks(const gg_kernel *r, const ggi_call *c) {
  return tiles_along(c->m, r->tile_m, r->cluster_m) * tiles_along(c->n, r->tile_n, r->cluster_n) *
         (double)c->batch * (r->cluster_k > 1 ? r->cluster_k : 1);
}

/* How much longer an SM takes for its `tiles` than where it always held all the blocks it can: in
 * the last round those that are left fill each other's waits less. */
static double stretch(const gg_kernel *r, double tiles) {
  double blocks = r->blocks_per_sm > 1 ? r->blocks_per_sm : 1;
  double last = tiles - (ceil(tiles / blocks) - 1) * blocks;
  double reached = last * r->alone_percent / 100;
  return reached > 0 && reached < 1 ? (tiles - last + last / reached) / tiles : 1;
}

/* The time without memory. */
static double own_time(const gg_kernel *r, const ggi_call *call, const gg_device_info *device) {
  double parts = r->cluster_k > 1 ? r->cluster_k : 1, sms = device->sms > 0 ? device->sms : 1;
  double waves = ceil(grid_blocks(r, call) / sms);
  double area = (double)r->tile_m * r->tile_n;
  double used = (double)call->m * (double)call->n * (double)call->batch * parts;
  double share = used > 0 ? used / (sms * waves * area) : 1;
  double speed = r->speed > 0 ? r->speed : 1, loss = r->wave_loss_percent / 100.0;
  if (waves < 1) return 0;
  double overhead = parts * r->overhead_k * (1 + r->further_percent / 100.0 * (waves - 1)) / waves;
  return ((double)call->k * stretch(r, waves) + overhead) / speed * (1 - loss + loss / share);
}

static bool starts_early(const gg_kernel *r, const ggi_call *call, const gg_device_info *device,
                         double own, double memory) {
  return r->programmatic && (2 * memory <= own || 2 * grid_blocks(r, call) <= device->sms);
}

bool ggi_row_early(const gg_kernel *row, const ggi_call *call, const gg_device_info *device) {
  return starts_early(row, call, device, own_time(row, call, device),
                      memory_time(row, call, device));
}

double ggi_row_time(const gg_kernel *row, const ggi_call *call, const gg_device_info *device) {
  double own = own_time(row, call, device);
  double memory = memory_time(row, call, device), larger = own > memory ? own : memory;
  bool early = starts_early(row, call, device, own, memory);
  double gap = early ? 0 : ggi_row_ns(row, call, device, LAUNCH_GAP_NS);
  /* Smooth, so that of kernels that all wait for memory the one with less to do comes first. */
  return larger > 0 ? gap + larger * pow(pow(own / larger, 4) + pow(memory / larger, 4), 0.25) : 0;
}

/* Everything but the row's kind. */
static ggi_why test_all(const test *t, int emulated) {
  static ggi_why (*const tests[])(const test *) = {test_types,     test_orders, test_scalars,
                                                   test_epilogue,  test_device, test_shape,
                                                   test_alignment, test_maps};
  if ((emulated != 0) != (t->device->emulated != 0))
    return no(t, GGI_BACKEND, "built for %s; the device is %s",
              emulated ? "the emulated GPU" : "CUDA",
              t->device->emulated ? "an emulated GPU" : "a CUDA device");
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i) {
    ggi_why why = tests[i](t);
    if (why != GGI_APPLIES) return why;
  }
  if (t->size) t->text[0] = '\0';
  return GGI_APPLIES;
}

ggi_why ggi_row_applies(const gg_kernel *row, int emulated, const ggi_call *call,
                        const gg_device_info *device, char *text, size_t size) {
  const test t = {row, call, device, text, size};
  if (row->kind == GG_KIND_REPACK) return no(&t, GGI_KIND, "copies operands for other kernels");
  if (row->kind == GG_KIND_REDUCE) return no(&t, GGI_KIND, "ends other kernels' products");
  return test_all(&t, emulated);
}

bool ggi_reduce_applies(const gg_kernel *row, int emulated, const ggi_call *call,
                        const gg_device_info *device) {
  const test t = {.row = row, .call = call, .device = device};
  return row->kind == GG_KIND_REDUCE && test_all(&t, emulated) == GGI_APPLIES;
}

bool ggi_row_runs(const gg_kernel *row, int emulated, const gg_device_info *device) {
  const test t = {.row = row, .device = device};
  return (emulated != 0) == (device->emulated != 0) && test_device(&t) == GGI_APPLIES;
}
