/* test_cases.c - the default problems: legal for their row, and nothing that must be covered is
 * left out. Operands end where they should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ggcheck_case.h"
#include "ggcheck_operand.h"

#include <stdbool.h>
#include <string.h>

static gg_kernel any_row(void) {
  gg_kernel row = {.family = "simt",
                   .tile_m = 64,
                   .tile_n = 32,
                   .tile_k = 8,
                   .k_slices = 1,
                   .threads = 128,
                   .shared_bytes = 3 * (64 + 32) * 8 * 4 + 256,
                   .align = {4, 4, 4, 4},
                   .multiple_m = 1,
                   .multiple_n = 1,
                   .multiple_k = 1};
  row.type_a = row.type_b = row.type_c = row.type_d = row.type_acc = GG_F32;
  return row;
}

static bool has_size(const ggcheck_cases *cases, int axis, int64_t value) {
  for (size_t i = 0; i < cases->count; i++) {
    const ggcheck_case *c = &cases->items[i];
    const int64_t sizes[] = {c->m, c->n, c->k, c->batch};
    if (sizes[axis] == value) return true;
  }
  return false;
}

static int class_of(double scalar) {
  return scalar == 0 ? 0 : scalar == 1 ? 1 : 2;
}

static void test_coverage(void **state) {
  (void)state;
  gg_kernel row = any_row();
  ggcheck_cases cases = {0};
  static const int64_t wanted[3][12] = {
      {0, 1, 63, 64, 65, 128}, {0, 1, 31, 32, 33, 64}, {0, 1, 7, 8, 9, 16, 24, 25, 32, 33, 39, 40}};
  static const int counts[3] = {6, 6, 12};
  assert_int_equal(ggcheck_stages_guess(&row), 3);
  ggcheck_default_cases(&row, 5, &cases);
  assert_false(cases.failed);
  for (int axis = 0; axis < 3; axis++)
    for (int i = 0; i < counts[axis]; i++)
      if (!has_size(&cases, axis, wanted[axis][i]))
        fail_msg("axis %d never has size %d", axis, (int)wanted[axis][i]);
  assert_true(has_size(&cases, 3, 0) && has_size(&cases, 3, 3));

  bool scalars[3][3] = {{false}}, edges[3][3] = {{false}}, shared[3] = {false};
  bool place = false, poison_c = false, poison_ab = false, special = false, odd = false;
  bool wide_ld = false, wide_stride = false, measured = false, skewed = false, many = false;
  for (size_t i = 0; i < cases.count; i++) {
    const ggcheck_case *c = &cases.items[i];
    scalars[class_of(c->alpha)][class_of(c->beta)] = true;
    if (c->m >= 63 && c->m <= 65 && c->n >= 31 && c->n <= 33) edges[c->m - 63][c->n - 31] = true;
    for (int o = 0; o < 3; o++)
      shared[o] |= c->shared[o] && c->batch > 1;
    place |= c->in_place && c->beta != 0;
    poison_c |= c->poison_c && c->beta == 0;
    poison_ab |= c->poison_ab && c->alpha == 0;
    special |= c->fill == GGCHECK_SPECIAL;
    odd |= c->gap[0] % 2 == 1;
    skewed |= c->skew[3];
    wide_ld |= c->wide_ld;
    wide_stride |= c->wide_stride;
    measured |= c->measure;
    many |= c->m > 8 * 64;
    assert_true(!c->poison_c || c->beta == 0);
    assert_true(!c->poison_ab || c->alpha == 0);
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      assert_true(scalars[i][j]);
  int pairs = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      pairs += edges[i][j];
  assert_true(pairs >= 6);
  assert_true(shared[0] && shared[1] && shared[2]);
  assert_true(place && poison_c && poison_ab && special && odd && skewed && many);
  assert_true(wide_ld && wide_stride && measured);
  assert_int_equal(cases.items[1].schedules, 5);
  ggcheck_cases_free(&cases);
}

/* What rows with steps, with scales by blocks and with parts of k have besides. */
static void test_steps(void **state) {
  (void)state;
  gg_kernel row = any_row();
  row.residual = row.absmax = 1;
  row.bias = GG_BIAS_N;
  row.scaling_a = GG_SCALING_BLOCK, row.scaling_b = GG_SCALING_GROUP;
  row.type_d = row.type_c = GG_E4M3;
  row.cluster_k = 4;
  ggcheck_cases cases = {0};
  ggcheck_default_cases(&row, 5, &cases);
  bool place = false, both = false, kept = false, bias_shared = false, skewed = false;
  bool residual_shared = false, blocks = false, groups = false, beyond = false, gap = false;
  for (size_t i = 0; i < cases.count; i++) {
    const ggcheck_case *c = &cases.items[i];
    place |= c->residual_in_place && !c->in_place;
    both |= c->residual_in_place && c->in_place;
    kept |= c->absmax_before > 0;
    bias_shared |= c->shared[GGI_BIAS] && c->batch > 1;
    residual_shared |= c->shared[GGI_RESIDUAL] && c->batch > 1;
    skewed |= c->skew[GGI_BIAS] && c->skew[GGI_SCALE_A];
    gap |= c->gap[GGI_RESIDUAL] % 2 == 1;
    blocks |= c->m > 128 && c->k > 256;
    groups |= c->k > 256 && c->k % 128 != 0 && c->batch > 1;
    beyond |= c->alpha > 100;
  }
  assert_true(place && both && kept && bias_shared && residual_shared && skewed && gap);
  assert_true(blocks && groups && beyond);
  assert_true(has_size(&cases, 2, 8));       /* three blocks without k */
  assert_true(has_size(&cases, 2, 24));      /* one without */
  assert_true(has_size(&cases, 2, 33));      /* the first with two tiles */
  assert_true(cases.items[1].k > 4 * 3 * 8); /* every ring goes around */
  ggcheck_cases_free(&cases);

  row = any_row(); /* and others do not have */
  ggcheck_default_cases(&row, 5, &cases);
  for (size_t i = 0; i < cases.count; i++)
    assert_true(!cases.items[i].residual_in_place && cases.items[i].absmax_before == 0);
  ggcheck_cases_free(&cases);
}

/* Rows with demands, and with compiled-in scalars, get nothing they did not promise to take. */
static void test_demands(void **state) {
  (void)state;
  static const int multiples[][4] = {{64, 32, 8, 0}, {1, 4, 4, 0}, {4, 4, 1, 16}, {64, 32, 8, 24}};
  static const gg_scalar_class classes[] = {GG_SCALAR_ANY, GG_SCALAR_ZERO, GG_SCALAR_ONE};
  for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
    for (int s = 0; s < 9; s++) {
      gg_kernel row = any_row();
      ggcheck_cases cases = {0};
      row.multiple_m = multiples[i][0];
      row.multiple_n = multiples[i][1];
      row.multiple_k = multiples[i][2];
      row.min_k = multiples[i][3];
      row.alpha = classes[s / 3];
      row.beta = classes[s % 3];
      ggcheck_default_cases(&row, 1, &cases);
      assert_true(cases.count > 10);
      for (size_t c = 0; c < cases.count; c++) {
        const ggcheck_case *x = &cases.items[c];
        if (x->m && x->n && x->batch) assert_true(ggcheck_size_legal(&row, x->m, x->n, x->k));
        if (row.alpha == GG_SCALAR_ZERO) assert_true(x->alpha == 0);
        if (row.alpha == GG_SCALAR_ONE) assert_true(x->alpha == 1);
        if (row.beta == GG_SCALAR_ZERO) assert_true(x->beta == 0);
        if (row.beta == GG_SCALAR_ONE) assert_true(x->beta == 1);
      }
      ggcheck_cases_free(&cases);
    }
}

static void test_operand(void **state) {
  (void)state;
  gg_emu *emu = gg_emu_create(NULL);
  ggcheck_operand o = {
      .name = 'b', .type = GG_F32, .rows = 3, .cols = 5, .ld = 7, .stride = 30, .matrices = 2};
  int64_t matrix, row, col;
  char name = 0;
  assert_non_null(emu);
  assert_true(ggcheck_operand_alloc(&o, emu, 4, false));
  assert_int_equal(o.size, (30 + 2 * 7 + 5) * 4);
  assert_int_equal((uintptr_t)o.bytes % 256, 4);
  assert_true(gg_emu_contains(emu, o.bytes, o.size));
  assert_false(gg_emu_contains(emu, o.bytes, o.size + 1));
  assert_int_equal(ggcheck_canary_of(GG_F32, ggcheck_operand_at(&o, 0, 0, 5), &name),
                   GGCHECK_CANARY_GAP);
  assert_int_equal(name, 'b');
  assert_false(ggcheck_operand_gap_written(&o, &matrix, &row, &col));
  ggcheck_store(GG_F32, ggcheck_operand_at(&o, 0, 2, 9), 0); /* between the matrices */
  assert_true(ggcheck_operand_gap_written(&o, &matrix, &row, &col));
  assert_int_equal(matrix, 0);
  assert_int_equal(row, 2);
  assert_int_equal(col, 9);
  ggcheck_operand_poison(&o);
  assert_int_equal(ggcheck_canary_of(GG_F32, ggcheck_operand_at(&o, 1, 2, 4), &name),
                   GGCHECK_CANARY_POISON);
  ggcheck_operand_free(&o, emu);
  gg_emu_destroy(emu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coverage),
      cmocka_unit_test(test_demands),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_operand),
  };
  return cmocka_run_group_tests_name("check: cases", tests, NULL, NULL);
}
