/* plan_wgmma_few.c - family wgmma: tiles of fewer rows than an instruction's first operand has.
 *
 * Such rows become the instruction's columns, of which any multiple of 8 will do: the tensor cores
 * compute D^T = B^T A^T, with columns of B as rows of the first operand. Both operands are read in
 * shared memory as they lie. Lanes then have neighbouring rows of D, which stmatrix turns (2 bytes)
 * or stores of 4 bytes put in place.
 */
#include "plan_wgmma.h"

enum {
  FEW_BLOCKS = 4, /* an SM, that the plan looks for; more may be asked */
  /* Registers of the copying warpgroup where blocks share an SM's, without and with a part of k. */
  FEW_PRODUCER = 24,
  FEW_PRODUCER_PART = 32,
  /* Registers beside sums: at entry, below which ptxas refuses the instruction (C7602), and of a
   * warpgroup that computes, with all steps of an epilogue and no spill (nvcc 13.0). */
  FEW_ENTRY = 26,
  FEW_BESIDE = 36,
};

bool plan_wgmma_few_rows(const plan_builder *b) {
  enum { FIRST_ROWS = 64 };
  return b->plan->element <= 2 && plan_asked(b, SPEC_TILE_M, FIRST_ROWS) < FIRST_ROWS;
}

static int few_producer(const plan_builder *b) {
  return plan_asked(b, SPEC_CLUSTER_K, 1) > 1 ? FEW_PRODUCER_PART : FEW_PRODUCER;
}

/* Registers at entry where an SM holds so many blocks, and of a warpgroup that computes: what the
 * copying one leaves of the block's. */
typedef struct few_registers {
  int entry, consumer;
} few_registers;

static few_registers few_share(const plan_builder *b, int blocks) {
  enum { MOST = 232 };
  const kernel_plan *p = b->plan;
  int entry = b->gpu->registers_sm / blocks / p->threads / 8 * 8;
  int consumer = ((p->groups + 1) * entry - few_producer(b)) / p->groups / 8 * 8;
  return (few_registers){entry, consumer < MOST ? consumer : MOST};
}

/* Sums of a thread, one more instruction's where those are promoted, and those of all parts of k.
 */
static int few_sums(const plan_builder *b) {
  const kernel_plan *p = b->plan;
  int parts = plan_asked(b, SPEC_CLUSTER_K, 1), each = p->group_n / 64 * p->tile_m / 2;
  return each + (p->promote_k > 0 ? p->tile_m / 2 : 0) + (parts > 1 ? each / parts : 0);
}

/* Registers for scales of each 128 of k, which are on their way during the products: 2 of each 8
 * rows of A, 2 of each 64 columns of B, and pointers. */
static int few_scales(const kernel_plan *p) {
  enum { POINTERS = 4 };
  bool a = p->scale_a == GG_SCALING_GROUP, c = p->scale_b == GG_SCALING_GROUP;
  int pointers = (a || p->scale_a == GG_SCALING_BLOCK) + (c || p->scale_b == GG_SCALING_BLOCK);
  return (a ? p->tile_m / 4 : 0) + (c ? p->group_n / 32 : 0) + POINTERS * pointers;
}

static bool few_enough(const plan_builder *b, few_registers r) {
  const kernel_plan *p = b->plan;
  return r.entry >= p->tile_m / 2 + FEW_ENTRY &&
         r.consumer >= few_sums(b) + few_scales(p) + FEW_BESIDE;
}

/* Sums are few, so a block can do with a part of an SM's registers, as of its shared memory. Needs
 * threads, groups and the tile. */
void plan_wgmma_few_blocks(plan_builder *b) {
  kernel_plan *p = b->plan;
  int stages = plan_asked(b, SPEC_STAGES, 0), blocks = 1;
  int bytes = stages * (p->tile_m + p->tile_n) * 128;
  if (plan_asked(b, SPEC_PERSISTENT, plan_asked(b, SPEC_CLUSTER_K, 1) == 1))
    bytes += p->tile_m * p->tile_n * p->element_d;
  while (stages > 0 && blocks < FEW_BLOCKS && bytes <= plan_wgmma_shared(b, blocks + 1) &&
         few_enough(b, few_share(b, blocks + 1)))
    ++blocks;
  TAKE(min_blocks, MIN_BLOCKS, blocks, "mb",
       stages > 0 ? "as many as %d stages leave room for, up to %d"
                  : "the ring takes the SM's shared memory",
       stages, FEW_BLOCKS);
  if (p->min_blocks == 1) return;
  plan_register_limit(b);
  few_registers r = few_share(b, p->min_blocks);
  if (!few_enough(b, r))
    plan_refuse(
        b, plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS : SPEC_TILE_M, "registers",
        "%d blocks of %d threads leave each thread %d registers at entry and %d to compute "
        "with; %d sums beside %d others and %d sums and scales beside %d are more; use fewer",
        p->min_blocks, p->threads, r.entry, r.consumer, p->tile_m / 2, FEW_ENTRY,
        few_sums(b) + few_scales(p), FEW_BESIDE);
  if (b->result != PLAN_OK) return;
  SET(registers, r.entry, "at entry, before setmaxnreg: all of a block's share");
  SET(producer_registers, few_producer(b), "it only issues copies; in steps of 8");
  SET(consumer_registers, r.consumer, "the rest: %d x %d + %d are not more than %d x %d at entry",
      p->groups, r.consumer, p->producer_registers, p->groups + 1, r.entry);
}

/* All rows of the tile at once: they are few. */
void plan_wgmma_few_panels(plan_builder *b) {
  kernel_plan *p = b->plan;
  int width = 128 / p->element_d;
  SET(panel, width, "one swizzled row of 128 bytes");
  SET(panel_swizzle, 128, "the panel's row");
  SET(panel_m, p->tile_m / p->cluster_k, p->cluster_k > 1 ? "%d / %d blocks" : "the tile's",
      p->tile_m, p->cluster_k);
  SET(panel_bytes, p->panel_m * 128, "%d rows x 128 B", p->panel_m);
  SET(chunk, p->group_n / width, "a warpgroup's %d columns", p->group_n);
}

/* Products, their reads of shared memory, and the copies through L2 run beside each other: the
 * slowest counts. 61 B a cycle is what the measured speeds of 64x64 and 64x128 come to, 3500 cycles
 * what their overhead does, and 76% of the units' rate what the fastest tile reaches
 * (docs/wgmma.md). The same hold for fp8, whose 64x64 has 630 per mille and 3580 cycles. */
void plan_wgmma_few_speed(plan_builder *b) {
  enum { UNIT_FMAS = 2048, SHARED_BYTES = 128, L2_BYTES = 61, REACHED = 76, OVERHEAD = 3500 };
  kernel_plan *p = b->plan;
  int products = p->tile_m * p->tile_n * p->tile_k * p->element / (2 * UNIT_FMAS);
  int reads = p->tile_n / 64 * (p->tile_k / p->inst_k) * (64 + p->tile_m) * 32 / SHARED_BYTES;
  int copies = (p->part_a > 0 ? p->part_a : p->bytes_a) + (p->part_b > 0 ? p->part_b : p->bytes_b);
  copies /= L2_BYTES;
  int slowest = copies > reads ? copies : reads;
  plan_speed(b, 1000 * products * 100 / (REACHED * slowest),
             "%d cycles of products a k tile beside %d of reads of shared memory and %d of copies "
             "(%d B a cycle), over %d%%: no measurement of this kernel",
             products, reads, copies, L2_BYTES, REACHED);
  TAKE(overhead_k, OVERHEAD_K, OVERHEAD * p->tile_k / slowest, NULL,
       "%d cycles, as 64x64 and 64x128 have, x %d / %d", OVERHEAD, p->tile_k, slowest);
}
