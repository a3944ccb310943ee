/* fake.c - see fake.h. */
#include "fake.h"
#include "dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

void test_f32_nn(void);
void test_f32_tn(void);
void test_f32_nt(void);
void test_f64_nn(void);

gg_kernel fake_row(const char *name, gg_dtype type, gg_order a, gg_order b) {
  gg_entry entry = test_f32_nn;
  if (type == GG_F32 && a == GG_ORDER_T && b == GG_ORDER_N) entry = test_f32_tn;
  if (type == GG_F32 && a == GG_ORDER_N && b == GG_ORDER_T) entry = test_f32_nt;
  if (type == GG_F64) entry = test_f64_nn;
  int bytes = ggi_dtype_bytes(type);
  return (gg_kernel){.name = name,
                     .symbol = name,
                     .file = "kernels.cu",
                     .entry = entry,
                     .family = "naive",
                     .arch = 75,
                     .type_a = type,
                     .type_b = type,
                     .type_c = type,
                     .type_d = type,
                     .type_acc = ggi_dtype_accumulator(type),
                     .order_a = a,
                     .order_b = b,
                     .tile_m = 16,
                     .tile_n = 16,
                     .tile_k = 1,
                     .k_slices = 1,
                     .threads = 256,
                     .cluster_m = 1,
                     .cluster_k = 1,
                     .speed = 1000,
                     .wave_loss_percent = 100,
                     .cluster_n = 1,
                     .align = {bytes, bytes, bytes, bytes},
                     .multiple_m = 1,
                     .multiple_n = 1,
                     .multiple_k = 1};
}

gg_kernel_table fake_table(const gg_kernel *rows, int count) {
#ifdef FAKE_CUDA
  enum { EMULATED = 0 };
#else
  enum { EMULATED = 1 };
#endif
  return (gg_kernel_table){.abi = GG_KERNEL_ABI,
                           .args_size = (int)sizeof(gg_args),
                           .row_size = (int)sizeof(gg_kernel),
                           .emulated = EMULATED,
                           .count = count,
                           .kernels = rows,
                           .generator = "by hand"};
}

gg_device *fake_device_limited(gg_i64 blocks_launch) {
  gg_device *device = NULL;
#ifdef FAKE_CUDA
  if (gg_device_cuda(0, &device) != GG_OK) {
    printf("skipped, no GPU here: %s\n", gg_error_detail());
    return NULL;
  }
  device->info.blocks_launch = blocks_launch;
#else
  gg_emulated_options options;
  gg_emulated_options_init(&options);
  options.blocks_launch = blocks_launch;
  assert_int_equal(gg_device_emulated(&options, &device), GG_OK);
#endif
  return device;
}

gg_device *fake_device(void) {
  return fake_device_limited(INT32_MAX);
}

/* ---- Log ---- */

static fake_log *current_log;
static const ggi_device_ops *real_ops;
static ggi_device_ops logging_ops;

static gg_status log_load(gg_device *device, const gg_kernel *row) {
  ++current_log->loads;
  return real_ops->load(device, row);
}

static gg_status log_launch(gg_device *device, const gg_kernel *row, unsigned blocks, bool early,
                            const gg_args *args, void *stream) {
  if (current_log->launches < FAKE_LAUNCHES)
    current_log->launch[current_log->launches] = (fake_launch){row->name, blocks, early, *args};
  ++current_log->launches;
  if (current_log->dry) return GG_OK;
  return real_ops->launch(device, row, blocks, early, args, stream);
}

void fake_log_start(gg_device *device, fake_log *log) {
  log->launches = log->loads = 0;
  log->dry = false;
  current_log = log;
  if (device->ops == &logging_ops) return;
  real_ops = device->ops;
  logging_ops = *real_ops;
  logging_ops.load = log_load;
  logging_ops.launch = log_launch;
  device->ops = &logging_ops;
}

/* ---- Matrices ---- */

enum { GUARD = 64 }; /* elements before and after; 256 bytes of f32, so that alignment holds */

double *fake_matrix_at(const fake_matrix *x, gg_i64 batch, gg_i64 row, gg_i64 column) {
  return &x->host[GUARD + x->offset + batch * x->stride + row * x->ld + column];
}

void *fake_matrix_pointer(const fake_matrix *x) {
  return (char *)x->memory + (GUARD + x->offset) * ggi_dtype_bytes(x->type);
}

void fake_matrix_send(fake_matrix *x, gg_device *device) {
  size_t bytes = x->elements * (size_t)ggi_dtype_bytes(x->type);
  void *stored = malloc(bytes);
  assert_non_null(stored);
  for (size_t i = 0; i < x->elements; ++i)
    if (x->type == GG_F64)
      ((double *)stored)[i] = x->host[i];
    else
      ((float *)stored)[i] = (float)x->host[i];
  assert_int_equal(gg_device_upload(device, x->memory, stored, bytes), GG_OK);
  free(stored);
}

void fake_matrix_fetch(fake_matrix *x, gg_device *device) {
  size_t bytes = x->elements * (size_t)ggi_dtype_bytes(x->type);
  void *stored = malloc(bytes);
  assert_non_null(stored);
  assert_int_equal(gg_device_synchronise(device), GG_OK);
  assert_int_equal(gg_device_download(device, stored, x->memory, bytes), GG_OK);
  for (size_t i = 0; i < x->elements; ++i)
    x->host[i] = x->type == GG_F64 ? ((double *)stored)[i] : (double)((float *)stored)[i];
  free(stored);
}

void fake_matrix_make(fake_matrix *x, gg_device *device, gg_dtype type, gg_i64 rows, gg_i64 columns,
                      gg_i64 ld, gg_i64 batch, gg_i64 stride, gg_i64 offset, unsigned seed) {
  *x = (fake_matrix){type, rows, columns, ld, batch, stride, offset, 0, NULL, NULL};
  gg_i64 last = (batch > 0 ? batch - 1 : 0) * stride + rows * ld;
  x->elements = (size_t)(2 * GUARD + offset + last);
  x->host = malloc(x->elements * sizeof *x->host);
  assert_non_null(x->host);
  assert_int_equal(gg_device_alloc(device, x->elements * (size_t)ggi_dtype_bytes(type), &x->memory),
                   GG_OK);
  for (size_t i = 0; i < x->elements; ++i)
    x->host[i] = NAN;
  for (gg_i64 b = 0; b < batch; ++b)
    for (gg_i64 r = 0; r < rows; ++r)
      for (gg_i64 c = 0; c < columns; ++c) {
        seed = seed * 1664525u + 1013904223u;
        *fake_matrix_at(x, b, r, c) = (double)(int)(seed >> 24) / 16 - 8;
        *fake_matrix_at(x, b, r, c) = floor(*fake_matrix_at(x, b, r, c));
      }
  fake_matrix_send(x, device);
}

void fake_matrix_fill(fake_matrix *x, gg_device *device, double value) {
  for (size_t i = 0; i < x->elements; ++i)
    x->host[i] = value;
  fake_matrix_send(x, device);
}

void fake_matrix_free(fake_matrix *x, gg_device *device) {
  free(x->host);
  assert_int_equal(gg_device_free(device, x->memory), GG_OK);
}
