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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stated_speed_is_of_wide_copies),
      cmocka_unit_test(narrow_kernels_are_as_slow_as_measured),
  };
  return cmocka_run_group_tests_name("speeds that a spec states", tests, NULL, NULL);
}
