/* test_dispatch.c - which kernel a run takes and how: alignment of pointers, parts of a batch,
 * plans kept, threads, capture. On the backend this is compiled for.
 */
#include "job.h"

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
    if (which >= 0) job_misalign(&j, matrices[which], (unsigned)which + 1);
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

int main(void) {
  if (!job_open()) return 77;
  const struct CMUnitTest tests[] = {
#ifdef FAKE_CUDA
      cmocka_unit_test(captured),
#endif
      cmocka_unit_test(threads), /* before the log, which is for one thread, is in place */
      cmocka_unit_test(misaligned_pointers),
      cmocka_unit_test(batch_in_parts),
      cmocka_unit_test(many_matrices),
      cmocka_unit_test(cache),
  };
  return cmocka_run_group_tests_name("dispatch", tests, job_set_up, job_tear_down);
}
