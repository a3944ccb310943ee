/* plan_wgmma.c - family wgmma: Hopper's warpgroup tensor cores, fed by TMA (sm_90a).
 *
 * One warpgroup copies, one to three compute. Operands lie in shared memory as TMA writes them, in
 * rows of 128 bytes with the 128-byte swizzle, and wgmma reads them there. TMA fills what lies
 * outside A and B with zeros and drops what lies outside D, so one kernel serves every size; what
 * it cannot address (a base, pitch or stride that is no multiple of 16 bytes) takes the narrow
 * kernel.
 */
#include "plan_epilogue.h"
#include "plan_wgmma.h"

#include <stdio.h>

enum {
  ROW_BYTES = 128,         /* of a swizzled row: k of a K-major tile, m or n of an MN-major one */
  RESERVED = 1024,         /* barriers and alignment */
  BULK_GROUPS = 8,         /* that a thread waits for by number (primitives) */
  LARGEST_CLUSTER = 16,    /* blocks; more than 8 where the card places them (H100 and H200 do) */
  THREE_GROUPS_N = 200,    /* columns of an instruction of 512 threads */
  MOST_ACCUMULATORS = 208, /* a thread; above it ptxas spills (measured, nvcc 13.0) */
  ROOMY_ACCUMULATORS = 192,
};

/* Warpgroups, their rows and registers. */
static void choose_groups(plan_builder *b) {
  kernel_plan *p = b->plan;
  TAKE(schedule, SCHEDULE, SCHEDULE_COOPERATIVE, NULL,
       "the warpgroups share a tile: the largest tile for the registers there are");
  bool pingpong = p->schedule == SCHEDULE_PINGPONG;
  int first = plan_wgmma_first(p), second = plan_wgmma_second(p);
  int groups = pingpong ? 2 : first == 192 ? 3 : first >= 128 ? 2 : 1;
  if (pingpong && p->swap && !p->from_registers)
    plan_refuse(b, SPEC_SCHEDULE, "schedule",
                "warpgroups share the columns of a tile of %d rows (tile.m below 64); leave it out",
                p->tile_m);
  if (pingpong && p->tile_m > 128)
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "%d rows are more than the 128 that one warpgroup computes (pingpong); use 64 or "
                "128, or schedule = \"cooperative\"",
                p->tile_m);
  if (pingpong)
    SET(groups, groups, "they take tiles in turn: one computes while the other stores");
  else
    SET(groups, groups, "%d %s in blocks of 64, at least one each", first,
        p->swap ? "columns" : "rows");
  bool shared_rows = !pingpong && !p->swap, shared_columns = !pingpong && p->swap;
  SET(group_m, shared_rows ? p->tile_m / groups : p->tile_m,
      shared_rows ? "%d / %d warpgroups" : "the tile's", p->tile_m, groups);
  SET(group_n, shared_columns ? p->tile_n / groups : p->tile_n,
      shared_columns ? "%d / %d warpgroups" : "the tile's", p->tile_n, groups);
  if (p->from_registers && pingpong)
    plan_refuse(b, SPEC_SCHEDULE, "schedule",
                "%s in layout %s reaches the tensor cores through registers, cooperatively only; "
                "leave it out",
                dtype_name(p->type_a), spec_layout_name(p->layout));
  SET(threads, 128 * (groups + 1), "128 x (%d that compute + 1 that copies)", groups);
  SET(k_slices, 1, "none");
  SET(inst_m, 64, "wgmma's only one");
  SET(inst_n, second, "the whole tile in one instruction");
  SET(inst_k, 32 / p->element, "32 bytes of k");
  int blocks = (p->swap ? p->group_n : p->group_m) / 64;
  int accumulators = (blocks + (p->promote_k > 0)) * second / 2;
  if (accumulators > MOST_ACCUMULATORS)
    plan_refuse(
        b, SPEC_TILE_N, "registers",
        "%d accumulators a thread, more than the %d that fit beside addresses; use a smaller tile",
        accumulators, MOST_ACCUMULATORS);
  if (groups == 3 && second > THREE_GROUPS_N)
    plan_refuse(b, SPEC_TILE_N, "registers",
                "%d columns need more than the 128 registers a thread that 512 threads leave an "
                "instruction (ptxas C7602); use at most %d, or another tile.m",
                second, THREE_GROUPS_N);
  bool tight = groups == 2 && accumulators > ROOMY_ACCUMULATORS;
  int producer = tight ? 24 : groups == 3 ? 32 : 40;
  int consumer = tight ? 240 : groups == 3 ? 160 : 232;
  SET(producer_registers, producer, "it only issues copies; in steps of 8");
  SET(consumer_registers, consumer, "%d accumulators and addresses; %d x 128 x %d + 128 x %d <= %d",
      accumulators, groups, consumer, producer, b->gpu->registers_sm);
  if (b->variant == VARIANT_EDGE && accumulators > ROOMY_ACCUMULATORS && b->result == PLAN_OK)
    b->result = PLAN_SAME; /* no registers for pointers into D: other kernels take such calls */
  if (p->path_b == PATH_STAGED) {
    plan_wgmma_loader(b);
    if (b->variant == VARIANT_EDGE && b->result == PLAN_OK)
      b->result = PLAN_SAME; /* rows of B that are no multiple of 16 bytes: other kernels */
  }
  int entry = 65536 / p->threads / 8 * 8;
  SET(registers, entry < p->consumer_registers ? entry : p->consumer_registers,
      "at entry, before setmaxnreg: %d / %d threads, at most what a computing one gets",
      b->gpu->registers_sm, p->threads);
  SET(register_limit, entry, "as may be allocated at entry");
  if (p->swap && !p->from_registers) {
    plan_wgmma_few_blocks(b);
    return;
  }
  SET(min_blocks, 1, "the ring takes the SM's shared memory");
  if (plan_asked(b, SPEC_MIN_BLOCKS, 1) > 1)
    plan_refuse(b, SPEC_MIN_BLOCKS, "min-blocks",
                "an SM holds one block of such tiles, whose ring and sums take its shared memory "
                "and registers, not %d; leave it out, or use tile.m below 64",
                plan_asked(b, SPEC_MIN_BLOCKS, 1));
}

static void choose_tile(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool promoted = p->promote_k > 0;
  TAKE(tile_m, TILE_M, promoted ? 256 : 128, NULL,
       promoted ? "two warpgroups of 2 x 64 rows, which share the sums of one block of k"
                : "two warpgroups of 64 rows read one B tile");
  bool few = p->swap && !p->from_registers;
  TAKE(tile_n, TILE_N, promoted || few ? 128 : 256, NULL,
       promoted ? "registers hold the sums of 3 x 64 rows of it"
       : few    ? "two warpgroups of 64 columns: few rows make few tiles, for many SMs"
                : "widest instruction: fewest shared bytes an FMA");
  TAKE(tile_k, TILE_K, ROW_BYTES / p->element, NULL, "one swizzled row of 128 bytes");
  if (few && p->tile_m % 8 != 0)
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "%d is not a multiple of 8 (below 64 rows are an instruction's columns); use %d",
                p->tile_m, round_up(p->tile_m, 8));
  bool whole = p->type_acc == GG_S32, odd_step = p->tile_m > 24 && p->tile_m % 16 != 0;
  if (few && whole && p->tile_m % 8 == 0 && odd_step)
    plan_refuse(
        b, SPEC_TILE_M, "tile-multiple",
        "%d columns are none of an instruction of %s, which has 8, 16, 24, 32 or 48; use %d",
        p->tile_m, dtype_name(p->type_a), round_up(p->tile_m, 16));
  if (!few && (p->tile_m % 64 != 0 || p->tile_m > 256))
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "%d is not a multiple of 64 up to 256 (wgmma); use 128", p->tile_m);
  bool along_n = !plan_contiguous_k(p, 1);
  int step = plan_wgmma_step_n(p);
  if (p->tile_n % step != 0 || p->tile_n > 256)
    plan_refuse(b, SPEC_TILE_N, "tile-multiple",
                "%d is not a multiple of %d up to 256 (%s); use %d", p->tile_n, step,
                along_n   ? "B is contiguous in n: rows of 128 bytes"
                : p->swap ? "wgmma's rows are columns of B"
                          : "wgmma",
                p->tile_n > 256 ? 256 : round_up(p->tile_n, step));
  if (p->tile_k != ROW_BYTES / p->element)
    plan_refuse(b, SPEC_TILE_K, "tile-multiple",
                "%d elements are not the 128 bytes of one swizzled row; use %d", p->tile_k,
                ROW_BYTES / p->element);
}

/* Who computes which tiles: clusters and persistence. */
static void choose_walk(plan_builder *b) {
  kernel_plan *p = b->plan;
  TAKE(cluster_m, CLUSTER_M, 1, NULL, "alone: a square of tiles shares operands in L2 as well");
  TAKE(cluster_n, CLUSTER_N, 1, NULL, "alone");
  TAKE(cluster_k, CLUSTER_K, 1, NULL, "a tile's whole k in one block");
  plan_wgmma_cluster(b);
  bool split = p->cluster_k > 1;
  if (split && p->from_registers)
    plan_refuse(b, SPEC_CLUSTER_K, "cluster",
                "sums of %s in layout %s are not split over a cluster; use 1",
                dtype_name(p->type_a), spec_layout_name(p->layout));
  if (split && p->swap && p->tile_m % (8 * p->cluster_k) != 0)
    plan_refuse(b, SPEC_CLUSTER_K, "cluster",
                "each of %d blocks finishes tile.m / cluster.k of %d rows, a multiple of 8; use "
                "fewer blocks, or dispatch.split to cut k",
                p->cluster_k, p->tile_m);
  if (split && !p->swap && (p->cluster_k > LARGEST_CLUSTER || p->tile_n % (8 * p->cluster_k) != 0))
    plan_refuse(
        b, SPEC_CLUSTER_K, "cluster",
        "%d blocks: a cluster has at most %d, and each finishes tile.n / cluster.k columns, "
        "a multiple of 8; use 2, 4, 8 or 16 that divide %d / 8",
        p->cluster_k, LARGEST_CLUSTER, p->tile_n);
  if (split && p->schedule == SCHEDULE_PINGPONG)
    plan_refuse(b, SPEC_CLUSTER_K, "cluster",
                "blocks that share a tile take one each (pingpong takes many); use schedule = "
                "\"cooperative\"");
  TAKE(persistent, PERSISTENT, !split, NULL,
       split ? "one tile a cluster"
             : "a block takes tile after tile: the next one's copies run during the epilogue");
  if (p->persistent && split)
    plan_refuse(b, SPEC_PERSISTENT, "cluster", "blocks that share a tile take one each; use false");
  if (!p->persistent && p->schedule == SCHEDULE_PINGPONG)
    plan_refuse(b, SPEC_PERSISTENT, "schedule",
                "pingpong takes tile after tile; use true, or schedule = \"cooperative\"");
  if (b->result == PLAN_OK)
    SET(part_n, p->swap ? p->tile_n : p->tile_n / p->cluster_k,
        !split    ? "the whole tile"
        : p->swap ? "all of it: the blocks finish rows"
                  : "%d / %d blocks",
        p->tile_n, p->cluster_k);
}

static void choose_operands(plan_builder *b) {
  kernel_plan *p = b->plan;
  for (int operand = 0; operand < 2; ++operand) {
    int extent = operand == 0 ? p->tile_m : p->tile_n, box = ROW_BYTES / p->element;
    bool along_k = plan_contiguous_k(p, operand);
    int parts = operand == 0 ? p->cluster_n : p->cluster_m;
    if (operand == 1 && p->path_b == PATH_STAGED) {
      SET(turn_b, 0, "K-major in shared memory");
      SET(bytes_b, extent * ROW_BYTES, "%d rows of 128 bytes", extent);
      SET(align_b, 16, "copies of 16 bytes");
      continue;
    }
    plan_set(b, operand == 0 ? PLAN_turn_a : PLAN_turn_b, !along_k,
             along_k             ? "K-major in shared memory"
             : p->from_registers ? "MN-major in shared memory, turned on the way into registers"
                                 : "MN-major in shared memory, turned by wgmma");
    plan_set(b, operand == 0 ? PLAN_bytes_a : PLAN_bytes_b, extent * ROW_BYTES,
             along_k ? "%d rows of 128 bytes" : "boxes of %d x %d elements: %d / %d x %d",
             along_k ? extent : box, p->tile_k, extent, box, p->tile_k * ROW_BYTES);
    plan_wgmma_boxes(b, operand, extent, parts);
    plan_set(b, operand == 0 ? PLAN_align_a : PLAN_align_b, 16, "TMA: base, pitch and stride");
  }
  SET(stage_bytes, p->bytes_a + p->bytes_b, "%d + %d", p->bytes_a, p->bytes_b);
}

/* D on its way: panels as wide as a swizzle, or one that needs none. */
static void choose_panels(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (p->swap) {
    plan_wgmma_turned_panels(b);
    return;
  }
  int width = ROW_BYTES;
  while (width >= 32 && p->part_n * p->element_d % width != 0)
    width /= 2;
  bool plain = width < 32;
  SET(panel, plain ? p->part_n : width / p->element_d,
      plain ? "all %d columns: rows of an odd number of 16 bytes are free of conflicts"
            : "the widest swizzle that divides %d columns",
      p->part_n);
  SET(panel_swizzle, plain ? 0 : width, plain ? "none" : "the panel's row");
  SET(panel_m, p->group_m, "all of a warpgroup's");
  SET(panel_bytes, p->group_m * p->panel * p->element_d, "%d rows x %d x %d B", p->group_m,
      p->panel, p->element_d);
  SET(chunk, plain ? 1 : ROW_BYTES / width, plain ? "all of it" : "128 bytes of a row");
}

int plan_wgmma_shared(const plan_builder *b, int blocks) {
  int share = b->gpu->shared_sm / blocks - b->gpu->shared_reserved;
  return (share < b->gpu->shared_block ? share : b->gpu->shared_block) - RESERVED;
}

/* Ring, D and what blocks exchange, in the shared memory there is. */
static void choose_shared(plan_builder *b) {
  kernel_plan *p = b->plan;
  int free_bytes = plan_wgmma_shared(b, p->min_blocks);
  int asked = plan_asked(b, SPEC_STAGES, 0);
  int wanted = asked > 0 ? asked : 3;
  int panels = p->part_n / p->panel;
  int all = p->swap ? p->tile_m / p->cluster_k / p->panel_m : (panels + p->chunk - 1) / p->chunk,
      chunks = all;
  int chunk_bytes = p->groups * p->chunk * p->panel_bytes;
  if (p->persistent) {
    while (chunks > 1 && wanted * p->stage_bytes + chunks * chunk_bytes > free_bytes)
      --chunks;
    if (chunks < all && chunks > BULK_GROUPS) chunks = BULK_GROUPS;
    SET(chunks, chunks,
        chunks == all ? "all of D: no wait inside the epilogue"
                      : "what %d stages leave; reused in turn",
        wanted);
    SET(d_bytes, chunks * chunk_bytes, "%d warpgroups x %d x %d x %d", p->groups, chunks, p->chunk,
        p->panel_bytes);
  } else {
    SET(chunks, all, "all of D, where the ring was");
    SET(d_bytes, 0, "the ring is spent");
  }
  int fit = (free_bytes - p->d_bytes) / p->stage_bytes;
  if (fit > 16) fit = 16;
  TAKE(stages, STAGES, fit, NULL, "(%d - %d) / %d: what fits", free_bytes, p->d_bytes,
       p->stage_bytes);
  char range[32];
  if (fit < 2)
    snprintf(range, sizeof range, "less than 2");
  else
    snprintf(range, sizeof range, "2 to %d", fit);
  if (p->stages < 2 || p->stages > fit)
    plan_refuse(
        b,
        plan_given(b, SPEC_STAGES) ? SPEC_STAGES
        : p->min_blocks > 1        ? SPEC_MIN_BLOCKS
                                   : SPEC_TILE_N,
        "shared-memory",
        "%d stages of %d B and %d B for D are more than the %d B a block of %s may have%s (%s "
        "fit); use fewer stages%s or a smaller tile",
        p->stages, p->stage_bytes, p->d_bytes, free_bytes + RESERVED, b->gpu->name,
        p->min_blocks > 1 ? " beside the others of min_blocks" : "", range,
        p->min_blocks > 1 ? ", fewer blocks" : "");
  int partial = p->cluster_k > 1 ? p->tile_m * p->tile_n * 4 : 0;
  SET(partial_bytes, partial, partial ? "%d x %d of 4 bytes" : "none", p->tile_m, p->tile_n);
  int reused = partial + (p->persistent ? 0 : all * chunk_bytes);
  if (b->result == PLAN_OK && reused > p->stages * p->stage_bytes)
    plan_refuse(
        b,
        plan_given(b, SPEC_STAGES) ? SPEC_STAGES
        : p->min_blocks > 1        ? SPEC_MIN_BLOCKS
                                   : SPEC_TILE_N,
        "shared-memory",
        "%d stages of %d B do not hold the %d B of sums and of D that take their place; use "
        "more stages",
        p->stages, p->stage_bytes, reused);
  SET(barrier_bytes, 16 * p->stages, "a full and an empty mbarrier of 8 bytes a stage");
  SET(shared_bytes, p->stages * p->stage_bytes + p->d_bytes + p->barrier_bytes,
      "%d stages x %d + %d for D + %d", p->stages, p->stage_bytes, p->d_bytes, p->barrier_bytes);
}

/* What TMA cannot address is served without it, by mma.sync: same types, layout and scalars,
 * nothing else of the spec. */
static void make_narrow(plan_builder *b) {
  kernel_spec plain = *b->spec;
  for (int f = SPEC_TILE_M; f < SPEC_FIELD_COUNT; ++f)
    if (f < SPEC_ALPHA || f > SPEC_ABSMAX) plain.value[f] = SPEC_UNSET;
  const kernel_spec *asked = b->spec;
  b->spec = &plain;
  SET(family, FAMILY_MMA, "any pointer and pitch: TMA asks for multiples of 16 bytes");
  plan_make_mma(b);
  b->spec = asked;
}

const spec_field plan_takes_wgmma[] = {
    SPEC_TILE_K,     SPEC_STAGES,       SPEC_CLUSTER_M,  SPEC_CLUSTER_N,  SPEC_CLUSTER_K,
    SPEC_PERSISTENT, SPEC_SCHEDULE,     SPEC_EDGE,       SPEC_FAST_ACCUM, SPEC_BIAS,
    SPEC_ACTIVATION, SPEC_RESIDUAL,     SPEC_SCALE_A,    SPEC_SCALE_B,    SPEC_SCALE_D,
    SPEC_ABSMAX,     SPEC_PROGRAMMATIC, SPEC_FIELD_COUNT};

void plan_make_wgmma(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (b->variant == VARIANT_EDGE && !plan_asked(b, SPEC_EDGE, 1)) b->result = PLAN_SAME;
  plan_wgmma_types(b);
  if (b->result == PLAN_OK && b->variant == VARIANT_NARROW) {
    make_narrow(b);
    return;
  }
  if (b->result == PLAN_OK && !plan_wgmma_native(p)) {
    if (!p->repack) b->result = PLAN_SAME; /* the narrow kernel takes operands as they lie */
    SET(layout, LAYOUT_NT, "%s is read K-major only: passes turn operands of layout %s first",
        dtype_name(p->type_a), spec_layout_name(p->layout));
  }
  if (b->result == PLAN_OK) choose_tile(b);
  if (b->result == PLAN_OK) plan_wgmma_parts(b);
  if (b->result == PLAN_OK) choose_groups(b);
  if (b->result == PLAN_OK) choose_walk(b);
  if (b->result == PLAN_OK) choose_operands(b);
  if (b->result == PLAN_OK) choose_panels(b);
  if (b->result == PLAN_OK) choose_shared(b);
  if (b->result != PLAN_OK) return;
  bool edge = b->variant == VARIANT_EDGE;
  SET(variant, (int)b->variant,
      edge ? "A and B by TMA, D by plain stores: any base and pitch of D"
           : "TMA guards the edges: every call whose bases, pitches and strides it can address");
  SET(arch_suffix, 'a', "wgmma and setmaxnreg exist on sm_90a alone");
  SET(box_width, 128 / p->element, "rows of 128 bytes, those of the swizzle");
  SET(promotion, p->tile_m > 64 ? 256 : 128,
      p->tile_m > 64 ? "two rows of a box at once"
                     : "128 read 2 to 5%% faster where memory is the limit (measured, H200)");
  SET(swizzle, 1, "128-byte rows, 16-byte chunks XOR (row mod 8), as TMA writes them");
  if (!edge) SET(promotion_d, 256, "of no effect on stores");
  SET(path_d, edge ? PATH_STAGED : PATH_TMA,
      edge ? "each warp stores its rows, element by element" : "one thread, no registers");
  int element_c = dtype_bytes(p->type_c);
  bool pairs = !edge && element_c == 2 && !p->swap;
  SET(align_c, pairs ? 2 * element_c : element_c,
      pairs ? "C is read in pairs, as accumulators lie" : "C is read element by element");
  SET(align_d, edge ? p->element_d : 16, edge ? "plain stores" : "TMA: base, pitch and stride");
  SET(multiple_m, 1, "edges are guarded");
  SET(multiple_n, edge ? 1 : 16 / p->element_d,
      edge ? "edges are guarded" : "a TMA store writes whole 16 bytes");
  SET(multiple_k, 1, "TMA fills up with zeros");
  SET(min_k, 0, "accumulators are cleared where no k block is computed");
  TAKE(raster_along, RASTER_ALONG, RASTER_M, "r", "groups of rows share B in L2");
  int unit = p->raster_along == RASTER_M ? p->cluster_m : p->cluster_n;
  int group = 2048 / p->tile_m / unit * unit;
  TAKE(raster_group, RASTER_GROUP, group, "g",
       "%d rows of tiles: the SMs' tiles together near a square", group);
  if (p->raster_group > 1 && p->raster_group % unit != 0)
    plan_refuse(b, SPEC_RASTER_GROUP, "cluster",
                "%d tiles are not a multiple of the %d that a cluster takes at once; use %d",
                p->raster_group, unit, round_up(p->raster_group, unit));
  int side = 2 * p->tile_m * p->tile_n / (p->tile_m + p->tile_n);
  plan_wgmma_speed(b, 1000 * side / (side + 16), side);
  SET(wave_loss, 80, "the card is at its power limit: idle SMs raise the others' clock (measured)");
  SET(loop_bytes,
      16 * (p->tile_k / p->inst_k * ((p->swap ? p->group_n : p->group_m) / 64) * 4 + 48),
      "16 bytes an instruction: 4 for each wgmma, 48 around");
  int outputs = p->group_m * p->tile_n / 128;
  int steps = plan_step_instructions(p);
  SET(code_bytes, 16384 + 16 * outputs * (40 + 2 * steps),
      "prologue, copies, loop; about 40 instructions an output of the two epilogues, and twice the "
      "%d of the steps",
      steps);
  SET(compile_seconds, 30, "budget of every kernel");
  char shape[64];
  int n = snprintf(shape, sizeof shape, "%dx%dx%d", p->tile_m, p->tile_n, p->tile_k);
  n += snprintf(shape + n, sizeof shape - (size_t)n, "_w%d%s_s%d", p->groups,
                p->schedule == SCHEDULE_PINGPONG ? "p" : "", p->stages);
  if (p->cluster_k > 1)
    snprintf(shape + n, sizeof shape - (size_t)n, "_split%d", p->cluster_k);
  else if (!p->persistent)
    n += snprintf(shape + n, sizeof shape - (size_t)n, "_once");
  if (p->cluster_m * p->cluster_n > 1)
    snprintf(shape + n, sizeof shape - (size_t)n, "_c%dx%d", p->cluster_m, p->cluster_n);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}
