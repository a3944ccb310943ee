/* plan_wgmma.h - what the files of family wgmma's planner share. */
#ifndef GEN_PLAN_WGMMA_H
#define GEN_PLAN_WGMMA_H

#include "plan_copy.h"

/* Refuses types that the tensor cores do not take; sets how sums are kept and how operands reach
 * the tensor cores. */
void plan_wgmma_types(plan_builder *b);
/* Extents of the tile along the instruction's first (rows in blocks of 64) and second operand. */
int plan_wgmma_first(const kernel_plan *p);
int plan_wgmma_second(const kernel_plan *p);
/* What tile.n is a multiple of. */
int plan_wgmma_step_n(const kernel_plan *p);
/* Refuses scales that come every 128 of k where sums are not promoted as often, and scales of B for
 * each column. */
void plan_wgmma_parts(plan_builder *b);
/* Registers and copies of the warpgroup that turns B, where path_b says so. */
void plan_wgmma_loader(plan_builder *b);
/* Clusters whose blocks share tiles: refuses those that cannot be. */
void plan_wgmma_cluster(plan_builder *b);
/* TMA boxes of an operand whose tile has `extent` rows or columns, cut in `parts` that a block
 * copies each. */
void plan_wgmma_boxes(plan_builder *b, int operand, int extent, int parts);
/* speed, that of its tile, whose mean side is `side`, and overhead_k, where the spec leaves them
 * out.
 */
void plan_wgmma_speed(plan_builder *b, int of_tile, int side);
/* Bytes of shared memory for stages and D where an SM holds so many blocks. */
int plan_wgmma_shared(const plan_builder *b, int blocks);
/* Are the tile's rows fewer than those of an instruction's first operand? Then D is computed
 * transposed; how many blocks an SM holds and their registers, panels, and speed and overhead_k
 * where the spec leaves them out. */
bool plan_wgmma_few_rows(const plan_builder *b);
void plan_wgmma_few_blocks(plan_builder *b);
void plan_wgmma_few_panels(plan_builder *b);
void plan_wgmma_few_speed(plan_builder *b);
/* Panels of D where the tensor cores compute it transposed. */
void plan_wgmma_turned_panels(plan_builder *b);
/* Can the tensor cores be fed with both operands as they lie? 8-bit types where both are K-major,
 * others in every layout. */
bool plan_wgmma_native(const kernel_plan *p);

#endif
