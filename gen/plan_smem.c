/* plan_smem.c - family smem: one output a thread, operands through one stage of shared memory.
 *
 * The second rung of the ladder: global traffic falls by the tile's side, but every FMA still needs
 * two shared loads, so the shared-memory port is the limit.
 */
#include "plan_copy.h"
#include "plan_epilogue.h"

#include <stdio.h>

const spec_field plan_takes_smem[] = {SPEC_TILE_K,   SPEC_STAGES,          SPEC_PADDING,
                                      SPEC_UNROLL_K, PLAN_EPILOGUE_FIELDS, SPEC_FIELD_COUNT};

void plan_make_smem(plan_builder *b) {
  kernel_plan *p = b->plan;
  plan_require_types(b);
  plan_refuse_parts(b);
  if (b->variant == VARIANT_EDGE) {
    b->result = PLAN_SAME; /* copies are one element wide anyway: narrow is the guarded twin */
    return;
  }
  if (plan_asked(b, SPEC_STAGES, 1) != 1)
    plan_refuse(b, SPEC_STAGES, "stages", "family smem has one stage; use 1, or family simt");
  TAKE(tile_m, TILE_M, 16, NULL, "16 x 16 threads, one output each");
  TAKE(tile_n, TILE_N, 16, NULL, "16 x 16 threads, one output each");
  int threads = p->tile_m * p->tile_n;
  SET(threads, threads, "tile_m x tile_n = %d x %d, one output each", p->tile_m, p->tile_n);
  if (threads > 1024 || threads % 32 != 0)
    plan_refuse(b, SPEC_TILE_M, "threads",
                "%d x %d = %d threads; a block takes a multiple of 32 up to 1024", p->tile_m,
                p->tile_n, threads);
  TAKE(tile_k, TILE_K, p->tile_n, NULL, "as tile_n: each thread copies one element of B");
  SET(thread_m, 1, "one output a thread");
  SET(thread_n, 1, "one output a thread");
  SET(k_slices, 1, "none");
  SET(stages, 1, "copy, barrier, compute, barrier");
  SET(store_vector, 1, "one output a thread");
  SET(vector, 1, "one output a thread");
  TAKE(unroll_k, UNROLL_K, p->tile_k, "u", "the whole k tile");
  if (p->unroll_k == 0) SET(unroll_k, p->tile_k, "full: the whole k tile");
  if (b->result == PLAN_OK && p->tile_k % p->unroll_k != 0)
    plan_refuse(b, SPEC_UNROLL_K, "unroll",
                "%d steps do not divide the k tile of %d; use a divisor, or \"full\"", p->unroll_k,
                p->tile_k);
  if (b->result != PLAN_OK) return;
  SET(swizzle, 0, "padding serves one-element copies as well");
  /* Copies are one element whatever the variant. */
  plan_variant variant = b->variant;
  b->variant = VARIANT_NARROW;
  plan_copy_operand(b, 0, false, false, NULL);
  plan_copy_operand(b, 1, true, false, NULL);
  b->variant = variant;
  if (b->result != PLAN_OK) return;
  SET(stage_bytes, p->bytes_a + p->bytes_b, "%d + %d", p->bytes_a, p->bytes_b);
  SET(shared_bytes, p->stage_bytes, "one stage");
  if (p->shared_bytes > b->gpu->shared_block)
    plan_refuse(b, SPEC_TILE_K, "shared-memory",
                "%d B of shared memory, more than the %d B a block of %s may have; use a smaller "
                "tile.k",
                p->shared_bytes, b->gpu->shared_block, b->gpu->name);
  TAKE(raster_along, RASTER_ALONG, RASTER_N, "r", "blocks of a row follow each other");
  TAKE(raster_group, RASTER_GROUP, 1, "g", "plain order");
  int words = p->element / 4;
  int copies = words * (1 + p->copies_a + p->copies_b + 4), steps = 1 + plan_step_registers(p);
  int need = 25 + (copies > steps ? copies : steps);
  TAKE(min_blocks, MIN_BLOCKS, 1, "mb", "the compiler is free");
  plan_register_limit(b);
  int registers = plan_spend_registers(b, need);
  SET(registers, registers,
      "25 for addresses and bounds, %d words x (accumulator, %d + %d copies, 4 in flight)%s = %d; "
      "%d for loads of further turns, while an SM holds its %d threads",
      words, p->copies_a, p->copies_b, copies > steps ? "" : ", fewer than the epilogue's", need,
      registers - need, b->gpu->threads_sm);
  if (need > p->register_limit + 4) /* measured: no spill up to there */
    plan_refuse(b, plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS : SPEC_TILE_K, "registers",
                "about %d registers a thread (%d + %d copies in flight), the limit is %d: the "
                "kernel would spill; use fewer min_blocks or a smaller tile.k",
                need, p->copies_a, p->copies_b, p->register_limit);
  SET(align_c, dtype_bytes(p->type_c), "single elements are read");
  SET(align_d, p->element_d, "single elements are written");
  plan_copy_multiples(b);
  plan_speed(b, plan_core_speed(b, 120),
             "120 of CUDA cores: two shared loads an FMA (docs/ladder.md)");
  SET(wave_loss, 100, "an idle SM's time is lost");
  TAKE(overhead_k, OVERHEAD_K, 32, NULL, "a block starts in two k tiles' time");
  SET(loop_fmas, p->unroll_k, "unrolled steps");
  SET(loop_bytes, 16 * (3 * p->unroll_k + 6 * (p->copies_a + p->copies_b) + 24),
      "16 bytes an instruction: 3 a step, 6 a copy, 24 around");
  SET(code_bytes, 6144 + 3 * p->loop_bytes + 16 * plan_step_instructions(p),
      "main loop, last k tile, prologue and epilogue");
  SET(compile_seconds, 30, "budget of every kernel");
  char shape[48];
  snprintf(shape, sizeof shape, "%dx%dx%d", p->tile_m, p->tile_n, p->tile_k);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}
