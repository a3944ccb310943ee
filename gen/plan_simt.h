/* plan_simt.h - what the parts of family simt's planner share: plan_simt.c (tiles, copies, stages,
 * what the library should expect), plan_simt_registers.c (registers and residency). */
#ifndef GEN_PLAN_SIMT_H
#define GEN_PLAN_SIMT_H

#include "plan_copy.h"

/* About what a thread tile of m x n outputs takes. Needs the types. */
int plan_simt_tile_registers(const plan_builder *b, int m, int n);
/* Blocks an SM and the launch bound; refuses what would spill. Needs all but what follows it. */
void plan_simt_residency(plan_builder *b);
/* Rows whose C and residual an epilogue with steps reads at once. Needs the launch bound. */
void plan_simt_epilogue_rows(plan_builder *b);

#endif
