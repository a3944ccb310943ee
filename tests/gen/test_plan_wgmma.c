/* Plans of family wgmma: tiles, registers, clusters, few rows, and the ways of types. */
#include "unit.h"

#include "plan.h"
#include "plan_model.h"

typedef struct setting {
  spec_field field;
  int value;
} setting;

#define END SPEC_FIELD_COUNT

static kernel_spec spec_of(const char *gpu, const setting *settings) {
  kernel_spec s = {.file = "test.lua", .line = 1, .call = 1};
  s.gpu = *gpu_find(gpu);
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    s.value[f] = SPEC_UNSET;
  for (; settings->field != END; ++settings)
    s.value[settings->field] = settings->value;
  return s;
}

static void made(const kernel_spec *s, plan_variant v, kernel_plan *p) {
  plan_fault fault;
  assert_int_equal(plan_make(s, v, p, &fault), PLAN_OK);
}

/* wgmma: two warpgroups of 64 rows, 128 accumulators each; a ring beside all of D; the narrow
 * kernel is one of family mma. */
static void wgmma_tiles_fill_the_block(void **state) {
  (void)state;
  kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                              {SPEC_DTYPE_A, GG_BF16},
                                              {SPEC_LAYOUT, LAYOUT_TN},
                                              {END, 0}});
  kernel_plan p;
  plan_fault fault;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.groups, 2);
  assert_int_equal(p.threads, 384);
  assert_int_equal(p.stage_bytes, (128 + 256) * 128);
  assert_int_equal(p.stages, 3);
  assert_int_equal(p.panel, 64);
  assert_int_equal(p.chunks, 4);
  assert_int_equal(p.shared_bytes, 3 * p.stage_bytes + 65536 + 48);
  assert_int_equal(p.type_acc, GG_F32);
  assert_int_equal(p.arch_suffix, 'a');
  plan_free(&p);
  made(&s, VARIANT_EDGE, &p);
  assert_int_equal(p.path_d, PATH_STAGED);
  assert_int_equal(p.align_d, 2);
  plan_free(&p);
  /* 208 accumulators leave no registers for pointers into D. */
  s.value[SPEC_LAYOUT] = LAYOUT_NT;
  s.value[SPEC_TILE_N] = 208;
  s.value[SPEC_SCHEDULE] = SCHEDULE_PINGPONG;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.panel, 16);
  assert_int_equal(p.panel_swizzle, 32);
  assert_int_equal(p.chunk, 4);
  plan_free(&p);
  assert_int_equal(plan_make(&s, VARIANT_EDGE, &p, &fault), PLAN_SAME);
  made(&s, VARIANT_NARROW, &p);
  assert_int_equal(p.family, FAMILY_MMA);
  assert_int_equal(p.align_a, 2);
  assert_in_range(p.speed, 200, 300); /* measured: 155 to 169 TFLOP/s where cuBLAS has 685 */
  plan_free(&p);
}

/* Registers that setmaxnreg moves between warpgroups must be there at entry: it waits for them, and
 * forever where they are not. */
static void wgmma_registers_are_there_at_entry(void **state) {
  (void)state;
  static const int types[] = {GG_BF16, GG_TF32, GG_E4M3, GG_S8};
  static const int tiles[][2] = {{64, 128}, {128, 128}, {128, 256}, {256, 128}, {192, 192}};
  int count = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (int layout = LAYOUT_NN; layout <= LAYOUT_TT; ++layout)
      for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i)
        for (int fast = 0; fast < (types[t] == GG_E4M3 ? 2 : 1); ++fast) {
          kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                                      {SPEC_DTYPE_A, types[t]},
                                                      {SPEC_LAYOUT, layout},
                                                      {SPEC_TILE_M, tiles[i][0]},
                                                      {SPEC_TILE_N, tiles[i][1]},
                                                      {END, 0}});
          if (fast) s.value[SPEC_FAST_ACCUM] = 1;
          kernel_plan p;
          plan_fault fault;
          if (plan_make(&s, VARIANT_FULL, &p, &fault) != PLAN_OK) continue;
          ++count;
          assert_true(p.groups * p.consumer_registers + p.producer_registers <=
                      (p.groups + 1) * p.registers);
          plan_free(&p);
        }
  assert_true(count > 40);
}

/* Several blocks of a tile of few rows: each has its part of registers and shared memory. */
static void wgmma_few_rows_share_an_sm(void **state) {
  (void)state;
  static const struct {
    int tile_m, tile_n, persistent, asked, stages; /* 0: left out */
    int blocks, made, entry, producer, consumer;
  } cases[] = {
      {16, 64, 0, 4, 0, 4, 5, 64, 24, 104},  {16, 64, 1, 4, 0, 4, 5, 64, 24, 104},
      {16, 64, 0, 3, 0, 3, 7, 80, 24, 136},  {16, 64, 0, 2, 0, 2, 11, 128, 24, 232},
      {16, 64, 0, 0, 5, 4, 5, 64, 24, 104},  {16, 64, 0, 0, 6, 3, 6, 80, 24, 136},
      {16, 64, 0, 1, 5, 1, 5, 232, 40, 232}, {16, 64, 0, 0, 0, 1, 16, 232, 40, 232},
      {56, 128, 0, 0, 2, 3, 2, 56, 24, 72},  {48, 192, 0, 2, 2, 2, 2, 64, 24, 72},
  };
  kernel_plan p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                                {SPEC_DTYPE_A, GG_BF16},
                                                {SPEC_LAYOUT, LAYOUT_NT},
                                                {SPEC_TILE_M, cases[i].tile_m},
                                                {SPEC_TILE_N, cases[i].tile_n},
                                                {SPEC_PERSISTENT, cases[i].persistent},
                                                {END, 0}});
    if (cases[i].asked) s.value[SPEC_MIN_BLOCKS] = cases[i].asked;
    if (cases[i].stages) s.value[SPEC_STAGES] = cases[i].stages;
    made(&s, VARIANT_FULL, &p);
    assert_int_equal(p.min_blocks, cases[i].blocks);
    assert_int_equal(p.blocks_sm, cases[i].blocks);
    assert_int_equal(p.stages, cases[i].made);
    assert_int_equal(p.registers, cases[i].entry);
    assert_int_equal(p.producer_registers, cases[i].producer);
    assert_int_equal(p.consumer_registers, cases[i].consumer);
    assert_true(p.groups * p.consumer_registers + p.producer_registers <=
                (p.groups + 1) * p.registers);
    assert_true(p.min_blocks * p.threads * p.registers <= 65536);
    plan_free(&p);
  }
}

/* What a block copies of the tiles that its cluster shares: rows of a box, boxes, bytes. */
static void wgmma_clusters_cut_tiles(void **state) {
  (void)state;
  static const struct {
    int type, layout, tile_m, tile_n, cluster_m, cluster_n;
    int box_a, copies_a, part_a, box_b, copies_b, part_b;
  } cases[] = {
      /* K-major: rows of the tile */
      {GG_BF16, LAYOUT_NT, 128, 256, 1, 1, 128, 1, 0, 256, 1, 0},
      {GG_BF16, LAYOUT_NT, 128, 256, 2, 1, 128, 1, 0, 128, 1, 16384},
      {GG_BF16, LAYOUT_NT, 192, 192, 1, 4, 48, 1, 6144, 192, 1, 0},
      {GG_S8, LAYOUT_NT, 128, 256, 2, 2, 64, 1, 8192, 128, 1, 16384},
      /* MN-major: boxes of 64 elements where the blocks divide them, else rows (k) of each */
      {GG_BF16, LAYOUT_TN, 128, 256, 2, 2, 64, 1, 8192, 64, 2, 16384},
      {GG_BF16, LAYOUT_TN, 64, 192, 2, 2, 32, 1, 4096, 32, 3, 12288},
      {GG_F16, LAYOUT_NN, 128, 128, 4, 1, 128, 1, 0, 16, 2, 4096},
      {GG_TF32, LAYOUT_TT, 64, 64, 2, 2, 32, 1, 4096, 32, 1, 4096},
  };
  kernel_plan p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                                {SPEC_DTYPE_A, cases[i].type},
                                                {SPEC_LAYOUT, cases[i].layout},
                                                {SPEC_TILE_M, cases[i].tile_m},
                                                {SPEC_TILE_N, cases[i].tile_n},
                                                {SPEC_CLUSTER_M, cases[i].cluster_m},
                                                {SPEC_CLUSTER_N, cases[i].cluster_n},
                                                {END, 0}});
    made(&s, VARIANT_FULL, &p);
    assert_int_equal(p.box_a, cases[i].box_a);
    assert_int_equal(p.copies_a, cases[i].copies_a);
    assert_int_equal(p.part_a, cases[i].part_a);
    assert_int_equal(p.box_b, cases[i].box_b);
    assert_int_equal(p.copies_b, cases[i].copies_b);
    assert_int_equal(p.part_b, cases[i].part_b);
    /* The parts of all blocks are the tile; the swizzle repeats every 8 rows. */
    assert_true(p.part_a == 0 || p.part_a * p.cluster_n == p.bytes_a);
    assert_true(p.part_b == 0 || p.part_b * p.cluster_m == p.bytes_b);
    assert_int_equal(p.box_a % 8 + p.box_b % 8, 0);
    assert_int_equal(p.raster_group % p.cluster_m, 0);
    plan_free(&p);
  }
}

/* Fewer rows than an instruction: B is the first operand, and D goes out in panels of all rows. */
static void wgmma_few_rows_are_columns(void **state) {
  (void)state;
  static const struct {
    int type_d, tile_m, tile_n;
    int swap, groups, inst_n, panel, panel_m, chunk;
  } cases[] = {
      {GG_BF16, 8, 64, 1, 1, 8, 64, 8, 1},      {GG_BF16, 24, 128, 1, 2, 24, 64, 24, 1},
      {GG_F32, 56, 192, 1, 3, 56, 32, 56, 2},   {GG_F32, 16, 256, 1, 2, 16, 32, 16, 4},
      {GG_BF16, 64, 128, 0, 1, 128, 64, 64, 1},
  };
  kernel_plan p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                                {SPEC_DTYPE_A, GG_BF16},
                                                {SPEC_DTYPE_D, cases[i].type_d},
                                                {SPEC_LAYOUT, LAYOUT_NT},
                                                {SPEC_TILE_M, cases[i].tile_m},
                                                {SPEC_TILE_N, cases[i].tile_n},
                                                {END, 0}});
    made(&s, VARIANT_FULL, &p);
    assert_int_equal(p.swap, cases[i].swap);
    assert_int_equal(p.from_registers, 0);
    assert_int_equal(p.groups, cases[i].groups);
    assert_int_equal(p.inst_n, cases[i].inst_n);
    assert_int_equal(p.panel, cases[i].panel);
    assert_int_equal(p.panel_m, cases[i].panel_m);
    assert_int_equal(p.chunk, cases[i].chunk);
    assert_int_equal(p.box_a, cases[i].tile_m);
    assert_int_equal(p.bytes_a, cases[i].tile_m * 128);
    plan_free(&p);
  }
}

/* Parts of k: each block of a cluster finishes some of the few rows, by sums of its own. */
static void wgmma_few_rows_in_parts_of_k(void **state) {
  (void)state;
  kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                              {SPEC_DTYPE_A, GG_S8},
                                              {SPEC_LAYOUT, LAYOUT_NT},
                                              {SPEC_TILE_M, 48},
                                              {SPEC_TILE_N, 128},
                                              {SPEC_CLUSTER_K, 3},
                                              {SPEC_MIN_BLOCKS, 2},
                                              {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.persistent, 0);
  assert_int_equal(p.part_n, 128);
  assert_int_equal(p.panel_m, 16);
  assert_int_equal(p.partial_bytes, 48 * 128 * 4);
  assert_int_equal(p.chunks, 1);
  assert_int_equal(p.producer_registers, 32);
  assert_true(p.groups * p.consumer_registers + p.producer_registers <=
              (p.groups + 1) * p.registers);
  plan_free(&p);
}

/* 8-bit types: sums of fp8 are promoted beside one more instruction's, those of s8 are whole. */
static void wgmma_few_rows_of_bytes(void **state) {
  (void)state;
  static const struct {
    int type, tile_m, scale_a, scale_b, promote_k, blocks, loads; /* of scales, a lane */
  } cases[] = {
      {GG_E4M3, 16, GG_SCALING_NONE, GG_SCALING_NONE, 128, 4, 0},
      {GG_E5M2, 40, GG_SCALING_GROUP, GG_SCALING_GROUP, 128, 4,
       12}, /* 40 + 10 + 2 + 8 + 36 <= 104 */
      {GG_E4M3, 48, GG_SCALING_GROUP, GG_SCALING_GROUP, 128, 3,
       14}, /* 48 + 12 + 2 + 8 + 36 > 104 */
      {GG_S8, 24, GG_SCALING_NONE, GG_SCALING_NONE, 0, 4, 0},
  };
  kernel_plan p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                                {SPEC_DTYPE_A, cases[i].type},
                                                {SPEC_LAYOUT, LAYOUT_NT},
                                                {SPEC_TILE_M, cases[i].tile_m},
                                                {SPEC_TILE_N, 64},
                                                {SPEC_STAGES, 3},
                                                {SPEC_PERSISTENT, 0},
                                                {SPEC_SCALE_A, cases[i].scale_a},
                                                {SPEC_SCALE_B, cases[i].scale_b},
                                                {END, 0}});
    made(&s, VARIANT_FULL, &p);
    assert_int_equal(p.swap, 1);
    assert_int_equal(p.inst_k, 32);
    assert_int_equal(p.tile_k, 128);
    assert_int_equal(p.promote_k, cases[i].promote_k);
    assert_int_equal(p.min_blocks, cases[i].blocks);
    assert_int_equal(plan_model(&p).scale_loads, cases[i].loads);
    plan_free(&p);
  }
}

/* speed of a tile of few rows: 16 x 64 x 64 are 32 cycles of products beside 167 of copies,
 * (16 + 64) x 128 / 61; of 76%. */
static void wgmma_few_rows_rank_by_their_copies(void **state) {
  (void)state;
  kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA},
                                              {SPEC_DTYPE_A, GG_BF16},
                                              {SPEC_LAYOUT, LAYOUT_NT},
                                              {SPEC_TILE_M, 16},
                                              {SPEC_TILE_N, 64},
                                              {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.speed, 1000 * 32 * 100 / (76 * 167));
  assert_int_equal(p.overhead_k, 3500 * 64 / 167);
  plan_free(&p);
  /* Of 8 bits a k tile has as many bytes and twice the elements. */
  s.value[SPEC_DTYPE_A] = GG_E4M3;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.speed, 1000 * 32 * 100 / (76 * 167));
  assert_int_equal(p.overhead_k, 3500 * 128 / 167);
  plan_free(&p);
}

/* Which types need what on their way to the tensor cores. */
static void wgmma_types_go_their_ways(void **state) {
  (void)state;
  static const struct {
    int type, layout;
    int swap, from_registers, path_b, promote_k;
  } cases[] = {
      {GG_BF16, LAYOUT_TN, 0, 0, PATH_TMA, 0},    {GG_TF32, LAYOUT_NT, 0, 0, PATH_TMA, 0},
      {GG_TF32, LAYOUT_TT, 0, 1, PATH_TMA, 0},    {GG_TF32, LAYOUT_NN, 1, 1, PATH_TMA, 0},
      {GG_TF32, LAYOUT_TN, 0, 1, PATH_STAGED, 0}, {GG_E4M3, LAYOUT_NT, 0, 0, PATH_TMA, 128},
      {GG_S8, LAYOUT_NT, 0, 0, PATH_TMA, 0},
  };
  kernel_plan p;
  plan_fault fault;
  kernel_spec s = spec_of("h200", (setting[]){{SPEC_FAMILY, FAMILY_WGMMA}, {END, 0}});
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    s.value[SPEC_DTYPE_A] = cases[i].type;
    s.value[SPEC_LAYOUT] = cases[i].layout;
    made(&s, VARIANT_FULL, &p);
    assert_int_equal(p.swap, cases[i].swap);
    assert_int_equal(p.from_registers, cases[i].from_registers);
    assert_int_equal(p.path_b, cases[i].path_b);
    assert_int_equal(p.promote_k, cases[i].promote_k);
    assert_int_equal(p.type_acc, cases[i].type == GG_S8 ? GG_S32 : GG_F32);
    plan_free(&p);
  }
  /* 8-bit operands that are not K-major: the kernel for what passes have turned, or none. */
  s.value[SPEC_LAYOUT] = LAYOUT_NN;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.layout, LAYOUT_NT);
  plan_free(&p);
  s.value[SPEC_REPACK] = 0;
  assert_int_equal(plan_make(&s, VARIANT_FULL, &p, &fault), PLAN_SAME);
  made(&s, VARIANT_NARROW, &p);
  assert_int_equal(p.type_d, GG_S32);
  plan_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wgmma_tiles_fill_the_block),
      cmocka_unit_test(wgmma_registers_are_there_at_entry),
      cmocka_unit_test(wgmma_few_rows_share_an_sm),
      cmocka_unit_test(wgmma_clusters_cut_tiles),
      cmocka_unit_test(wgmma_few_rows_are_columns),
      cmocka_unit_test(wgmma_few_rows_in_parts_of_k),
      cmocka_unit_test(wgmma_few_rows_of_bytes),
      cmocka_unit_test(wgmma_few_rows_rank_by_their_copies),
      cmocka_unit_test(wgmma_types_go_their_ways),
  };
  return cmocka_run_group_tests_name("plan: wgmma", tests, NULL, NULL);
}
