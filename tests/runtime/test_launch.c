/* test_launch.c - grids and parts of batches, counted in 64 bits. Nothing is executed. */
#include "fake.h"
#include "launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void grids(void **s) {
  (void)s;
  gg_kernel row = fake_row("row", GG_F32, GG_ORDER_N, GG_ORDER_N);
  row.tile_m = 128, row.tile_n = 96;
  const gg_i64 most = INT32_MAX, large = (gg_i64)1 << 40;
  const struct {
    gg_i64 m, n, batch, limit;
    ggi_grid grid;
  } cases[] = {
      {128, 96, 1, most, {1, 1, 1}},
      {129, 97, 3, most, {4, 3, 1}},
      {1, 1, 1, most, {1, 1, 1}},
      {0, 5, 5, most, {0, 0, 0}},
      {5, 0, 5, most, {0, 0, 0}},
      {5, 5, 0, most, {0, 0, 0}},
      {1, 1, most, most, {1, most, 1}},
      {1, 1, (gg_i64)most + 1, most, {1, most, 2}},
      {1, 97, most, most, {2, most / 2, 3}},
      {large, 1, 1, INT64_MAX, {large / 128, 1, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    ggi_grid g;
    assert_int_equal(
        ggi_grid_plan(&row, cases[i].m, cases[i].n, cases[i].batch, cases[i].limit, &g), GG_OK);
    assert_int_equal(g.tiles, cases[i].grid.tiles);
    assert_int_equal(g.batch_launch, cases[i].grid.batch_launch);
    assert_int_equal(g.launches, cases[i].grid.launches);
  }
}

static void too_many_tiles(void **s) {
  (void)s;
  gg_kernel row = fake_row("row", GG_F32, GG_ORDER_N, GG_ORDER_N);
  ggi_grid g;
  assert_int_equal(ggi_grid_plan(&row, (gg_i64)1 << 24, (gg_i64)1 << 24, 1, INT32_MAX, &g),
                   GG_ERR_LIMIT);
  assert_non_null(strstr(gg_error_detail(), "split the problem along m or n"));
  row.tile_m = row.tile_n = 1; /* the count itself overflows */
  assert_int_equal(ggi_grid_plan(&row, INT64_MAX, INT64_MAX, 1, INT32_MAX, &g), GG_ERR_LIMIT);
}

/* Tiles are padded to whole clusters. */
static void clusters(void **s) {
  (void)s;
  gg_kernel row = fake_row("row", GG_F32, GG_ORDER_N, GG_ORDER_N);
  row.tile_m = row.tile_n = 16;
  const struct {
    int cluster_m, cluster_n;
    gg_i64 tiles, batch_launch;
  } cases[] = {{1, 1, 121, 41}, {2, 1, 132, 37}, {1, 2, 132, 37}, {2, 2, 144, 34}, {4, 4, 144, 34}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    ggi_grid g;
    row.cluster_m = cases[i].cluster_m, row.cluster_n = cases[i].cluster_n;
    assert_int_equal(ggi_grid_plan(&row, 170, 161, 100, 5000, &g), GG_OK); /* 11 x 11 tiles */
    assert_int_equal(g.tiles, cases[i].tiles);
    assert_int_equal(g.batch_launch, cases[i].batch_launch);
    assert_int_equal(ggi_blocks(&row, g.tiles * 3, 1), 3 * g.tiles);
  }
  row.cluster_m = 16, row.cluster_n = row.tile_m = 1;
  ggi_grid g;
  assert_int_equal(ggi_grid_plan(&row, INT64_MAX, 1, 1, INT64_MAX, &g), GG_OK);
  assert_true(g.tiles == INT64_MAX); /* cut, not overflowed */
}

/* The fewest clusters that need no more rounds than all that fit. */
static void persistent_grids(void **s) {
  (void)s;
  gg_kernel row = fake_row("row", GG_F32, GG_ORDER_N, GG_ORDER_N);
  row.persistent = 1;
  const struct {
    int cluster;
    gg_i64 tiles;
    int resident;
    unsigned blocks;
  } cases[] = {
      {1, 100, 132, 100}, {1, 132, 132, 132},       {1, 133, 132, 67}, {1, 264, 132, 132},
      {1, 265, 132, 89},  {2, 122, 60, 62},         {2, 120, 60, 120}, {4, 4096, 30, 120},
      {1, 1, 132, 1},     {1, INT32_MAX, 132, 132},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    row.cluster_m = cases[i].cluster;
    assert_int_equal(ggi_blocks(&row, cases[i].tiles, cases[i].resident), cases[i].blocks);
  }
}

/* Parts move by more than 32 bits of elements. */
static void far_strides(void **s) {
  (void)s;
  gg_device *device = fake_device_limited(2);
  fake_log log;
  fake_log_start(device, &log);
  log.dry = true;
  gg_kernel row = fake_row("row", GG_F64, GG_ORDER_N, GG_ORDER_N);
  gg_args args;
  memset(&args, 0, sizeof args);
  args.m = args.n = args.k = 1;
  args.batch = 5;
  args.a = (void *)(uintptr_t)0x1000, args.d = (void *)(uintptr_t)0x2000;
  args.stride_a = (gg_i64)1 << 40, args.stride_d = ((gg_i64)1 << 33) + 1;
  assert_int_equal(ggi_launch(device, &row, 1, false, &args, NULL), GG_OK);
  assert_int_equal(log.launches, 3);
  assert_int_equal(log.launch[2].args.batch, 1);
  assert_int_equal(log.launch[2].blocks, 1);
  assert_int_equal((uintptr_t)log.launch[2].args.a, 0x1000 + ((uintptr_t)4 << 43));
  assert_int_equal((uintptr_t)log.launch[2].args.d, 0x2000 + 4 * (((uintptr_t)1 << 36) + 8));
  assert_null(log.launch[2].args.b);
  gg_device_destroy(device);
}

/* The epilogue's operands move by their own strides and types; what is one for all stays. */
static void epilogue_parts(void **s) {
  (void)s;
  gg_device *device = fake_device_limited(1);
  fake_log log;
  fake_log_start(device, &log);
  log.dry = true;
  gg_kernel row = fake_row("row", GG_BF16, GG_ORDER_N, GG_ORDER_N);
  row.scaling_a = GG_SCALING_GROUP, row.scaling_b = GG_SCALING_BLOCK;
  row.scaling_d = GG_SCALING_TENSOR;
  gg_args args;
  memset(&args, 0, sizeof args);
  args.m = 5, args.n = 129, args.k = 300; /* 3 groups of k, 2 blocks of n */
  row.tile_m = row.tile_n = 256;
  args.batch = 3;
  args.bias = (void *)(uintptr_t)0x1000, args.stride_bias = 7;
  args.residual = (void *)(uintptr_t)0x2000, args.stride_residual = 11;
  args.scale_a = (void *)(uintptr_t)0x3000, args.scale_b = (void *)(uintptr_t)0x4000;
  args.scale_d = (void *)(uintptr_t)0x5000, args.absmax = (void *)(uintptr_t)0x6000;
  assert_int_equal(ggi_launch(device, &row, 1, false, &args, NULL), GG_OK);
  assert_int_equal(log.launches, 3);
  const gg_args *last = &log.launch[2].args;
  assert_int_equal((uintptr_t)last->bias, 0x1000 + 2 * 7 * 2);
  assert_int_equal((uintptr_t)last->residual, 0x2000 + 2 * 11 * 2);
  assert_int_equal((uintptr_t)last->scale_a, 0x3000 + 2 * 3 * 5 * 4);
  assert_int_equal((uintptr_t)last->scale_b, 0x4000 + 2 * 3 * 2 * 4);
  assert_int_equal((uintptr_t)last->scale_d, 0x5000);
  assert_int_equal((uintptr_t)last->absmax, 0x6000);
  row.type_d = GG_E4M3, row.scaling_a = GG_SCALING_VECTOR, row.scaling_b = GG_SCALING_TENSOR;
  fake_log_start(device, &log);
  log.dry = true;
  assert_int_equal(ggi_launch(device, &row, 1, false, &args, NULL), GG_OK);
  assert_int_equal((uintptr_t)last->bias, 0x1000 + 2 * 7 * 4); /* f32 where D is narrow */
  assert_int_equal((uintptr_t)last->residual, 0x2000 + 2 * 11);
  assert_int_equal((uintptr_t)last->scale_a, 0x3000 + 2 * 5 * 4);
  assert_int_equal((uintptr_t)last->scale_b, 0x4000);
  gg_device_destroy(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grids),
                                     cmocka_unit_test(clusters),
                                     cmocka_unit_test(persistent_grids),
                                     cmocka_unit_test(too_many_tiles),
                                     cmocka_unit_test(far_strides),
                                     cmocka_unit_test(epilogue_parts)};
  return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
