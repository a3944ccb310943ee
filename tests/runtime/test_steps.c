/* test_steps.c - bias, activation, residual, scales and absmax through gg_run: what reaches the
 * kernel, how it moves along a batch, what is refused. On the backend this is compiled for.
 *
 * Values are small whole numbers and scales powers of two, so that every result is exact.
 */
#include "epilogue.h"
#include "job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void test_f32_vector_group_n(void);
void test_f32_block_tensor_m(void);

static gg_context *steps_context;
static gg_kernel rows[2];
static gg_kernel_table table;

typedef struct steps_job {
  job j;
  fake_matrix bias, residual, scale_a, scale_b, scale_d, absmax;
} steps_job;

/* 2 to the power of -2 .. 1 by place. */
static void powers(fake_matrix *x) {
  for (gg_i64 b = 0; b < x->batch; ++b)
    for (gg_i64 i = 0; i < x->columns; ++i)
      *fake_matrix_at(x, b, 0, i) = ldexp(1, (int)((b * 5 + i * 3) % 4) - 2);
}

static void scales(fake_matrix *x, gg_scaling scaling, gg_i64 extent, const gg_problem *p) {
  gg_i64 count = ggi_scale_count(scaling, extent, p->k);
  gg_i64 stride = ggi_scale_stride(scaling, extent, p->k);
  fake_matrix_make(x, device, GG_F32, 1, count, count, stride ? p->batch : 1, stride, 1, 5);
  powers(x);
  fake_matrix_send(x, device);
}

static gg_problem steps_problem(const gg_kernel *row, gg_i64 m, gg_i64 n, gg_i64 k, gg_i64 batch) {
  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.m = m, p.n = n, p.k = k, p.batch = batch;
  p.bias = row->bias;
  p.activation = row->activation;
  p.scaling_a = row->scaling_a, p.scaling_b = row->scaling_b, p.scaling_d = row->scaling_d;
  p.residual = row->residual, p.absmax = row->absmax;
  gg_problem_pack(&p);
  return p;
}

static void make(steps_job *s, const gg_problem *p, double alpha, double beta) {
  job_make(&s->j, p, 0, alpha, beta);
  gg_i64 extent = p->bias == GG_BIAS_N ? p->n : p->m;
  fake_matrix_make(&s->bias, device, GG_F32, 1, extent, extent, p->batch, p->stride_bias, 1, 6);
  fake_matrix_make(&s->residual, device, GG_F32, p->m, p->n, p->ld_residual, p->batch,
                   p->stride_residual, 1, 7);
  scales(&s->scale_a, p->scaling_a, p->m, p);
  scales(&s->scale_b, p->scaling_b, p->n, p);
  scales(&s->scale_d, p->scaling_d, p->m, p);
  fake_matrix_make(&s->absmax, device, GG_F32, 1, 1, 1, 1, 0, 1, 8);
  *fake_matrix_at(&s->absmax, 0, 0, 0) = 0;
  fake_matrix_send(&s->absmax, device);
  gg_pointers *q = &s->j.pointers;
  q->bias = fake_matrix_pointer(&s->bias);
  q->residual = fake_matrix_pointer(&s->residual);
  q->scale_a = fake_matrix_pointer(&s->scale_a);
  q->scale_b = fake_matrix_pointer(&s->scale_b);
  q->scale_d = fake_matrix_pointer(&s->scale_d);
  q->absmax = fake_matrix_pointer(&s->absmax);
}

static void release(steps_job *s) {
  fake_matrix *const all[] = {&s->bias,    &s->residual, &s->scale_a,
                              &s->scale_b, &s->scale_d,  &s->absmax};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    fake_matrix_free(all[i], device);
  job_free(&s->j);
}

static double scale(fake_matrix *x, gg_scaling scaling, gg_i64 b, gg_i64 extent, gg_i64 at,
                    gg_i64 k) {
  gg_i64 place = scaling == GG_SCALING_TENSOR   ? 0
                 : scaling == GG_SCALING_VECTOR ? at
                 : scaling == GG_SCALING_GROUP  ? k / 128 * extent + at
                                                : k / 128 * ((extent + 127) / 128) + at / 128;
  return *fake_matrix_at(x, scaling == GG_SCALING_TENSOR ? 0 : b, 0, place);
}

/* Before scale_d. */
static double expected(steps_job *s, gg_i64 b, gg_i64 r, gg_i64 c) {
  const gg_problem *p = &s->j.p;
  double sum = 0;
  for (gg_i64 x = 0; x < p->k && s->j.alpha != 0; ++x)
    sum += *fake_matrix_at(&s->j.a, b, r, x) * *fake_matrix_at(&s->j.b, b, x, c) *
           scale(&s->scale_a, p->scaling_a, b, p->m, r, x) *
           scale(&s->scale_b, p->scaling_b, b, p->n, c, x);
  sum *= s->j.alpha;
  if (s->j.beta != 0) sum += s->j.beta * *fake_matrix_at(&s->j.c, b, r, c);
  sum += *fake_matrix_at(&s->bias, b, 0, p->bias == GG_BIAS_N ? c : r);
  if (sum < 0) sum = 0;
  return sum + *fake_matrix_at(&s->residual, b, r, c);
}

static void check(steps_job *s, fake_matrix *d) {
  const gg_problem *p = &s->j.p;
  double largest = 0, scale_d = *fake_matrix_at(&s->scale_d, 0, 0, 0);
  fake_matrix_fetch(d, device);
  for (gg_i64 b = 0; b < p->batch; ++b)
    for (gg_i64 r = 0; r < p->m; ++r)
      for (gg_i64 c = 0; c < p->n; ++c) {
        double x = expected(s, b, r, c), got = *fake_matrix_at(d, b, r, c);
        largest = fmax(largest, fabs(x));
        if (got != x * scale_d)
          fail_msg("batch %lld row %lld column %lld: %g, expected %g", b, r, c, got, x * scale_d);
      }
  fake_matrix_fetch(&s->absmax, device);
  assert_true(*fake_matrix_at(&s->absmax, 0, 0, 0) == largest);
}

static gg_status run(steps_job *s) {
  return gg_gemm(steps_context, &s->j.p, &s->j.pointers, gg_scalar_f32((float)s->j.alpha),
                 gg_scalar_f32((float)s->j.beta), NULL, 0, stream);
}

static void compute_steps(const gg_problem *p, double alpha, double beta) {
  steps_job s;
  make(&s, p, alpha, beta);
  ok(run(&s));
  check(&s, &s.j.d);
  release(&s);
}

static void results(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    gg_problem p = steps_problem(&rows[i], 17, 20, 150, 1);
    compute_steps(&p, 2, 3);
    p.ld_residual += 3;
    compute_steps(&p, 1, 0);
    p = steps_problem(&rows[i], 131, 5, 257, 3); /* two blocks of rows, three of k */
    compute_steps(&p, 1, 1);
    p.stride_residual = p.stride_bias = p.stride_a = 0; /* shared; the scales of A are not */
    compute_steps(&p, -1, 1);
    p = steps_problem(&rows[i], 4, 4, 0, 2);
    compute_steps(&p, 1, 1);
    p = steps_problem(&rows[i], 4, 4, 7, 2);
    compute_steps(&p, 0, 1);
  }
}

/* Each launch of a batch in parts gets its own matrices' bias, residual and scales. */
static void parts(void **state) {
  (void)state;
  gg_i64 former = device->info.blocks_launch;
  device->info.blocks_launch = 5;
  for (int i = 0; i < 2; ++i) {
    gg_problem p = steps_problem(&rows[i], 17, 16, 140, 7); /* 2 tiles a matrix */
    fake_log_start(device, &logged);
    compute_steps(&p, 1, 1);
    assert_int_equal(logged.launches, 4);
  }
  device->info.blocks_launch = former;
}

/* D in the place of the residual, of C, or of both. */
static void in_place(void **state) {
  (void)state;
  gg_problem p = steps_problem(&rows[0], 20, 18, 4, 2);
  for (int which = 1; which <= 3; ++which) {
    steps_job s;
    make(&s, &p, 2, 3);
    fake_matrix copy;
    fake_matrix *const of = which == 1 ? &s.residual : &s.j.c;
    fake_matrix_make(&copy, device, GG_F32, p.m, p.n, p.ldd, p.batch, p.stride_d, 0, 9);
    for (gg_i64 b = 0; b < p.batch; ++b)
      for (gg_i64 r = 0; r < p.m; ++r)
        for (gg_i64 c = 0; c < p.n; ++c) {
          *fake_matrix_at(&copy, b, r, c) = *fake_matrix_at(of, b, r, c);
          if (which == 3) *fake_matrix_at(&s.residual, b, r, c) = *fake_matrix_at(of, b, r, c);
        }
    fake_matrix_send(&copy, device);
    gg_pointers *q = &s.j.pointers;
    q->d = fake_matrix_pointer(&copy);
    if (which & 1) q->residual = q->d;
    if (which & 2) q->c = q->d;
    ok(run(&s));
    check(&s, &copy);
    fake_matrix_free(&copy, device);
    release(&s);
  }
}

/* A row that asks 16 bytes of D has them of the residual too; a call without takes the other. */
static void residual_alignment(void **state) {
  (void)state;
  gg_kernel own[2] = {rows[0], rows[0]};
  own[0].name = "wide", own[0].align[3] = 16;
  gg_kernel_table t = fake_table(own, 2);
  const gg_kernel_table *tables[1] = {&t};
  gg_context *former = steps_context;
  ok(gg_context_create(tables, 1, &steps_context));
  gg_problem p = steps_problem(&rows[0], 20, 20, 4, 1);
  steps_job s;
  make(&s, &p, 1, 0); /* every operand from bias on is one element off */
  fake_log_start(device, &logged);
  ok(run(&s));
  assert_string_equal(logged.launch[0].kernel, "vector_group_n");
  check(&s, &s.j.d);
  s.j.pointers.residual = (const float *)s.j.pointers.residual + 3;
  ok(run(&s));
  assert_string_equal(logged.launch[1].kernel, "wide");
  release(&s);
  gg_context_destroy(steps_context);
  steps_context = former;
}

static void refused(steps_job *s, gg_status status, const char *words) {
  gg_status got = run(s);
  if (got != status || !strstr(gg_error_detail(), words))
    fail_msg("%s, \"%s\"; expected \"%s\"", gg_status_name(got), gg_error_detail(), words);
}

static void wrong_pointers(void **state) {
  (void)state;
  gg_problem p = steps_problem(&rows[0], 20, 18, 4, 1);
  steps_job s;
  make(&s, &p, 1, 0);
  const gg_pointers good = s.j.pointers;
  gg_pointers *q = &s.j.pointers;
  fake_log_start(device, &logged);
#define WRONG(change, status, words)                                                               \
  do {                                                                                             \
    change;                                                                                        \
    refused(&s, status, words);                                                                    \
    *q = good;                                                                                     \
  } while (0)
#define PAST(pointer, bytes) ((char *)(uintptr_t)(pointer) + (bytes))
  WRONG(q->bias = NULL, GG_ERR_NULL, "pointers.bias: is NULL, but the problem has a bias");
  WRONG(q->residual = NULL, GG_ERR_NULL, "pointers.residual: is NULL, but the problem has a res");
  WRONG(q->scale_a = NULL, GG_ERR_NULL, "pointers.scale_a: is NULL, but the problem has scales of");
  WRONG(q->scale_b = NULL, GG_ERR_NULL, "pointers.scale_b: is NULL");
  WRONG(q->scale_d = NULL, GG_ERR_NULL, "pointers.scale_d: is NULL, but the problem has a scale");
  WRONG(q->absmax = NULL, GG_ERR_NULL, "pointers.absmax: is NULL, but the problem asks for absmax");
  WRONG(q->bias = PAST(q->bias, 2), GG_ERR_ALIGNMENT, "pointers.bias: ");
  WRONG(q->absmax = PAST(q->absmax, 1), GG_ERR_ALIGNMENT, "is not a multiple of 4");
  WRONG(q->bias = PAST(q->d, 64), GG_ERR_OVERLAP, "shares elements with pointers.bias at");
  WRONG(q->scale_d = PAST(q->d, 4), GG_ERR_OVERLAP, "give it memory of its own");
  WRONG(q->residual = PAST(q->d, 4), GG_ERR_OVERLAP, "D may only be exactly that");
  WRONG(q->absmax = PAST(q->d, 4), GG_ERR_OVERLAP, "pointers.d: the one at ");
  WRONG(q->absmax = PAST(q->scale_d, 0), GG_ERR_OVERLAP, "pointers.absmax: the one at ");
  WRONG(q->absmax = PAST(q->scale_a, 19 * 4), GG_ERR_OVERLAP, "shares elements with pointers.sca");
#undef PAST
#undef WRONG
  s.j.p.ld_residual = 19; /* D is 20 x 18 with rows of 18: no exact match */
  q->residual = q->d;
  refused(&s, GG_ERR_OVERLAP, "pointers.residual");
  assert_int_equal(logged.launches, 0);
  release(&s);
}

/* Pointers of steps that the problem has not are not handed on; strides of one matrix are 0. */
static void unasked(void **state) {
  (void)state;
  gg_problem p = problem(16, 16, 4);
  p.ld_residual = -3, p.stride_bias = -1; /* not looked at */
  static float elsewhere[4];
  job j;
  job_make(&j, &p, 0, 1, 0);
  j.pointers.bias = j.pointers.residual = j.pointers.scale_a = elsewhere + 1;
  j.pointers.absmax = j.pointers.d;
  fake_log_start(device, &logged);
  job_run(&j);
  job_check_in(&j, &j.d);
  const gg_args *a = &logged.launch[0].args;
  assert_null(a->bias);
  assert_null(a->residual);
  assert_null(a->scale_a);
  assert_null(a->absmax);
  assert_int_equal(a->ld_residual, 0);
  assert_int_equal(a->stride_bias, 0);
  job_free(&j);
}

/* Equal but for one step: never the same plan. */
static void cached_apart(void **state) {
  (void)state;
  gg_problem p = steps_problem(&rows[0], 16, 16, 4, 2);
  steps_job s;
  make(&s, &p, 1, 0);
  ok(run(&s));
  check(&s, &s.j.d);
  gg_problem *const q = &s.j.p;
  q->stride_bias = q->stride_residual = 0;
  *fake_matrix_at(&s.absmax, 0, 0, 0) = 0;
  fake_matrix_send(&s.absmax, device);
  s.bias.stride = s.residual.stride = 0;
  ok(run(&s));
  check(&s, &s.j.d);
  q->activation = GG_ACTIVATION_GELU;
  refused(&s, GG_ERR_NO_KERNEL, "activation is gelu, the kernel's is relu");
  q->activation = GG_ACTIVATION_RELU, q->absmax = 0;
  refused(&s, GG_ERR_NO_KERNEL, "the kernel delivers absmax");
  release(&s);
}

static int set_up(void **state) {
  if (job_set_up(state)) return 1;
  for (int i = 0; i < 2; ++i) {
    rows[i] = fake_row(i ? "block_tensor_m" : "vector_group_n", GG_F32, GG_ORDER_N, GG_ORDER_N);
    rows[i].entry = i ? test_f32_block_tensor_m : test_f32_vector_group_n;
    rows[i].bias = i ? GG_BIAS_M : GG_BIAS_N;
    rows[i].activation = GG_ACTIVATION_RELU;
    rows[i].scaling_a = i ? GG_SCALING_BLOCK : GG_SCALING_VECTOR;
    rows[i].scaling_b = i ? GG_SCALING_TENSOR : GG_SCALING_GROUP;
    rows[i].scaling_d = GG_SCALING_TENSOR;
    rows[i].residual = rows[i].absmax = 1;
  }
  table = fake_table(rows, 2);
  const gg_kernel_table *tables[1] = {&table};
  return gg_context_create(tables, 1, &steps_context) != GG_OK;
}

static int tear_down(void **state) {
  gg_context_destroy(steps_context);
  return job_tear_down(state);
}

int main(void) {
  if (!job_open()) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results),        cmocka_unit_test(parts),
      cmocka_unit_test(in_place),       cmocka_unit_test(residual_alignment),
      cmocka_unit_test(wrong_pointers), cmocka_unit_test(unasked),
      cmocka_unit_test(cached_apart),
  };
  return cmocka_run_group_tests_name("steps", tests, set_up, tear_down);
}
