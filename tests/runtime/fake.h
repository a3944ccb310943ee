/* fake.h - hand-written tables over kernels.cu, devices that log their launches, matrices.
 *
 * Compiled with FAKE_CUDA for a CUDA device, else for the emulated GPU.
 */
#ifndef FAKE_H
#define FAKE_H

#include "device.h"
#include "gg.h"

#include <stdbool.h>
#include <stddef.h>

/* A row that applies to any size and element-aligned pointer. Types f32 (nn, tn, nt) and f64 (nn);
 * for others the entry is that of f32 nn and must not be launched. */
gg_kernel fake_row(const char *name, gg_dtype type, gg_order a, gg_order b);

/* A table of this build's backend over rows, which must outlive it. */
gg_kernel_table fake_table(const gg_kernel *rows, int count);

/* A device of this build's backend; NULL: there is none here, and why stands on stdout. */
gg_device *fake_device(void);
/* The same with a limit of blocks a launch. */
gg_device *fake_device_limited(gg_i64 blocks_launch);

/* What a device was asked to do since fake_log_start. Launches are still made. */
typedef struct fake_launch {
  const char *kernel;
  unsigned blocks;
  bool early;
  gg_args args;
} fake_launch;
enum { FAKE_LAUNCHES = 64 };
typedef struct fake_log {
  int launches, loads;
  bool dry; /* set after start: launches are only logged */
  fake_launch launch[FAKE_LAUNCHES];
} fake_log;
/* One log at a time; not for several threads. */
void fake_log_start(gg_device *device, fake_log *log);

/* A matrix, or a batch of them, with guard elements around and in the gaps. */
typedef struct fake_matrix {
  gg_dtype type;
  gg_i64 rows, columns, ld, batch, stride; /* as stored */
  gg_i64 offset;                           /* elements before the first */
  size_t elements;                         /* all, guards included */
  double *host;
  void *memory; /* device */
} fake_matrix;

/* Values are whole numbers from -8 to 8, chosen by seed. Everything else is NaN. offset: elements
 * by which the first one misses 256-byte alignment. */
void fake_matrix_make(fake_matrix *x, gg_device *device, gg_dtype type, gg_i64 rows, gg_i64 columns,
                      gg_i64 ld, gg_i64 batch, gg_i64 stride, gg_i64 offset, unsigned seed);
void fake_matrix_free(fake_matrix *x, gg_device *device);
void *fake_matrix_pointer(const fake_matrix *x); /* of the first element, on the device */
/* Sets all elements, guards too. */
void fake_matrix_fill(fake_matrix *x, gg_device *device, double value);
double *fake_matrix_at(const fake_matrix *x, gg_i64 batch, gg_i64 row, gg_i64 column);
/* Writes x->host to the device. */
void fake_matrix_send(fake_matrix *x, gg_device *device);
/* Reads the device's bytes into x->host. */
void fake_matrix_fetch(fake_matrix *x, gg_device *device);

#endif
