/* bench_data.c - operands of a problem on the device.
 *
 * There are enough sets of A, B and D that one round over them moves more than twice the L2 cache,
 * so that no run finds its operands there. Set 0 has its float64 reference.
 */
#include "bench.h"
#include "detail.h"
#include "dtype.h"

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

static gg_status make_reference(const bench_problem *p, void *stream, bench_data *x) {
  size_t elements = (size_t)p->m * (size_t)p->n, all = elements * (size_t)p->batch;
  void *result = NULL, *bound = NULL;
  gg_status status = gg_device_alloc(x->device, all * sizeof(double), &result);
  x->result = result;
  if (status == GG_OK) status = gg_device_alloc(x->device, all * sizeof(double), &bound);
  x->bound = bound;
  if (status != GG_OK) return status;
  size_t a = x->bytes_a / (size_t)p->batch, b = x->bytes_b / (size_t)p->batch;
  for (size_t i = 0; i < (size_t)p->batch; ++i) {
    int code = bench_reference(p, (char *)x->a[0] + i * a, (char *)x->b[0] + i * b,
                               x->result + i * elements, x->bound + i * elements, stream);
    if (code != 0) return cuda_fail(code, "reference");
  }
  return GG_OK;
}

gg_status bench_data_make(gg_device *device, const bench_problem *p, void *stream,
                          bench_data *data) {
  bench_data x = {.device = device};
  size_t element = (size_t)ggi_dtype_bytes(p->type), batch = (size_t)p->batch * element;
  x.bytes_a = (size_t)p->m * (size_t)p->k * batch;
  x.bytes_b = (size_t)p->k * (size_t)p->n * batch;
  x.bytes_d = (size_t)p->m * (size_t)p->n * batch;
  size_t set = align256(x.bytes_a) + align256(x.bytes_b) + align256(x.bytes_d);
  size_t l2 = device->info.l2_bytes > 0 ? (size_t)device->info.l2_bytes : (size_t)64 << 20;
  size_t sets = 2 * l2 / set + 1;
  x.sets = sets < 2 ? 2 : sets > SETS_MAX ? SETS_MAX : (int)sets;

  gg_status status = spread(device, x.sets, x.bytes_a, &x.a);
  if (status == GG_OK) status = spread(device, x.sets, x.bytes_b, &x.b);
  if (status == GG_OK) status = spread(device, x.sets, x.bytes_d, &x.d);
  if (status == GG_OK) {
    size_t count_a = (size_t)x.sets * align256(x.bytes_a) / element;
    size_t count_b = (size_t)x.sets * align256(x.bytes_b) / element;
    int code = bench_fill(x.a[0], p->type, count_a, 1, stream);
    if (code == 0) code = bench_fill(x.b[0], p->type, count_b, 2, stream);
    if (code != 0) status = cuda_fail(code, "random data");
  }
  if (status == GG_OK) status = make_reference(p, stream, &x);
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
  (void)gg_device_free(data->device, data->result);
  (void)gg_device_free(data->device, data->bound);
  memset(data, 0, sizeof *data);
}
