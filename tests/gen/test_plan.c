/* Plans: figures to the digit, reasons for every number, refusals, purity, names. */
#include "unit.h"

#include "plan.h"

#include <stdlib.h>
#include <string.h>

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

static bool rejected(const kernel_plan *p, const char *text) {
  for (size_t i = 0; i < p->rejected_count; ++i)
    if (strstr(p->rejected[i], text)) return true;
  return false;
}

/* (m + n) * 4 / (m * n) bytes a FMA x 128 FMAs a cycle: 256, 128, 96 bytes a cycle, and the
 * registers that rule out 16 x 16. */
static void shared_bandwidth_chooses_the_thread_tile(void **state) {
  (void)state;
  kernel_spec s = spec_of("h100-sxm", (setting[]){{END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.thread_m, 16);
  assert_int_equal(p.thread_n, 8);
  assert_non_null(strstr(p.why[PLAN_thread_m], "16x8 needs 96 B/cycle"));
  assert_true(rejected(&p, "8x8: needs 128 B/cycle"));
  assert_true(rejected(&p, "4x4: needs 256 B/cycle"));
  assert_true(rejected(&p, "16x16: about 354 registers, a thread has 255"));
  plan_free(&p);
}

/* 128x128x32 f32 takes 32 KB a stage, 64 KB at two. */
static void stage_bytes_are_those_of_the_tile(void **state) {
  (void)state;
  kernel_spec s = spec_of("h100-sxm", (setting[]){{SPEC_LAYOUT, LAYOUT_TN},
                                                  {SPEC_TILE_M, 128},
                                                  {SPEC_TILE_N, 128},
                                                  {SPEC_TILE_K, 32},
                                                  {SPEC_THREAD_M, 8},
                                                  {SPEC_THREAD_N, 8},
                                                  {SPEC_STAGES, 2},
                                                  {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.stage_bytes, 32 * 1024);
  assert_int_equal(p.shared_bytes, 64 * 1024);
  assert_int_equal(p.threads, 256);
  assert_int_equal(p.pad_a, 0);
  plan_free(&p);
}

static const setting shapes[][12] = {
    {{SPEC_LAYOUT, LAYOUT_NN}, {END, 0}},
    {{SPEC_LAYOUT, LAYOUT_NT}, {SPEC_DTYPE_A, GG_F64}, {END, 0}},
    {{SPEC_LAYOUT, LAYOUT_TT}, {SPEC_STAGES, 1}, {SPEC_THREAD_M, 4}, {SPEC_THREAD_N, 4}, {END, 0}},
    {{SPEC_LAYOUT, LAYOUT_TN}, {SPEC_SWIZZLE, 128}, {END, 0}},
    {{SPEC_LAYOUT, LAYOUT_NN}, {SPEC_UNROLL_K, 1}, {END, 0}},
    {{SPEC_FAMILY, FAMILY_NAIVE}, {END, 0}},
    {{SPEC_FAMILY, FAMILY_SMEM}, {SPEC_LAYOUT, LAYOUT_TN}, {END, 0}},
    {{SPEC_ACTIVATION, GG_ACTIVATION_GELU}, {SPEC_RESIDUAL, 1}, {SPEC_ABSMAX, 1}, {END, 0}},
    {{SPEC_FAMILY, FAMILY_WMMA}, {SPEC_DTYPE_A, GG_F16}, {SPEC_LAYOUT, LAYOUT_TN}, {END, 0}},
    {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_F16}, {SPEC_LAYOUT, LAYOUT_NN}, {END, 0}},
};
static const char *const gpus[] = {"v100", "t4", "a100-sxm-80", "rtx-4090", "h200"};

/* A number without a reason does not exist; the same input gives the same plan. */
static void every_number_has_a_reason_and_plans_are_pure(void **state) {
  (void)state;
  for (size_t g = 0; g < sizeof gpus / sizeof gpus[0]; ++g) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
      kernel_spec s = spec_of(gpus[g], shapes[i]);
      if (s.value[SPEC_FAMILY] == FAMILY_WGMMA && !s.gpu.has_wgmma) continue;
      for (int v = 0; v < VARIANT_COUNT; ++v) {
        kernel_plan p, again;
        plan_fault fault;
        plan_result result = plan_make(&s, (plan_variant)v, &p, &fault);
        if (result == PLAN_SAME) continue;
        if (result != PLAN_OK) fail_msg("%s, shape %zu: %s", gpus[g], i, fault.text);
        made(&s, (plan_variant)v, &again);
        for (int f = 0; f < PLAN_FIELD_COUNT; ++f) {
          assert_int_equal(plan_value(&p, (plan_field)f), plan_value(&again, (plan_field)f));
          if (plan_value(&p, (plan_field)f) != 0) assert_non_null(p.why[f]);
        }
        char hash[65], hash_again[65];
        plan_hash(&p, hash);
        plan_hash(&again, hash_again);
        assert_string_equal(hash, hash_again);
        assert_string_equal(p.name, again.name);
        assert_true(p.shared_bytes <= s.gpu.shared_block);
        assert_true(p.threads % 32 == 0 && p.threads <= 1024);
        plan_free(&again);
        plan_free(&p);
      }
    }
  }
}

/* Plans that differ in any number have different names, on one GPU. */
static void names_tell_plans_apart(void **state) {
  (void)state;
  static const setting one[][4] = {
      {{END, 0}},
      {{SPEC_STAGES, 2}, {END, 0}},
      {{SPEC_STAGES, 1}, {END, 0}},
      {{SPEC_PADDING, 8}, {END, 0}},
      {{SPEC_SWIZZLE, 128}, {END, 0}},
      {{SPEC_COPY_A, 4}, {END, 0}},
      {{SPEC_COPY_B, 4}, {END, 0}},
      {{SPEC_UNROLL_K, 2}, {END, 0}},
      {{SPEC_UNROLL_STAGES, 1}, {END, 0}},
      {{SPEC_FRAGMENTS, 1}, {END, 0}},
      {{SPEC_ORDER, ORDER_ROW}, {END, 0}},
      {{SPEC_ORDER, ORDER_COLUMN}, {END, 0}},
      {{SPEC_RASTER_GROUP, 4}, {END, 0}},
      {{SPEC_RASTER_ALONG, RASTER_N}, {END, 0}},
      {{SPEC_MIN_BLOCKS, 1}, {END, 0}},
      {{SPEC_ALPHA, GG_SCALAR_ONE}, {END, 0}},
      {{SPEC_BETA, GG_SCALAR_ZERO}, {END, 0}},
      {{SPEC_LANES_M, 8}, {END, 0}},
      {{SPEC_TILE_K, 16}, {SPEC_K_SLICES, 2}, {END, 0}},
  };
  enum { COUNT = sizeof one / sizeof one[0] };
  char names[COUNT][sizeof((kernel_plan *)0)->name];
  for (int i = 0; i < COUNT; ++i) {
    kernel_spec s = spec_of("h100-sxm", one[i]);
    kernel_plan p;
    made(&s, VARIANT_FULL, &p);
    strcpy(names[i], p.name);
    plan_free(&p);
    for (int j = 0; j < i; ++j)
      assert_string_not_equal(names[i], names[j]);
  }
}

/* What cannot be a kernel is refused at its field, with a code and a remedy. */
static void the_illegal_is_refused_with_its_field(void **state) {
  (void)state;
  static const struct {
    const char *gpu;
    setting settings[6];
    spec_field field;
    const char *code;
  } cases[] = {
      {"a100-sxm-80",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_BF16}, {END, 0}},
       SPEC_FAMILY,
       "family-gpu"},
      {"h100-sxm", {{SPEC_FAMILY, FAMILY_WGMMA}, {END, 0}}, SPEC_DTYPE_A, "dtype-family"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_E4M3}, {SPEC_DTYPE_B, GG_S8}, {END, 0}},
       SPEC_DTYPE_B,
       "dtype-family"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_S8}, {SPEC_DTYPE_D, GG_E4M3}, {END, 0}},
       SPEC_DTYPE_D,
       "dtype-family"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_BF16}, {SPEC_FAST_ACCUM, 1}, {END, 0}},
       SPEC_FAST_ACCUM,
       "field-family"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA},
        {SPEC_DTYPE_A, GG_TF32},
        {SPEC_SCHEDULE, SCHEDULE_PINGPONG},
        {END, 0}},
       SPEC_SCHEDULE,
       "schedule"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_BF16}, {SPEC_TILE_N, 200}, {END, 0}},
       SPEC_TILE_N,
       "tile-multiple"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA},
        {SPEC_DTYPE_A, GG_BF16},
        {SPEC_TILE_M, 256},
        {SPEC_TILE_N, 256},
        {END, 0}},
       SPEC_TILE_N,
       "registers"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_BF16}, {SPEC_STAGES, 6}, {END, 0}},
       SPEC_STAGES,
       "shared-memory"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_WGMMA}, {SPEC_DTYPE_A, GG_BF16}, {SPEC_PADDING, 4}, {END, 0}},
       SPEC_PADDING,
       "field-family"},
      {"h100-sxm",
       {{SPEC_TILE_M, 100}, {SPEC_THREAD_M, 8}, {SPEC_THREAD_N, 8}, {END, 0}},
       SPEC_TILE_M,
       "tile-multiple"},
      {"h100-sxm",
       {{SPEC_THREAD_M, 16}, {SPEC_THREAD_N, 16}, {END, 0}},
       SPEC_THREAD_M,
       "registers"},
      {"h100-sxm", {{SPEC_STAGES, 8}, {SPEC_TILE_K, 64}, {END, 0}}, SPEC_STAGES, "shared-memory"},
      {"t4", {{SPEC_STAGES, 3}, {END, 0}}, SPEC_STAGES, "stages"},
      {"h100-sxm", {{SPEC_DTYPE_A, GG_F16}, {END, 0}}, SPEC_DTYPE_A, "dtype-family"},
      {"h100-sxm", {{SPEC_DTYPE_D, GG_F64}, {END, 0}}, SPEC_DTYPE_D, "dtype-family"},
      {"h100-sxm", {{SPEC_PADDING, 1}, {END, 0}}, SPEC_PADDING, "padding"},
      {"h100-sxm", {{SPEC_COPY_A, 5}, {END, 0}}, SPEC_COPY_A, "copy-width"},
      {"h100-sxm", {{SPEC_UNROLL_K, 3}, {END, 0}}, SPEC_UNROLL_K, "unroll"},
      {"h100-sxm",
       {{SPEC_UNROLL_K, 1}, {SPEC_FRAGMENTS, 2}, {END, 0}},
       SPEC_FRAGMENTS,
       "fragments"},
      {"h100-sxm", {{SPEC_K_SLICES, 3}, {END, 0}}, SPEC_K_SLICES, "k-slices"},
      {"h100-sxm", {{SPEC_SWIZZLE, 64}, {END, 0}}, SPEC_SWIZZLE, "swizzle"},
      {"h100-sxm", {{SPEC_ALPHA, GG_SCALAR_ZERO}, {END, 0}}, SPEC_ALPHA, "alpha-zero"},
      {"h100-sxm", {{SPEC_MIN_BLOCKS, 8}, {END, 0}}, SPEC_MIN_BLOCKS, "registers"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_NAIVE},
        {SPEC_TILE_M, 32},
        {SPEC_TILE_N, 32},
        {SPEC_MIN_BLOCKS, 32},
        {END, 0}},
       SPEC_MIN_BLOCKS,
       "registers"},
      {"h100-sxm",
       {{SPEC_TILE_M, 32}, {SPEC_TILE_N, 32}, {SPEC_TILE_K, 64}, {SPEC_MIN_BLOCKS, 6}, {END, 0}},
       SPEC_MIN_BLOCKS,
       "min-blocks"},
      {"t4",
       {{SPEC_DTYPE_A, GG_F64}, {SPEC_K_SLICES, 2}, {END, 0}},
       SPEC_K_SLICES,
       "shared-memory"},
      {"h100-sxm", {{SPEC_LANES_M, 4}, {SPEC_LANES_N, 4}, {END, 0}}, SPEC_LANES_M, "lanes"},
      {"h100-sxm", {{SPEC_LANES_N, 5}, {END, 0}}, SPEC_LANES_N, "lanes"},
      {"h100-sxm", {{SPEC_TILE_M, 256}, {SPEC_TILE_N, 256}, {END, 0}}, SPEC_TILE_M, "registers"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_NAIVE}, {SPEC_STAGES, 2}, {END, 0}},
       SPEC_STAGES,
       "field-family"},
      {"h100-sxm",
       {{SPEC_FAMILY, FAMILY_SMEM}, {SPEC_TILE_M, 128}, {END, 0}},
       SPEC_TILE_M,
       "threads"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    kernel_spec s = spec_of(cases[i].gpu, cases[i].settings);
    kernel_plan p;
    plan_fault fault;
    if (plan_make(&s, VARIANT_FULL, &p, &fault) != PLAN_ILLEGAL)
      fail_msg("case %zu (%s) became a kernel", i, cases[i].code);
    assert_string_equal(fault.code, cases[i].code);
    assert_int_equal(fault.field, cases[i].field);
    assert_non_null(strchr(fault.text, ';'));
  }
}

/* A thread tile that was left out is one that the kernels of all variants have registers for. */
static void a_thread_tile_left_out_fits_all_variants(void **state) {
  (void)state;
  static const int tiles[][2] = {{64, 64}, {128, 64}, {64, 128}, {128, 128}, {192, 64}, {32, 32}};
  for (size_t g = 0; g < sizeof gpus / sizeof gpus[0]; ++g) {
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; ++i) {
      for (int layout = LAYOUT_NN; layout <= LAYOUT_TT; ++layout) {
        for (int type = 0; type < 2; ++type) {
          kernel_spec s = spec_of(gpus[g], (setting[]){{SPEC_LAYOUT, layout},
                                                       {SPEC_DTYPE_A, type ? GG_F64 : GG_F32},
                                                       {SPEC_TILE_M, tiles[i][0]},
                                                       {SPEC_TILE_N, tiles[i][1]},
                                                       {END, 0}});
          for (int v = 0; v < VARIANT_COUNT; ++v) {
            kernel_plan p;
            plan_fault fault;
            plan_result result = plan_make(&s, (plan_variant)v, &p, &fault);
            if (result == PLAN_SAME) continue;
            if (result != PLAN_OK) fail_msg("%s: %s", gpus[g], fault.text);
            assert_true(p.registers <= p.register_limit + (v == VARIANT_FULL ? 24 : 12));
            plan_free(&p);
          }
        }
      }
    }
  }
}

/* Each quarter of an SM has a quarter of its registers: 7 blocks of 2 warps put 4 on one, which
 * leaves 128 a thread where 65536 / (7 x 64) would be 146. */
static void registers_are_those_of_a_quarter(void **state) {
  (void)state;
  kernel_spec s = spec_of("a100-sxm-80", (setting[]){{SPEC_LAYOUT, LAYOUT_TN},
                                                     {SPEC_TILE_M, 32},
                                                     {SPEC_TILE_N, 64},
                                                     {SPEC_THREAD_M, 4},
                                                     {SPEC_THREAD_N, 8},
                                                     {SPEC_MIN_BLOCKS, 7},
                                                     {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.threads, 64);
  assert_int_equal(p.register_limit, 128);
  plan_free(&p);
}

/* Variants: full asks for multiples of the tile, edge for multiples of a copy, narrow for nothing.
 */
static void variants_ask_for_what_they_need(void **state) {
  (void)state;
  kernel_spec s = spec_of("h100-sxm", (setting[]){{SPEC_LAYOUT, LAYOUT_NN}, {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.multiple_m, p.tile_m);
  assert_int_equal(p.multiple_k, p.tile_k);
  assert_int_equal(p.align_a, 16);
  plan_free(&p);
  made(&s, VARIANT_EDGE, &p);
  assert_int_equal(p.multiple_m, 1); /* A is contiguous in k */
  assert_int_equal(p.multiple_n, 4);
  assert_int_equal(p.multiple_k, 4);
  assert_int_equal(p.align_d, 16);
  plan_free(&p);
  made(&s, VARIANT_NARROW, &p);
  assert_int_equal(p.multiple_m * p.multiple_n * p.multiple_k, 1);
  assert_int_equal(p.align_a, 4);
  assert_int_equal(p.align_d, 4);
  plan_free(&p);
}

/* f64 where sums are, s32 where all is whole, else f32. */
static void steps_have_their_type(void **state) {
  (void)state;
  static const struct {
    int a, d, acc, bias, epilogue;
  } cases[] = {{GG_F32, GG_F32, GG_F32, 0, GG_F32},   {GG_F64, GG_F64, GG_F64, 1, GG_F64},
               {GG_BF16, GG_BF16, GG_F32, 1, GG_F32}, {GG_S8, GG_S32, GG_S32, 0, GG_S32},
               {GG_S8, GG_S32, GG_S32, 1, GG_F32},    {GG_S8, GG_S8, GG_S32, 0, GG_F32},
               {GG_F32, GG_F32, GG_F64, 0, GG_F64},   {GG_F16, GG_F16, GG_F16, 0, GG_F32}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    kernel_spec s = spec_of("h100-sxm", (setting[]){{SPEC_FAMILY, FAMILY_NAIVE},
                                                    {SPEC_DTYPE_A, cases[i].a},
                                                    {SPEC_DTYPE_D, cases[i].d},
                                                    {SPEC_DTYPE_ACC, cases[i].acc},
                                                    {SPEC_BIAS, cases[i].bias},
                                                    {END, 0}});
    kernel_plan p;
    made(&s, VARIANT_NARROW, &p);
    assert_int_equal(p.type_epilogue, cases[i].epilogue);
    plan_free(&p);
  }
}

/* Of 8 x 8 f64 outputs a thread has 128 registers of accumulators, 32 for bias and scales of its
 * columns and 12 for silu; 26 others. A row of C and residual takes 32: of two rows there is one
 * too many for 255 - 8. In f32 the same epilogue has room for all four. */
static void rows_in_flight_are_what_registers_leave(void **state) {
  (void)state;
  kernel_spec s = spec_of("h100-sxm", (setting[]){{SPEC_DTYPE_A, GG_F64},
                                                  {SPEC_BIAS, GG_BIAS_N},
                                                  {SPEC_SCALE_B, GG_SCALING_VECTOR},
                                                  {SPEC_ACTIVATION, GG_ACTIVATION_SILU},
                                                  {SPEC_RESIDUAL, 1},
                                                  {END, 0}});
  kernel_plan p;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.thread_m * p.thread_n, 64);
  assert_int_equal(p.vector, 2);
  assert_int_equal(p.epilogue_rows, 1);
  plan_free(&p);
  s.value[SPEC_DTYPE_A] = GG_F32;
  s.value[SPEC_DTYPE_D] = GG_F16;
  s.value[SPEC_DTYPE_C] = GG_F32;
  made(&s, VARIANT_FULL, &p);
  assert_int_equal(p.vector, 4);
  assert_int_equal(p.epilogue_rows, 4);
  assert_int_equal(p.align_c, 16);
  assert_int_equal(p.align_d, 8);
  plan_free(&p);
  s.value[SPEC_BIAS] = s.value[SPEC_SCALE_B] = s.value[SPEC_ACTIVATION] = SPEC_UNSET;
  s.value[SPEC_RESIDUAL] = SPEC_UNSET;
  made(&s, VARIANT_FULL, &p);
  assert_null(p.why[PLAN_epilogue_rows]); /* alpha and beta alone: no steps to plan for */
  plan_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_have_their_type),
      cmocka_unit_test(rows_in_flight_are_what_registers_leave),
      cmocka_unit_test(shared_bandwidth_chooses_the_thread_tile),
      cmocka_unit_test(stage_bytes_are_those_of_the_tile),
      cmocka_unit_test(every_number_has_a_reason_and_plans_are_pure),
      cmocka_unit_test(names_tell_plans_apart),
      cmocka_unit_test(the_illegal_is_refused_with_its_field),
      cmocka_unit_test(a_thread_tile_left_out_fits_all_variants),
      cmocka_unit_test(registers_are_those_of_a_quarter),
      cmocka_unit_test(variants_ask_for_what_they_need),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
