/* test_way.c - operands that are copied first: when, where to, and what a workspace has to be. On
 * the backend this is compiled for.
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

void test_copy_f32(void);
void test_turn_f32(void);

/* Slower than any copy: where it is taken there was no other way. */
enum { SLOW, WIDE, COPY, TURN, ROWS };
static gg_kernel rows[ROWS];
static gg_kernel_table table;
static gg_context *whole;   /* of all rows */
static gg_context *no_slow; /* of WIDE, COPY and TURN */
static void *memory;        /* for workspaces */
enum { MEMORY = 1 << 20 };

static gg_kernel pass(const char *name, gg_entry entry, gg_order order) {
  gg_kernel row = fake_row(name, GG_F32, order, GG_ORDER_N);
  row.kind = GG_KIND_REPACK;
  row.entry = entry;
  row.family = "repack";
  row.align[3] = 128;
  row.copy_gbs = 1000, row.overhead_ns = 1000;
  row.speed = 0;
  return row;
}

/* Runs a job with `bytes` of workspace, all in the log; 0: none. */
static gg_status run(job *j, size_t bytes) {
  fake_log_start(device, &logged);
  return gg_gemm(context, &j->p, &j->pointers, gg_scalar_f32((float)j->alpha),
                 gg_scalar_f32((float)j->beta), bytes ? memory : NULL, bytes, stream);
}

static void is_launch(int i, const char *kernel) {
  assert_string_equal(logged.launch[i].kernel, kernel);
}

/* An odd pitch of A: one copy, one product; without workspace the slow kernel. */
static void one_operand(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 36);
  p.lda = 37;
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "wide");
  assert_string_equal(gg_plan_kernel_unaligned(plan), "slow"); /* C and D are never copied */
  assert_int_equal(gg_plan_workspace(plan), 20 * 64 * 4);
  gg_plan_destroy(plan);

  job j;
  job_make(&j, &p, 0, 2, 3);
  ok(run(&j, 20 * 64 * 4));
  assert_int_equal(logged.launches, 2);
  is_launch(0, "copy");
  is_launch(1, "wide");
  const gg_args *copy = &logged.launch[0].args, *product = &logged.launch[1].args;
  assert_ptr_equal(copy->a, j.pointers.a);
  assert_ptr_equal(copy->d, memory);
  assert_true(copy->m == 20 && copy->n == 36 && copy->batch == 1);
  assert_true(copy->lda == 37 && copy->ldd == 64);
  assert_true(product->a == memory && product->lda == 64);
  assert_true(product->b == j.pointers.b && product->ldb == 24);
  job_check_in(&j, &j.d);

  ok(run(&j, 0));
  assert_int_equal(logged.launches, 1);
  is_launch(0, "slow");
  job_check_in(&j, &j.d);
  job_free(&j);
}

static void both_operands(void **s) {
  (void)s;
  gg_problem p = problem(17, 20, 33); /* A 17 x 33, B 33 x 20 */
  p.ldb = 21, p.ldd = 20;
  job j;
  job_make(&j, &p, 0, 1, 0);
  enum { A = 17 * 64 * 4, B = (33 * 32 * 4 + 255) / 256 * 256 };
  ok(run(&j, A + B));
  assert_int_equal(logged.launches, 3);
  is_launch(0, "copy");
  is_launch(1, "copy");
  is_launch(2, "wide");
  assert_ptr_equal(logged.launch[1].args.d, (char *)memory + A);
  assert_ptr_equal(logged.launch[2].args.b, (char *)memory + A);
  assert_int_equal(logged.launch[2].args.ldb, 32);
  job_check_in(&j, &j.d);
  job_free(&j);
}

/* Copies start at multiples of 256 bytes. */
static void pieces(void **s) {
  (void)s;
  gg_problem p = problem(1, 20, 33);
  p.ldb = 21;
  p.align_a = 4;
  job j;
  job_make(&j, &p, 1, 1, 0);
  p.align_c = p.align_d = 4;
  rows[WIDE].align[3] = 4;
  ok(run(&j, 256 + 33 * 32 * 4 + 128));
  assert_ptr_equal(logged.launch[1].args.d, (char *)memory + 256);
  assert_int_equal(ggi_pointer_align(logged.launch[2].args.b) >= 256, 1);
  job_check_in(&j, &j.d);
  rows[WIDE].align[3] = 16;
  job_free(&j);
}

/* Pointers that fall short of their promise: any of A and B may, so both are copied. */
static void misaligned(void **s) {
  (void)s;
  rows[WIDE].align[2] = rows[WIDE].align[3] = 4;
  gg_problem p = problem(32, 32, 32);
  job j;
  job_make(&j, &p, 0, 1, 1);
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 1);
  job_misalign(&j, &j.b, 2);
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 3);
  is_launch(2, "wide");
  job_check_in(&j, &j.d);
  ok(run(&j, 0));
  assert_int_equal(logged.launches, 1);
  is_launch(0, "slow");
  rows[WIDE].align[2] = rows[WIDE].align[3] = 16;
  job_free(&j);
}

/* The kernel takes A as written and B transposed only: copies turn them. */
static void turned(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 36);
  p.order_a = GG_ORDER_T;
  gg_problem_pack(&p);
  p.lda = 23;
  job j;
  job_make(&j, &p, 0, 1, 2);
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 2);
  is_launch(0, "turn");
  const gg_args *copy = &logged.launch[0].args;
  assert_true(copy->m == 36 && copy->n == 20 && copy->lda == 23 && copy->ldd == 64);
  job_check_in(&j, &j.d);
  job_free(&j);

  p = problem(20, 24, 36);
  p.order_b = GG_ORDER_T;
  gg_problem_pack(&p);
  job_make(&j, &p, 0, 1, 0);
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 2);
  is_launch(0, "turn");
  assert_int_equal(logged.launch[1].args.ldb, 32);
  job_check_in(&j, &j.d);
  job_free(&j);
}

/* One matrix of a batch is copied once, and shared from there; parts of a batch move on in the
 * copy. */
static void batches(void **s) {
  (void)s;
  gg_problem p = problem(16, 16, 20);
  p.batch = 5;
  p.lda = 21, p.stride_a = 0;
  p.ldb = 17, p.stride_b = 20 * 17 + 3;
  gg_i64 former = device->info.blocks_launch;
  device->info.blocks_launch = 4; /* two matrices of B's copy a launch, four of the product's */
  job j;
  job_make(&j, &p, 0, 1, 0);
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 1 + 3 + 2);
  assert_int_equal(logged.launch[0].args.batch, 1);
  assert_int_equal(logged.launch[1].args.batch, 2);
  assert_ptr_equal(logged.launch[2].args.a, (const float *)j.pointers.b + 2 * p.stride_b);
  assert_ptr_equal(logged.launch[2].args.d, (float *)logged.launch[1].args.d + 2 * 20 * 32);
  const gg_args *second = &logged.launch[5].args;
  assert_ptr_equal(second->a, memory);
  assert_int_equal(second->stride_a, 0);
  assert_ptr_equal(second->b, (float *)logged.launch[1].args.d + 4 * 20 * 32);
  job_check_in(&j, &j.d);
  device->info.blocks_launch = former;
  job_free(&j);
}

/* What is not read is not copied, and need not be there. */
static void unread(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 36);
  p.lda = 37;
  job j;
  job_make(&j, &p, 0, 0, 2);
  j.pointers.a = j.pointers.b = NULL;
  ok(run(&j, MEMORY));
  assert_int_equal(logged.launches, 1);
  is_launch(0, "wide");
  job_check_in(&j, &j.d);
  job_free(&j);

  p.k = 0;
  job_make(&j, &p, 0, 1, 2);
  ok(run(&j, 0));
  job_check_in(&j, &j.d);
  job_free(&j);
}

static void workspaces(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 36);
  p.lda = 37;
  job j;
  job_make(&j, &p, 0, 1, 0);
  const gg_scalar one = gg_scalar_f32(1), zero = gg_scalar_f32(0);
  gg_plan *plan;
  ok(gg_plan_create(no_slow, &p, &plan));
  fake_log_start(device, &logged);
  assert_int_equal(gg_run(plan, &j.pointers, one, zero, NULL, 0, stream), GG_ERR_WORKSPACE);
  assert_non_null(strstr(gg_error_detail(), "only kernel wide does this call, with 5120 bytes"));
  assert_int_equal(gg_run(plan, &j.pointers, one, zero, memory, 5119, stream), GG_ERR_WORKSPACE);
  assert_non_null(strstr(gg_error_detail(), "has 5119 bytes, kernel wide needs 5120"));
  assert_int_equal(gg_run(plan, &j.pointers, one, zero, (char *)memory + 128, 5120, stream),
                   GG_ERR_ALIGNMENT);
  assert_int_equal(gg_run(plan, &j.pointers, one, zero, NULL, 5120, stream), GG_ERR_NULL);
  const gg_pointers inside = {
      .a = (float *)memory + 20 * 64 - 1, .b = j.pointers.b, .d = j.pointers.d};
  assert_int_equal(gg_run(plan, &inside, one, zero, memory, 5120, stream), GG_ERR_OVERLAP);
  assert_non_null(strstr(gg_error_detail(), "share some with pointers.a"));
  assert_int_equal(logged.launches, 0);
  ok(gg_run(plan, &j.pointers, one, zero, memory, 5120, stream));
  job_check_in(&j, &j.d);
  gg_plan_destroy(plan);

  /* A pin names the product; copies may lead to it. */
  p.pin = "wide";
  ok(gg_plan_create(whole, &p, &plan));
  ok(gg_run(plan, &j.pointers, one, zero, memory, 5120, stream));
  gg_plan_destroy(plan);
  p.pin = "copy";
  assert_int_equal(gg_plan_create(whole, &p, &plan), GG_ERR_PIN);
  assert_string_equal(gg_error_detail(), "pin: copy: copies operands for other kernels");
  job_free(&j);
}

/* 2 * 720 * 4 bytes at 1000 GB/s and 1 us a copy; 5 TFLOP/s stand for speed 1000. */
static void predicted(void **s) {
  (void)s;
  const gg_kernel_table *tables[1] = {&table};
  const ggi_rows all = {tables, 1, &device->info};
  gg_problem p = problem(20, 24, 36);
  p.lda = 37;
  p.type_c = p.type_acc = GG_F32;
  ggi_call call;
  ggi_way way;
  ggi_problem_call(&p, true, &call);
  assert_int_equal(ggi_way_of(&all, &rows[WIDE], table.emulated, &call, true, true, &way, NULL, 0),
                   GGI_APPLIES);
  double ns = 1000 + 2 * 720 * 4 / 1000.0;
  assert_true(fabs(ggi_copy_ns(&way.copy[0], &device->info) - ns) < 1e-9);
  double relative = ns * device->info.sms * 40 / (2000.0 * 20 * 24);
  assert_true(fabs(way.time - ggi_row_time(&rows[WIDE], &call, &device->info) - relative) < 1e-6);
  ggi_way none;
  assert_int_equal(
      ggi_way_of(&all, &rows[WIDE], table.emulated, &call, false, true, &none, NULL, 0), GGI_ALIGN);
  assert_null(none.row);

  /* 20 x 36 elements are 2 x 3 tiles of 16 x 16, 1536 elements; half of them are 768. */
  ggi_copy copy = way.copy[0];
  rows[COPY].partial_percent = 50;
  assert_true(fabs(ggi_copy_ns(&copy, &device->info) - (1000 + 2 * 768 * 4 / 1000.0)) < 1e-9);
  rows[COPY].partial_percent = 40;
  assert_true(fabs(ggi_copy_ns(&copy, &device->info) - ns) < 1e-9);
  rows[COPY].partial_percent = 0;

  /* A copy that takes longer than it saves. */
  rows[COPY].overhead_ns = 1000000000;
  ggi_choice choice;
  ggi_select(&all, &call, NULL, true, &choice);
  assert_string_equal(choice.way.row->name, "slow");
  rows[COPY].overhead_ns = 1000;
  ggi_select(&all, &call, NULL, true, &choice);
  assert_string_equal(choice.way.row->name, "wide");
  /* Nothing is known of the kernel's time in nanoseconds. */
  rows[WIDE].sm_gflops = 0;
  ggi_select(&all, &call, NULL, true, &choice);
  assert_string_equal(choice.way.row->name, "slow");
  rows[WIDE].sm_gflops = 40;
  /* D is what falls short: no copy helps. */
  call.ld[3] = 25;
  ggi_select(&all, &call, NULL, true, &choice);
  assert_string_equal(choice.way.row->name, "slow");
  /* A copy of 2^63 bytes is none. */
  ggi_problem_call(&p, true, &call);
  call.m = (gg_i64)1 << 56;
  assert_int_equal(ggi_way_of(&all, &rows[WIDE], table.emulated, &call, true, true, &way, NULL, 0),
                   GGI_ALIGN);
}

static void explained(void **s) {
  (void)s;
  gg_problem p = problem(20, 24, 36);
  p.lda = 37;
  p.order_b = GG_ORDER_T, p.ldb = 36;
  char text[4096];
  ok(gg_explain(no_slow, &p, text, sizeof text, NULL));
  assert_non_null(strstr(text, "kernel    wide\n"));
  assert_non_null(
      strstr(text, "          A is copied first: 20 x 36, rows of 64, by copy in about 1.0 us\n"
                   "          B is copied first, turned: 24 x 36, rows of 32, by turn in about 1.0 "
                   "us\n"
                   "          9728 bytes of workspace; without it: no kernel\n"));
  assert_null(strstr(text, "\n  copy:")); /* no candidate */
  p.order_b = GG_ORDER_N, p.ldb = 24;
  ok(gg_explain(whole, &p, text, sizeof text, NULL));
  assert_non_null(strstr(text, "5120 bytes of workspace; without it: slow\n"));
  p.pin = "slow";
  ok(gg_explain(whole, &p, text, sizeof text, NULL));
  assert_non_null(strstr(text, "  wide: applies, but another is pinned\n"));
  p.pin = NULL, rows[COPY].overhead_ns = 1000000000;
  ok(gg_explain(whole, &p, text, sizeof text, NULL));
  assert_non_null(strstr(text, "  wide: applies after copying A, predicted at "));
  rows[COPY].overhead_ns = 1000;
}

static void bad_rows(void **s) {
  (void)s;
  gg_kernel row = rows[COPY];
  gg_kernel_table bad = fake_table(&row, 1);
  const gg_kernel_table *tables[1] = {&bad};
  gg_context *made;
  for (int i = 0; i < 4; ++i) {
    row = rows[COPY];
    if (i == 0) row.kind = (gg_kind)3;
    if (i == 1) row.align[3] = 96;
    if (i == 2) row.copy_gbs = 0;
    if (i == 3) row.type_a = GG_NONE;
    assert_int_equal(gg_context_create(tables, 1, &made), GG_ERR_TABLE);
    assert_non_null(strstr(gg_error_detail(), i == 0 ? "is of kind 3" : "cannot be"));
  }
}

static int set_up(void **s) {
  if (job_set_up(s) != 0) return 1;
  gg_context_destroy(context);
  rows[SLOW] = fake_row("slow", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[SLOW].speed = 1;
  rows[WIDE] = fake_row("wide", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[COPY] = pass("copy", test_copy_f32, GG_ORDER_N);
  rows[TURN] = pass("turn", test_turn_f32, GG_ORDER_T);
  for (int i = 0; i < 4; ++i)
    rows[WIDE].align[i] = 16;
  rows[SLOW].sm_gflops = rows[WIDE].sm_gflops = 40;
  table = fake_table(rows, ROWS);
  static gg_kernel_table rest;
  rest = fake_table(rows + WIDE, ROWS - WIDE);
  const gg_kernel_table *tables[1] = {&table}, *others[1] = {&rest};
  if (gg_context_create(tables, 1, &whole) != GG_OK) return 1;
  if (gg_context_create(others, 1, &no_slow) != GG_OK) return 1;
  context = whole;
  return gg_device_alloc(device, MEMORY, &memory) != GG_OK;
}

static int tear_down(void **s) {
  (void)gg_device_free(device, memory);
  gg_context_destroy(no_slow);
  return job_tear_down(s);
}

int main(void) {
  if (!job_open()) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_operand), cmocka_unit_test(both_operands), cmocka_unit_test(pieces),
      cmocka_unit_test(misaligned),  cmocka_unit_test(turned),        cmocka_unit_test(batches),
      cmocka_unit_test(unread),      cmocka_unit_test(workspaces),    cmocka_unit_test(predicted),
      cmocka_unit_test(explained),   cmocka_unit_test(bad_rows),
  };
  return cmocka_run_group_tests_name("ways", tests, set_up, tear_down);
}
