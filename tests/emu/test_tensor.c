/* test_tensor.c - small primitives of warps, tensor cores and clusters, and tensor maps. */
#include "rig.h"
#include "gg_emu_device.h"
#include <math.h>

kernel unit_mma_f64, unit_matrix_small, unit_bar_arrive, unit_cluster, unit_convert;

static void *device(rig *r, size_t bytes, const char *name) {
  void *p = gg_emu_alloc(r->emu, bytes, name);
  assert_non_null(p);
  return p;
}

/* -- wmma: D = A B + C on small integers -- */

typedef struct wmma_case {
  kernel *k;
  int m, n, depth, type; /* ggd_type */
  int a_column, b_column, d_column, half;
} wmma_case;

static int value(int i, int j) {
  return (i * 5 + j * 3) % 7 - 3;
}

static void put(void *p, int at, int type, int x) {
  float f = (float)x;
  unsigned bits = type == GGD_T_BF16 ? gg_emu_cvt_bf16x2(f, 0) : gg_emu_cvt_f16x2(f, 0);
  if (type == GGD_T_TF32)
    ((float *)p)[at] = f;
  else if (type == GGD_T_S8)
    ((signed char *)p)[at] = (signed char)x;
  else
    ((unsigned short *)p)[at] = (unsigned short)bits;
}

static void wmma(void **state) {
  static const wmma_case cases[] = {{wmma_f16, 16, 16, 16, GGD_T_F16, 0, 1, 0, 0},
                                    {wmma_f16_acc16, 16, 16, 16, GGD_T_F16, 0, 1, 1, 1},
                                    {wmma_bf16, 32, 8, 16, GGD_T_BF16, 1, 0, 0, 0},
                                    {wmma_s8, 8, 32, 16, GGD_T_S8, 0, 1, 0, 0},
                                    {wmma_tf32, 16, 16, 8, GGD_T_TF32, 0, 1, 0, 0}};
  rig *r = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const wmma_case *c = &cases[i];
    void *a = device(r, 2048, "A"), *b = device(r, 2048, "B");
    float *cc = device(r, 1024, "C"), *d = device(r, 1024, "D");
    for (int m = 0; m < c->m; m++)
      for (int k = 0; k < c->depth; k++)
        put(a, c->a_column ? k * c->m + m : m * c->depth + k, c->type, value(m, k));
    for (int k = 0; k < c->depth; k++)
      for (int n = 0; n < c->n; n++)
        put(b, c->b_column ? n * c->depth + k : k * c->n + n, c->type, value(n, k + 2));
    for (int e = 0; e < 256; e++) { /* wmma_f16 reads C by columns */
      int row = e / c->n, column = e % c->n, at = c->k == wmma_f16 ? column * 16 + row : e;
      if (c->half)
        put(cc, at, GGD_T_F16, e % 5);
      else if (c->type == GGD_T_S8)
        ((int *)(void *)cc)[at] = e % 5;
      else
        cc[at] = (float)(e % 5);
    }
    r->args.a = a;
    r->args.b = b;
    r->args.c = cc;
    r->args.d = d;
    r->threads = 32;
    r->shared_bytes = 8192;
    rig_run(r, c->k);
    rig_silent(r);
    for (int m = 0; m < c->m; m++)
      for (int n = 0; n < c->n; n++) {
        int sum = (m * c->n + n) % 5, at = c->d_column ? n * c->m + m : m * c->n + n;
        for (int k = 0; k < c->depth; k++)
          sum += value(m, k) * value(n, k + 2);
        int got = c->type == GGD_T_S8 ? ((int *)(void *)d)[at]
                  : c->half ? (int)gg_emu_unpack(((unsigned short *)(void *)d)[at], GGD_T_F16)
                            : (int)d[at];
        assert_int_equal(got, sum);
      }
  }
}

static void wmma_faults(void **state) {
  rig *r = *state;
  unsigned short *c = device(r, 512, "C"), *d = device(r, 1024, "D");
  memset(c, 0, 512);
  r->args.c = c;
  r->args.d = d;
  r->threads = 64;
  r->shared_bytes = 512 + 16;
  rig_expect(r, wmma_misuse, 0);
  for (int i = 0; i < 256; i++)
    assert_int_equal(d[256 + i], 0x4c00); /* 16 */
  r->args.k = 1;
  rig_expect(r, wmma_misuse, GG_EMU_RACE, "wm_load_a", "wm_sts", GG_EMU_RACE, "wm_load_b", "wm_sts",
             0);
  r->args.k = 2;
  rig_expect(r, wmma_misuse, GG_EMU_UNINITIALISED, "wm_load_a", NULL, GG_EMU_UNINITIALISED,
             "wm_load_b", NULL, 0);
  r->args.k = 3;
  rig_expect(r, wmma_misuse, GG_EMU_OUT_OF_BOUNDS, "wm_load_c", NULL, 0);
  r->args.k = 4;
  rig_run(r, wmma_misuse);
  assert_int_equal(rig_count(r, GG_EMU_MISALIGNED), 1);
  r->args.k = 5;
  rig_expect(r, wmma_misuse, GG_EMU_DESCRIPTOR, "wm_load_b", NULL, 0);
  r->args.k = 6;
  rig_run(r, wmma_misuse);
  assert_true(rig_count(r, GG_EMU_DIVERGENCE) > 0);
  r->args.k = 7;
  rig_expect(r, wmma_misuse, GG_EMU_GLOBAL_RACE, "wm_store", "wm_store", 0);
}

/* A lies by columns, B and C by rows; D by rows, though it went out and in again by both. */
static void wmma_doubles(void **state) {
  rig *r = *state;
  double *a = device(r, 256, "A"), *b = device(r, 256, "B");
  double *c = device(r, 512, "C"), *d = device(r, 512, "D");
  for (int i = 0; i < 32; i++) {
    a[i] = 1.0 + i * 0.37;
    b[i] = 3.0 - i * 0.11;
  }
  for (int i = 0; i < 64; i++)
    c[i] = i;
  r->args.a = a;
  r->args.b = b;
  r->args.c = c;
  r->args.d = d;
  r->threads = 32;
  r->shared_bytes = 8192;
  rig_run(r, wmma_f64);
  rig_silent(r);
  for (int m = 0; m < 8; m++)
    for (int n = 0; n < 8; n++) {
      double sum = c[m * 8 + n];
      for (int k = 0; k < 4; k++)
        sum = fma(a[k * 8 + m], b[k * 8 + n], sum);
      assert_true(d[m * 8 + n] == sum);
    }
}

static void wmma_alignment(void **state) {
  rig *r = *state;
  r->args.a = device(r, 2048, "A");
  r->args.d = device(r, 2048, "D");
  r->options.check = 0; /* shared memory holds nothing */
  r->threads = 32;
  rig_expect(r, wmma_misaligned, GG_EMU_MISALIGNED, "wmma_s8_at_4", NULL, GG_EMU_MISALIGNED,
             "wmma_f16_at_16", NULL, GG_EMU_MISALIGNED, "wmma_f16_apart_40", NULL,
             GG_EMU_MISALIGNED, "wmma_s8_shared_at_8", NULL, GG_EMU_MISALIGNED,
             "wmma_s8_shared_apart_24", NULL, GG_EMU_MISALIGNED, "wmma_bf16_shared_at_8", NULL,
             GG_EMU_MISALIGNED, "wmma_sums_at_8", NULL, 0);
}

/* -- mma of doubles -- */

static void mma_f64(void **state) {
  static const int shape[4][2] = {{8, 4}, {16, 4}, {16, 8}, {16, 16}};
  rig *r = *state;
  double *a = device(r, 32 * 8 * 8, "A"), *b = device(r, 32 * 4 * 8, "B");
  double *c = device(r, 32 * 4 * 8, "C"), *d = device(r, 32 * 4 * 8, "D");
  for (int i = 0; i < 256; i++)
    a[i] = 1.0 + i * 0.37;
  for (int i = 0; i < 128; i++) {
    b[i] = 3.0 - i * 0.11;
    c[i] = i;
  }
  r->args.a = a;
  r->args.b = b;
  r->args.c = c;
  r->args.d = d;
  r->threads = 32;
  for (int s = 0; s < 4; s++) {
    int halves = shape[s][0] / 8, depth = shape[s][1];
    r->args.k = s;
    rig_run(r, unit_mma_f64);
    rig_silent(r);
    for (int row = 0; row < shape[s][0]; row++)
      for (int column = 0; column < 8; column++) {
        int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
        double sum = c[lane * 4 + i];
        for (int k = 0; k < depth; k++)
          sum = fma(a[(row % 8 * 4 + k % 4) * 8 + row / 8 + k / 4 * halves],
                    b[(column * 4 + k % 4) * 4 + k / 4], sum);
        assert_true(d[lane * 4 + i] == sum);
      }
  }
}

/* -- Conversions -- */

static void formats(void **state) {
  (void)state;
  for (unsigned h = 0; h < 65536; h++) {
    float f = gg_emu_unpack(h, GGD_T_F16);
    if (f != f) continue;
    assert_int_equal(gg_emu_cvt_f16x2(f, 0) & 0xffff, h);
  }
  for (unsigned x = 0; x < 256; x++) {
    float f = gg_emu_unpack(x, GGD_T_E4M3), g = gg_emu_unpack(x, GGD_T_E5M2);
    if (f == f) assert_int_equal(gg_emu_cvt_e4m3(f), x);
    if (isfinite(g)) assert_int_equal(gg_emu_cvt_e5m2(g), x);
    /* Halfway to the next one: to even. */
    float next = gg_emu_unpack(x + 1, GGD_T_E4M3);
    if ((x & 0x7f) < 0x7e) assert_int_equal(gg_emu_cvt_e4m3((f + next) / 2), x + (x & 1));
  }
  assert_true(gg_emu_unpack(0x7e, GGD_T_E4M3) == 448.0f);
  assert_int_equal(gg_emu_cvt_e4m3(1e9f), 0x7e);
  assert_int_equal(gg_emu_cvt_e4m3(-INFINITY), 0xfe);
  assert_int_equal(gg_emu_cvt_e4m3(NAN), 0x7f);
  assert_int_equal(gg_emu_cvt_e5m2(60000.0f), 0x7b);
  assert_int_equal(gg_emu_cvt_f16x2(65519.0f, 65520.0f), 0x7c007bff);
  assert_int_equal(gg_emu_cvt_bf16x2(1.00390625f, 1.01171875f), 0x3f823f80); /* ties to even */
  assert_int_equal(gg_emu_cvt_tf32(1.0f + 0x1p-11f), 0x3f802000);            /* ties away */
  /* NaN: cut for tf32, where it may become an infinity; one pattern from narrow types and sums. */
  assert_int_equal(gg_emu_cvt_tf32(gg_as_f32(0x7fbf5fff)), 0x7fbf4000);
  assert_int_equal(gg_emu_cvt_tf32(gg_as_f32(0xff801fff)), 0xff800000);
  assert_int_equal(gg_as_u32(gg_emu_unpack(0xfc01, GGD_T_F16)), 0x7fffffff);
  assert_int_equal(gg_as_u32(gg_emu_unpack(0xfd, GGD_T_E5M2)), 0x7fffffff);
  assert_int_equal(gg_as_u32(gg_add_f32(gg_as_f32(0xffc01234), 1.0f)), 0x7fffffff);
  assert_int_equal(gg_as_u32(gg_mul_f32(INFINITY, 0.0f)), 0x7fffffff);
  assert_int_equal(gg_as_u32(gg_max_f32(-0.0f, 0.0f)), 0);
  assert_int_equal(gg_as_u32(gg_min_f32(0.0f, -0.0f)), 0x80000000);
  assert_int_equal(gg_as_u32(gg_max_f32(gg_as_f32(0x7f800001), -2.0f)), 0xc0000000);
  assert_int_equal(gg_emu_cvt_integer(2.5f, -128, 127), 2);
  assert_int_equal(gg_emu_cvt_integer(-1e9f, -128, 127), -128);
  assert_int_equal(gg_emu_cvt_integer(NAN, 0, 255), 0);
  assert_int_equal(gg_emu_cvt_integer(3e9f, -2147483647 - 1, 2147483647), 2147483647);
  assert_int_equal(gg_emu_prmt(0x33221100, 0x77665544, 0x7531), (int)0x77553311);
  assert_int_equal(gg_emu_prmt(0x00008000, 0, 0x0009), (int)0x000000ff);
}

/* One NaN in A; it reaches its row of D. */
static void kept_nan_of_sums(void **state) {
  rig *r = *state;
  unsigned short *a = device(r, 512, "A"), *b = device(r, 512, "B");
  float *c = device(r, 1024, "C"), *d = device(r, 1024, "D");
  for (int i = 0; i < 256; i++) {
    a[i] = b[i] = 0x3c00;
    c[i] = 0;
  }
  a[3 * 16 + 7] = 0xfe1a;
  r->args.a = a;
  r->args.b = b;
  r->args.c = c;
  r->args.d = d;
  r->threads = 32;
  r->shared_bytes = 8192;
  for (int keep = 0; keep < 2; keep++) {
    r->options.keep_nan = keep;
    rig_run(r, wmma_f16);
    rig_silent(r);
    for (int i = 0; i < 256; i++)
      assert_int_equal(gg_as_u32(d[i]), i / 16 != 3 ? 0x41800000 : keep ? 0xffc34000 : 0x7fffffff);
  }
}

static void kept_nan(void **state) {
  enum { WORDS = 128, OUT = 20, FROM_F16 = 8, SUM = 16 };
  rig *r = *state;
  unsigned *a = device(r, WORDS * 4, "A"), *b = device(r, WORDS * 4, "B");
  unsigned *d = r->args.d = device(r, WORDS * OUT * 4, "D");
  for (int i = 0; i < WORDS; i++) {
    a[i] = 0xffc07d5a; /* its low half is a NaN of f16 as well */
    b[i] = 0x3f800000;
  }
  r->args.a = a;
  r->args.b = b;
  r->threads = 128;
  for (int keep = 0; keep < 2; keep++) {
    r->options.keep_nan = keep;
    rig_run(r, unit_convert);
    rig_silent(r);
    assert_int_equal(d[SUM], keep ? 0xffc07d5a : 0x7fffffff);
    assert_int_equal(d[FROM_F16], keep ? 0x7fab4000 : 0x7fffffff);
    assert_int_equal(d[0], keep ? 0x3f80ffc0 : 0x3f807fff); /* bf16 of both */
    assert_int_equal(d[1], keep ? 0x3c00fe03 : 0x3c007fff); /* f16 */
  }
}

/* -- Warps, narrow accesses, clusters -- */

static void exchanges(void **state) {
  rig *r = *state;
  unsigned *d = r->args.d = device(r, 32 * 8 * 4, "D");
  memset(d, 0, 32 * 8 * 4);
  r->threads = 32;
  rig_run(r, exchange);
  rig_silent(r);
  for (unsigned t = 0; t < 32; t++) {
    const unsigned expected[6] = {7, t ^ 3, t < 28 ? t + 4 : t, t < 4 ? t : t - 4, 31, 496};
    float f;
    for (unsigned i = 0; i < 6; i++)
      assert_int_equal(d[t * 8 + i], expected[i]);
    memcpy(&f, &d[t * 8 + 6], 4);
    assert_true(f == (float)(t ^ 1));
  }
  assert_int_equal(d[7], 131);
}

static void narrow_accesses(void **state) {
  rig *r = *state;
  r->args.d = device(r, 1024, "D");
  rig_run(r, narrow);
  rig_silent(r);
  for (int t = 0; t < 64; t++)
    assert_int_equal(((unsigned short *)r->args.d)[t], t);
  r->args.k = 1;
  rig_run(r, narrow);
  assert_int_equal(rig_count(r, GG_EMU_GLOBAL_RACE), 1);
  assert_int_equal(rig_count(r, GG_EMU_RACE), 1);
}

static void clusters(void **state) {
  rig *r = *state;
  float *d = r->args.d = device(r, 4 * 64 * 4, "D");
  r->cluster = 2;
  r->blocks = 4;
  for (uint64_t seed = 0; seed < 20; seed++) {
    r->options.seed = seed;
    rig_run(r, ring);
    rig_silent(r);
    for (unsigned i = 0; i < 256; i++) {
      unsigned rank = i / 64 & 1, t = i % 64;
      assert_true(d[i] == (float)(1000 + rank * 100 + 63 - t + 2));
    }
  }
  r->options.seed = 0;
  r->args.k = 1;
  rig_run(r, ring);
  assert_true(rig_count(r, GG_EMU_RACE) + rig_count(r, GG_EMU_UNINITIALISED) > 0);
  r->args.k = 2;
  rig_run(r, ring);
  assert_int_equal(rig_count(r, GG_EMU_OUT_OF_BOUNDS), 1);
  r->args.k = 3;
  rig_run(r, ring);
  assert_true(rig_count(r, GG_EMU_EXITED) > 0);
  r->blocks = 3;
  char error[240];
  gg_emu_launch l = {.name = "ring",
                     .entry = (gg_entry)ring,
                     .grid_x = 3,
                     .grid_y = 1,
                     .grid_z = 1,
                     .block_x = 64,
                     .cluster_x = 2,
                     .shared_bytes = 1024};
  assert_int_equal(gg_emu_run(r->emu, &l, &r->args, error), -1);
  assert_non_null(strstr(error, "multiple"));
}

static void cluster_unit(void **state) {
  rig *r = *state;
  char error[240];
  unsigned *a = device(r, 4096, "A"), *d = r->args.d = device(r, 8200, "D");
  for (unsigned i = 0; i < 1024; i++)
    a[i] = i * 7;
  gg_emu_map map = {GG_EMU_MAP_U32, 2, a, {32, 32}, {128}, {32, 16}, {0}, 0, 0};
  assert_int_equal(gg_emu_tensor_map_encode(&r->args.map_a, &map, error), 0);
  r->threads = 128;
  r->cluster = r->blocks = 2;
  r->shared_bytes = 8208 + 512;
  for (uint64_t seed = 0; seed < 20; seed++) {
    r->options.seed = seed;
    r->options.async = (gg_emu_async)(seed % 3);
    rig_run(r, unit_cluster);
    rig_silent(r);
    for (unsigned i = 0; i < 2048; i++)
      assert_int_equal(d[i], i % 1024 * 7);
    assert_int_equal(d[2048], 1005);
    assert_int_equal(d[2049], 5);
  }
}

static void mbarriers(void **state) {
  static const struct {
    gg_emu_kind kind;
    const char *line;
  } expected[] = {{0, NULL},
                  {GG_EMU_BARRIER, "mb_init"},
                  {GG_EMU_BARRIER, "mb_again"},
                  {GG_EMU_BARRIER, "mb_none"},
                  {GG_EMU_MISSING_WAIT, "mb_touched"},
                  {GG_EMU_MISALIGNED, "mb_misaligned"},
                  {GG_EMU_UNFINISHED, "mb_init"}};
  rig *r = *state;
  for (int k = 0; k < 7; k++) {
    const gg_emu_finding *f;
    r->args.k = k;
    rig_run(r, mbarrier_misuse);
    size_t n = gg_emu_findings(r->emu, &f);
    assert_int_equal(n, k != 0);
    if (k == 0) continue;
    assert_int_equal(f[0].kind, expected[k].kind);
    assert_int_equal(f[0].line, line_of(expected[k].line));
  }
}

static void releases(void **state) {
  rig *r = *state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    r->options.seed = seed;
    r->options.async = (gg_emu_async)(seed % 3);
    r->args.k = 0;
    rig_run(r, lane0_release);
    rig_silent(r);
    rig_run(r, arrivals);
    rig_silent(r);
    rig_run(r, relaxed);
    rig_silent(r);
    r->args.k = 1;
    rig_run(r, lane0_release);
    assert_true(rig_count(r, GG_EMU_RACE) > 0); /* seen from either side */
    rig_expect(r, relaxed, (int)GG_EMU_RACE, "relaxed_read", "relaxed_write", 0);
  }
  r->options.seed = 0;
  r->options.async = GG_EMU_LATE;
  rig_run(r, arrivals);
  assert_int_equal(rig_count(r, GG_EMU_BARRIER), 1);
  r->args.k = 2;
  rig_expect(r, arrivals, (int)GG_EMU_MISSING_WAIT, "arrivals_read", "arrivals_load", 0);
}

static void in_place_results(void **state) {
  rig *r = *state;
  float *d = r->args.d = device(r, 256, "D");
  r->threads = 32;
  r->blocks = 4;
  for (int i = 0; i < 64; i++)
    d[i] = (float)i;
  rig_run(r, in_place);
  rig_silent(r);
  for (int i = 0; i < 64; i++)
    assert_true(d[i] == (float)i + 1.0f);
  r->args.k = 1;
  rig_expect(r, in_place, (int)GG_EMU_GLOBAL_RACE, "in_place_st", "in_place_load", 0);
  d = r->args.d = device(r, 512, "D");
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 128; i++)
      d[i] = (float)i;
    r->args.k = k;
    rig_run(r, in_place_store);
    assert_int_equal(rig_count(r, GG_EMU_GLOBAL_RACE), k != 0);
    for (int i = 0; i < 128 && k == 0; i++)
      assert_true(d[i] == (float)i + 1.0f);
  }
}

/* -- Tensor maps -- */

static void maps(void **state) {
  (void)state;
  static unsigned char memory[4096] __attribute__((aligned(64)));
  static const gg_emu_map good = {GG_EMU_MAP_BF16, 3,   memory, {64, 8, 2}, {128, 1024},
                                  {64, 8, 1},      {0}, 3,      0};
  gg_tensor_map map;
  gg_emu_map m[14];
  const char *word[] = {"type",      "rank",   "address", "dim[1]", "stride[0]",
                        "stride[1]", "box[0]", "box[1]",  "box[0]", "swizzle",
                        "fill",      "fill",   "step[1]", "box[0]"};
  for (int i = 0; i < 14; i++)
    m[i] = good;
  m[0].type = 13;
  m[1].rank = 6;
  m[2].address = memory + 8;
  m[3].dim[1] = 0;
  m[4].stride[0] = 100;
  m[5].stride[1] = 1ull << 40;
  m[6].box[0] = 128; /* wider than the swizzle */
  m[7].box[1] = 257;
  m[8].box[0] = 12;
  m[9].swizzle = 4;
  m[10].fill = 2;
  m[11].fill = 1;
  m[11].type = GG_EMU_MAP_U16;
  m[12].step[1] = 9;
  m[13].box[0] = 0;
  char error[240];
  assert_int_equal(gg_emu_tensor_map_encode(&map, &good, error), 0);
  assert_int_equal(gg_emu_tensor_map_encode(&map, &good, NULL), 0);
  for (int i = 0; i < 14; i++) {
    error[0] = 0;
    assert_int_equal(gg_emu_tensor_map_encode(&map, &m[i], error), -1);
    if (strstr(error, word[i]) == NULL) fail_msg("%d: %s", i, error);
    assert_int_equal(gg_emu_tensor_map_encode(&map, &m[i], NULL), -1);
  }
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
      cmocka_unit_test_setup_teardown(wmma, setup, teardown),
      cmocka_unit_test_setup_teardown(wmma_doubles, setup, teardown),
      cmocka_unit_test_setup_teardown(wmma_alignment, setup, teardown),
      cmocka_unit_test_setup_teardown(wmma_faults, setup, teardown),
      cmocka_unit_test_setup_teardown(mma_f64, setup, teardown),
      cmocka_unit_test(formats),
      cmocka_unit_test_setup_teardown(kept_nan, setup, teardown),
      cmocka_unit_test_setup_teardown(kept_nan_of_sums, setup, teardown),
      cmocka_unit_test_setup_teardown(exchanges, setup, teardown),
      cmocka_unit_test_setup_teardown(narrow_accesses, setup, teardown),
      cmocka_unit_test_setup_teardown(clusters, setup, teardown),
      cmocka_unit_test_setup_teardown(cluster_unit, setup, teardown),
      cmocka_unit_test_setup_teardown(mbarriers, setup, teardown),
      cmocka_unit_test_setup_teardown(releases, setup, teardown),
      cmocka_unit_test_setup_teardown(in_place_results, setup, teardown),
      cmocka_unit_test(maps),
  };
  return cmocka_run_group_tests_name("emu_tensor", tests, NULL, NULL);
}
