/* bench.h - the parts of gemmbench: problems, data and reference on the GPU, rivals, report.
 *
 * D[m,n] = alpha * A[m,k] * B[k,n] + beta * C[m,n]; leading dimensions in elements.
 * Everything here computes D = A * B with packed operands, and steps of the epilogue where they are
 * asked. D has the type of A and B unless stated, but bf16 for fp8, s32 for integers and f32 for
 * tf32.
 */
#ifndef GG_BENCH_H
#define GG_BENCH_H

#include "device.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* main of a measuring program. 0: measured; 1: usage; 2: suite or kernel not usable; 3: device or
 * memory; 4: a result was wrong. */
int gemmbench_main(const gg_kernel_table *table, int argc, char **argv);

/* ---- Problems (bench_suite.c) ---- */

/* Steps of the epilogue, as in gg_problem. */
typedef struct bench_steps {
  gg_bias bias;
  gg_activation activation;
  gg_scaling scaling_a, scaling_b, scaling_d;
  int residual, absmax;
} bench_steps;

typedef struct bench_problem {
  char name[48];
  gg_dtype type; /* of A and B: any but s32 */
  gg_order order_a, order_b;
  int fast_accum; /* 1: sums of fp8 may keep about 14 bits, ours and cuBLASLt's */
  gg_i64 m, n, k, batch;
  gg_dtype type_d; /* GG_NONE: what goes with the type of A and B */
  bench_steps steps;
} bench_problem;

/* D's type, of the problem or what goes with the type of A and B. */
gg_dtype bench_type_d(const bench_problem *p);
/* The type of the epilogue and its scalars. */
gg_dtype bench_epilogue(const bench_problem *p);
/* "scale a tensor + bias n + relu"; "" without steps. */
enum { BENCH_STEPS_TEXT = 160 };
void bench_steps_text(const bench_steps *s, char *text, size_t size);

/* Takes an option of a step with its value, "--bias" "n"; false: it is none (known is false), or
 * the value is unknown. */
bool bench_step(bench_steps *s, const char *option, const char *value, bool *known);

typedef struct bench_suite {
  bench_problem *problems;
  size_t count;
} bench_suite;

/* "nt" -> orders; false: not two letters of n and t. */
bool bench_layout(const char *text, gg_order *a, gg_order *b);
/* "f32", "fp32" ...; GG_NONE if unknown. */
gg_dtype bench_dtype(const char *text);
/* "MxNxK" or "MxNxKxBATCH", each 1 .. 2^31 - 1. */
bool bench_size(const char *text, bench_problem *p);
/* Adds a copy; false: no memory. */
bool bench_add(bench_suite *s, const bench_problem *p);
/* Adds the lines of a file, "name dtype layout M N K batch [type of D]", # begins a comment. On
 * failure the reason stands on stderr with file and line. */
bool bench_read(bench_suite *s, const char *path);

/* ---- On the GPU (bench_device.cu). 0 or a cudaError_t ---- */

/* Makes the device current for this thread: for what follows here and for cuBLASLt. */
int bench_use_device(int ordinal);

/* Fills with normal numbers of mean 0 and variance 1 rounded to the type, of integers with 32 times
 * such numbers; whole: with -1, 0 and 1 (u8: 0 and 1). Seed and place decide each value. */
int bench_fill(void *data, gg_dtype type, size_t count, unsigned long long seed, bool whole,
               void *stream);

/* Fills with scales of 1/2 to 2 units; whole: with 1/2, 1 and 2. */
int bench_fill_scales(void *data, size_t count, unsigned long long seed, double unit, bool whole,
                      void *stream);

/* Fills with bytes 0xFF, which are NaN in float types and -1 in integers. */
int bench_poison(void *data, size_t bytes, void *stream);
int bench_zero(void *data, size_t bytes, void *stream);

/* D of one matrix in f64: m*n results and m*n bounds on the error of D. matrix: its operands.
 * absmax: two doubles on the device, raised to the largest |x| before scale_d and its bound.
 *
 * The accumulator, with scales of A and B multiplied into the products:
 *
 * f32, f64:   16 * u * sqrt(k * sum (a*b)^2) + 4 * u * |result|,   u the type's unit roundoff.
 *   It holds with a wide margin for data of mean zero in any order of summation, and a single
 *   missing or doubled product breaks it almost everywhere.
 * Tensor-core types:   T * e * (2 * S + X),   T = ceil(k / K) + 64,
 *   e = 2^-min(F, 23) + (K + 1) * 2^-F, S the largest |partial sum| of ascending k, X the largest
 *   |product|. One sum of K products and the accumulator c cuts its terms 2^-F below the largest of
 *   them and its result at 2^-23 (ggcheck_sum.c), so it loses at most e * max(|c|, X); c is a sum
 *   over consecutive k, at most 2 S. Kernels may split k and add up to 64 parts. F = 25 (sm_90 on),
 *   24 (sm_80 on) or 23, with the least K of an instruction: 8, tf32 4. fp8: F = 13, K = 16.
 * Integers, and float types where `whole` says that the data are whole numbers: 0.
 * Steps add their roundings (in u of the epilogue's type) and D's half_ulp, as ggcheck_epilogue.c
 * derives; of whole numbers only smooth activations have any, and the result is rounded to D's
 * type. */
int bench_reference(const bench_problem *p, int arch, bool whole, const gg_pointers *matrix,
                    double *result, double *bound, void *absmax, void *stream);

/* The worst |d - result| / bound of `count` elements of D's type (NaN in d counts as infinite). */
int bench_compare(const void *d, gg_dtype type_d, const double *result, const double *bound,
                  size_t count, double *worst, void *stream);

/* |absmax - reference| / bound: infinite beyond it. reference: as bench_reference left it. */
int bench_absmax(const void *got, const void *reference, double *worst, void *stream);

/* The SM clock in MHz, measured for half a millisecond on the stream's next free SM. */
int bench_clock(double *mhz, void *stream);

/* Captures calls on a stream in a graph, to be replayed without the host's launch time. */
int bench_capture_begin(void *stream);
int bench_capture_end(void *stream, void **graph); /* also after a failed call in between */
int bench_replay(void *graph, void *stream);
void bench_graph_free(void *graph);
const char *bench_error(int code);

/* ---- Buffers (bench_data.c) ---- */

/* `sets` copies of A, B, D and the residual that together exceed twice the L2 cache, and one more,
 * the last, with whole numbers. Bias and scales are there once for all but the last, and for it. */
typedef struct bench_data {
  gg_device *device;
  int sets; /* without the last */
  void **a, **b, **d, **residual;
  size_t bytes_a, bytes_b, bytes_d;   /* of one set */
  void *bias[2], *scale[2][3];        /* scales of A, B and D */
  void *absmax, *absmax_reference[2]; /* f32; see bench_reference */
  double *result[2], *bound[2];       /* of set 0, and of the last */
} bench_data;

/* The operands of a set; what the problem has not is NULL. */
gg_pointers bench_pointers(const bench_data *data, int set);

gg_status bench_data_make(gg_device *device, const bench_problem *p, void *stream,
                          bench_data *data);
void bench_data_free(bench_data *data);

/* ---- Contestants ---- */

/* One way to compute the products of set `set` on `stream`. */
typedef struct bench_rival {
  char name[160];
  const char *(*run)(void *self, const bench_data *data, int set,
                     void *stream); /* NULL or why not */
  void *self;
  double worst;   /* error as a part of the bound; at most 1 is right */
  double *times;  /* milliseconds of one run, one per block; allocated by bench_measure */
  double *clocks; /* MHz after each block */
  int blocks;
  void *graph; /* of `runs` runs, replayed `replays` times a block */
  int runs, replays;
  int lead; /* replays before a block that are not timed */
} bench_rival;

/* cuBLASLt's first heuristic with 64 MiB of workspace (bench_cublas.c): strict f32 or f64; f32
 * accumulators for f16, bf16, fp8 (fast accumulation where the problem allows it) and tf32
 * (COMPUTE_32F_FAST_TF32), s32 for s8. Its epilogue is that of the problem, where it has one: bias
 * along n, relu, gelu_tanh, a residual without activation, scales of tensors, for fp8 of rows and
 * columns too, absmax of fp8. The first two return NULL or why not. A library without cuBLASLt says
 * so in open. */
typedef struct bench_cublas bench_cublas;
const char *bench_cublas_open(gg_device *device, bench_cublas **lib);
const char *bench_cublas_plan(bench_cublas *lib, const bench_problem *p, const bench_data *data);
const char *bench_cublas_run(void *self, const bench_data *data, int set, void *stream);
void bench_cublas_close(bench_cublas *lib); /* NULL is fine */

/* ---- Timing (bench_time.c) ---- */

typedef struct bench_options {
  int repeats;
  double min_ms;  /* of one block */
  double lead_ms; /* of the same load before a block, not timed */
} bench_options;

/* Checks each rival once, then times them: `repeats` times forwards and backwards, a block each.
 * error: what went wrong, for stderr. */
bool bench_measure(gg_device *device, const bench_problem *p, const bench_data *data,
                   bench_rival *rivals, int count, const bench_options *o, void *stream,
                   char error[300]);
void bench_rival_free(bench_rival *rival);

/* ---- Report (bench_report.c) ---- */

typedef enum bench_format { BENCH_TEXT, BENCH_CSV, BENCH_JSON } bench_format;

typedef struct bench_report {
  FILE *out;
  bench_format format;
  gg_device_info device;
  int rows;
} bench_report;

void bench_report_begin(bench_report *r);
/* One line a kernel; baseline may be NULL. */
void bench_report_row(bench_report *r, const bench_problem *p, const bench_rival *kernel,
                      const bench_rival *baseline);
void bench_report_end(bench_report *r);

/* Middle value of values (sorted in place), and the half-width of the middle half. */
double bench_median(double *values, int count, double *spread);

#ifdef __cplusplus
}
#endif
#endif
