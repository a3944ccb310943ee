/* plan_wgmma_few.c - family wgmma: tiles of fewer rows than an instruction's first operand has.
 *
 * Such rows become the instruction's columns, of which any multiple of 8 will do: the tensor cores
 * compute D^T = B^T A^T, with columns of B as rows of the first operand. Both operands are read in
 * shared memory as they lie. Lanes then have neighbouring rows of D, which stmatrix turns (2 bytes)
 * or stores of 4 bytes put in place.
 */
#include "plan_wgmma.h"

bool plan_wgmma_few_rows(const plan_builder *b) {
  enum { FIRST_ROWS = 64 };
  return b->plan->element == 2 && plan_asked(b, SPEC_TILE_M, FIRST_ROWS) < FIRST_ROWS;
}

/* All rows of the tile at once: they are few. */
void plan_wgmma_few_panels(plan_builder *b) {
  kernel_plan *p = b->plan;
  int width = 128 / p->element_d;
  SET(panel, width, "one swizzled row of 128 bytes");
  SET(panel_swizzle, 128, "the panel's row");
  SET(panel_m, p->tile_m, "the tile's");
  SET(panel_bytes, p->tile_m * 128, "%d rows x 128 B", p->tile_m);
  SET(chunk, p->group_n / width, "a warpgroup's %d columns", p->group_n);
}

/* Products, their reads of shared memory, and the copies through L2 run beside each other: the
 * slowest counts. 61 B a cycle is what the measured speeds of 64x64 and 64x128 come to, 3500 cycles
 * what their overhead does, and 76% of the units' rate what the fastest tile reaches
 * (docs/wgmma.md). */
void plan_wgmma_few_speed(plan_builder *b) {
  enum { UNIT_FMAS = 2048, SHARED_BYTES = 128, L2_BYTES = 61, REACHED = 76, OVERHEAD = 3500 };
  kernel_plan *p = b->plan;
  int products = p->tile_m * p->tile_n * p->tile_k / UNIT_FMAS;
  int reads = p->tile_n / 64 * (p->tile_k / p->inst_k) * (64 + p->tile_m) * 32 / SHARED_BYTES;
  int copies = (p->part_a > 0 ? p->part_a : p->bytes_a) + (p->part_b > 0 ? p->part_b : p->bytes_b);
  copies /= L2_BYTES;
  int slowest = copies > reads ? copies : reads;
  TAKE(speed, SPEED, 1000 * products * 100 / (REACHED * slowest), NULL,
       "%d cycles of products a k tile beside %d of reads of shared memory and %d of copies "
       "(%d B a cycle), over %d%%: no measurement of this kernel",
       products, reads, copies, L2_BYTES, REACHED);
  TAKE(overhead_k, OVERHEAD_K, OVERHEAD * p->tile_k / slowest, NULL,
       "%d cycles, as 64x64 and 64x128 have, x %d / %d", OVERHEAD, p->tile_k, slowest);
}
