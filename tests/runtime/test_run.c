/* test_run.c - what runs compute, on the backend this program is compiled for.
 *
 * Values are small whole numbers, so every sum is exact and results are compared for equality.
 * Everything outside an operand is NaN: what is read by mistake shows, what is written by mistake
 * too.
 */
#include "fake.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#ifdef FAKE_CUDA
#include <cuda_runtime_api.h>
#endif

static gg_device *device;
static gg_context *context;
static gg_kernel rows[8];
static gg_kernel_table table;
static fake_log logged;
static void *stream;

/* A call with its matrices. */
typedef struct job {
  gg_problem p;
  fake_matrix a, b, c, d;
  gg_pointers pointers;
  double alpha, beta;
} job;

static gg_scalar scalar(const job *j, double value) {
  return j->p.type_acc == GG_F64 || j->p.type_a == GG_F64 ? gg_scalar_f64(value)
                                                          : gg_scalar_f32((float)value);
}

static gg_problem problem(gg_i64 m, gg_i64 n, gg_i64 k) {
  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.m = m, p.n = n, p.k = k;
  gg_problem_pack(&p);
  return p;
}

/* offset: elements by which each pointer misses 256-byte alignment. */
static void job_make(job *j, const gg_problem *p, gg_i64 offset, double alpha, double beta) {
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

static void job_free(job *j) {
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

/* The elements of `got` are right and no other is touched (still NaN). */
static void job_check_in(job *j, fake_matrix *got) {
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

static void ok(gg_status status) {
  if (status != GG_OK) fail_msg("%s: %s", gg_status_name(status), gg_error_detail());
}

static void job_run(job *j) {
  ok(gg_gemm(context, &j->p, &j->pointers, scalar(j, j->alpha), scalar(j, j->beta), NULL, 0,
             stream));
}

static void compute(const gg_problem *p, gg_i64 offset, double alpha, double beta) {
  job j;
  job_make(&j, p, offset, alpha, beta);
  job_run(&j);
  job_check_in(&j, &j.d);
  job_free(&j);
}

static void products(void **s) {
  (void)s;
  static const gg_i64 sizes[][3] = {{16, 16, 16}, {17, 15, 3}, {1, 1, 1}, {40, 33, 20}};
  static const double scalars[][2] = {{1, 0}, {2, 0}, {1, 1}, {-3, 2}, {0, 1}, {0, 0}};
  for (size_t i = 0; i < 4; ++i)
    for (size_t x = 0; x < 6; ++x) {
      gg_problem p = problem(sizes[i][0], sizes[i][1], sizes[i][2]);
      compute(&p, 0, scalars[x][0], scalars[x][1]);
      p.lda += 3, p.ldb += 5, p.ldc += 1, p.ldd += 2;
      compute(&p, 1, scalars[x][0], scalars[x][1]);
    }
}

static void orders_and_types(void **s) {
  (void)s;
  gg_problem p = problem(20, 18, 9);
  p.order_a = GG_ORDER_T;
  gg_problem_pack(&p);
  compute(&p, 0, 1, 1);
  p.order_a = GG_ORDER_N, p.order_b = GG_ORDER_T;
  gg_problem_pack(&p);
  compute(&p, 0, 1, 1);
  p.order_b = GG_ORDER_N;
  gg_problem_pack(&p);
  p.type_a = p.type_b = p.type_d = GG_F64;
  compute(&p, 0, 1, 1);
  compute(&p, 1, 0.5, -2);
}

static void batches(void **s) {
  (void)s;
  gg_problem p = problem(17, 5, 4);
  p.batch = 3;
  compute(&p, 0, 1, 1);
  p.stride_a = p.stride_c = 0; /* shared by all */
  compute(&p, 0, 1, 1);
  p.stride_b = 0;
  compute(&p, 0, 2, 0);
  /* D's matrices side by side. */
  p.ldd = 3 * 5, p.stride_d = 5;
  compute(&p, 0, 1, 0);
}

static void nothing_to_compute(void **s) {
  (void)s;
  fake_log_start(device, &logged);
  gg_problem p = problem(0, 7, 7);
  gg_pointers none = {0};
  ok(gg_gemm(context, &p, &none, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream));
  p = problem(7, 0, 7);
  ok(gg_gemm(context, &p, &none, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream));
  p = problem(7, 7, 7), p.batch = 0;
  ok(gg_gemm(context, &p, &none, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream));
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "");
  gg_plan_destroy(plan);
  assert_int_equal(logged.launches, 0);
}

static void k_zero(void **s) {
  (void)s;
  gg_problem p = problem(20, 20, 0);
  job j;
  for (int beta = 0; beta <= 2; beta += 2) {
    job_make(&j, &p, 0, 3, beta);
    j.pointers.a = j.pointers.b = NULL;
    job_run(&j);
    job_check_in(&j, &j.d);
    job_free(&j);
  }
  /* The fast row wants k >= 1; the plan takes another. */
  gg_plan *plan;
  p = problem(32, 32, 0);
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "nn");
  gg_plan_destroy(plan);
}

static void unread_operands(void **s) {
  (void)s;
  gg_problem p = problem(20, 20, 4);
  job j;
  job_make(&j, &p, 0, 1, 0); /* beta 0: C is never read */
  fake_matrix_fill(&j.c, device, NAN);
  job_run(&j);
  job_check_in(&j, &j.d);
  j.pointers.c = NULL;
  job_run(&j);
  job_check_in(&j, &j.d);
  j.pointers.c = j.pointers.a; /* and may lie anywhere */
  job_run(&j);
  job_free(&j);

  job_make(&j, &p, 0, 0, 2); /* alpha 0: A and B are not read */
  fake_matrix_fill(&j.a, device, NAN);
  fake_matrix_fill(&j.b, device, INFINITY);
  job_run(&j);
  job_check_in(&j, &j.d);
  j.pointers.a = j.pointers.b = NULL;
  job_run(&j);
  job_free(&j);

  p.alpha = GG_SCALAR_ZERO, p.lda = p.ldb = -5; /* stated: not even described */
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  gg_plan_destroy(plan);
}

static void d_is_c(void **s) {
  (void)s;
  gg_problem p = problem(20, 18, 4);
  p.batch = 2;
  job j;
  job_make(&j, &p, 0, 2, 3);
  fake_matrix copy;
  fake_matrix_make(&copy, device, GG_F32, p.m, p.n, p.ldc, p.batch, p.stride_c, 0, 3);
  j.pointers.c = j.pointers.d = fake_matrix_pointer(&copy); /* the values of j.c */
  job_run(&j);
  job_check_in(&j, &copy);
  fake_matrix_free(&copy, device);
  job_free(&j);
}

/* D beside A, B and C in one allocation, in every way that touches and that does not. */
static void overlaps(void **s) {
  (void)s;
  void *memory;
  ok(gg_device_alloc(device, 1 << 20, &memory));
  float *x = memory;
  gg_problem p = problem(16, 16, 16);
  p.lda = p.ldb = p.ldc = p.ldd = 64;
  const float zeros[16384] = {0};
  ok(gg_device_upload(device, memory, zeros, sizeof zeros));
  const struct {
    gg_i64 a, b, c, d; /* elements */
    gg_status status;
  } cases[] = {
      {0, 16, 32, 48, GG_OK},                /* four column blocks of one matrix */
      {0, 16, 32, 32, GG_OK},                /* D is C */
      {0, 16, 32, 33, GG_ERR_OVERLAP},       /* D is C but for a column */
      {0, 16, 32, 96, GG_ERR_OVERLAP},       /* D is C but for a row */
      {0, 16, 32, 0, GG_ERR_OVERLAP},        /* D is A */
      {0, 16, 32, 16, GG_ERR_OVERLAP},       /* D is B */
      {0, 16, 32, 15, GG_ERR_OVERLAP},       /* D ends in B, begins in A */
      {0, 0, 0, 48, GG_OK},                  /* inputs may share */
      {0, 16, 32, 1024 - 16, GG_OK},         /* after A's last element, between the others */
      {0, 16, 32, 960 + 47, GG_ERR_OVERLAP}, /* the last element of C */
      {0, 16, 32, 960 + 48, GG_OK},
      {4096, 8192, 12288, 0, GG_OK},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const gg_pointers q = {
        .a = x + cases[i].a, .b = x + cases[i].b, .c = x + cases[i].c, .d = x + cases[i].d};
    gg_status got = gg_gemm(context, &p, &q, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream);
    if (got != cases[i].status) fail_msg("case %zu: %s", i, gg_status_name(got));
  }
  /* D as C but with another pitch, stride or type is no exact match. */
  gg_pointers q = {.a = x + 8192, .b = x + 10240, .c = x, .d = x};
  p.ldc = 65;
  assert_int_equal(gg_gemm(context, &p, &q, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream),
                   GG_ERR_OVERLAP);
  p = problem(16, 16, 16), p.batch = 2, p.stride_c = 0;
  assert_int_equal(gg_gemm(context, &p, &q, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream),
                   GG_ERR_OVERLAP);
  ok(gg_device_synchronise(device));
  ok(gg_device_free(device, memory));
}

/* Replaces one matrix of a job by its equal, one element off 16-byte alignment. */
static void move(job *j, fake_matrix *x, unsigned seed) {
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

static void misaligned_pointers(void **s) {
  (void)s;
  gg_problem p = problem(32, 32, 32);
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "nn_wide");
  assert_string_equal(gg_plan_kernel_unaligned(plan), "nn");
  for (int which = -1; which < 4; ++which) {
    job j;
    fake_matrix *const matrices[4] = {&j.a, &j.b, &j.c, &j.d};
    job_make(&j, &p, 0, 1, 1);
    if (which >= 0) move(&j, matrices[which], (unsigned)which + 1);
    fake_log_start(device, &logged);
    ok(gg_run(plan, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream));
    assert_int_equal(logged.launches, 1);
    assert_string_equal(logged.launch[0].kernel, which >= 0 ? "nn" : "nn_wide");
    job_check_in(&j, &j.d);
    job_free(&j);
  }
  /* C does not count while it is not read. */
  job j;
  job_make(&j, &p, 0, 1, 0);
  j.pointers.c = (const float *)j.pointers.c + 1;
  fake_log_start(device, &logged);
  ok(gg_run(plan, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(0), NULL, 0, stream));
  assert_string_equal(logged.launch[0].kernel, "nn_wide");
  ok(gg_run(plan, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream));
  assert_string_equal(logged.launch[1].kernel, "nn");
  ok(gg_device_synchronise(device));
  job_free(&j);
  gg_plan_destroy(plan);

  p.align_b = 4; /* promised: no better */
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "nn");
  gg_plan_destroy(plan);

  p.align_b = 16, p.pin = "nn_wide"; /* a pin allows no other */
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel_unaligned(plan), "");
  job_make(&j, &p, 1, 1, 1);
  assert_int_equal(gg_run(plan, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream),
                   GG_ERR_ALIGNMENT);
  assert_non_null(strstr(gg_error_detail(), "the pin allows no other"));
  job_free(&j);
  gg_plan_destroy(plan);
}

static void batch_in_parts(void **s) {
  (void)s;
  gg_problem p = problem(17, 16, 3); /* 2 tiles */
  p.batch = 7;
  p.stride_a = 0;
  p.align_a = p.align_b = p.align_c = p.align_d = 4;
  gg_i64 former = device->info.blocks_launch;
  device->info.blocks_launch = 5; /* 2 matrices a launch */
  job j;
  job_make(&j, &p, 0, 1, 1);
  fake_log_start(device, &logged);
  job_run(&j);
  assert_int_equal(logged.launches, 4);
  for (int i = 0; i < 4; ++i) {
    const gg_args *a = &logged.launch[i].args;
    assert_int_equal(a->batch, i < 3 ? 2 : 1);
    assert_int_equal(logged.launch[i].blocks, 2 * a->batch);
    assert_ptr_equal(a->a, j.pointers.a);
    assert_ptr_equal(a->b, (const float *)j.pointers.b + i * 2 * p.stride_b);
    assert_ptr_equal(a->c, (const float *)j.pointers.c + i * 2 * p.stride_c);
    assert_ptr_equal(a->d, (float *)j.pointers.d + i * 2 * p.stride_d);
  }
  job_check_in(&j, &j.d);
  job_free(&j);
  device->info.blocks_launch = 1;
  p.m = 18;
  gg_problem_pack(&p);
  gg_plan *plan;
  assert_int_equal(gg_plan_create(context, &p, &plan), GG_ERR_LIMIT);
  assert_non_null(strstr(gg_error_detail(), "2 x 1 tiles of kernel nn exceed the 1 blocks"));
  device->info.blocks_launch = former;
}

static void many_matrices(void **s) {
  (void)s;
  gg_problem p = problem(1, 2, 1);
  p.batch = 65537; /* more than grid y and z hold */
  p.align_a = p.align_b = p.align_c = p.align_d = 4;
#ifdef FAKE_CUDA
  compute(&p, 0, 1, 0);
#else
  /* 16 million emulated threads would take long: the launch is only looked at. */
  job j;
  job_make(&j, &p, 0, 1, 0);
  fake_log_start(device, &logged);
  logged.dry = true;
  job_run(&j);
  assert_int_equal(logged.launches, 1);
  assert_int_equal(logged.launch[0].blocks, 65537);
  assert_int_equal(logged.launch[0].args.batch, 65537);
  logged.dry = false;
  job_free(&j);
#endif
}

static void cache(void **s) {
  (void)s;
  gg_problem p = problem(16, 16, 8);
  p.lda = 99;
  job j;
  job_make(&j, &p, 0, 1, 0);
  fake_log_start(device, &logged);
  for (int i = 0; i < 5; ++i)
    job_run(&j);
  int loads = logged.loads;
  assert_in_range(loads, 1, 2); /* planned once: the rows for promise and elements */
  char name[] = "nn";
  j.p.pin = name; /* another problem, by the text of the pin */
  job_run(&j);
  assert_int_equal(logged.loads, loads * 2);
  char same[] = "nn";
  j.p.pin = same;
  job_run(&j);
  assert_int_equal(logged.loads, loads * 2);
  /* More problems than the cache keeps. */
  for (int i = 0; i < 600; ++i) {
    j.p.ldc = 16 + i;
    job_run(&j);
  }
  job_check_in(&j, &j.d);
  job_free(&j);
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 40 };

static void *work(void *given) {
  gg_i64 id = *(gg_i64 *)given;
  double *wrong = calloc(1, sizeof *wrong);
  for (gg_i64 i = 0; i < ROUNDS && *wrong == 0; ++i) {
    /* Few problems, so that threads meet at the same plans; some new ones. */
    gg_i64 m = 1 + (id + i) % 5, n = 2 + i % 3, k = 1 + i % 7;
    gg_problem p = problem(m, n, k);
    p.ldd = n + i / 8;
    float *memory = NULL, host[3][64];
    void *allocated;
    if (gg_device_alloc(device, sizeof host + 4096, &allocated) != GG_OK) *wrong = 1;
    memory = allocated;
    for (int x = 0; x < 64; ++x)
      host[0][x] = 1, host[1][x] = (float)id + 1, host[2][x] = -1;
    if (gg_device_upload(device, memory, host, sizeof host) != GG_OK) *wrong = 2;
    const gg_pointers q = {.a = memory, .b = memory + 64, .d = memory + 128};
    if (gg_gemm(context, &p, &q, gg_scalar_f32(1), gg_scalar_f32(0), NULL, 0, stream) != GG_OK)
      *wrong = 3;
    /* An error of this thread is not seen by others. */
    p.m = -id - 1;
    char words[40];
    snprintf(words, sizeof words, "m: %lld is negative", -id - 1);
    gg_plan *plan;
    if (gg_plan_create(context, &p, &plan) != GG_ERR_SIZE || !strstr(gg_error_detail(), words))
      *wrong = 4;
    if (gg_device_synchronise(device) != GG_OK ||
        gg_device_download(device, host[2], memory + 128, sizeof host[2]) != GG_OK)
      *wrong = 5;
    if (host[2][0] != (float)(k * (id + 1))) *wrong = 6;
    if (gg_device_free(device, allocated) != GG_OK) *wrong = 7;
  }
  return wrong;
}

static void threads(void **s) {
  (void)s;
  pthread_t thread[THREADS];
  gg_i64 id[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    id[i] = i;
    assert_int_equal(pthread_create(&thread[i], NULL, work, &id[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void *wrong;
    assert_int_equal(pthread_join(thread[i], &wrong), 0);
    assert_int_equal((int)*(double *)wrong, 0);
    free(wrong);
  }
}

#ifdef FAKE_CUDA
/* A graph captures a kernel that never ran: the table of this test has rows of its own. */
static void captured(void **s) {
  (void)s;
  gg_problem p = problem(33, 20, 9);
  p.type_a = p.type_b = p.type_d = GG_F64;
  job j;
  job_make(&j, &p, 0, 2, 1);
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ok(gg_run(plan, &j.pointers, gg_scalar_f64(2), gg_scalar_f64(1), NULL, 0, stream));
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
  job_check_in(&j, &j.d);
  assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  gg_plan_destroy(plan);
  job_free(&j);
}
#endif

static int set_up(void **s) {
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

static int tear_down(void **s) {
  (void)s;
  device->ops->stream_destroy(device, stream);
  gg_context_destroy(context);
  gg_device_destroy(device);
  return 0;
}

int main(void) {
  device = fake_device();
  if (!device) return 77;
  const struct CMUnitTest tests[] = {
#ifdef FAKE_CUDA
      cmocka_unit_test(captured),
#endif
      cmocka_unit_test(threads), /* before the log, which is for one thread, is in place */
      cmocka_unit_test(products),
      cmocka_unit_test(orders_and_types),
      cmocka_unit_test(batches),
      cmocka_unit_test(nothing_to_compute),
      cmocka_unit_test(k_zero),
      cmocka_unit_test(unread_operands),
      cmocka_unit_test(d_is_c),
      cmocka_unit_test(overlaps),
      cmocka_unit_test(misaligned_pointers),
      cmocka_unit_test(batch_in_parts),
      cmocka_unit_test(many_matrices),
      cmocka_unit_test(cache),
  };
  return cmocka_run_group_tests_name("run", tests, set_up, tear_down);
}
