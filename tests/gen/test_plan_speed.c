/* dispatch.speed: what a spec states is of wide copies, and a narrow kernel of any family has as
 * much less of it as is planned of it beside the full one.
 */
#include "unit.h"

#include "plan.h"

#include <string.h>

static kernel_spec spec_of(const char *gpu, int family, int type, int layout) {
  kernel_spec s = {.file = "test.lua", .line = 1, .call = 1};
  s.gpu = *gpu_find(gpu);
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    s.value[f] = SPEC_UNSET;
  s.value[SPEC_FAMILY] = family;
  s.value[SPEC_DTYPE_A] = type;
  s.value[SPEC_LAYOUT] = layout;
  return s;
}

static int speed_of(const kernel_spec *s, plan_variant v, const char *text) {
  kernel_plan p;
  plan_fault fault;
  if (plan_make(s, v, &p, &fault) != PLAN_OK) fail_msg("%s", fault.text);
  if (text && !strstr(p.why[PLAN_speed], text))
    fail_msg("%s: no '%s' in '%s'", p.name, text, p.why[PLAN_speed]);
  int speed = p.speed;
  plan_free(&p);
  return speed;
}

static const struct {
  const char *gpu;
  int family, type, layout;
  bool slower; /* copies of one element cost time */
} cases[] = {
    {"h200", FAMILY_NAIVE, GG_F32, LAYOUT_NN, false},
    {"h200", FAMILY_SMEM, GG_F32, LAYOUT_NN, false},
    {"h200", FAMILY_SIMT, GG_F32, LAYOUT_TN, true},
    {"h200", FAMILY_SIMT, GG_F64, LAYOUT_TN, true},
    {"h200", FAMILY_GEMV, GG_BF16, LAYOUT_NT, true},
    {"t4", FAMILY_WMMA, GG_F16, LAYOUT_NN, true},
    {"h200", FAMILY_MMA, GG_BF16, LAYOUT_NN, true},
    {"h200", FAMILY_MMA, GG_F64, LAYOUT_NN, true},
    {"a100-sxm-40", FAMILY_MMA, GG_S8, LAYOUT_NT, true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void a_stated_speed_is_of_wide_copies(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; ++i) {
    kernel_spec s = spec_of(cases[i].gpu, cases[i].family, cases[i].type, cases[i].layout);
    int full = speed_of(&s, VARIANT_FULL, NULL), narrow = speed_of(&s, VARIANT_NARROW, NULL);
    assert_true(cases[i].slower ? narrow < full : narrow == full);
    s.value[SPEC_SPEED] = 2 * full;
    assert_int_equal(speed_of(&s, VARIANT_FULL, "asked by the spec"), 2 * full);
    const char *why =
        cases[i].slower ? "of wide copies (asked by the spec) x" : "asked by the spec";
    assert_int_equal(speed_of(&s, VARIANT_NARROW, why), 2 * narrow);
    s.value[SPEC_SPEED] = 1; /* none is as slow as not to run */
    assert_int_equal(speed_of(&s, VARIANT_NARROW, NULL), 1);
  }
}

/* 4096^3 and 4095^3 on an H200 (docs/measured): what narrow kernels reached, per mille, of
 * 5713 GFLOP/s an SM for bf16, 384 for f64. */
static void narrow_kernels_are_as_slow_as_measured(void **state) {
  (void)state;
  static const struct {
    int type, layout, m, n, k, warp_m, warp_n, stated, measured;
  } tiles[] = {
      {GG_BF16, LAYOUT_NT, 128, 128, 32, 64, 32, 0, 240},
      {GG_BF16, LAYOUT_NT, 64, 64, 32, 32, 32, 0, 133},
      {GG_BF16, LAYOUT_NT, 32, 32, 32, 16, 16, 0, 82},
      {GG_F64, LAYOUT_NN, 64, 128, 16, 32, 32, 1150, 977},
  };
  for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; ++i) {
    kernel_spec s = spec_of("h200", FAMILY_MMA, tiles[i].type, tiles[i].layout);
    s.value[SPEC_TILE_M] = tiles[i].m, s.value[SPEC_TILE_N] = tiles[i].n;
    s.value[SPEC_TILE_K] = tiles[i].k;
    s.value[SPEC_WARP_M] = tiles[i].warp_m, s.value[SPEC_WARP_N] = tiles[i].warp_n;
    if (tiles[i].stated) s.value[SPEC_SPEED] = tiles[i].stated;
    int speed = speed_of(&s, VARIANT_NARROW, NULL), measured = tiles[i].measured;
    if (speed * 10 < measured * 9 || speed * 10 > measured * 11)
      fail_msg("%d x %d: %d, measured %d", tiles[i].m, tiles[i].n, speed, measured);
  }
}

static kernel_plan few_rows(int blocks, int stages) {
  kernel_spec s = spec_of("h200", FAMILY_WGMMA, GG_BF16, LAYOUT_NT);
  s.value[SPEC_TILE_M] = 16, s.value[SPEC_TILE_N] = 64;
  s.value[SPEC_PERSISTENT] = 0;
  s.value[SPEC_MIN_BLOCKS] = blocks, s.value[SPEC_STAGES] = stages;
  kernel_plan p;
  plan_fault fault;
  if (plan_make(&s, VARIANT_FULL, &p, &fault) != PLAN_OK) fail_msg("%s", fault.text);
  assert_int_equal(p.blocks_sm, blocks);
  kernel_plan kept = {.further = p.further, .alone = p.alone};
  plan_free(&p);
  return kept;
}

/* 14336 of k in 64 tiles of 16x64, one on an SM (H200, docs/measured): 29.4 us with 16 stages, 32.5
 * with 10 and room for two blocks; with 5 stages of fp8 23.6 where 16 take 16.6. */
static void a_block_alone_is_slower(void **state) {
  (void)state;
  kernel_plan one = few_rows(1, 16), two = few_rows(2, 10), four = few_rows(4, 5);
  assert_int_equal(one.alone, 100);
  assert_in_range(two.alone, 50, 80);
  assert_in_range(four.alone, 25, 45);
  assert_int_equal(one.further, 100);
  assert_int_equal(two.further, 25);
  assert_int_equal(four.further, 25);
}

/* Square tiles as measured in docs/blocksize.md: the model's speed, where the
 * sides of the tile would say 577, 520 and 433. */
static void wide_kernels_have_the_models_speed(void **state) {
  (void)state;
  static const struct {
    int side, warp, stages, least, most;
  } tiles[] = {{128, 64, 3, 580, 680}, {64, 32, 3, 380, 460}, {32, 16, 4, 190, 250}};
  for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; ++i) {
    kernel_spec s = spec_of("h200", FAMILY_MMA, GG_BF16, LAYOUT_NT);
    s.value[SPEC_TILE_M] = s.value[SPEC_TILE_N] = tiles[i].side;
    s.value[SPEC_WARP_M] = s.value[SPEC_WARP_N] = tiles[i].warp;
    s.value[SPEC_TILE_K] = 64, s.value[SPEC_STAGES] = tiles[i].stages;
    s.value[SPEC_COPY_PATH] = COPY_BY_THREADS; /* as they were timed */
    assert_in_range(speed_of(&s, VARIANT_FULL, "by the model"), tiles[i].least, tiles[i].most);
  }
}

/* 4096^3 on an H200 (docs/measured): 128x128 takes 414, 260 and 197 us with 2, 3 and 4 stages. */
static void short_rings_are_slow(void **state) {
  (void)state;
  kernel_spec s = spec_of("h200", FAMILY_WGMMA, GG_BF16, LAYOUT_NT);
  s.value[SPEC_TILE_M] = s.value[SPEC_TILE_N] = 128;
  s.value[SPEC_STAGES] = 4;
  int full = speed_of(&s, VARIANT_FULL, "larger tiles");
  s.value[SPEC_STAGES] = 3;
  assert_in_range(speed_of(&s, VARIANT_FULL, "by the model"), full * 7 / 10, full * 95 / 100);
  s.value[SPEC_STAGES] = 2;
  assert_in_range(speed_of(&s, VARIANT_FULL, "by the model"), full * 4 / 10, full * 6 / 10);
  s.value[SPEC_SPEED] = 900;
  assert_int_equal(speed_of(&s, VARIANT_FULL, "asked by the spec"), 900);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stated_speed_is_of_wide_copies),
      cmocka_unit_test(a_block_alone_is_slower),
      cmocka_unit_test(wide_kernels_have_the_models_speed),
      cmocka_unit_test(short_rings_are_slow),
      cmocka_unit_test(narrow_kernels_are_as_slow_as_measured),
  };
  return cmocka_run_group_tests_name("speeds that a spec states", tests, NULL, NULL);
}
