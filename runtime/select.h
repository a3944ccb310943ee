/* select.h - does a row of a table apply to a call, and how long does it take.
 *
 * A row applies when its demands hold: kind of device, types, orders, scalar classes, epilogue,
 * architecture,
 * limits of the device, multiples, least k, alignment of pointers, leading dimensions and strides.
 * Which of them is taken: way.h.
 */
#ifndef GGI_SELECT_H
#define GGI_SELECT_H

#include "gg.h"
#include <stdbool.h>

/* A, B, C, D and the residual. */
enum { GGI_MATRICES = 5 };

/* Everything that selection looks at. Operands in the order of GGI_MATRICES. */
typedef struct ggi_call {
  gg_dtype type_a, type_b, type_c, type_d, type_acc; /* none of them GG_NONE */
  gg_order order_a, order_b;
  gg_scalar_class alpha, beta; /* what is known of the scalars */
  gg_bias bias;
  gg_activation activation;
  gg_scaling scaling_a, scaling_b, scaling_d;
  int residual, absmax;
  int fast_accum; /* 1: short sums of fp8 are allowed */
  gg_i64 m, n, k, batch;
  gg_i64 ld[GGI_MATRICES];
  gg_i64 stride[GGI_MATRICES]; /* count only where batch > 1 */
  /* The largest power of two known to divide each pointer, in bytes. */
  gg_i64 align[GGI_MATRICES];
} ggi_call;

/* Why a row does not apply, in the order of the tests: the later, the nearer it came. */
typedef enum ggi_why {
  GGI_BACKEND = 0, /* a table for the other kind of device */
  GGI_KIND,        /* a pass, no product */
  GGI_TYPE,
  GGI_ORDER,
  GGI_SCALAR,
  GGI_EPILOGUE,
  GGI_ARCH,
  GGI_DEVICE_LIMIT, /* shared memory, threads, clusters */
  GGI_SHAPE,        /* multiples, least k */
  GGI_ALIGN,        /* pointers and distances, tensor maps included */
  GGI_APPLIES
} ggi_why;

/* The largest power of two that divides a pointer, 4096 at most (also for NULL). */
gg_i64 ggi_pointer_align(const void *pointer);

/* GGI_APPLIES, or why not with one sentence of reason in text (may be NULL with size 0). emulated:
 * of the row's table. */
ggi_why ggi_row_applies(const gg_kernel *row, int emulated, const ggi_call *call,
                        const gg_device_info *device, char *text, size_t size);

/* The same of a REDUCE row, for a call whose A and B are as GG_KIND_REDUCE says. */
bool ggi_reduce_applies(const gg_kernel *row, int emulated, const ggi_call *call,
                        const gg_device_info *device);

/* Can the device run it at all, whatever it does? */
bool ggi_row_runs(const gg_kernel *row, int emulated, const gg_device_info *device);

/* What a row that applies is predicted to take, to be compared with other rows' for the same call:
 * the expression at gg_kernel.speed. m, n and batch are at least 1. */
double ggi_row_time(const gg_kernel *row, const ggi_call *call, const gg_device_info *device);

/* Nanoseconds in the unit of ggi_row_time, by gg_kernel.sm_gflops; 0 where that is unknown. */
double ggi_row_ns(const gg_kernel *row, const ggi_call *call, const gg_device_info *device,
                  double ns);

/* gg_kernel.copy_gbs as the device's memory has it: in proportion to the bandwidth that the plan
 * counted on, where both are known. */
double ggi_row_gbs(const gg_kernel *row, const gg_device_info *device);

/* Is it launched while the kernel before ends, where it may be (gg_kernel.programmatic)? Not where
 * memory is the limit, unless both kernels' blocks fit side by side (docs/launching.md). */
bool ggi_row_early(const gg_kernel *row, const ggi_call *call, const gg_device_info *device);

#endif
