/* test_products.c - wgmma of every type on small integers against plain sums, and copies that the
 * fixtures do not have: bulk, 3 and 4 dimensions, reductions, NaN outside, maps beyond memory.
 */
#include "rig.h"
#include "gg_emu_device.h"

kernel unit_tma, unit_tma_store;
kernel wg_bf16_8_ss, wg_bf16_72_ss, wg_bf16_200_rs, wg_bf16_256_ss, wg_f16_128_ss, wg_tf32_128_ss;
kernel wg_tf32_40_rs, wg_e4m3_128_ss, wg_e4m3_24_rs, wg_e5m2_128_ss, wg_e4m3_e5m2_64_ss;
kernel wg_e5m2_e4m3_64_rs, wg_f16_acc16_128_ss, wg_s8_128_ss, wg_s8_24_rs, wg_u8_64_ss;
kernel wg_s8_u8_256_ss, wg_u8_s8_16_rs;

static void *device(rig *r, size_t bytes, const char *name) {
  void *p = gg_emu_alloc(r->emu, bytes, name);
  assert_non_null(p);
  return p;
}

/* -- wgmma -- */

typedef struct product {
  kernel *k;
  int n, a, b;     /* ggd_type */
  int registers;   /* A comes in registers */
  int accumulator; /* 0 f32, 1 f16, 2 s32 */
} product;

static int size_of(int type) {
  return type == GGD_T_TF32 ? 4 : type <= GGD_T_F16 ? 2 : 1;
}

/* Small enough for each type; unsigned types get no negative ones. */
static int value(int type, int i, int k) {
  int v = (i * 7 + k * 3) % 5 - 2;
  return type == GGD_T_U8 ? v + 2 : v;
}

static unsigned bits(int type, int v) {
  float f = (float)v;
  switch (type) {
  case GGD_T_BF16:
    return gg_emu_cvt_bf16x2(f, 0) & 0xffff;
  case GGD_T_F16:
    return gg_emu_cvt_f16x2(f, 0) & 0xffff;
  case GGD_T_E4M3:
    return gg_emu_cvt_e4m3(f);
  case GGD_T_E5M2:
    return gg_emu_cvt_e5m2(f);
  case GGD_T_TF32: {
    unsigned x;
    memcpy(&x, &f, 4);
    return x;
  }
  default:
    return (unsigned)v & 255;
  }
}

/* Rows of 128 bytes, swizzled; the first 32 bytes hold k = 0 and on. */
static void place(unsigned char *image, int rows, int type) {
  int size = size_of(type);
  for (int r = 0; r < rows; r++)
    for (int k = 0; k < 32 / size; k++) {
      unsigned x = bits(type, value(type, r, k));
      int at = r * 128 + (((k * size / 16) ^ (r & 7)) << 4) + k * size % 16;
      memcpy(image + at, &x, (size_t)size);
    }
}

static void registers(unsigned *a, int type) {
  int size = size_of(type), each = 4 / size;
  for (int t = 0; t < 128; t++)
    for (int q = 0; q < 4; q++) {
      int row = t / 32 * 16 + t % 32 / 4 + q % 2 * 8;
      a[t * 4 + q] = 0;
      for (int i = 0; i < each; i++) {
        int k = each * (t % 4) + i + q / 2 * 4 * each;
        a[t * 4 + q] |= bits(type, value(type, row, k)) << (each == 1 ? 0 : 8 * size * i);
      }
    }
}

static void products(void **state) {
  static const product list[] = {
      {wg_bf16_8_ss, 8, GGD_T_BF16, GGD_T_BF16, 0, 0},
      {wg_bf16_72_ss, 72, GGD_T_BF16, GGD_T_BF16, 0, 0},
      {wg_bf16_200_rs, 200, GGD_T_BF16, GGD_T_BF16, 1, 0},
      {wg_bf16_256_ss, 256, GGD_T_BF16, GGD_T_BF16, 0, 0},
      {wg_f16_128_ss, 128, GGD_T_F16, GGD_T_F16, 0, 0},
      {wg_tf32_128_ss, 128, GGD_T_TF32, GGD_T_TF32, 0, 0},
      {wg_tf32_40_rs, 40, GGD_T_TF32, GGD_T_TF32, 1, 0},
      {wg_e4m3_128_ss, 128, GGD_T_E4M3, GGD_T_E4M3, 0, 0},
      {wg_e4m3_24_rs, 24, GGD_T_E4M3, GGD_T_E4M3, 1, 0},
      {wg_e5m2_128_ss, 128, GGD_T_E5M2, GGD_T_E5M2, 0, 0},
      {wg_e4m3_e5m2_64_ss, 64, GGD_T_E4M3, GGD_T_E5M2, 0, 0},
      {wg_e5m2_e4m3_64_rs, 64, GGD_T_E5M2, GGD_T_E4M3, 1, 0},
      {wg_f16_acc16_128_ss, 128, GGD_T_F16, GGD_T_F16, 0, 1},
      {wg_s8_128_ss, 128, GGD_T_S8, GGD_T_S8, 0, 2},
      {wg_s8_24_rs, 24, GGD_T_S8, GGD_T_S8, 1, 2},
      {wg_u8_64_ss, 64, GGD_T_U8, GGD_T_U8, 0, 2},
      {wg_s8_u8_256_ss, 256, GGD_T_S8, GGD_T_U8, 0, 2},
      {wg_u8_s8_16_rs, 16, GGD_T_U8, GGD_T_S8, 1, 2},
  };
  rig *r = *state;
  unsigned char *image = device(r, 65536, "image");
  unsigned *a = device(r, 2048, "registers"), *c = device(r, 65536, "accumulators");
  unsigned *config = device(r, 32, "config"), *d = device(r, 65536, "D");
  const unsigned descriptors[8] = {0, 16, 1024, 1, 32768, 16, 1024, 1};
  memcpy(config, descriptors, sizeof descriptors);
  r->args.a = image;
  r->args.b = a;
  r->args.c = c;
  r->args.residual = config;
  r->args.d = d;
  r->threads = 128;
  r->shared_bytes = 65536;
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    const product *p = &list[i];
    memset(image, 0, 65536);
    memset(c, 0, 65536);
    place(image, 64, p->a);
    place(image + 32768, p->n, p->b);
    registers(a, p->a);
    rig_run(r, p->k);
    rig_silent(r);
    int words = p->accumulator == 1 ? p->n / 4 : p->n / 2;
    for (int t = 0; t < 128; t++)
      for (int e = 0; e < p->n / 2; e++) {
        int row = t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8, column = e / 4 * 8 + t % 4 * 2 + e % 2;
        int sum = 0;
        for (int k = 0; k < 32 / size_of(p->a); k++)
          sum += value(p->a, row, k) * value(p->b, column, k);
        const unsigned *at = d + t * words + (p->accumulator == 1 ? e / 2 : e);
        float f = 0;
        if (p->accumulator == 0) memcpy(&f, at, 4);
        if (p->accumulator == 1) f = gg_emu_unpack(*at >> e % 2 * 16 & 0xffff, GGD_T_F16);
        if (p->accumulator == 2) f = (float)(int)*at;
        if (f != (float)sum)
          fail_msg("product %zu: (%d, %d) is %g, not %d", i, row, column, f, sum);
      }
  }
}

/* -- Copies -- */

static void encode(gg_tensor_map *to, const gg_emu_map *m) {
  char error[240];
  if (gg_emu_tensor_map_encode(to, m, error) != 0) fail_msg("%s", error);
}

static void loads(void **state) {
  rig *r = *state;
  float *a = device(r, 4 * 4 * 8 * 16 * 4, "A"), *d = r->args.d = device(r, 32768, "D");
  for (int i = 0; i < 4 * 4 * 8 * 16; i++)
    a[i] = (float)i;
  r->args.a = a;
  r->threads = 128;
  r->shared_bytes = 32768 + 64;
  /* 16 x 8 x 4 x 4 floats, a box of 8 x 4 x 2 x 2 that reaches outside; unit_tma starts dimension 3
   * at 1. */
  gg_emu_map m = {GG_EMU_MAP_F32, 4, a, {16, 8, 4, 4}, {64, 512, 2048}, {8, 4, 2, 2}, {0}, 0, 1};
  encode(&r->args.map_a, &m);
  r->args.m = 128;
  r->args.n = 12;
  r->args.k = 6;
  r->args.batch = 3;
  r->args.lda = 4;
  r->args.ldb = 8 * 4 * 2 * 2 * 4;
  rig_run(r, unit_tma);
  rig_silent(r);
  for (int i = 0; i < 128; i++) {
    int x = 12 + i % 8, y = 6 + i / 8 % 4, z = 3 + i / 32 % 2, w = 1 + i / 64;
    float got = d[32 + i];
    if (x < 16 && y < 8 && z < 4)
      assert_true(got == (float)(x + y * 16 + z * 128 + w * 512));
    else
      assert_true(got != got); /* filled with NaN */
  }
  m.dim[3] = 5; /* one beyond the allocation; not reached, then reached */
  encode(&r->args.map_a, &m);
  rig_run(r, unit_tma);
  rig_silent(r);
  m.address = a + 4 * 8 * 16 * 2;
  encode(&r->args.map_a, &m);
  rig_run(r, unit_tma);
  assert_true(rig_count(r, GG_EMU_OUT_OF_BOUNDS) == 1);
  r->args.lda = 1;
  r->args.ldb = 80;
  r->args.n = 16;
  rig_run(r, unit_tma);
  rig_silent(r);
  for (int i = 0; i < 20; i++)
    assert_true(d[32 + i] == (float)(i + 4));
}

static void stores(void **state) {
  rig *r = *state;
  float *image = device(r, 32768, "image"), *d = device(r, 16 * 8 * 2 * 4, "D");
  for (int i = 0; i < 8192; i++)
    image[i] = (float)i;
  r->args.b = image;
  r->args.d = d;
  r->threads = 128;
  r->shared_bytes = 32768 + 64;
  gg_emu_map m = {GG_EMU_MAP_F32, 3, d, {15, 8, 2}, {64, 512}, {8, 4, 2}, {0}, 0, 0};
  encode(&r->args.map_d, &m);
  r->args.m = 256;
  r->args.n = 8;
  r->args.k = 6;
  r->args.lda = 3;
  for (int add = 0; add < 2; add++)
    for (int seed = 0; seed < 3; seed++) {
      r->options.async = (gg_emu_async)seed;
      r->args.ldc = add;
      for (int i = 0; i < 256; i++)
        d[i] = 0.5f;
      rig_run(r, unit_tma_store);
      rig_silent(r);
      for (int i = 0; i < 256; i++) {
        int x = i % 16, y = i / 16 % 8, z = i / 128;
        float expected = 0.5f;
        if (x >= 8 && y >= 6) /* 15 too: the row ends inside 16 bytes */
          expected = (float)(64 + x - 8 + (y - 6) * 8 + z * 32) + (add ? 0.5f : 0.0f);
        assert_true(d[i] == expected);
      }
    }
  r->args.lda = 1;
  r->args.ldb = 64;
  r->args.n = 32;
  rig_run(r, unit_tma_store);
  rig_silent(r);
  for (int i = 0; i < 16; i++)
    assert_true(d[8 + i] == (float)(64 + i));
}

/* A row of 10 floats ends 8 bytes into 16, which are written whole. */
static void overruns(void **state) {
  enum { ROW = 16, ROWS = 8, KEPT = 10, END = 12 };
  rig *r = *state;
  gg_emu_map m = {GG_EMU_MAP_F32, 2, NULL, {KEPT, ROWS}, {64}, {ROW, ROWS}, {0}, 0, 0};
  float *d = device(r, ROW * ROWS * 4, "D");
  m.address = r->args.d = d;
  encode(&r->args.map_d, &m);
  r->blocks = 2;
  r->args.k = END;
  for (int i = 0; i < ROW * ROWS; i++)
    d[i] = 0.5f;
  rig_run(r, overrun);
  rig_silent(r);
  for (int i = 0; i < ROW * ROWS; i++)
    assert_true(d[i] == (i % ROW < END ? (float)i : i % ROW == END ? -1.0f : 0.5f));
  r->args.k = KEPT; /* another block's own */
  rig_expect(r, overrun, GG_EMU_GLOBAL_RACE, "overrun_store", "overrun_st", 0);

  /* Memory that ends with the last row, and with its 16 bytes. */
  r->blocks = 1;
  m.address = r->args.d = device(r, ROW * (ROWS - 1) * 4 + END * 4, "whole");
  encode(&r->args.map_d, &m);
  rig_run(r, overrun);
  rig_silent(r);
  m.address = r->args.d = device(r, ROW * (ROWS - 1) * 4 + KEPT * 4, "short");
  encode(&r->args.map_d, &m);
  rig_expect(r, overrun, GG_EMU_OUT_OF_BOUNDS, "overrun_store", NULL, 0);
}

static int setup(void **state) {
  static rig r;
  rig_open(&r);
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  rig_close(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(products, setup, teardown),
      cmocka_unit_test_setup_teardown(loads, setup, teardown),
      cmocka_unit_test_setup_teardown(stores, setup, teardown),
      cmocka_unit_test_setup_teardown(overruns, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_products", tests, NULL, NULL);
}
