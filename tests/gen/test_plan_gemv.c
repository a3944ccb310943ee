/* test_plan_gemv.c - family gemv: its numbers and what it refuses. */
#include "unit.h"

#include "plan.h"

#include <string.h>

#define END SPEC_FIELD_COUNT

typedef struct setting {
  spec_field field;
  int value;
} setting;

static kernel_spec spec_of(const setting *settings) {
  kernel_spec s = {.file = "test.lua", .line = 1, .gpu = *gpu_find("h200")};
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    s.value[f] = SPEC_UNSET;
  s.value[SPEC_FAMILY] = FAMILY_GEMV;
  s.value[SPEC_DTYPE_A] = GG_BF16;
  s.value[SPEC_LAYOUT] = LAYOUT_NT;
  for (; settings->field != END; ++settings)
    s.value[settings->field] = settings->value;
  return s;
}

static void numbers(void **state) {
  (void)state;
  kernel_spec s = spec_of((setting[]){{SPEC_TILE_M, 4}, {END, 0}});
  kernel_plan p;
  plan_fault fault;
  assert_int_equal(plan_make(&s, VARIANT_FULL, &p, &fault), PLAN_OK);
  assert_string_equal(p.name, "sm90_gemv_bf16_nt_4x1_full");
  assert_int_equal(p.threads, 128);
  assert_int_equal(p.vector, 8);
  assert_int_equal(p.unroll_k, 32);
  assert_int_equal(p.tile_k, 128 * 32);
  assert_int_equal(p.shared_bytes, 4 * 4 * 4);
  assert_true(p.align_a == 16 && p.align_b == 16 && p.align_c == 2 && p.align_d == 2);
  assert_true(p.multiple_m == 1 && p.multiple_n == 1 && p.multiple_k == 8 && p.min_k == 1024);
  assert_int_equal(p.copy_gbs, 4689);
  plan_free(&p);
  assert_int_equal(plan_make(&s, VARIANT_EDGE, &p, &fault), PLAN_SAME);
  assert_int_equal(plan_make(&s, VARIANT_NARROW, &p, &fault), PLAN_OK);
  assert_true(p.align_a == 2 && p.align_b == 2 && p.multiple_k == 1 && p.min_k == 0);
  plan_free(&p);
}

static void refusals(void **state) {
  (void)state;
  static const struct {
    setting given[3];
    spec_field field;
    const char *code;
  } cases[] = {
      {{{SPEC_LAYOUT, LAYOUT_NN}, {END, 0}}, SPEC_LAYOUT, "layout-family"},
      {{{SPEC_DTYPE_A, GG_F64}, {END, 0}}, SPEC_DTYPE_A, "dtype-family"},
      {{{SPEC_DTYPE_A, GG_TF32}, {END, 0}}, SPEC_DTYPE_A, "dtype-family"},
      {{{SPEC_DTYPE_B, GG_F32}, {END, 0}}, SPEC_DTYPE_B, "dtype-family"},
      {{{SPEC_DTYPE_B, GG_S8}, {END, 0}}, SPEC_DTYPE_B, "dtype-family"},
      {{{SPEC_DTYPE_ACC, GG_F16}, {END, 0}}, SPEC_DTYPE_ACC, "dtype-family"},
      {{{SPEC_TILE_M, 9}, {END, 0}}, SPEC_TILE_M, "tile-fit"},
      {{{SPEC_TILE_N, 2}, {END, 0}}, SPEC_TILE_N, "tile-fit"},
      {{{SPEC_STAGES, 3}, {END, 0}}, SPEC_STAGES, "field-family"},
      {{{SPEC_SCALE_A, GG_SCALING_GROUP}, {END, 0}}, SPEC_SCALE_A, "scaling"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    kernel_spec s = spec_of(cases[i].given);
    kernel_plan p;
    plan_fault fault;
    assert_int_equal(plan_make(&s, VARIANT_FULL, &p, &fault), PLAN_ILLEGAL);
    assert_string_equal(fault.code, cases[i].code);
    assert_int_equal(fault.field, cases[i].field);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests_name("gemv", tests, NULL, NULL);
}
