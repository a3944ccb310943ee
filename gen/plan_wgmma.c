/* plan_wgmma.c - family wgmma: Hopper's warpgroup tensor cores, fed by TMA (sm_90a).
 *
 * One warpgroup copies, one to three compute. Operands lie in shared memory as TMA writes them, in
 * rows of 128 bytes with the 128-byte swizzle, and wgmma reads them there. TMA fills what lies
 * outside A and B with zeros and drops what lies outside D, so one kernel serves every size; what
 * it cannot address (a base, pitch or stride that is no multiple of 16 bytes) takes the narrow
 * kernel.
 */
#include "plan_wgmma.h"

#include <stdio.h>

enum {
  ROW_BYTES = 128,         /* of a swizzled row: k of a K-major tile, m or n of an MN-major one */
  RESERVED = 1024,         /* barriers and alignment */
  MOST_ACCUMULATORS = 208, /* a thread; above it ptxas spills (measured, nvcc 13.0) */
};

static void choose_tile(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool promoted = p->promote_k > 0;
  TAKE(tile_m, TILE_M, promoted ? 256 : 128, NULL,
       promoted ? "two warpgroups of 2 x 64 rows, which share the sums of one block of k"
                : "two warpgroups of 64 rows read one B tile");
  TAKE(tile_n, TILE_N, promoted ? 128 : 256, NULL,
       promoted ? "registers hold the sums of 3 x 64 rows of it"
                : "widest instruction: fewest shared bytes an FMA");
  TAKE(tile_k, TILE_K, ROW_BYTES / p->element, NULL, "one swizzled row of 128 bytes");
  if (p->tile_m % 64 != 0 || p->tile_m > 256)
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "%d is not a multiple of 64 up to 256 (wgmma); use 128", p->tile_m);
  if (p->tile_n % 64 != 0 || p->tile_n > 256)
    plan_refuse(b, SPEC_TILE_N, "tile-multiple",
                "%d is not a multiple of 64 up to 256 (panels of D); use 128, 192 or 256",
                p->tile_n);
  if (p->tile_k != ROW_BYTES / p->element)
    plan_refuse(b, SPEC_TILE_K, "tile-multiple",
                "%d elements are not the 128 bytes of one swizzled row; use %d", p->tile_k,
                ROW_BYTES / p->element);
  if (b->result != PLAN_OK) return;
  int groups = p->tile_m == 192 ? 3 : p->tile_m >= 128 ? 2 : 1;
  SET(groups, groups, "%d rows in blocks of 64, at least one each", p->tile_m);
  SET(threads, 128 * (groups + 1), "128 x (%d that compute + 1 that copies)", groups);
  SET(k_slices, 1, "none");
  SET(inst_m, 64, "wgmma's only one");
  SET(inst_n, p->tile_n, "the whole tile in one instruction");
  SET(inst_k, 32 / p->element, "32 bytes of k");
  int accumulators = (p->tile_m / 64 / groups + promoted) * p->tile_n / 2;
  if (accumulators > MOST_ACCUMULATORS)
    plan_refuse(
        b, SPEC_TILE_N, "registers",
        "%d accumulators a thread, more than the %d that fit beside addresses; use a smaller tile",
        accumulators, MOST_ACCUMULATORS);
  static const int producer[] = {0, 40, 24, 32}, consumer[] = {0, 232, 240, 160};
  SET(producer_registers, producer[groups], "it only issues copies; in steps of 8");
  SET(consumer_registers, consumer[groups],
      "%d accumulators and addresses; %d x 128 x %d + 128 x %d <= %d", accumulators, groups,
      consumer[groups], producer[groups], b->gpu->registers_sm);
  SET(registers, 65536 / p->threads / 8 * 8, "at entry, before setmaxnreg: %d / %d threads",
      b->gpu->registers_sm, p->threads);
  SET(register_limit, p->registers, "as allocated at entry");
  SET(min_blocks, 1, "the ring takes the SM's shared memory");
}

static void choose_shared(plan_builder *b) {
  kernel_plan *p = b->plan;
  for (int operand = 0; operand < 2; ++operand) {
    int extent = operand == 0 ? p->tile_m : p->tile_n;
    bool along_k = plan_contiguous_k(p, operand);
    plan_set(b, operand == 0 ? PLAN_path_a : PLAN_path_b, PATH_TMA, "one thread, no registers");
    plan_set(b, operand == 0 ? PLAN_turn_a : PLAN_turn_b, !along_k,
             along_k ? "K-major in shared memory" : "MN-major in shared memory, turned by wgmma");
    plan_set(b, operand == 0 ? PLAN_bytes_a : PLAN_bytes_b, extent * ROW_BYTES,
             along_k ? "%d rows of 128 bytes" : "blocks of 64 x 64 elements: %d / 64 x 8192",
             extent);
    plan_set(b, operand == 0 ? PLAN_copies_a : PLAN_copies_b, along_k ? 1 : extent / 64,
             along_k ? "one box of %d x %d" : "boxes of %d elements (%d along the contiguous axis)",
             ROW_BYTES / p->element, extent);
    plan_set(b, operand == 0 ? PLAN_align_a : PLAN_align_b, 16, "TMA: base, pitch and stride");
  }
  SET(stage_bytes, p->bytes_a + p->bytes_b, "%d + %d", p->bytes_a, p->bytes_b);
  int rows = p->tile_m / p->groups;
  SET(panel, 64, "one swizzled row of 128 bytes");
  SET(panel_bytes, rows * ROW_BYTES, "%d rows of a warpgroup x 128 B", rows);
  int all = p->tile_n / p->panel;
  int free_bytes = b->gpu->shared_block - RESERVED;
  int asked = plan_asked(b, SPEC_STAGES, 0);
  int wanted = asked > 0 ? asked : 3;
  int panels = all;
  while (panels > 1 && wanted * p->stage_bytes + p->groups * panels * p->panel_bytes > free_bytes)
    --panels;
  /* Buffers are reused in turn: a number that divides keeps the order simple. */
  while (all % panels != 0)
    --panels;
  SET(panels, panels,
      panels == all ? "all of D: no wait inside the epilogue"
                    : "what %d stages leave; reused in turn",
      wanted);
  SET(d_bytes, p->groups * panels * p->panel_bytes, "%d warpgroups x %d x %d", p->groups, panels,
      p->panel_bytes);
  int fit = (free_bytes - p->d_bytes) / p->stage_bytes;
  if (fit > 16) fit = 16;
  TAKE(stages, STAGES, fit, NULL, "(%d - %d) / %d: what fits", free_bytes, p->d_bytes,
       p->stage_bytes);
  if (p->stages < 2 || p->stages > fit)
    plan_refuse(
        b, plan_given(b, SPEC_STAGES) ? SPEC_STAGES : SPEC_TILE_N, "shared-memory",
        "%d stages of %d B and %d B for D are more than the %d B a block of %s may have (2 to "
        "%d fit); use fewer stages or a smaller tile",
        p->stages, p->stage_bytes, p->d_bytes, b->gpu->shared_block, b->gpu->name, fit);
  SET(barrier_bytes, 16 * p->stages, "a full and an empty mbarrier of 8 bytes a stage");
  SET(shared_bytes, p->stages * p->stage_bytes + p->d_bytes + p->barrier_bytes,
      "%d stages x %d + %d for D + %d", p->stages, p->stage_bytes, p->d_bytes, p->barrier_bytes);
}

/* What TMA cannot address is served without it: same types, layout and scalars, nothing else of the
 * spec. */
static void make_narrow(plan_builder *b) {
  kernel_spec plain = *b->spec;
  for (int f = SPEC_TILE_M; f < SPEC_FIELD_COUNT; ++f)
    if (f != SPEC_ALPHA && f != SPEC_BETA) plain.value[f] = SPEC_UNSET;
  const kernel_spec *asked = b->spec;
  b->spec = &plain;
  SET(family, FAMILY_NAIVE, "any pointer and pitch: TMA asks for multiples of 16 bytes");
  plan_make_naive(b);
  b->spec = asked;
}

const spec_field plan_takes_wgmma[] = {SPEC_TILE_K, SPEC_STAGES, SPEC_FAST_ACCUM, SPEC_FIELD_COUNT};

void plan_make_wgmma(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (b->variant == VARIANT_EDGE) {
    b->result = PLAN_SAME; /* TMA guards every edge: full is also the guarded kernel */
    return;
  }
  plan_wgmma_types(b);
  if (b->result == PLAN_OK && b->variant == VARIANT_NARROW) {
    make_narrow(b);
    return;
  }
  if (b->result == PLAN_OK && !plan_wgmma_native(p)) {
    b->result = PLAN_SAME; /* operands must be turned first: the narrow kernel takes them as is */
    return;
  }
  if (b->result == PLAN_OK) choose_tile(b);
  if (b->result == PLAN_OK) choose_shared(b);
  if (b->result != PLAN_OK) return;
  SET(variant, VARIANT_FULL,
      "TMA guards the edges: every call whose bases, pitches and strides it can address");
  SET(arch_suffix, 'a', "wgmma and setmaxnreg exist on sm_90a alone");
  SET(swizzle, 1, "128-byte rows, 16-byte chunks XOR (row mod 8), as TMA writes them");
  SET(persistent, 1,
      "a block takes tile after tile: the next one's copies run during the epilogue");
  SET(align_c, p->element_d, "C is read element by element");
  SET(align_d, 16, "TMA: base, pitch and stride");
  SET(multiple_m, 1, "TMA guards the edges");
  SET(multiple_n, 1, "TMA guards the edges");
  SET(multiple_k, 1, "TMA fills up with zeros");
  SET(min_k, 0, "accumulators are cleared where no k block is computed");
  TAKE(raster_along, RASTER_ALONG, RASTER_M, "r", "groups of rows share B in L2");
  TAKE(raster_group, RASTER_GROUP, 2048 / p->tile_m, "g",
       "%d rows of tiles: the SMs' tiles together near a square", 2048 / p->tile_m);
  int side = 2 * p->tile_m * p->tile_n / (p->tile_m + p->tile_n);
  TAKE(speed, SPEED, 1000 * side / (side + 16), NULL,
       "%d / (%d + 16): larger tiles read shared memory and L2 less", side, side);
  SET(wave_loss, 70, "the card is at its power limit: idle SMs raise the others' clock (measured)");
  TAKE(overhead_k, OVERHEAD_K, 4 * p->tile_k, NULL, "about 4 k tiles to begin and to store");
  SET(loop_bytes, 16 * (p->tile_k / p->inst_k * (p->tile_m / 64 / p->groups) * 4 + 48),
      "16 bytes an instruction: 4 for each wgmma, 48 around");
  int outputs = p->tile_m * p->tile_n / (128 * p->groups);
  SET(code_bytes, 16384 + 16 * outputs * 40,
      "prologue, copies, loop; about 40 instructions an output of "
      "the two epilogues");
  SET(compile_seconds, 30, "budget of every kernel");
  char shape[64];
  int n = snprintf(shape, sizeof shape, "%dx%dx%d", p->tile_m, p->tile_n, p->tile_k);
  snprintf(shape + n, sizeof shape - (size_t)n, "_w%d_s%d", p->groups, p->stages);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}
