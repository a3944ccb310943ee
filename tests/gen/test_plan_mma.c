/* Plans of family mma: types by architecture, what promotion and scales take, and numbers that the
 * emitted text relies on.
 */
#include "unit.h"

#include "plan_mma.h"

#include <string.h>

typedef struct setting {
  spec_field field;
  int value;
} setting;

#define END SPEC_FIELD_COUNT

static kernel_spec spec_of(const char *gpu, int type, const setting *settings) {
  kernel_spec s = {.file = "test.lua", .line = 1, .call = 1};
  s.gpu = *gpu_find(gpu);
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    s.value[f] = SPEC_UNSET;
  s.value[SPEC_FAMILY] = FAMILY_MMA;
  s.value[SPEC_DTYPE_A] = type;
  for (; settings->field != END; ++settings)
    s.value[settings->field] = settings->value;
  return s;
}

static const setting none[] = {{END, 0}};

static void made(const kernel_spec *s, plan_variant v, kernel_plan *p) {
  plan_fault fault;
  if (plan_make(s, v, p, &fault) != PLAN_OK) fail_msg("%s", fault.text);
}

static void refused(const kernel_spec *s, spec_field field, const char *code) {
  kernel_plan p;
  plan_fault fault;
  assert_int_equal(plan_make(s, VARIANT_FULL, &p, &fault), PLAN_ILLEGAL);
  assert_int_equal(fault.field, field);
  assert_string_equal(fault.code, code);
  assert_true(strstr(fault.text, "use ") != NULL || strstr(fault.text, "leave it out") != NULL);
}

/* Which types there are, and from which card on. */
static void types_follow_the_architecture(void **state) {
  (void)state;
  static const struct {
    const char *gpu;
    int types[9];
  } cards[] = {{"v100", {0}},
               {"t4", {GG_F16, GG_S8, GG_U8}},
               {"a100-sxm-80", {GG_F16, GG_BF16, GG_TF32, GG_F64, GG_S8, GG_U8}},
               {"rtx-4090", {GG_F16, GG_BF16, GG_TF32, GG_F64, GG_S8, GG_U8, GG_E4M3, GG_E5M2}},
               {"h100-sxm", {GG_F16, GG_BF16, GG_TF32, GG_F64, GG_S8, GG_U8, GG_E4M3, GG_E5M2}},
               {"rtx-5090", {GG_F16, GG_BF16, GG_TF32, GG_F64, GG_S8, GG_U8, GG_E4M3, GG_E5M2}}};
  for (size_t c = 0; c < sizeof cards / sizeof cards[0]; ++c)
    for (int type = GG_F64; type <= GG_S32; ++type) {
      bool has = false;
      for (int i = 0; i < 9; ++i)
        if (cards[c].types[i] == type) has = true;
      kernel_spec s = spec_of(cards[c].gpu, type, none);
      for (int v = 0; v < VARIANT_COUNT; ++v) {
        kernel_plan p;
        plan_fault fault;
        plan_result result = plan_make(&s, (plan_variant)v, &p, &fault);
        if ((result == PLAN_OK || result == PLAN_SAME) != has)
          fail_msg("%s, %s: %s", cards[c].gpu, dtype_name(type), has ? fault.text : "made");
        if (result == PLAN_OK) plan_free(&p);
        if (!has) assert_int_equal(fault.field, SPEC_DTYPE_A);
      }
    }
}

/* The first shape that the card has is the default; others are there where they are asked. */
static void integers_have_three_shapes(void **state) {
  (void)state;
  static const struct {
    const char *gpu;
    int m, k; /* asked, 0: not */
    int made_m, made_k;
  } rows[] = {{"t4", 0, 0, 8, 16},           {"t4", 8, 16, 8, 16},
              {"a100-sxm-80", 0, 0, 16, 32}, {"a100-sxm-80", 0, 16, 16, 16},
              {"a100-sxm-80", 8, 0, 8, 16},  {"rtx-5090", 0, 0, 16, 32}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    kernel_spec s = spec_of(rows[i].gpu, GG_U8, (setting[]){{SPEC_DTYPE_B, GG_S8}, {END, 0}});
    if (rows[i].m) s.value[SPEC_INST_M] = rows[i].m;
    if (rows[i].k) s.value[SPEC_INST_K] = rows[i].k;
    kernel_plan p;
    made(&s, VARIANT_FULL, &p);
    assert_int_equal(p.inst_m, rows[i].made_m);
    assert_int_equal(p.inst_k, rows[i].made_k);
    assert_int_equal(p.step_k, 32);
    plan_free(&p);
  }
  kernel_spec s = spec_of("t4", GG_S8, (setting[]){{SPEC_INST_K, 32}, {END, 0}});
  refused(&s, SPEC_INST_K, "instruction");
  s = spec_of("t4", GG_S8, (setting[]){{SPEC_INST_M, 16}, {END, 0}});
  refused(&s, SPEC_INST_M, "instruction");
}

/* All k steps stand in the text unless fewer are asked; turns of an odd number have one set of
 * fragments. Copies of single elements have a k tile, so a turn, of their own, and no ring. */
static void turns_divide_the_k_tile(void **state) {
  (void)state;
  for (int turn = 0; turn <= 4; ++turn)
    for (int v = 0; v < VARIANT_COUNT; ++v) {
      kernel_spec s = spec_of("a100-sxm-80", GG_BF16,
                              (setting[]){{SPEC_UNROLL_K, turn},
                                          {SPEC_UNROLL_STAGES, turn % 2},
                                          {SPEC_ALPHA, GG_SCALAR_ONE},
                                          {END, 0}});
      if (turn == 3) { /* of four steps */
        refused(&s, SPEC_UNROLL_K, "unroll");
        continue;
      }
      kernel_plan p;
      made(&s, (plan_variant)v, &p);
      int steps = p.tile_k / p.step_k, expected = turn == 0 || turn > steps ? steps : turn;
      assert_int_equal(p.unroll_k, expected);
      assert_int_equal(p.unroll_stages, v != VARIANT_NARROW && turn % 2);
      assert_true(p.unroll_k % 2 == 0 || p.fragments == 1);
      assert_int_equal(strstr(p.name, "_u") != NULL, p.unroll_k < steps);
      assert_int_equal(strstr(p.name, "_ring") != NULL, p.unroll_stages);
      plan_free(&p);
    }
  kernel_spec s = spec_of("a100-sxm-80", GG_BF16, (setting[]){{SPEC_UNROLL_K, 1}, {END, 0}});
  s.value[SPEC_FRAGMENTS] = 2;
  refused(&s, SPEC_FRAGMENTS, "fragments");
  s = spec_of("rtx-4090", GG_E4M3, (setting[]){{SPEC_UNROLL_STAGES, 1}, {END, 0}});
  refused(&s, SPEC_UNROLL_STAGES, "unroll");
}

/* Sums of fp8 are promoted unless the spec asks otherwise, and cost their registers twice. */
static void fp8_is_promoted(void **state) {
  (void)state;
  kernel_spec s = spec_of("rtx-4090", GG_E4M3, none);
  kernel_plan promoted, fast;
  made(&s, VARIANT_FULL, &promoted);
  s.value[SPEC_FAST_ACCUM] = 1;
  made(&s, VARIANT_FULL, &fast);
  assert_int_equal(promoted.promote_k, 128);
  assert_int_equal(promoted.fast_accum, 0);
  assert_int_equal(fast.promote_k, 0);
  assert_int_equal(fast.fast_accum, 1);
  assert_non_null(strstr(fast.name, "_fast"));
  assert_true(promoted.warp_m * promoted.warp_n < fast.warp_m * fast.warp_n);
  plan_free(&promoted);
  plan_free(&fast);
  /* A part is whole k tiles. */
  s.value[SPEC_FAST_ACCUM] = SPEC_UNSET;
  s.value[SPEC_TILE_K] = 96;
  refused(&s, SPEC_TILE_K, "tile-multiple");
  s.value[SPEC_TILE_K] = 256;
  refused(&s, SPEC_TILE_K, "tile-multiple");
  s = spec_of("rtx-4090", GG_S8, (setting[]){{SPEC_FAST_ACCUM, 1}, {END, 0}});
  refused(&s, SPEC_FAST_ACCUM, "field-family");
}

/* Scales of each 128 of k go with promoted sums, and blocks of them with warps that lie inside. */
static void scales_come_with_parts(void **state) {
  (void)state;
  kernel_spec s = spec_of(
      "rtx-4090", GG_E4M3,
      (setting[]){{SPEC_SCALE_A, GG_SCALING_GROUP}, {SPEC_SCALE_B, GG_SCALING_BLOCK}, {END, 0}});
  kernel_plan p;
  for (int v = 0; v < VARIANT_COUNT; ++v) {
    made(&s, (plan_variant)v, &p);
    assert_int_equal(p.promote_k, 128);
    assert_int_equal(p.promote_k % p.tile_k, 0);
    plan_free(&p);
  }
  s.value[SPEC_TILE_N] = 96, s.value[SPEC_WARP_N] = 48;
  refused(&s, SPEC_WARP_N, "tile-multiple");
  s.value[SPEC_TILE_N] = s.value[SPEC_WARP_N] = SPEC_UNSET;
  s.value[SPEC_FAST_ACCUM] = 1;
  refused(&s, SPEC_SCALE_A, "scaling");
  s = spec_of("a100-sxm-80", GG_BF16, (setting[]){{SPEC_SCALE_B, GG_SCALING_GROUP}, {END, 0}});
  refused(&s, SPEC_SCALE_B, "scaling");
}

/* Batches of stores divide the stores of the staged rows, whatever the tile; steps of many
 * instructions make them smaller. */
static void batches_divide(void **state) {
  (void)state;
  static const int sides[] = {16, 32, 48, 64, 96};
  int count = 0;
  for (int i = 0; i < 25; ++i)
    for (int activation = GG_ACTIVATION_NONE; activation <= GG_ACTIVATION_GELU_TANH; ++activation) {
      int m = sides[i / 5], n = sides[i % 5];
      kernel_spec s = spec_of("a100-sxm-80", GG_F16,
                              (setting[]){{SPEC_TILE_M, m},
                                          {SPEC_TILE_N, 2 * n},
                                          {SPEC_WARP_M, m},
                                          {SPEC_WARP_N, n},
                                          {SPEC_ACTIVATION, activation},
                                          {END, 0}});
      kernel_plan p;
      plan_fault fault;
      if (plan_make(&s, VARIANT_EDGE, &p, &fault) != PLAN_OK) continue;
      ++count;
      int stores = p.d_rows * p.warp_n / 32;
      assert_int_equal(stores % p.store_vector, 0);
      assert_int_equal(stores / p.store_vector % p.store_batch, 0);
      assert_int_equal(stores % p.sum_vector, 0);
      assert_int_equal(stores / p.sum_vector % p.sum_batch, 0);
      assert_in_range(p.sum_batch, 1, activation > GG_ACTIVATION_RELU ? 2 : 8);
      plan_free(&p);
    }
  assert_true(count > 60);
}

/* Whatever wgmma multiplies has a kernel without demands, with the same steps; what the spec asks
 * of wgmma's tiles and sums is not asked of it. */
static void wgmma_narrow_takes_everything(void **state) {
  (void)state;
  static const int types[][2] = {{GG_BF16, GG_BF16}, {GG_F16, GG_F16},   {GG_TF32, GG_TF32},
                                 {GG_E4M3, GG_E5M2}, {GG_E5M2, GG_E5M2}, {GG_S8, GG_U8},
                                 {GG_U8, GG_U8}};
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (int layout = LAYOUT_NN; layout <= LAYOUT_TT; ++layout) {
      kernel_spec s = spec_of("h200", types[t][0],
                              (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                          {SPEC_DTYPE_B, types[t][1]},
                                          {SPEC_DTYPE_D, GG_F32},
                                          {SPEC_LAYOUT, layout},
                                          {SPEC_TILE_M, 64},
                                          {SPEC_TILE_N, 128},
                                          {SPEC_STAGES, 3},
                                          {SPEC_ACTIVATION, GG_ACTIVATION_GELU},
                                          {SPEC_BIAS, GG_BIAS_N},
                                          {END, 0}});
      bool fp8 = types[t][0] == GG_E4M3 || types[t][0] == GG_E5M2;
      if (fp8) s.value[SPEC_FAST_ACCUM] = 1;
      kernel_plan p;
      made(&s, VARIANT_NARROW, &p);
      assert_int_equal(p.family, FAMILY_MMA);
      assert_int_equal(p.layout, layout);
      assert_int_equal(p.activation, GG_ACTIVATION_GELU);
      assert_int_equal(p.align_a, p.element);
      assert_int_equal(p.multiple_k, 1);
      assert_int_equal(p.promote_k, fp8 ? 128 : 0);
      plan_free(&p);
    }
}

/* TMA asks for rows of 128 bytes in boxes, as ldmatrix reads them without conflicts; its kernels
 * take every k, and those of single elements do not know of it. */
static void tma_copies_boxes(void **state) {
  (void)state;
  static const struct {
    int layout, type;
    int boxes_a, rows_a, boxes_b, rows_b; /* of tiles of 128x256x128 bytes */
  } rows[] = {{LAYOUT_NT, GG_BF16, 1, 128, 1, 256}, {LAYOUT_NN, GG_BF16, 1, 128, 4, 64},
              {LAYOUT_TN, GG_F16, 2, 64, 4, 64},    {LAYOUT_TT, GG_F16, 2, 64, 1, 256},
              {LAYOUT_NT, GG_TF32, 1, 128, 1, 256}, {LAYOUT_NT, GG_S8, 1, 128, 1, 256},
              {LAYOUT_TN, GG_TF32, 4, 32, 8, 32},   {LAYOUT_TT, GG_S8, 1, 128, 1, 256},
              {LAYOUT_NN, GG_TF32, 1, 128, 8, 32},  {LAYOUT_NN, GG_S8, 1, 128, 2, 128}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    for (int card = 0; card < 2; ++card)
      for (int v = 0; v < VARIANT_COUNT; ++v) {
        kernel_spec s = spec_of(card ? "rtx-5090" : "h100-sxm", rows[i].type,
                                (setting[]){{SPEC_LAYOUT, rows[i].layout},
                                            {SPEC_TILE_M, 128},
                                            {SPEC_TILE_N, 256},
                                            {SPEC_STAGES, card ? 2 : 3},
                                            {SPEC_COPY_PATH, COPY_BY_TMA},
                                            {END, 0}});
        if (card) s.value[SPEC_TILE_N] = 128;
        kernel_plan p;
        made(&s, (plan_variant)v, &p);
        if (v == VARIANT_NARROW) {
          assert_int_equal(p.path_a, PATH_STAGED + (p.element == 4 ? PATH_ASYNC - PATH_STAGED : 0));
          assert_null(strstr(p.name, "_tma"));
          plan_free(&p);
          continue;
        }
        assert_non_null(strstr(p.name, "_tma"));
        assert_int_equal(p.path_a, PATH_TMA);
        assert_int_equal(p.path_b, PATH_TMA);
        int side = card ? 2 : 1; /* half the columns */
        assert_int_equal(p.copies_a, rows[i].boxes_a);
        assert_int_equal(p.box_a, rows[i].rows_a);
        bool along_k = plan_contiguous_k(&p, 1);
        assert_int_equal(p.copies_b, along_k ? rows[i].boxes_b : rows[i].boxes_b / side);
        assert_int_equal(p.box_b, along_k ? rows[i].rows_b / side : rows[i].rows_b);
        assert_int_equal(p.bytes_a, p.copies_a * p.box_a * 128);
        assert_int_equal(p.stage_bytes, p.bytes_a + p.copies_b * p.box_b * 128);
        assert_int_equal(p.stage_bytes % 1024, 0);
        assert_int_equal(plan_mma_read_ways(&p, 0), 1);
        assert_int_equal(plan_mma_read_ways(&p, 1), 1);
        assert_int_equal(p.barrier_bytes, 16 * p.stages);
        assert_int_equal(p.shared_bytes, p.stages * p.stage_bytes + p.d_bytes + p.barrier_bytes);
        assert_true(p.shared_bytes <= s.gpu.shared_block);
        assert_int_equal(p.d_reuses, 0);
        assert_int_equal(p.align_a, 16);
        assert_int_equal(p.multiple_k, 1);
        assert_int_equal(p.multiple_m, v == VARIANT_FULL ? 128 : 1);
        plan_free(&p);
      }
}

/* Where its swizzle leaves conflicts, or it does not exist, it is refused. */
static void tma_is_refused(void **state) {
  (void)state;
  static const setting asked[] = {{SPEC_COPY_PATH, COPY_BY_TMA}, {END, 0}};
  kernel_spec s = spec_of("a100-sxm-80", GG_BF16, asked);
  refused(&s, SPEC_COPY_PATH, "copy-path");
  s = spec_of("h100-sxm", GG_BF16, asked);
  s.value[SPEC_TILE_K] = 32;
  s.value[SPEC_LAYOUT] = LAYOUT_NT;
  refused(&s, SPEC_TILE_K, "copy-path");
  static const spec_field fields[] = {SPEC_PADDING, SPEC_COPY_A, SPEC_COPY_B, SPEC_UNROLL_K};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    s = spec_of("h100-sxm", GG_BF16, asked);
    s.value[fields[i]] = 8;
    refused(&s, fields[i], "copy-path");
  }
  s = spec_of("h100-sxm", GG_BF16, (setting[]){{SPEC_COPY_PATH, COPY_BY_THREADS}, {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.path_a, PATH_ASYNC);
  plan_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_follow_the_architecture),
      cmocka_unit_test(integers_have_three_shapes),
      cmocka_unit_test(turns_divide_the_k_tile),
      cmocka_unit_test(fp8_is_promoted),
      cmocka_unit_test(scales_come_with_parts),
      cmocka_unit_test(batches_divide),
      cmocka_unit_test(wgmma_narrow_takes_everything),
      cmocka_unit_test(tma_copies_boxes),
      cmocka_unit_test(tma_is_refused),
  };
  return cmocka_run_group_tests_name("plans of family mma", tests, NULL, NULL);
}
