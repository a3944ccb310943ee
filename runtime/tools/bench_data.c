/* bench_data.c - operands of a problem on the device.
 *
 * There are enough sets of A, B and D that one round over them moves more than twice the L2 cache,
 * so that no run finds its operands there. Set 0 and the last have their float64 references.
 */
#include "bench.h"
#include "detail.h"
#include "dtype.h"
#include "epilogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 4096 };

static size_t align256(size_t bytes) {
  return (bytes + 255) & ~(size_t)255;
}

static gg_status cuda_fail(int code, const char *what) {
  return ggi_fail(GG_ERR_DEVICE, "%s: %s", what, bench_error(code));
}

/* One allocation for all sets of an operand. */
static gg_status spread(gg_device *device, int sets, size_t bytes, void ***list) {
  *list = calloc((size_t)sets, sizeof **list);
  if (!*list) return ggi_fail(GG_ERR_MEMORY, "no memory for %d pointers", sets);
  void *base = NULL;
  gg_status status = gg_device_alloc(device, (size_t)sets * align256(bytes), &base);
  for (int i = 0; i < sets && status == GG_OK; ++i)
    (*list)[i] = (char *)base + (size_t)i * align256(bytes);
  return status;
}

/* Of values that a step has once for all sets. */
static gg_pointers shared_pointers(const bench_data *x, int which) {
  return (gg_pointers){.bias = x->bias[which],
                       .scale_a = x->scale[which][0],
                       .scale_b = x->scale[which][1],
                       .scale_d = x->scale[which][2],
                       .absmax = x->absmax};
}

gg_pointers bench_pointers(const bench_data *data, int set) {
  gg_pointers p = shared_pointers(data, set == data->sets);
  p.a = data->a[set];
  p.b = data->b[set];
  p.d = data->d[set];
  if (data->residual) p.residual = data->residual[set];
  return p;
}

static const void *past(const void *p, size_t elements, gg_dtype type) {
  return p ? (const char *)p + elements * (size_t)ggi_dtype_bytes(type) : NULL;
}

/* Operands of matrix i of a batch. */
static gg_pointers matrix_of(const bench_problem *p, const gg_pointers *all, size_t i) {
  const bench_steps *s = &p->steps;
  gg_dtype d = bench_type_d(p);
  size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
  gg_pointers x = *all;
  x.a = past(all->a, i * m * k, p->type);
  x.b = past(all->b, i * k * n, p->type);
  x.bias = past(all->bias, i * (s->bias == GG_BIAS_M ? m : n), ggi_bias_type(d));
  x.residual = past(all->residual, i * m * n, d);
  x.scale_a = past(all->scale_a, i * (size_t)ggi_scale_stride(s->scaling_a, p->m, p->k), GG_F32);
  x.scale_b = past(all->scale_b, i * (size_t)ggi_scale_stride(s->scaling_b, p->n, p->k), GG_F32);
  return x;
}

/* which 0: of set 0; 1: of the last. */
static gg_status make_reference(const bench_problem *p, int which, void *stream, bench_data *x) {
  size_t elements = (size_t)p->m * (size_t)p->n, all = elements * (size_t)p->batch;
  void *result = NULL, *bound = NULL;
  gg_status status = gg_device_alloc(x->device, all * sizeof(double), &result);
  x->result[which] = result;
  if (status == GG_OK) status = gg_device_alloc(x->device, all * sizeof(double), &bound);
  x->bound[which] = bound;
  const double none[2] = {0, 0};
  if (status == GG_OK)
    status = gg_device_alloc(x->device, sizeof none, &x->absmax_reference[which]);
  if (status == GG_OK)
    status = gg_device_upload(x->device, x->absmax_reference[which], none, sizeof none);
  if (status != GG_OK) return status;
  gg_pointers operands = bench_pointers(x, which ? x->sets : 0);
  for (size_t i = 0; i < (size_t)p->batch; ++i) {
    gg_pointers matrix = matrix_of(p, &operands, i);
    int code =
        bench_reference(p, x->device->info.arch, which, &matrix, x->result[which] + i * elements,
                        x->bound[which] + i * elements, x->absmax_reference[which], stream);
    if (code != 0) return cuda_fail(code, "reference");
  }
  return GG_OK;
}

/* Random numbers in all sets of an operand. */
static gg_status fill(void **list, int sets, size_t bytes, gg_dtype type, unsigned long long seed,
                      void *stream) {
  size_t element = (size_t)ggi_dtype_bytes(type);
  size_t count = (size_t)sets * align256(bytes) / element;
  int code = bench_fill(list[0], type, count, seed, false, stream);
  if (code == 0) code = bench_fill(list[sets], type, bytes / element, seed, true, stream);
  return code == 0 ? GG_OK : cuda_fail(code, "random data");
}

/* What brings an operand to about 1, and for D, whose type may be narrow, the result back to half
 * of what it holds: normal data are 1, of integers 32. */
static void scale_units(const bench_problem *p, double units[3]) {
  bool integer = p->type == GG_S8 || p->type == GG_U8;
  const bench_steps *s = &p->steps;
  gg_dtype d = bench_type_d(p);
  double most = d == GG_E4M3 ? 448 : d == GG_S8 ? 127 : d == GG_U8 ? 255 : 0;
  double a = integer && !s->scaling_a ? 32 : 1, b = integer && !s->scaling_b ? 32 : 1;
  units[0] = units[1] = integer ? 1.0 / 32 : 1;
  units[2] = most > 0 ? 0.25 * most / (a * b * sqrt((double)p->k)) : 1;
}

/* Bias and scales, normal and whole. */
static gg_status make_steps(const bench_problem *p, void *stream, bench_data *x) {
  const bench_steps *s = &p->steps;
  size_t batch = (size_t)p->batch, m = (size_t)p->m, n = (size_t)p->n;
  size_t bias = s->bias ? batch * (s->bias == GG_BIAS_M ? m : n) : 0;
  const gg_scaling scaling[3] = {s->scaling_a, s->scaling_b, s->scaling_d};
  const gg_i64 extent[3] = {p->m, p->n, 1};
  gg_dtype type = ggi_bias_type(bench_type_d(p));
  double units[3];
  gg_status status = GG_OK;
  scale_units(p, units);
  for (int which = 0; which < 2; ++which) {
    if (bias > 0 && status == GG_OK)
      status = gg_device_alloc(x->device, bias * (size_t)ggi_dtype_bytes(type), &x->bias[which]);
    if (bias > 0 && status == GG_OK && bench_fill(x->bias[which], type, bias, 3, which, stream))
      status = cuda_fail(1, "random bias");
    for (int o = 0; o < 3; ++o) {
      size_t one = (size_t)ggi_scale_count(scaling[o], extent[o], p->k);
      size_t count = one * (ggi_scale_stride(scaling[o], extent[o], p->k) ? batch : 1);
      if (count == 0 || status != GG_OK) continue;
      status = gg_device_alloc(x->device, count * sizeof(float), &x->scale[which][o]);
      if (status == GG_OK &&
          bench_fill_scales(x->scale[which][o], count, 4 + (unsigned)o, units[o], which, stream))
        status = cuda_fail(1, "random scales");
    }
  }
  if (s->absmax && status == GG_OK) status = gg_device_alloc(x->device, sizeof(float), &x->absmax);
  return status;
}

gg_status bench_data_make(gg_device *device, const bench_problem *p, void *stream,
                          bench_data *data) {
  bench_data x = {.device = device};
  size_t batch = (size_t)p->batch, element = (size_t)ggi_dtype_bytes(p->type);
  gg_dtype type_d = bench_type_d(p);
  x.bytes_a = (size_t)p->m * (size_t)p->k * batch * element;
  x.bytes_b = (size_t)p->k * (size_t)p->n * batch * element;
  x.bytes_d = (size_t)p->m * (size_t)p->n * batch * (size_t)ggi_dtype_bytes(type_d);
  size_t set =
      align256(x.bytes_a) + align256(x.bytes_b) + (p->steps.residual ? 2 : 1) * align256(x.bytes_d);
  size_t l2 = device->info.l2_bytes > 0 ? (size_t)device->info.l2_bytes : (size_t)64 << 20;
  size_t sets = 2 * l2 / set + 1;
  x.sets = sets < 2 ? 2 : sets > SETS_MAX ? SETS_MAX : (int)sets;

  gg_status status = spread(device, x.sets + 1, x.bytes_a, &x.a);
  if (status == GG_OK) status = spread(device, x.sets + 1, x.bytes_b, &x.b);
  if (status == GG_OK) status = spread(device, x.sets + 1, x.bytes_d, &x.d);
  if (status == GG_OK && p->steps.residual)
    status = spread(device, x.sets + 1, x.bytes_d, &x.residual);
  if (status == GG_OK) status = fill(x.a, x.sets, x.bytes_a, p->type, 1, stream);
  if (status == GG_OK) status = fill(x.b, x.sets, x.bytes_b, p->type, 2, stream);
  if (status == GG_OK && p->steps.residual)
    status = fill(x.residual, x.sets, x.bytes_d, type_d, 7, stream);
  if (status == GG_OK) status = make_steps(p, stream, &x);
  for (int i = 0; i < 2 && status == GG_OK; ++i)
    status = make_reference(p, i, stream, &x);
  if (status != GG_OK) {
    bench_data_free(&x);
    return status;
  }
  *data = x;
  return GG_OK;
}

static void give_back(gg_device *device, void **list) {
  if (list) (void)gg_device_free(device, list[0]);
  free(list);
}

void bench_data_free(bench_data *data) {
  if (!data->device) return;
  give_back(data->device, data->a);
  give_back(data->device, data->b);
  give_back(data->device, data->d);
  give_back(data->device, data->residual);
  (void)gg_device_free(data->device, data->absmax);
  for (int i = 0; i < 2; ++i) {
    for (int o = 0; o < 3; ++o)
      (void)gg_device_free(data->device, data->scale[i][o]);
    (void)gg_device_free(data->device, data->bias[i]);
    (void)gg_device_free(data->device, data->absmax_reference[i]);
    (void)gg_device_free(data->device, data->result[i]);
    (void)gg_device_free(data->device, data->bound[i]);
  }
  memset(data, 0, sizeof *data);
}
