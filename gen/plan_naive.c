/* plan_naive.c - family naive: one output a thread, operands straight from global memory.
 *
 * The first rung of the ladder: each FMA needs two loads, so the L1 path is the limit and no number
 * here is a tuning knob but the block's shape and the unrolling of k.
 */
#include "plan_epilogue.h"

#include <stdio.h>

/* Registers of a value; those narrower than 4 bytes take one each. */
static int words_of(int type) {
  return dtype_bytes(type) == 8 ? 2 : 1;
}

/* What a thread needs: pointers and bounds (64 bits each), the sum, and either the operands of each
 * unrolled step in flight or, later, the epilogue's values. */
static void expect_registers(plan_builder *b) {
  kernel_plan *p = b->plan;
  int flying = p->unroll_k * (words_of(p->type_a) + words_of(p->type_b));
  int steps = plan_step_registers(p), sum = words_of(p->type_acc);
  int need = 23 + sum + (flying > steps ? flying : steps);
  int registers = plan_spend_registers(b, need);
  SET(registers, registers,
      "23 for addresses and bounds, a sum of %d, %d for %s = %d; %d for loads of further turns, "
      "while an SM holds its %d threads",
      sum, flying > steps ? flying : steps, flying > steps ? "operands in flight" : "the epilogue",
      need, registers - need, b->gpu->threads_sm);
}

/* Every type is served whose conversion to the accumulator is exact. */
static void require_types(plan_builder *b) {
  kernel_plan *p = b->plan;
  const struct {
    spec_field field;
    int type;
  } operands[2] = {{SPEC_DTYPE_A, p->type_a}, {SPEC_DTYPE_B, p->type_b}};
  for (int i = 0; i < 2; ++i) {
    int type = operands[i].type;
    if (type == GG_S32)
      plan_refuse(b, operands[i].field, "dtype-family",
                  "s32 is a type of sums, not of operands; use s8 or u8");
    else if (type == GG_F64 && p->type_acc != GG_F64)
      plan_refuse(b, operands[i].field, "dtype-family",
                  "f64 loses digits in sums of %s; use dtype.acc = f64", dtype_name(p->type_acc));
    else if (p->type_acc == GG_S32 && !plan_is_integer(type))
      plan_refuse(b, operands[i].field, "dtype-family",
                  "%s has fractions, the sums are s32; use s8, u8 or dtype.acc = f32",
                  dtype_name(type));
  }
  if (p->type_acc != GG_F64 && p->type_acc != GG_F32 && p->type_acc != GG_F16 &&
      p->type_acc != GG_S32)
    plan_refuse(b, SPEC_DTYPE_ACC, "dtype-family", "%s; sums are formed in f64, f32, f16 or s32",
                dtype_name(p->type_acc));
  plan_require_output(b);
}

const spec_field plan_takes_naive[] = {SPEC_UNROLL_K, PLAN_EPILOGUE_FIELDS, SPEC_FIELD_COUNT};

void plan_make_naive(plan_builder *b) {
  kernel_plan *p = b->plan;
  require_types(b);
  if (b->variant == VARIANT_EDGE) {
    b->result = PLAN_SAME; /* copies are one element wide anyway: narrow is the guarded twin */
    return;
  }
  TAKE(tile_m, TILE_M, 16, NULL, "16 x 16 threads: 8 warps, each 2 rows of 16 columns");
  TAKE(tile_n, TILE_N, 16, NULL, "a warp's stores cover two full 64-byte runs");
  int threads = p->tile_m * p->tile_n;
  SET(threads, threads, "tile_m x tile_n = %d x %d, one output each", p->tile_m, p->tile_n);
  if (threads > 1024 || threads % 32 != 0)
    plan_refuse(b, SPEC_TILE_M, "threads",
                "%d x %d = %d threads; a block takes a multiple of 32 up to 1024", p->tile_m,
                p->tile_n, threads);
  TAKE(unroll_k, UNROLL_K, 4, "u", "4 steps: 8 independent loads in flight before the first FMA");
  if (p->unroll_k < 1 || p->unroll_k > 64)
    plan_refuse(b, SPEC_UNROLL_K, "unroll",
                "k is not tiled here, so \"full\" has no meaning; use 1 to 64 steps");
  SET(tile_k, p->unroll_k, "k advances by the unrolled steps");
  SET(thread_m, 1, "one output a thread");
  SET(thread_n, 1, "one output a thread");
  SET(k_slices, 1, "none");
  SET(store_vector, 1, "one output a thread");
  SET(shared_bytes, 0, "no shared memory");
  TAKE(raster_along, RASTER_ALONG, RASTER_N, "r", "blocks of a row follow each other");
  TAKE(raster_group, RASTER_GROUP, 1, "g", "plain order");
  TAKE(min_blocks, MIN_BLOCKS, 1, "mb", "the compiler is free");
  plan_register_limit(b);
  expect_registers(b);
  SET(path_a, PATH_NONE, "straight from global memory");
  SET(path_b, PATH_NONE, "straight from global memory");
  bool full = b->variant == VARIANT_FULL;
  SET(align_a, p->element, "single elements are read");
  SET(align_b, dtype_bytes(p->type_b), "single elements are read");
  SET(align_c, dtype_bytes(p->type_c), "single elements are read");
  SET(align_d, p->element_d, "single elements are written");
  SET(multiple_m, full ? p->tile_m : 1, full ? "no row guard" : "guarded");
  SET(multiple_n, full ? p->tile_n : 1, full ? "no column guard" : "guarded");
  SET(multiple_k, full ? p->unroll_k : 1, full ? "no tail in k" : "a rolled tail takes the rest");
  SET(min_k, 0, "the loop may run zero times");
  plan_speed(b, plan_core_speed(b, 60),
             "60 of CUDA cores: two loads from L1 an FMA (docs/ladder.md)");
  SET(wave_loss, 100, "an idle SM's time is lost");
  TAKE(overhead_k, OVERHEAD_K, 16, NULL, "a block starts in a few iterations' time");
  SET(loop_fmas, p->unroll_k, "unrolled steps");
  int step = p->element < 4 ? 12 : 8;
  SET(loop_bytes, 16 * (p->unroll_k * step + 8), "16 bytes an instruction, about %d a step%s", step,
      p->element < 4 ? ", two of them conversions" : "");
  SET(code_bytes, 10240 + 3 * p->loop_bytes + 16 * plan_step_instructions(p),
      "loop, tail (which the compiler unrolls), prologue and epilogue");
  SET(compile_seconds, 30, "budget of every kernel");
  char shape[48];
  snprintf(shape, sizeof shape, "%dx%d", p->tile_m, p->tile_n);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}
