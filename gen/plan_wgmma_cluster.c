/* plan_wgmma_cluster.c - family wgmma: clusters of blocks that share tiles of A and B.
 *
 * The blocks of a cluster of m x n take as many neighbouring tiles. Those along n need the same
 * tile of A, those along m the same of B: each copies one part of it and multicasts that to all of
 * them. What a block needs comes whole into its own stage, so products and D know nothing of it; a
 * stage is free when all blocks that it is copied to have read theirs.
 */
#include "plan_wgmma.h"

enum {
  ROW_BYTES = 128, /* of a swizzled row */
  PERIOD = 8,      /* rows after which the swizzle repeats: where a part may begin */
  LARGEST = 4,     /* blocks that share */
  PLACES = 30,     /* that clusters of 4 found at once on an H200, whose 132 SMs would be ... */
  ALL_PLACES = 33, /* ... without its borders between GPCs (measured) */
};

void plan_wgmma_cluster(plan_builder *b) {
  const kernel_plan *p = b->plan;
  int blocks = p->cluster_m * p->cluster_n;
  if (blocks == 1) return;
  spec_field field = p->cluster_m > 1 ? SPEC_CLUSTER_M : SPEC_CLUSTER_N;
  if (blocks != 2 && blocks != LARGEST)
    plan_refuse(b, field, "cluster",
                "%d x %d blocks share no tiles: clusters of 2 and 4 find places on the SMs; use 2 "
                "x 1, 1 x 2, 2 x 2, 4 x 1 or 1 x 4",
                p->cluster_m, p->cluster_n);
  if (p->cluster_k > 1)
    plan_refuse(b, SPEC_CLUSTER_K, "cluster",
                "the blocks of a cluster share tiles of A and B (m, n) or one tile of D (k), not "
                "both; use 1");
  if (p->path_b == PATH_STAGED)
    plan_refuse(b, field, "cluster",
                "in layout %s each block turns its own tile of B in registers (%s); use 1",
                spec_layout_name(p->layout), dtype_name(p->type_a));
  if (plan_contiguous_k(p, 0) && p->tile_m % (PERIOD * p->cluster_n) != 0)
    plan_refuse(b, SPEC_TILE_M, "cluster",
                "each of %d blocks copies tile.m / %d rows of A, a multiple of %d; use %d",
                p->cluster_n, p->cluster_n, PERIOD, round_up(p->tile_m, PERIOD * p->cluster_n));
  int step = PERIOD * p->cluster_m;
  if (plan_contiguous_k(p, 1) && p->tile_n % step != 0)
    plan_refuse(b, SPEC_TILE_N, "cluster",
                "each of %d blocks copies tile.n / %d rows of B, a multiple of %d; use %d",
                p->cluster_m, p->cluster_m, PERIOD,
                p->tile_n > step ? p->tile_n / step * step : step);
}

void plan_wgmma_boxes(plan_builder *b, int operand, int extent, int parts) {
  const kernel_plan *p = b->plan;
  bool along_k = plan_contiguous_k(p, operand);
  int width = ROW_BYTES / p->element, boxes = along_k ? 1 : extent / width;
  /* MN-major: whole boxes where they can be dealt out, else some rows (k) of every box. */
  bool whole = boxes % parts == 0;
  int rows = along_k ? extent / parts : whole ? p->tile_k : p->tile_k / parts;
  int copies = along_k || !whole ? boxes : boxes / parts;
  plan_set(b, operand == 0 ? PLAN_copies_a : PLAN_copies_b, copies,
           along_k ? "one box of %d x %d" : "boxes of %d elements (%d along the contiguous axis)",
           width, along_k ? rows : extent);
  plan_set(b, operand == 0 ? PLAN_box_a : PLAN_box_b, rows,
           along_k && parts > 1 ? "%d rows / %d blocks"
           : along_k            ? "the tile's"
           : !whole             ? "%d of k / %d blocks: %d boxes cannot be dealt out"
                                : "all of a tile's k",
           along_k ? extent : p->tile_k, parts, boxes);
  if (parts == 1) return;
  int stage = p->bytes_a + p->bytes_b;
  int l2 = p->bytes_a / p->cluster_n + p->bytes_b / p->cluster_m;
  plan_set(b, operand == 0 ? PLAN_part_a : PLAN_part_b, copies * rows * ROW_BYTES,
           "%d / %d blocks along %s, multicast: %d instead of %d B a stage come through L2, %d%% "
           "less",
           extent * ROW_BYTES, parts, operand == 0 ? "n" : "m", l2, stage,
           100 * (stage - l2) / stage);
}

void plan_wgmma_speed(plan_builder *b, int of_tile, int side) {
  kernel_plan *p = b->plan;
  if (p->swap && !p->from_registers) {
    plan_wgmma_few_speed(b);
    return;
  }
  TAKE(overhead_k, OVERHEAD_K, p->persistent ? 300 : 500, NULL,
       "to fill the ring, and to store what the next tile does not hide (measured: docs/wgmma.md)");
  bool large = p->cluster_m * p->cluster_n == LARGEST;
  if (large)
    plan_speed(
        b, of_tile * PLACES / ALL_PLACES,
        "%d / (%d + 16) x %d / %d: so many clusters of %d find a place (measured: docs/wgmma.md)",
        side, side, PLACES, ALL_PLACES, LARGEST);
  else
    plan_speed(b, of_tile, "%d / (%d + 16): larger tiles read shared memory and L2 less", side,
               side);
}
