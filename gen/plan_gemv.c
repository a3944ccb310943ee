/* plan_gemv.c - family gemv: a few rows of A times B stored transposed (nt), straight from global
 * memory. A block has one row of B, its threads share that row's k and read it once, in whole
 * lines; A's rows come from L1. Device memory is the limit, so the plan is about bytes in flight.
 */
#include "plan_epilogue.h"

#include <stdio.h>

enum { THREADS = 128, CHUNK = 16, MOST_ROWS = 8 };

const spec_field plan_takes_gemv[] = {PLAN_EPILOGUE_FIELDS, SPEC_PROGRAMMATIC, SPEC_FIELD_COUNT};

static void require_types(plan_builder *b) {
  kernel_plan *p = b->plan;
  const struct {
    spec_field field;
    int type;
  } operands[2] = {{SPEC_DTYPE_A, p->type_a}, {SPEC_DTYPE_B, p->type_b}};
  int sums = plan_is_integer(p->type_a) ? GG_S32 : GG_F32;
  for (int i = 0; i < 2; ++i)
    if (operands[i].type == GG_F64 || operands[i].type == GG_S32 || operands[i].type == GG_TF32 ||
        plan_is_integer(operands[i].type) != plan_is_integer(p->type_a))
      plan_refuse(b, operands[i].field, "dtype-family",
                  "family gemv multiplies f32, f16, bf16, e4m3 and e5m2, or s8 and u8, not %s; use "
                  "family naive",
                  dtype_name(operands[i].type));
  if (dtype_bytes(p->type_a) != dtype_bytes(p->type_b))
    plan_refuse(b, SPEC_DTYPE_B, "dtype-family",
                "%s and %s differ in size, so chunks of them differ in k; use family naive",
                dtype_name(p->type_a), dtype_name(p->type_b));
  if (p->type_acc != sums)
    plan_refuse(b, SPEC_DTYPE_ACC, "dtype-family", "%s; family gemv sums in %s",
                dtype_name(p->type_acc), dtype_name(sums));
  plan_require_output(b);
  plan_refuse_parts(b);
  if (p->layout != LAYOUT_NT)
    plan_refuse(b, SPEC_LAYOUT, "layout-family",
                "%s; family gemv reads rows of A and of B stored transposed, both along k; use nt",
                spec_layout_name(p->layout));
}

/* Issue slots of the SMs, and the reading of B, which is what it mostly waits for. */
static void rank(plan_builder *b) {
  kernel_plan *p = b->plan;
  const gpu_facts *g = b->gpu;
  int conversions = p->element < 4 ? 1 + p->tile_m : 0;
  int loads = p->vector == 1 ? 3 * (1 + p->tile_m) : 0; /* each with its address and its wait */
  int slots = p->tile_m + conversions + loads;
  double gflops = 2 * p->tile_m * (g->fma_f32 * 1e-3 * g->boost_mhz) / slots;
  plan_set_peak(b);
  if (b->result != PLAN_OK) return;
  int speed = (int)(1000 * gflops / p->sm_gflops + 0.5);
  plan_speed(b, speed > 1 ? speed : 1,
             "%d issue slots an element of B, %d of them FMAs: %.0f GFLOP/s an SM", slots,
             p->tile_m, gflops);
  SET(copy_gbs, plan_bandwidth(b, 977),
      "0.977 of %d: it hardly writes (an experiment on an H200: 4690 of 4800)", g->hbm_gbs);
  SET(wave_loss, 100, "an idle SM's time is lost");
  TAKE(overhead_k, OVERHEAD_K, p->vector == 1 ? 1024 : 256, NULL,
       "first loads and sums over the block, beside the other blocks of its SM");
}

void plan_make_gemv(plan_builder *b) {
  kernel_plan *p = b->plan;
  require_types(b);
  if (b->variant == VARIANT_EDGE) {
    b->result = PLAN_SAME; /* full takes any m, n and D already */
    return;
  }
  bool full = b->variant == VARIANT_FULL;
  TAKE(tile_m, TILE_M, 1, NULL, "one row of A; more share the reading of B");
  TAKE(tile_n, TILE_N, 1, NULL, "one row of B, read in whole lines; 4 are 4 to 13%% slower (H200)");
  if (p->tile_m > MOST_ROWS)
    plan_refuse(b, SPEC_TILE_M, "tile-fit",
                "%d rows take more issue slots than B takes time; use at most %d, or a family with "
                "tensor cores",
                p->tile_m, MOST_ROWS);
  if (p->tile_n != 1)
    plan_refuse(b, SPEC_TILE_N, "tile-fit", "%d: a block has one row of B; use 1", p->tile_n);
  SET(threads, THREADS, "4 warps share the row's k: many blocks an SM");
  SET(thread_m, p->tile_m, "all rows: each thread has a part of k");
  SET(thread_n, 1, "the row of B");
  SET(k_slices, THREADS, "each thread a part of k, added up through shuffles and shared memory");
  SET(vector, full ? CHUNK / p->element : 1, full ? "16 B a load" : "single elements: any pitch");
  int flying = full ? 4 : 8;
  SET(unroll_k, flying * p->vector, "%d loads of B in flight a thread", flying);
  SET(tile_k, THREADS * p->unroll_k, "%d threads x %d", THREADS, p->unroll_k);
  SET(path_a, PATH_NONE, "straight from global memory");
  SET(path_b, PATH_NONE, "straight from global memory");
  SET(copy_a, p->vector * p->element, "%d elements", p->vector);
  SET(copy_b, p->vector * p->element, "%d elements", p->vector);
  SET(store_vector, 1, "one output a thread");
  SET(shared_bytes, THREADS / 32 * p->tile_m * 4, "a sum of each warp and row");
  TAKE(raster_along, RASTER_ALONG, RASTER_M, "r",
       "blocks with the same row of B follow each other: one of them reads it from memory");
  TAKE(raster_group, RASTER_GROUP, 1, "g", "plain order");
  int registers = full ? 25 + 6 * p->tile_m : 30 + p->tile_m;
  SET(registers, registers + plan_step_registers(p) / 2,
      full ? "25 for addresses, loads and bounds, 6 a row (fitted to what ptxas allots)"
           : "30 for addresses, loads and bounds, a sum a row (fitted to what ptxas allots)");
  TAKE(min_blocks, MIN_BLOCKS, 1, "mb", "the compiler is free");
  plan_register_limit(b);
  SET(align_a, p->copy_a, full ? "16-byte loads" : "single elements are read");
  SET(align_b, p->copy_b, full ? "16-byte loads" : "single elements are read");
  SET(align_c, dtype_bytes(p->type_c), "single elements are read");
  SET(align_d, p->element_d, "single elements are written");
  SET(multiple_m, 1, "rows beyond m are not read");
  SET(multiple_n, 1, "a block has one row of B");
  SET(multiple_k, p->vector, full ? "whole loads" : "single elements");
  SET(min_k, full ? THREADS * p->vector : 0,
      full ? "a load for every thread: with fewer, other kernels are faster" : "any k");
  rank(b);
  int step = p->vector * (p->tile_m + (p->element < 4 ? 1 + p->tile_m : 0)) + 4 * (1 + p->tile_m);
  SET(loop_fmas, flying * p->vector * p->tile_m, "%d loads x %d elements x %d rows", flying,
      p->vector, p->tile_m);
  SET(loop_bytes, 16 * (flying * step + 12),
      "16 bytes an instruction: %d loads x %d for products, conversions and loads", flying, step);
  SET(code_bytes, 8192 + 3 * p->loop_bytes + 16 * plan_step_instructions(p),
      "loop, its last rounds, sums over the block and epilogue");
  SET(compile_seconds, 30, "budget of every kernel");
  char shape[48];
  snprintf(shape, sizeof shape, "%dx%d", p->tile_m, p->tile_n);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}
