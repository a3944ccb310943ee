/* job.c - see job.h. */
#include "job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

gg_device *device;
gg_context *context;
fake_log logged;
void *stream;
static gg_kernel rows[5];
static gg_kernel_table table;

static gg_scalar scalar(const job *j, double value) {
  return j->p.type_acc == GG_F64 || j->p.type_a == GG_F64 ? gg_scalar_f64(value)
                                                          : gg_scalar_f32((float)value);
}

gg_problem problem(gg_i64 m, gg_i64 n, gg_i64 k) {
  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.m = m, p.n = n, p.k = k;
  gg_problem_pack(&p);
  return p;
}

void job_make(job *j, const gg_problem *p, gg_i64 offset, double alpha, double beta) {
  bool at = p->order_a == GG_ORDER_T, bt = p->order_b == GG_ORDER_T;
  *j = (job){.p = *p, .alpha = alpha, .beta = beta};
  fake_matrix_make(&j->a, device, p->type_a, at ? p->k : p->m, at ? p->m : p->k, p->lda, p->batch,
                   p->stride_a, offset, 1);
  fake_matrix_make(&j->b, device, p->type_b, bt ? p->n : p->k, bt ? p->k : p->n, p->ldb, p->batch,
                   p->stride_b, offset, 2);
  fake_matrix_make(&j->c, device, p->type_d, p->m, p->n, p->ldc, p->batch, p->stride_c, offset, 3);
  fake_matrix_make(&j->d, device, p->type_d, p->m, p->n, p->ldd, p->batch, p->stride_d, offset, 4);
  fake_matrix_fill(&j->d, device, NAN);
  j->pointers = (gg_pointers){.a = fake_matrix_pointer(&j->a),
                              .b = fake_matrix_pointer(&j->b),
                              .c = fake_matrix_pointer(&j->c),
                              .d = fake_matrix_pointer(&j->d)};
}

void job_free(job *j) {
  fake_matrix_free(&j->a, device);
  fake_matrix_free(&j->b, device);
  fake_matrix_free(&j->c, device);
  fake_matrix_free(&j->d, device);
}

static double expected(const job *j, gg_i64 b, gg_i64 r, gg_i64 c) {
  double sum = 0;
  for (gg_i64 x = 0; x < j->p.k && j->alpha != 0; ++x)
    sum += (j->p.order_a == GG_ORDER_T ? *fake_matrix_at(&j->a, b, x, r)
                                       : *fake_matrix_at(&j->a, b, r, x)) *
           (j->p.order_b == GG_ORDER_T ? *fake_matrix_at(&j->b, b, c, x)
                                       : *fake_matrix_at(&j->b, b, x, c));
  sum *= j->alpha;
  return j->beta == 0 ? sum : sum + j->beta * *fake_matrix_at(&j->c, b, r, c);
}

void job_check_in(job *j, fake_matrix *got) {
  fake_matrix_fetch(got, device);
  size_t written = 0;
  for (size_t i = 0; i < got->elements; ++i)
    written += isnan(got->host[i]) ? 0 : 1;
  assert_int_equal(written, j->p.m * j->p.n * j->p.batch);
  for (gg_i64 b = 0; b < j->p.batch; ++b)
    for (gg_i64 r = 0; r < j->p.m; ++r)
      for (gg_i64 c = 0; c < j->p.n; ++c)
        if (*fake_matrix_at(got, b, r, c) != expected(j, b, r, c))
          fail_msg("batch %lld row %lld column %lld: %g, expected %g", b, r, c,
                   *fake_matrix_at(got, b, r, c), expected(j, b, r, c));
}

void ok(gg_status status) {
  if (status != GG_OK) fail_msg("%s: %s", gg_status_name(status), gg_error_detail());
}

void job_run(job *j) {
  ok(gg_gemm(context, &j->p, &j->pointers, scalar(j, j->alpha), scalar(j, j->beta), NULL, 0,
             stream));
}

void compute(const gg_problem *p, gg_i64 offset, double alpha, double beta) {
  job j;
  job_make(&j, p, offset, alpha, beta);
  job_run(&j);
  job_check_in(&j, &j.d);
  job_free(&j);
}

void job_misalign(job *j, fake_matrix *x, unsigned seed) {
  fake_matrix other;
  fake_matrix_make(&other, device, x->type, x->rows, x->columns, x->ld, x->batch, x->stride, 1,
                   seed);
  if (x == &j->d) fake_matrix_fill(&other, device, NAN);
  fake_matrix_free(x, device);
  *x = other;
  j->pointers = (gg_pointers){.a = fake_matrix_pointer(&j->a),
                              .b = fake_matrix_pointer(&j->b),
                              .c = fake_matrix_pointer(&j->c),
                              .d = fake_matrix_pointer(&j->d)};
}

bool job_open(void) {
  device = fake_device();
  return device != NULL;
}

int job_set_up(void **s) {
  (void)s;
  rows[0] = fake_row("nn_wide", GG_F32, GG_ORDER_N, GG_ORDER_N);
  for (int i = 0; i < 4; ++i)
    rows[0].align[i] = 16;
  rows[0].multiple_m = rows[0].multiple_n = 16;
  rows[0].min_k = 1;
  rows[1] = fake_row("nn", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[2] = fake_row("tn", GG_F32, GG_ORDER_T, GG_ORDER_N);
  rows[3] = fake_row("nt", GG_F32, GG_ORDER_N, GG_ORDER_T);
  rows[4] = fake_row("f64", GG_F64, GG_ORDER_N, GG_ORDER_N);
  table = fake_table(rows, 5);
  const gg_kernel_table *tables[1] = {&table};
  if (gg_context_create(tables, 1, &context) != GG_OK) return 1;
  return device->ops->stream_create(device, &stream) != GG_OK;
}

int job_tear_down(void **s) {
  (void)s;
  device->ops->stream_destroy(device, stream);
  gg_context_destroy(context);
  gg_device_destroy(device);
  return 0;
}
