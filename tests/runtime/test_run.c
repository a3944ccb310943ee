/* test_run.c - what runs compute and what they refuse to, on the backend this is compiled for. */
#include "job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

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

#ifndef FAKE_CUDA
/* The emulated GPU's findings reach the caller of gg_run, and stay out of later runs. */
static void faults(void **s) {
  (void)s;
  gg_problem p = problem(20, 20, 4);
  job j;
  job_make(&j, &p, 0, 1, 0);
  static const float elsewhere[20 * 4]; /* no memory of the device */
  const void *good = j.pointers.a;
  j.pointers.a = elsewhere;
  assert_int_equal(
      gg_gemm(context, &p, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(0), NULL, 0, stream),
      GG_ERR_FAULT);
  assert_non_null(strstr(gg_error_detail(), "kernel nn, kernels.cu:"));
  assert_non_null(strstr(gg_error_detail(), "out-of-bounds"));
  j.pointers.a = good;
  job_run(&j);
  job_check_in(&j, &j.d);
  job_free(&j);
}
#endif

int main(void) {
  if (!job_open()) return 77;
  const struct CMUnitTest tests[] = {
#ifndef FAKE_CUDA
      cmocka_unit_test(faults),
#endif
      cmocka_unit_test(products), cmocka_unit_test(orders_and_types),
      cmocka_unit_test(batches),  cmocka_unit_test(nothing_to_compute),
      cmocka_unit_test(k_zero),   cmocka_unit_test(unread_operands),
      cmocka_unit_test(d_is_c),   cmocka_unit_test(overlaps),
  };
  return cmocka_run_group_tests_name("run", tests, job_set_up, job_tear_down);
}
