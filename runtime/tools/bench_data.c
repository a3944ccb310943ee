/* bench_data.c - operands of a problem on the device.
 *
 * There are enough sets of A, B and D that one round over them moves more than twice the L2 cache,
 * so that no run finds its operands there. Set 0 and the last have their float64 references.
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

/* which 0: of set 0; 1: of the last. */
static gg_status make_reference(const bench_problem *p, int which, void *stream, bench_data *x) {
  size_t elements = (size_t)p->m * (size_t)p->n, all = elements * (size_t)p->batch;
  void *result = NULL, *bound = NULL;
  gg_status status = gg_device_alloc(x->device, all * sizeof(double), &result);
  x->result[which] = result;
  if (status == GG_OK) status = gg_device_alloc(x->device, all * sizeof(double), &bound);
  x->bound[which] = bound;
  if (status != GG_OK) return status;
  size_t a = x->bytes_a / (size_t)p->batch, b = x->bytes_b / (size_t)p->batch;
  int set = which ? x->sets : 0;
  for (size_t i = 0; i < (size_t)p->batch; ++i) {
    int code = bench_reference(p, x->device->info.arch, which, (char *)x->a[set] + i * a,
                               (char *)x->b[set] + i * b, x->result[which] + i * elements,
                               x->bound[which] + i * elements, stream);
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

gg_status bench_data_make(gg_device *device, const bench_problem *p, void *stream,
                          bench_data *data) {
  bench_data x = {.device = device};
  size_t batch = (size_t)p->batch, element = (size_t)ggi_dtype_bytes(p->type);
  x.bytes_a = (size_t)p->m * (size_t)p->k * batch * element;
  x.bytes_b = (size_t)p->k * (size_t)p->n * batch * element;
  x.bytes_d = (size_t)p->m * (size_t)p->n * batch * (size_t)ggi_dtype_bytes(bench_type_d(p->type));
  size_t set = align256(x.bytes_a) + align256(x.bytes_b) + align256(x.bytes_d);
  size_t l2 = device->info.l2_bytes > 0 ? (size_t)device->info.l2_bytes : (size_t)64 << 20;
  size_t sets = 2 * l2 / set + 1;
  x.sets = sets < 2 ? 2 : sets > SETS_MAX ? SETS_MAX : (int)sets;

  gg_status status = spread(device, x.sets + 1, x.bytes_a, &x.a);
  if (status == GG_OK) status = spread(device, x.sets + 1, x.bytes_b, &x.b);
  if (status == GG_OK) status = spread(device, x.sets + 1, x.bytes_d, &x.d);
  if (status == GG_OK) status = fill(x.a, x.sets, x.bytes_a, p->type, 1, stream);
  if (status == GG_OK) status = fill(x.b, x.sets, x.bytes_b, p->type, 2, stream);
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
  for (int i = 0; i < 2; ++i) {
    (void)gg_device_free(data->device, data->result[i]);
    (void)gg_device_free(data->device, data->bound[i]);
  }
  memset(data, 0, sizeof *data);
}
