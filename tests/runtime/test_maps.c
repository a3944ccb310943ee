/* test_maps.c - tensor maps, clusters and persistent grids, on the backend this is compiled for:
 * what the library encodes is what a kernel reads and writes through it.
 */
#include "job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void test_tma_1x1(void);
void test_tma_2x1(void);
void test_tma_2x2(void);

enum { ROWS = 5 };
static gg_kernel rows[ROWS];
static gg_kernel_table table;
static const char *const names[ROWS] = {"tma", "tma_2x1", "tma_walk", "tma_2x2_walk", "plain"};

static int set_up(void **s) {
  (void)s;
  static const gg_entry entries[ROWS - 1] = {test_tma_1x1, test_tma_2x1, test_tma_1x1,
                                             test_tma_2x2};
  for (int i = 0; i < ROWS; ++i)
    rows[i] = fake_row(names[i], GG_F32, GG_ORDER_N, GG_ORDER_N);
  for (int i = 0; i < ROWS - 1; ++i) {
    gg_kernel *r = &rows[i];
    r->entry = entries[i];
    r->arch = 90;
    r->tile_k = 8;
    r->cluster_m = i % 2 ? 2 : 1;
    r->cluster_n = i == 3 ? 2 : 1;
    r->persistent = i >= 2;
    r->shared_bytes = 3080;
    r->blocks_per_sm = 2;
    r->maps[0] = (gg_map_recipe){1, 8, 16, 32, 256};
    r->maps[1] = (gg_map_recipe){1, 16, 8, 64, 256};
    r->maps[2] = r->maps[3] = (gg_map_recipe){1, 16, 16, 0, 256};
  }
  table = fake_table(rows, ROWS);
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

static gg_i64 up4(gg_i64 x) {
  return (x + 3) / 4 * 4;
}

/* Pitches and strides that a map can take, larger than they need be. */
static gg_problem mapped(gg_i64 m, gg_i64 n, gg_i64 k, gg_i64 batch) {
  gg_problem p = problem(m, n, k);
  p.batch = batch;
  p.lda = up4(p.lda) + 4, p.ldb = up4(p.ldb), p.ldc = up4(p.ldc) + 8, p.ldd = up4(p.ldd) + 4;
  p.stride_a = m * p.lda + 12, p.stride_b = k * p.ldb + 4;
  p.stride_c = m * p.ldc, p.stride_d = m * p.ldd + 20;
  return p;
}

static void compute_with_all(gg_problem p, double alpha, double beta) {
  for (int i = 0; i < ROWS - 1; ++i) {
    p.pin = names[i];
    compute(&p, 0, alpha, beta);
  }
}

static void products(void **s) {
  (void)s;
  static const gg_i64 sizes[][3] = {
      {16, 16, 8}, {17, 12, 3}, {1, 4, 1}, {40, 36, 20}, {100, 72, 9}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    gg_problem p = mapped(sizes[i][0], sizes[i][1], sizes[i][2], 1);
    compute_with_all(p, 1, 0);
    compute_with_all(p, -2, 3);
    compute_with_all(p, 0, 2);
  }
  compute_with_all(mapped(20, 20, 0, 1), 1, 2);
}

static void batches(void **s) {
  (void)s;
  gg_problem p = mapped(33, 20, 12, 3);
  compute_with_all(p, 1, 1);
  p.stride_a = p.stride_c = 0; /* shared by all: the map has one matrix */
  compute_with_all(p, 1, 1);
  p.stride_b = 0;
  compute_with_all(p, 2, 0);
  /* Matrices side by side: the batch stride is shorter than the pitch, and no multiple of it. */
  p.ldd = 3 * 20 + 4, p.stride_d = 20;
  compute_with_all(p, 1, 0);
  /* Launched in parts, with maps of their own. */
  const gg_i64 limit = device->info.blocks_launch;
  device->info.blocks_launch = 17;
  p = mapped(33, 20, 12, 7);
  fake_log_start(device, &logged);
  compute_with_all(p, 1, 1);
  assert_true(logged.launches >= 4 * 3);
  device->info.blocks_launch = limit;
}

/* 11 x 11 tiles: a cluster of two has one tile too many in each column, or row. */
static void padding(void **s) {
  (void)s;
  gg_problem p = mapped(170, 164, 16, 1);
  static const unsigned blocks[ROWS - 1] = {121, 132, 121, 144};
  for (int i = 0; i < ROWS - 1; ++i) {
    p.pin = names[i];
    fake_log_start(device, &logged);
    compute(&p, 0, 1, 1);
    assert_int_equal(logged.launches, 1);
    assert_int_equal(logged.launch[0].blocks, blocks[i]);
  }
}

/* More tiles than blocks that run at once: each block has several. */
static void rounds(void **s) {
  (void)s;
  gg_problem p = mapped(16 * 40, 16 * 33, 8, 1); /* 1320 tiles, 330 clusters of 4 */
  for (int i = 2; i < ROWS - 1; ++i) {
    p.pin = names[i];
    fake_log_start(device, &logged);
    compute(&p, 0, 1, 0);
    unsigned most = (unsigned)device->info.sms * 2;
    assert_in_range(logged.launch[0].blocks, 1, most);
    assert_int_equal(logged.launch[0].blocks % (unsigned)(rows[i].cluster_m * rows[i].cluster_n),
                     0);
  }
}

/* What a map cannot take goes to the next row. */
static void falls_through(void **s) {
  (void)s;
  gg_problem p = mapped(20, 20, 20, 1);
  gg_plan *plan;
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "tma");
  assert_string_equal(gg_plan_kernel_unaligned(plan), "plain");
  job j;
  job_make(&j, &p, 0, 1, 1);
  job_misalign(&j, &j.c, 3); /* one element off */
  fake_log_start(device, &logged);
  ok(gg_run(plan, &j.pointers, gg_scalar_f32(1), gg_scalar_f32(1), NULL, 0, stream));
  assert_string_equal(logged.launch[0].kernel, "plain");
  job_check_in(&j, &j.d);
  job_free(&j);
  gg_plan_destroy(plan);

  p.ldb = 6932 / 4;
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "plain");
  gg_plan_destroy(plan);
  compute(&p, 0, 1, 1);

  p = mapped(20, 19, 20, 1); /* a store would write 20 */
  ok(gg_plan_create(context, &p, &plan));
  assert_string_equal(gg_plan_kernel(plan), "plain");
  gg_plan_destroy(plan);
  compute(&p, 0, 1, 1);

  p = mapped(20, 20, 20, 2), p.stride_a += 2;
  compute(&p, 0, 1, 1);
  p.pin = "tma";
  assert_int_equal(gg_plan_create(context, &p, &plan), GG_ERR_PIN);
  assert_non_null(strstr(gg_error_detail(), "A's batch stride"));
}

/* What the device's encoder refuses is an error in words: here a row that selection did not ask. */
static void refused(void **s) {
  (void)s;
  gg_problem p = mapped(20, 20, 20, 1);
  job j;
  job_make(&j, &p, 0, 1, 0);
  gg_args args;
  memset(&args, 0, sizeof args);
  args.a = j.pointers.a, args.b = j.pointers.b, args.d = j.pointers.d;
  args.m = args.n = args.k = 20, args.batch = 1;
  args.lda = p.lda, args.ldb = p.ldb, args.ldd = p.ldd;
  args.alpha = gg_scalar_f32(1);
  ok(device->ops->load(device, &rows[0]));
  ok(ggi_maps_fill(device, &rows[0], &args));
  args.a = (const float *)args.a + 1;
  assert_int_equal(ggi_maps_fill(device, &rows[0], &args), GG_ERR_DEVICE);
  assert_non_null(strstr(gg_error_detail(), "kernel tma, tensor map of A, 1 x 20 x 20 elements: "));
  args.a = j.pointers.a, args.ldd += 1;
  assert_int_equal(ggi_maps_fill(device, &rows[0], &args), GG_ERR_ALIGNMENT);
  assert_non_null(strstr(gg_error_detail(), "no multiple of 16 bytes"));
  job_free(&j);
}

int main(void) {
  if (!job_open()) return 77;
  if (device->info.arch < 90) {
    printf("skipped, tensor maps are there from sm_90 on\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products), cmocka_unit_test(batches),       cmocka_unit_test(padding),
      cmocka_unit_test(rounds),   cmocka_unit_test(falls_through), cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests_name("maps", tests, set_up, tear_down);
}
