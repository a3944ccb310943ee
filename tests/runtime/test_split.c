/* test_split.c - k cut into parts: when, how often, what each launch is told, and that D is right.
 * On the backend this is compiled for.
 */
#include "job.h"
#include "problem.h"
#include "way.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void test_reduce_f32(void);

enum { NN, TN, NT, REDUCE, ROWS };
enum { TILE_K = 8, MEMORY = 1 << 22 };
static gg_kernel rows[ROWS];
static gg_kernel_table table;
static void *memory; /* for workspaces */

static gg_status run(job *j, size_t bytes) {
  fake_log_start(device, &logged);
  return gg_gemm(context, &j->p, &j->pointers, gg_scalar_f32((float)j->alpha),
                 gg_scalar_f32((float)j->beta), bytes ? memory : NULL, bytes, stream);
}

/* Two launches: the sums of all parts, and their reduction. Returns how many parts there were. */
static gg_i64 is_split(const job *j, const char *kernel) {
  assert_int_equal(logged.launches, 2);
  assert_string_equal(logged.launch[0].kernel, kernel);
  assert_string_equal(logged.launch[1].kernel, "reduce");
  const gg_args *sums = &logged.launch[0].args, *rest = &logged.launch[1].args;
  gg_i64 parts = sums->batch;
  assert_true(parts >= 2);
  assert_int_equal(parts * sums->k, j->p.k);
  assert_int_equal(sums->k % TILE_K, 0);
  assert_ptr_equal(sums->d, memory);
  assert_ptr_equal(rest->b, memory);
  assert_true(sums->ldd % 32 == 0 && sums->ldd >= j->p.n && sums->stride_d == j->p.m * sums->ldd);
  assert_true(rest->k == parts && rest->ldb == sums->ldd && rest->stride_b == sums->stride_d);
  assert_true(rest->m == j->p.m && rest->n == j->p.n && rest->batch == 1);
  assert_true(sums->alpha.f32 == 1 && sums->beta.f32 == 0);
  return parts;
}

static void layouts(void **s) {
  (void)s;
  static const struct {
    gg_order a, b;
    const char *kernel;
  } layout[] = {{GG_ORDER_N, GG_ORDER_N, "nn"},
                {GG_ORDER_T, GG_ORDER_N, "tn"},
                {GG_ORDER_N, GG_ORDER_T, "nt"}};
  for (int i = 0; i < 3; ++i) {
    gg_problem p = problem(17, 21, 1024);
    p.order_a = layout[i].a, p.order_b = layout[i].b;
    gg_problem_pack(&p);
    p.lda += 3, p.ldb += 1, p.ldc += 2, p.ldd += 5;
    job j;
    job_make(&j, &p, 1, 2, -3);
    ok(run(&j, MEMORY));
    gg_i64 parts = is_split(&j, layout[i].kernel);
    const gg_args *sums = &logged.launch[0].args;
    assert_int_equal(sums->stride_a, 1024 / parts * (layout[i].a == GG_ORDER_T ? p.lda : 1));
    assert_int_equal(sums->stride_b, 1024 / parts * (layout[i].b == GG_ORDER_N ? p.ldb : 1));
    job_check_in(&j, &j.d);
    job_free(&j);
  }
}

/* Parts fill the SMs, and no more than that; few SMs, few parts. */
static void how_many(void **s) {
  (void)s;
  int sms = device->info.sms;
  gg_problem p = problem(32, 32, 8192); /* four tiles */
  job j;
  job_make(&j, &p, 0, 1, 0);
  for (int i = 0; i < 3; ++i) {
    static const int devices[] = {16, 64, 256}, expected[] = {4, 16, 64};
    device->info.sms = devices[i];
    gg_context *fresh; /* without plans made for another number of SMs */
    const gg_kernel_table *tables[1] = {&table};
    ok(gg_context_create(tables, 1, &fresh));
    fake_log_start(device, &logged);
    ok(gg_gemm(fresh, &p, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(0), memory, MEMORY, stream));
    assert_int_equal(is_split(&j, "nn"), expected[i]);
    job_check_in(&j, &j.d);
    gg_context_destroy(fresh);
  }
  device->info.sms = sms;
  job_free(&j);
}

/* Not cut: without a workspace, with k no multiple of a k tile, in a batch, under a pin, where
 * tiles fill the device, and where the tables lack a reduction with these steps. */
static void never(void **s) {
  (void)s;
  job j;
  gg_problem p = problem(16, 16, 1024);
  job_make(&j, &p, 0, 1, 2);
  ok(run(&j, 0));
  assert_int_equal(logged.launches, 1);
  job_check_in(&j, &j.d);
  p.pin = j.p.pin = "nn";
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 1);
  job_check_in(&j, &j.d);
  job_free(&j);

  gg_problem others[3] = {problem(16, 16, 1021), problem(16, 16, 1024), problem(512, 512, 32)};
  others[1].batch = 2, others[1].stride_a = 16 * 1024, others[1].stride_b = 16 * 1024;
  others[1].stride_c = others[1].stride_d = 256;
  for (int i = 0; i < 3; ++i) {
    job_make(&j, &others[i], 0, 1, 0);
    ok(run(&j, MEMORY));
    assert_int_equal(logged.launches, 1);
    job_check_in(&j, &j.d);
    job_free(&j);
  }

  p = problem(16, 16, 1024);
  const gg_kernel_table *tables[1] = {&table};
  const ggi_rows all = {tables, 1, &device->info};
  ggi_call call;
  ggi_choice choice;
  p.type_c = p.type_acc = GG_F32;
  ggi_problem_call(&p, true, &call);
  ggi_select(&all, &call, NULL, true, &choice);
  assert_ptr_equal(choice.way.split.reduce, &rows[REDUCE]);
  rows[REDUCE].activation = GG_ACTIVATION_RELU;
  ggi_select(&all, &call, NULL, true, &choice);
  assert_null(choice.way.split.reduce);
  rows[REDUCE].activation = GG_ACTIVATION_NONE;
  rows[NN].sm_gflops = 0; /* its time cannot be compared with the reduction's */
  ggi_select(&all, &call, NULL, true, &choice);
  assert_null(choice.way.split.reduce);
  rows[NN].sm_gflops = 40;
  rows[REDUCE].overhead_ns = 1000000000; /* longer than it saves */
  ggi_select(&all, &call, NULL, true, &choice);
  assert_null(choice.way.split.reduce);
  rows[REDUCE].overhead_ns = 1000;
  /* Parts of 2^62 bytes are none. */
  call.m = (gg_i64)1 << 56;
  ggi_select(&all, &call, NULL, true, &choice);
  assert_null(choice.way.split.reduce);
}

/* With alpha 0 nothing is summed: A, B and the parts are not read. */
static void unread(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 1024);
  job j;
  job_make(&j, &p, 0, 0, 2);
  j.pointers.a = j.pointers.b = NULL;
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 1);
  assert_string_equal(logged.launch[0].kernel, "reduce");
  assert_int_equal(logged.launch[0].args.k, 0);
  assert_null(logged.launch[0].args.b);
  job_check_in(&j, &j.d);
  job_free(&j);
}

/* C is D: each element is read before it is written, by the reduction alone. */
static void in_place(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 1024);
  job j;
  job_make(&j, &p, 0, 1, 2);
  j.pointers.d = (void *)(uintptr_t)j.pointers.c;
  ok(run(&j, MEMORY));
  is_split(&j, "nn");
  double kept[20 * 24];
  for (int i = 0; i < 20 * 24; ++i)
    kept[i] = *fake_matrix_at(&j.c, 0, i / 24, i % 24);
  fake_matrix_fetch(&j.c, device);
  for (int i = 0; i < 20 * 24; ++i) {
    double sum = 2 * kept[i];
    for (int k = 0; k < 1024; ++k)
      sum += *fake_matrix_at(&j.a, 0, i / 24, k) * *fake_matrix_at(&j.b, 0, k, i % 24);
    assert_true(*fake_matrix_at(&j.c, 0, i / 24, i % 24) == sum);
  }
  job_free(&j);
}

static void workspaces(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 1024);
  job j;
  job_make(&j, &p, 0, 1, 0);
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  size_t bytes = gg_plan_workspace(plan);
  fake_log_start(device, &logged);
  const gg_scalar one = gg_scalar_f32(1), zero = gg_scalar_f32(0);
  assert_int_equal(gg_run(plan, &j.pointers, one, zero, memory, bytes - 1, stream),
                   GG_ERR_WORKSPACE);
  assert_non_null(strstr(gg_error_detail(), "for copies of operands or parts of k"));
  const gg_pointers inside = {
      .a = (float *)memory + bytes / 4 - 1, .b = j.pointers.b, .d = j.pointers.d};
  assert_int_equal(gg_run(plan, &inside, one, zero, memory, bytes, stream), GG_ERR_OVERLAP);
  assert_int_equal(logged.launches, 0);
  ok(gg_run(plan, &j.pointers, one, zero, memory, bytes, stream));
  gg_i64 parts = is_split(&j, "nn");
  assert_int_equal(bytes, parts * 20 * 32 * 4);
  job_check_in(&j, &j.d);
  gg_plan_destroy(plan);
  job_free(&j);
}

/* 2 x parts x 20 x 24 f32 and D at 1000 GB/s, and 1 us. */
static void predicted(void **s) {
  (void)s;
  const gg_kernel_table *tables[1] = {&table};
  gg_problem p = problem(20, 24, 1024);
  p.type_c = p.type_acc = GG_F32;
  ggi_call call, sums;
  ggi_split split;
  double time;
  ggi_problem_call(&p, true, &call);
  assert_true(
      ggi_split_find(tables, 1, &rows[NN], table.emulated, &call, &device->info, &split, &time));
  double ns = 1000 + 480 * 4 * (2 * (double)split.parts + 1) / 1000;
  gg_device_info seen = device->info;
  seen.l2_bytes = 0;
  assert_true(fabs(ggi_split_ns(&split, &call, &seen) - ns) < 1e-9);
  /* Parts that L2 holds twice over move at twice the speed. */
  double parts = 480 * 4 * (double)split.parts, fast = ns - parts / 1000;
  seen.l2_bytes = 2 * (int)parts;
  assert_true(fabs(ggi_split_ns(&split, &call, &seen) - fast) < 1e-9);
  seen.l2_bytes -= 2;
  assert_true(fabs(ggi_split_ns(&split, &call, &seen) - ns) < 1e-9);
  ns = ggi_split_ns(&split, &call, &device->info);
  sums = call;
  sums.k = split.k, sums.batch = split.parts;
  double product = (double)split.parts * ggi_row_time(&rows[NN], &sums, &device->info);
  double whole = product + ns * device->info.sms * 40 / (2000.0 * 480);
  assert_true(fabs(time - 1.05 * whole) < 1e-6 * time);
}

static void explained(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 1024);
  char text[4096], line[200];
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  size_t bytes = gg_plan_workspace(plan), parts = bytes / (20 * 32 * 4);
  gg_plan_destroy(plan);
  ok(gg_explain(context, &p, text, sizeof text, NULL));
  assert_non_null(strstr(text, "kernel    nn\n"));
  snprintf(line, sizeof line, "          k is cut into %zu parts of %zu, added up by reduce in ",
           parts, 1024 / parts);
  assert_non_null(strstr(text, line));
  snprintf(line, sizeof line, "          %zu bytes of workspace; without it: nn\n", bytes);
  assert_non_null(strstr(text, line));
  assert_null(strstr(text, "\n  reduce:")); /* no candidate */
  p.pin = "reduce";
  assert_int_equal(gg_plan_create(context, &p, &plan), GG_ERR_PIN);
  assert_string_equal(gg_error_detail(), "pin: reduce: ends other kernels' products");
}

static void bad_rows(void **s) {
  (void)s;
  gg_kernel row = rows[REDUCE];
  gg_kernel_table bad = fake_table(&row, 1);
  const gg_kernel_table *tables[1] = {&bad};
  gg_context *made;
  for (int i = 0; i < 3; ++i) {
    row = rows[REDUCE];
    if (i == 0) row.type_b = GG_F64;
    if (i == 1) row.copy_gbs = 0;
    if (i == 2) row.overhead_ns = -1;
    assert_int_equal(gg_context_create(tables, 1, &made), GG_ERR_TABLE);
    assert_non_null(strstr(gg_error_detail(), "cannot be"));
  }
}

static int set_up(void **s) {
  if (job_set_up(s) != 0) return 1;
  gg_context_destroy(context);
  rows[NN] = fake_row("nn", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[TN] = fake_row("tn", GG_F32, GG_ORDER_T, GG_ORDER_N);
  rows[NT] = fake_row("nt", GG_F32, GG_ORDER_N, GG_ORDER_T);
  for (int i = NN; i <= NT; ++i)
    rows[i].sm_gflops = 40, rows[i].tile_k = TILE_K;
  rows[REDUCE] = fake_row("reduce", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[REDUCE].kind = GG_KIND_REDUCE;
  rows[REDUCE].entry = test_reduce_f32;
  rows[REDUCE].family = "reduce";
  rows[REDUCE].copy_gbs = 1000, rows[REDUCE].overhead_ns = 1000;
  table = fake_table(rows, ROWS);
  const gg_kernel_table *tables[1] = {&table};
  if (gg_context_create(tables, 1, &context) != GG_OK) return 1;
  return gg_device_alloc(device, MEMORY, &memory) != GG_OK;
}

static int tear_down(void **s) {
  (void)gg_device_free(device, memory);
  return job_tear_down(s);
}

int main(void) {
  if (!job_open()) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts),   cmocka_unit_test(how_many),  cmocka_unit_test(never),
      cmocka_unit_test(unread),    cmocka_unit_test(in_place),  cmocka_unit_test(workspaces),
      cmocka_unit_test(predicted), cmocka_unit_test(explained), cmocka_unit_test(bad_rows),
  };
  return cmocka_run_group_tests_name("splits", tests, set_up, tear_down);
}
