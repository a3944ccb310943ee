/* job.h - one call with its matrices, run through gg_gemm and checked element by element.
 *
 * Values are small whole numbers, so every sum is exact and results are compared for equality.
 * Everything outside an operand is NaN: what is read by mistake shows, what is written by mistake
 * too.
 */
#ifndef JOB_H
#define JOB_H

#include "fake.h"

/* Made by job_set_up: a context over kernels "nn_wide" (16-byte alignment, multiples of 16, k >=
 * 1), "nn", "tn", "nt" of f32 and "f64". */
extern gg_device *device;
extern gg_context *context;
extern fake_log logged;
extern void *stream;

typedef struct job {
  gg_problem p;
  fake_matrix a, b, c, d;
  gg_pointers pointers;
  double alpha, beta;
} job;

/* A densely stored f32 problem. */
gg_problem problem(gg_i64 m, gg_i64 n, gg_i64 k);

/* offset: elements by which each pointer misses 256-byte alignment. */
void job_make(job *j, const gg_problem *p, gg_i64 offset, double alpha, double beta);
void job_free(job *j);
void job_run(job *j);
/* Replaces one matrix by its equal, one element off 16-byte alignment; seed: 1 to 4 for a to d. */
void job_misalign(job *j, fake_matrix *x, unsigned seed);
/* The elements of `got` are right and no other is touched (still NaN). */
void job_check_in(job *j, fake_matrix *got);
/* All of it. */
void compute(const gg_problem *p, gg_i64 offset, double alpha, double beta);

void ok(gg_status status);

/* Opens `device`; false: there is none here. Before the tests. */
bool job_open(void);
int job_set_up(void **state);
int job_tear_down(void **state);

#endif
