/* test_select.c - each demand of a row has its reason; the least predicted time; order of the
 * table. */
#include "fake.h"
#include "way.h"
#include "tensor_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

static const gg_device_info device = {.name = "test",
                                      .emulated = 1,
                                      .arch = 90,
                                      .sms = 132,
                                      .shared_block = 232448,
                                      .threads_block = 1024,
                                      .blocks_launch = INT32_MAX};

static ggi_call call(void) {
  return (ggi_call){.type_a = GG_F32,
                    .type_b = GG_F32,
                    .type_c = GG_F32,
                    .type_d = GG_F32,
                    .type_acc = GG_F32,
                    .m = 256,
                    .n = 256,
                    .k = 256,
                    .batch = 1,
                    .ld = {256, 256, 256, 256},
                    .align = {16, 16, 16, 16}};
}

static gg_kernel row(void) {
  return fake_row("row", GG_F32, GG_ORDER_N, GG_ORDER_N);
}

static void refuses(const gg_kernel *r, const ggi_call *c, ggi_why why, const char *text) {
  char reason[200];
  ggi_why got = ggi_row_applies(r, 1, c, &device, reason, sizeof reason);
  assert_string_equal(reason, text);
  assert_int_equal(got, why);
  assert_int_equal(ggi_row_applies(r, 1, c, &device, NULL, 0), why);
}

static void applies(const gg_kernel *r, const ggi_call *c) {
  char reason[200];
  assert_int_equal(ggi_row_applies(r, 1, c, &device, reason, sizeof reason), GGI_APPLIES);
  assert_string_equal(reason, "");
}

static void reasons(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  applies(&r, &c);

  char reason[200];
  assert_int_equal(ggi_row_applies(&r, 0, &c, &device, reason, sizeof reason), GGI_BACKEND);
  assert_string_equal(reason, "built for CUDA; the device is an emulated GPU");

  r = row(), r.type_b = GG_F64;
  refuses(&r, &c, GGI_TYPE, "B is f32, the kernel's is f64");
  r = row(), r.type_acc = GG_F64;
  refuses(&r, &c, GGI_TYPE, "the accumulator is f32, the kernel's is f64");
  r = row(), r.order_a = GG_ORDER_T;
  refuses(&r, &c, GGI_ORDER, "A is stored n, the kernel's is t");
  r = row(), r.alpha = GG_SCALAR_ONE;
  refuses(&r, &c, GGI_SCALAR, "alpha may be any value, the kernel's is one");
  r = row(), r.beta = GG_SCALAR_ZERO;
  refuses(&r, &c, GGI_SCALAR, "beta may be any value, the kernel's is zero");
  r = row(), r.arch_suffix = 'a', r.arch = 100;
  refuses(&r, &c, GGI_ARCH, "built for sm_100a, which runs on sm_100 only; the device is sm_90");
  r = row(), r.arch_suffix = 'a', r.arch = 80;
  refuses(&r, &c, GGI_ARCH, "built for sm_80a, which runs on sm_80 only; the device is sm_90");
  r = row(), r.arch = 100;
  refuses(&r, &c, GGI_ARCH, "built for sm_100 and later; the device is sm_90");
  r = row(), r.shared_bytes = 232449;
  refuses(&r, &c, GGI_DEVICE_LIMIT,
          "needs 232449 bytes of shared memory a block; the device has 232448");
  r = row(), r.threads = 2048;
  refuses(&r, &c, GGI_DEVICE_LIMIT, "has 2048 threads a block; the device allows 1024");
  r = row(), r.cluster_m = 2;
  applies(&r, &c);
  const gg_device_info older = {.emulated = 1, .arch = 80, .sms = 108, .threads_block = 1024};
  r.arch = 80;
  char text[160];
  assert_int_equal(ggi_row_applies(&r, 1, &c, &older, text, sizeof text), GGI_DEVICE_LIMIT);
  assert_string_equal(text, "asks for clusters, which are there from sm_90 on");
  r = row(), r.multiple_n = 96;
  refuses(&r, &c, GGI_SHAPE, "n = 256 is not a multiple of 96");
  r = row(), r.min_k = 257;
  refuses(&r, &c, GGI_SHAPE, "k = 256 is less than 257");
  r = row(), r.align[1] = 32;
  refuses(&r, &c, GGI_ALIGN, "B's pointer is aligned to 16 bytes, the kernel asks for 32");
  r = row(), r.align[3] = 16, c.ld[3] = 258;
  refuses(&r, &c, GGI_ALIGN, "D's leading dimension of 258 is not a multiple of 16 bytes");
  c = call(), c.stride[0] = 7;
  r = row(), r.align[0] = 8;
  applies(&r, &c); /* one matrix: its stride does not matter */
  c.batch = 2;
  refuses(&r, &c, GGI_ALIGN, "A's batch stride of 7 is not a multiple of 8 bytes");
  c.stride[0] = 0;
  applies(&r, &c);
}

static void epilogues(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.bias = GG_BIAS_N;
  refuses(&r, &c, GGI_EPILOGUE, "bias is none, the kernel's is n");
  c.bias = GG_BIAS_N;
  applies(&r, &c);
  c.absmax = 1;
  refuses(&r, &c, GGI_EPILOGUE, "the kernel has no absmax");
  c = call(), r = row(), c.scaling_b = GG_SCALING_VECTOR;
  refuses(&r, &c, GGI_EPILOGUE, "scaling of B is vector, the kernel's is none");
}

/* Of the residual the row asks what it asks of D. */
static void residual_alignment(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.align[3] = 16;
  c.align[4] = 4, c.ld[4] = 257, c.stride[4] = 2;
  applies(&r, &c); /* there is none */
  r.residual = c.residual = 1;
  refuses(&r, &c, GGI_ALIGN,
          "the residual's pointer is aligned to 4 bytes, the kernel asks for 16");
  c.align[4] = 16;
  refuses(&r, &c, GGI_ALIGN,
          "the residual's leading dimension of 257 is not a multiple of 16 bytes");
  c.ld[4] = 256;
  applies(&r, &c);
  c.batch = 2;
  refuses(&r, &c, GGI_ALIGN, "the residual's batch stride of 2 is not a multiple of 16 bytes");
}

/* By hand: 256 x 256 in 16 x 16 tiles are 256 blocks, two waves of 132 SMs. */
static void predicted_time(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.tile_m = r.tile_n = 16, r.speed = 500, r.wave_loss_percent = 100, r.overhead_k = 44;
  r.further_percent = 100;
  double share = 256.0 / 264;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - 300 / (500 * share)) < 1e-12);
  r.wave_loss_percent = 0; /* idle SMs cost nothing */
  assert_true(fabs(ggi_row_time(&r, &c, &device) - 300 / 500.0) < 1e-12);
  r.wave_loss_percent = 100;
  r.cluster_k = 2; /* 512 blocks, four waves; each pays the overhead */
  share = 512.0 / 528;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - 344 / (500 * share)) < 1e-12);
  r.cluster_k = 1;
  r.cluster_m = 3, r.cluster_n = 2; /* 18 x 16 tiles with the padding, three waves */
  share = 256.0 / 396;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - 300 / (500 * share)) < 1e-12);
  r.cluster_m = r.cluster_n = 1;
  /* 17 x 17 outputs take 4 tiles of 16 x 16: 289 of 1024 elements lie in D */
  c.m = c.n = 17;
  share = 289.0 / (132 * 256);
  assert_true(fabs(ggi_row_time(&r, &c, &device) - 300 / (500 * share)) < 1e-9);
}

/* 256 x 256 in 16 x 16 tiles are 256 blocks, two for the SMs that have most. */
static void several_blocks(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.tile_m = r.tile_n = 16, r.speed = 500, r.wave_loss_percent = 0, r.overhead_k = 40;
  r.further_percent = 25, r.blocks_per_sm = 2, r.alone_percent = 80;
  /* Both run at once: the second one pays a quarter of its overhead, nobody runs alone. */
  assert_true(fabs(ggi_row_time(&r, &c, &device) - (256 + 25) / 500.0) < 1e-12);
  r.further_percent = 100;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - (256 + 40) / 500.0) < 1e-12);
  /* Three: the last one runs alone, at 80 % of the speed. */
  c.batch = 2, c.n = 192;
  double third = 256 * (2 + 1 / 0.8) / 3;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - (third + 40) / 500.0) < 1e-12);
  /* Of three places one is free: two blocks at 30 % each. */
  c.batch = 1, c.n = 256;
  r.blocks_per_sm = 3, r.alone_percent = 30;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - (256 / 0.6 + 40) / 500.0) < 1e-12);
  /* Two that are fast enough by themselves. */
  r.alone_percent = 60;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - (256 + 40) / 500.0) < 1e-12);
  /* One place: each is alone, and speed is that of one alone. */
  r.blocks_per_sm = 1, r.alone_percent = 100;
  assert_true(fabs(ggi_row_time(&r, &c, &device) - (256 + 40) / 500.0) < 1e-12);
}

/* Memory: 256 x 256 x 256 of f32, three matrices of 256 KiB, at 100 GB/s. */
static void memory_bound(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.tile_m = r.tile_n = 16, r.speed = 500, r.wave_loss_percent = 0;
  double own = 256 / 500.0;
  r.copy_gbs = 100; /* but nothing is known of the unit */
  assert_true(fabs(ggi_row_time(&r, &c, &device) - own) < 1e-12);
  r.sm_gflops = 40;
  double unit = device.sms * 40 / (2000.0 * 256 * 256), gap = 500 * unit; /* of a nanosecond */
  double memory = 3 * 262144 / 100.0 * unit, both = pow(pow(own, 4) + pow(memory, 4), 0.25);
  assert_true(fabs(ggi_row_time(&r, &c, &device) - both - gap) < 1e-9);
  /* Early, where its own time is more than twice that of memory: 100 times the bandwidth. */
  r.programmatic = 1, r.copy_gbs = 10000;
  both = pow(pow(own, 4) + pow(memory / 100, 4), 0.25);
  assert_true(fabs(ggi_row_time(&r, &c, &device) - both) < 1e-9);
  r.programmatic = 0, r.copy_gbs = 100;
  /* A device whose memory is half as fast again as that of the plan's GPU. */
  gg_device_info faster = device;
  faster.memory_gbs = 3000;
  assert_true(ggi_row_gbs(&r, &faster) == 100);
  r.memory_gbs = 2000;
  assert_true(ggi_row_gbs(&r, &device) == 100);
  assert_true(ggi_row_gbs(&r, &faster) == 150);
  both = pow(pow(own, 4) + pow(memory / 1.5, 4), 0.25);
  assert_true(fabs(ggi_row_time(&r, &c, &faster) - both - gap) < 1e-9);
  /* A row of B a block: B comes again for each of the 16 tiles along m. */
  r.tile_n = 1;
  memory = (2 + 16) * 262144 / 100.0 * unit, both = pow(pow(own, 4) + pow(memory, 4), 0.25);
  assert_true(fabs(ggi_row_time(&r, &c, &device) - both - gap) < 1e-9);
  /* A batch that shares B. */
  c.batch = 4;
  c.stride[0] = c.stride[2] = c.stride[3] = 65536, c.stride[1] = 0;
  memory = (4 + 16 + 4) * 262144 / 100.0 * unit / 4, both = pow(pow(own, 4) + pow(memory, 4), 0.25);
  assert_true(fabs(ggi_row_time(&r, &c, &device) - both - gap / 4) < 1e-9);
}

/* What a tensor map cannot hold: the next row's call. */
static void short_sums(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  c.fast_accum = 1;
  applies(&r, &c);
  r.fast_accum = 1;
  applies(&r, &c);
  c.fast_accum = 0;
  refuses(&r, &c, GGI_TYPE, "the kernel's sums keep about 14 bits; fast_accum would allow that");
}

static void tensor_maps(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.maps[0] = r.maps[3] = (gg_map_recipe){1, 32, 64, 128, 256};
  applies(&r, &c);
  c.align[0] = 8; /* the row asks 4, its map 16 */
  refuses(&r, &c, GGI_ALIGN, "A's pointer is aligned to 8 bytes, the kernel asks for 16");
  c = call(), c.ld[0] = 6932 / 4;
  refuses(&r, &c, GGI_ALIGN, "A's leading dimension of 1733 is not a multiple of 16 bytes");
  c = call(), c.ld[0] = (gg_i64)1 << 38;
  refuses(&r, &c, GGI_ALIGN,
          "A fits no tensor map: rows of 274877906944 elements are no multiple of 16 bytes below "
          "2^40");
  c.ld[0] -= 4;
  applies(&r, &c);
  c = call(), c.batch = 2, c.stride[3] = (gg_i64)1 << 38;
  refuses(&r, &c, GGI_ALIGN,
          "D fits no tensor map: a batch stride of 274877906944 elements is no multiple of 16 "
          "bytes below 2^40");
  c = call(), c.m = (gg_i64)1 << 31;
  refuses(&r, &c, GGI_ALIGN, "A fits no tensor map: an extent of 2147483648 is not below 2^31");
  c = call(), c.n = 254;
  refuses(
      &r, &c, GGI_ALIGN,
      "D fits no tensor map: a store would pass the end of rows of 254 elements, no multiple of "
      "16 bytes");
  c = call(), c.m = (gg_i64)1 << 31;
  r.maps[0].used = 0;
  r.order_a = GG_ORDER_N;
  refuses(&r, &c, GGI_ALIGN, "D fits no tensor map: an extent of 2147483648 is not below 2^31");

  /* C counts while it is read; a pitch counts while there are two rows. */
  r = row(), r.maps[2] = (gg_map_recipe){1, 32, 64, 0, 256};
  c = call(), c.ld[2] = 257;
  refuses(&r, &c, GGI_ALIGN, "C's leading dimension of 257 is not a multiple of 16 bytes");
  c.beta = GG_SCALAR_ZERO;
  applies(&r, &c);
}

static void map_shapes(void **s) {
  (void)s;
  gg_kernel r = fake_row("row", GG_F32, GG_ORDER_T, GG_ORDER_T);
  r.type_b = GG_BF16;
  ggi_map_shape a = ggi_map_shape_of(0, &r, 2, 3, 5, 7, 11, 13);
  ggi_map_shape b = ggi_map_shape_of(1, &r, 2, 3, 5, 7, 11, 0);
  ggi_map_shape d = ggi_map_shape_of(3, &r, 2, 3, 5, 1, 11, 13);
  assert_true(a.inner == 2 && a.outer == 5 && a.batch == 7 && a.stride == 13);
  assert_true(b.inner == 5 && b.outer == 3 && b.batch == 1 && b.type == GG_BF16);
  assert_true(d.inner == 3 && d.outer == 2 && d.batch == 1 && d.stride == 0 && d.ld == 11);
  r.order_a = r.order_b = GG_ORDER_N;
  a = ggi_map_shape_of(0, &r, 2, 3, 5, 7, 11, 13);
  b = ggi_map_shape_of(1, &r, 2, 3, 5, 7, 11, 0);
  assert_true(a.inner == 5 && a.outer == 2 && b.inner == 3 && b.outer == 5);
}

static void map_recipes(void **s) {
  (void)s;
  const struct {
    gg_map_recipe recipe;
    gg_dtype type;
    const char *reason;
  } cases[] = {
      {{0, 0, 0, 0, 0}, GG_BF16, ""},
      {{1, 64, 256, 128, 0}, GG_BF16, ""},
      {{1, 256, 1, 0, 0}, GG_F64, ""},
      {{1, 64, 256, 96, 0}, GG_BF16, "a swizzle of 96 bytes; there are 0, 32, 64 and 128"},
      {{1, 64, 256, 128, 256}, GG_BF16, ""},
      {{1, 64, 256, 128, 32}, GG_BF16, "a promotion to 32 bytes; there are 0, 64, 128 and 256"},
      {{1, 64, 257, 128, 0}, GG_BF16, "a box of 64 x 257 elements; each side has 1 to 256"},
      {{1, 0, 1, 0, 0}, GG_BF16, "a box of 0 x 1 elements; each side has 1 to 256"},
      {{1, 12, 1, 0, 0}, GG_BF16, "a box of 24 bytes; they are a multiple of 16"},
      {{1, 64, 1, 64, 0},
       GG_BF16,
       "a box of 128 bytes; they are a multiple of 16, at most the swizzle's bytes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char text[120];
    assert_int_equal(ggi_map_recipe_sound(&cases[i].recipe, cases[i].type, text, sizeof text),
                     cases[i].reason[0] == '\0');
    assert_string_equal(text, cases[i].reason);
  }
}

static void promises_open_kernels(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.alpha = GG_SCALAR_ONE, r.beta = GG_SCALAR_ZERO;
  c.alpha = GG_SCALAR_ONE, c.beta = GG_SCALAR_ZERO;
  applies(&r, &c);
  /* C is not read: neither its type nor its alignment counts. */
  r.align[2] = 128, r.type_c = GG_F64;
  applies(&r, &c);
  r.alpha = r.beta = GG_SCALAR_ANY;
  applies(&r, &c);
  c.beta = GG_SCALAR_ONE;
  assert_int_equal(ggi_row_applies(&r, 1, &c, &device, NULL, 0), GGI_TYPE);
}

static void huge_leading_dimension(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel r = row();
  r.align[0] = 16;
  c.ld[0] = INT64_MAX / 4 * 2 / 4 * 4;
  applies(&r, &c);
}

static const char *choose(const gg_kernel *rows, int count, const ggi_call *c, const char *pin) {
  gg_kernel_table table = fake_table(rows, count);
  table.emulated = 1;
  const gg_kernel_table *tables[1] = {&table};
  static ggi_choice choice;
  const ggi_rows rows_of = {tables, 1, &device};
  ggi_select(&rows_of, c, pin, true, &choice);
  return choice.way.row ? choice.way.row->name : choice.text;
}

static void first_in_order(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel rows[3] = {row(), row(), row()};
  rows[0].name = "fast", rows[1].name = "edge", rows[2].name = "any";
  rows[0].multiple_m = 128, rows[0].align[0] = 16, rows[1].align[0] = 16;
  assert_string_equal(choose(rows, 3, &c, NULL), "fast");
  c.m = 255;
  assert_string_equal(choose(rows, 3, &c, NULL), "edge");
  c.align[0] = 4;
  assert_string_equal(choose(rows, 3, &c, NULL), "any");
  assert_string_equal(choose(rows, 2, &c, NULL),
                      "edge: A's pointer is aligned to 4 bytes, the kernel asks for 16");
  assert_string_equal(choose(rows, 3, &c, "any"), "any");
  assert_string_equal(choose(rows, 3, &c, "fast"), "fast: m = 255 is not a multiple of 128");
  assert_string_equal(choose(rows, 3, &c, "none"), "");
}

/* The faster row, unless its tiles leave most SMs idle; the first of equals. */
static void least_time(void **s) {
  (void)s;
  ggi_call c = call();
  gg_kernel rows[3] = {row(), row(), row()};
  rows[0].name = "small", rows[1].name = "large", rows[2].name = "twin";
  rows[0].speed = rows[2].speed = 500;
  rows[1].tile_m = rows[1].tile_n = 128;
  assert_string_equal(choose(rows, 3, &c, NULL), "small"); /* 4 large tiles */
  c.m = c.n = 128 * 66;
  assert_string_equal(choose(rows, 3, &c, NULL), "large"); /* 33 whole waves of them */
  assert_string_equal(choose(rows, 3, &c, "twin"), "twin");
}

static void pointers(void **s) {
  (void)s;
  assert_int_equal(ggi_pointer_align((void *)(uintptr_t)0x1010), 16);
  assert_int_equal(ggi_pointer_align((void *)(uintptr_t)0x1004), 4);
  assert_int_equal(ggi_pointer_align((void *)(uintptr_t)0x1001), 1);
  assert_int_equal(ggi_pointer_align((void *)(uintptr_t)0x3000), 4096);
  assert_int_equal(ggi_pointer_align(NULL), 4096);
}

/* Launched early: what computes, and what leaves half of the SMs to the kernel before. */
static void early(void **state) {
  (void)state;
  const gg_device_info h200 = {.sms = 132};
  gg_kernel r = row();
  r.tile_m = r.tile_n = 64;
  r.cluster_m = r.cluster_n = r.cluster_k = 1;
  r.speed = 1000, r.overhead_k = 500, r.sm_gflops = 5696, r.copy_gbs = 4250;
  ggi_call c = {.type_a = GG_BF16,
                .type_b = GG_BF16,
                .type_d = GG_BF16,
                .m = 1024,
                .n = 1024,
                .k = 1024,
                .batch = 1};
  assert_false(ggi_row_early(&r, &c, &h200));
  r.programmatic = 1;
  assert_true(ggi_row_early(&r, &c, &h200));
  c.m = 16, c.n = 4096, c.k = 8192; /* 64 blocks that read 64 MB */
  assert_true(ggi_row_early(&r, &c, &h200));
  c.n = 6144; /* 96 */
  assert_false(ggi_row_early(&r, &c, &h200));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(early),
      cmocka_unit_test(reasons),
      cmocka_unit_test(short_sums),
      cmocka_unit_test(tensor_maps),
      cmocka_unit_test(map_shapes),
      cmocka_unit_test(map_recipes),
      cmocka_unit_test(promises_open_kernels),
      cmocka_unit_test(huge_leading_dimension),
      cmocka_unit_test(first_in_order),
      cmocka_unit_test(epilogues),
      cmocka_unit_test(residual_alignment),
      cmocka_unit_test(predicted_time),
      cmocka_unit_test(several_blocks),
      cmocka_unit_test(memory_bound),
      cmocka_unit_test(least_time),
      cmocka_unit_test(pointers),
  };
  return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
