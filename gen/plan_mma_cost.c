/* plan_mma_cost.c - what a kernel of family mma takes and is worth: registers, stages, residency,
 * code, and what the library's choice rests on.
 */
#include "plan_epilogue.h"
#include "plan_mma.h"
#include "plan_sums.h"

#include <stdio.h>

enum { MOST_STAGES = 8, USUAL_STAGES = 4, SORTING = 12 /* registers, for the most sums */ };

int plan_mma_threads(const mma_tile *t) {
  return 32 * (t->m / t->warp_m) * (t->n / t->warp_n);
}

int plan_mma_stage_bytes(const kernel_plan *p, const mma_tile *t) {
  return (t->m + t->n) * t->k * p->element;
}

/* Do copies pass through registers? */
static bool staged(const plan_builder *b) {
  return plan_mma_gathers(b) || !b->gpu->has_cp_async;
}

int plan_mma_least_stages(const plan_builder *b) {
  return staged(b) ? 2 : 3;
}

/* Scales of each 128 of k: of a lane's rows and columns, or one of the warp's block; pointers and
 * bounds. */
static int scale_registers(const kernel_plan *p, const mma_tile *t) {
  const int scaling[] = {p->scale_a, p->scale_b}, held[] = {t->warp_m / 8, t->warp_n / 4};
  int registers = 0;
  for (int i = 0; i < 2; ++i)
    if (scaling[i] >= GG_SCALING_GROUP)
      registers += 10 + (scaling[i] == GG_SCALING_GROUP ? held[i] : 1);
  return registers;
}

/* Are fragments' bytes put in order behind ldmatrix? */
static bool sorts(const kernel_plan *p) {
  return p->element == 1 && !(plan_contiguous_k(p, 0) && plan_contiguous_k(p, 1));
}

/* Are few of the addresses of single elements held in registers? */
static bool holds_few_addresses(const plan_builder *b) {
  return !b->gpu->has_cp_async || b->gpu->arch >= 120;
}

/* Registers beside sums, fragments and staged copies: pointers, offsets, bounds, loop state. Fitted
 * to what ptxas allots where nothing limits it (CUDA 13.0; tests/compile holds the sum against it):
 * it computes addresses, and conditions of single elements, well before their copies. */
static int other_registers(const plan_builder *b, int bytes, int gathered) {
  const kernel_plan *p = b->plan;
  int other = staged(b) ? 40 : 48;
  if (p->promote_k > 0 && gathered == 0) other -= 4; /* a block's sums do not all live at once */
  if (p->type_a == GG_F64) other += 16;              /* offsets of single loads, words in pairs */
  if (b->variant == VARIANT_EDGE) other += 6;
  if (b->variant != VARIANT_NARROW && sorts(p)) other += SORTING;
  int each = !holds_few_addresses(b)                  ? 6
             : b->gpu->has_cp_async || p->element > 1 ? 2
                                                      : 1; /* of four elements */
  if (gathered > 0) return other + each * gathered / 4;
  if (b->variant == VARIANT_NARROW) return other + (p->element == 4 ? 42 : 16);
  if (plan_mma_by_tma(b)) return other; /* and where the next copies are */
  if (b->gpu->arch >= 120) other += 8;
  return other + bytes / 16 / 2; /* half a register for each copy of 16 bytes */
}

/* Does the compiler widen fp8 for mma.sync? For sm_90 it allots, and writes, that much more than
 * for sm_89 and sm_120 (CUDA 13.0). */
static bool widens(const kernel_plan *p) {
  return p->arch == 90 && plan_is_fp8(p->type_a);
}

mma_registers plan_mma_registers(const plan_builder *b, const mma_tile *t, int fragments) {
  const kernel_plan *p = b->plan;
  int bytes = plan_mma_stage_bytes(p, t) / plan_mma_threads(t);
  int sums = t->warp_m * t->warp_n * dtype_bytes(p->type_acc) / 128;
  mma_registers r = {
      /* those of one block of k as well, where they are promoted */
      .accumulators = p->promote_k > 0 ? 2 * sums : sums,
      .fragments = fragments * (t->warp_m + t->warp_n) * p->step_k * p->element / 128,
      .staged = !staged(b)            ? 0
                : plan_mma_gathers(b) ? bytes / p->element
                                      : bytes / 4,
  };
  r.other = other_registers(b, bytes, plan_mma_gathers(b) ? r.staged : 0) + scale_registers(p, t);
  /* Both sets, widened, but for what is not needed at once: less of it the more sums there are;
   * beside scales all of it. */
  if (widens(p) && !plan_mma_gathers(b)) {
    r.other += 2 * r.fragments + (plan_has_parts(p) ? 24 : -16);
    if (r.accumulators > 32) r.other += (r.accumulators - 32) / 2;
  }
  /* A ring that is written out: loops in it where one set of f64 is all that there is room for,
   * bytes that are sorted in each stage. */
  if (plan_asked(b, SPEC_UNROLL_STAGES, 0) && b->variant != VARIANT_NARROW) {
    bool loops = plan_asked(b, SPEC_UNROLL_K, 0) > 0;
    if (loops && p->type_a == GG_F64 && fragments == 1) r.other += 12;
    if (sorts(p)) r.other += 4;
  }
  r.total = r.accumulators + r.fragments + r.staged + r.other;
  return r;
}

/* What ptxas allots, for the residency of the kernel as it will be, where plan_mma_registers, from
 * which the launch bound follows, is on the safe side. Constants are fitted to half of the kernels
 * of specs/ (docs/model.md). */
static void expect_registers(plan_builder *b, mma_registers r) {
  kernel_plan *p = b->plan;
  const mma_tile t = {p->tile_m, p->tile_n, p->tile_k, p->warp_m, p->warp_n, p->fragments};
  int ahead = 0;
  if (plan_mma_gathers(b)) {
    int sums = p->promote_k > 0 ? r.accumulators / 2 : r.accumulators;
    /* Addresses, and bytes on their way into words of four: fewer than a bound has to allow. */
    int each = holds_few_addresses(b) ? 0 : 3 * r.staged / 4 + (p->element == 1 ? 30 : 0);
    r.other = 45 + sums / 4 + each - (p->promote_k > 0 ? 15 : 0) + scale_registers(p, &t);
  } else if (p->fragments == 1 && p->unroll_k > 1) {
    ahead = r.fragments; /* ptxas loads the next set before the last products of this one */
  }
  /* Words of f64 in pairs wait for partners: as many as there are sums, up to 16 of them. */
  if (p->type_a == GG_F64 && r.accumulators < 32) r.other -= 16 - r.accumulators / 2;
  /* TMA's copies have neither addresses nor guards, and f64's offsets are computed where they are
   * used. */
  if (plan_mma_by_tma(b))
    r.other -= 10 + (b->variant == VARIANT_EDGE ? 6 : 0) + (p->type_a == GG_F64 ? 16 : 0);
  /* Where registers are left, only guards make ptxas keep some for it. */
  if (b->variant != VARIANT_NARROW && sorts(p)) r.other -= b->variant == VARIANT_EDGE ? 8 : SORTING;
  int total = r.accumulators + r.fragments + r.staged + r.other + ahead;
  char loads[32] = "";
  if (ahead > 0) snprintf(loads, sizeof loads, " + %d loads ahead", ahead);
  SET(registers, total < p->register_limit ? total : p->register_limit,
      "%d accumulators + %d fragments + %d staged + %d other%s%s", r.accumulators, r.fragments,
      r.staged, r.other, loads, total > p->register_limit ? "; the limit is less" : "");
}

/* Staging of D that no stage has room for. */
static int behind_ring(const plan_builder *b) {
  return b->plan->d_reuses ? 0 : b->plan->d_bytes;
}

int plan_mma_usual_stages(const plan_builder *b) {
  return staged(b) ? 2 : USUAL_STAGES;
}

int plan_mma_share(const plan_builder *b, int blocks) {
  int bytes = b->gpu->shared_sm / blocks - b->gpu->shared_reserved;
  return bytes < b->gpu->shared_block ? bytes : b->gpu->shared_block;
}

/* Stages that so many blocks on an SM leave each. */
static int stages_for(const plan_builder *b, int blocks) {
  int stage = b->plan->stage_bytes + (plan_mma_by_tma(b) ? MBARRIERS : 0);
  return (plan_mma_share(b, blocks) - behind_ring(b)) / stage;
}

static void choose_shared_bytes(plan_builder *b) {
  kernel_plan *p = b->plan;
  int barriers = plan_mma_by_tma(b) ? MBARRIERS * p->stages : 0;
  if (barriers > 0) SET(barrier_bytes, barriers, "a full and an empty mbarrier of 8 bytes a stage");
  int bytes = p->stages * p->stage_bytes + behind_ring(b) + barriers;
  if (barriers > 0)
    SET(shared_bytes, bytes, "%d stages x %d + %d for D + %d", p->stages, p->stage_bytes,
        p->d_bytes, barriers);
  else
    SET(shared_bytes, bytes, p->d_reuses ? "%d stages x %d" : "%d stages x %d + %d for D",
        p->stages, p->stage_bytes, p->d_bytes);
  if (p->shared_bytes > b->gpu->shared_block)
    plan_refuse(b, plan_given(b, SPEC_STAGES) ? SPEC_STAGES : SPEC_TILE_K, "shared-memory",
                "%d stages of %d B are %d B of shared memory, more than the %d B a block of %s may "
                "have; use fewer stages or a smaller tile",
                p->stages, p->stage_bytes, p->shared_bytes, b->gpu->shared_block, b->gpu->name);
}

void plan_mma_residency(plan_builder *b) {
  kernel_plan *p = b->plan;
  const mma_tile t = {p->tile_m, p->tile_n, p->tile_k, p->warp_m, p->warp_n, p->fragments};
  mma_registers r = plan_mma_registers(b, &t, p->fragments);
  int asked = plan_asked(b, SPEC_STAGES, 0);
  int least = asked > 0 ? asked : plan_mma_least_stages(b);
  int margin = b->variant == VARIANT_FULL ? 0 : 4; /* guards are the least sure part of it */
  int blocks = 1;
  while (blocks + 1 <= plan_blocks_by_registers(b, round_up(r.total + margin, 8)) &&
         (blocks + 1) * p->threads <= b->gpu->threads_sm && stages_for(b, blocks + 1) >= least &&
         blocks < 8)
    ++blocks;
  blocks = plan_asked(b, SPEC_MIN_BLOCKS, blocks);
  int most = plan_mma_usual_stages(b), fit = stages_for(b, blocks);
  TAKE(stages, STAGES, fit < most ? fit : most, NULL,
       staged(b) ? "one tile in registers while one is computed"
                 : "what %d blocks of an SM have room for, up to 4",
       blocks);
  if (p->stages < 2 || p->stages > MOST_STAGES)
    plan_refuse(b, SPEC_STAGES, "stages", "%d; rings here have 2 to %d stages; use %d", p->stages,
                MOST_STAGES, p->stages < 2 ? 2 : MOST_STAGES);
  else if (p->stages > 2 && !b->gpu->has_cp_async)
    plan_refuse(b, SPEC_STAGES, "stages",
                "%d stages need cp.async (sm_80 and later), %s is sm_%d; use 2", p->stages,
                b->gpu->name, b->gpu->arch);
  choose_shared_bytes(b);
  TAKE(min_blocks, MIN_BLOCKS, blocks, "mb",
       "as many as %d registers, which a thread needs, x %d threads and the ring allow", r.total,
       p->threads);
  plan_register_limit(b);
  if (r.total > p->register_limit)
    plan_refuse(b, plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS : SPEC_TILE_M, "registers",
                "about %d registers a thread (%d accumulators, %d fragments, %d staged), the limit "
                "is %d: the kernel would spill; use %s",
                r.total, r.accumulators, r.fragments, r.staged, p->register_limit,
                plan_given(b, SPEC_MIN_BLOCKS) ? "fewer min_blocks" : "a smaller warp tile");
  expect_registers(b, r);
}

/* Of the fastest kernel of these types on this GPU, per mille. */
static int best_speed(const plan_builder *b) {
  const kernel_plan *p = b->plan;
  if (!b->gpu->has_wgmma || p->type_a == GG_F64 || b->gpu->mma_sync_percent == 0) return 1000;
  return 10 * b->gpu->mma_sync_percent;
}

/* Instructions that stand in the text of the epilogue: each accumulator is put into shared memory
 * once, of the stores there is a batch for each group of staged rows. */
static int epilogue_instructions(const kernel_plan *p) {
  int outputs = p->warp_m * p->warp_n / 32, groups = p->warp_m / p->d_rows;
  int guard = p->variant == VARIANT_FULL ? 0 : 6, steps = plan_step_instructions(p);
  int direct = 2 * outputs + groups * p->store_batch * (8 + guard + p->store_vector);
  int sums = outputs + groups * p->sum_batch * (12 + 2 * guard + p->sum_vector * (steps + 6));
  bool has_direct = steps == 0 && p->beta != GG_SCALAR_ONE;
  bool has_sums = steps > 0 || p->beta != GG_SCALAR_ZERO;
  return has_direct * direct + has_sums * sums;
}

static void estimate_code(plan_builder *b) {
  kernel_plan *p = b->plan;
  int steps = p->tile_k / p->step_k;
  int products = p->warp_m / p->inst_m * (p->warp_n / 8) * (p->step_k / p->inst_k);
  int loads = (p->warp_m + p->warp_n) / 16;
  if (p->load_a == LOAD_LDS) loads += p->warp_m / 16 * 3;
  if (p->load_b == LOAD_LDS) loads += p->warp_n / 16 * 3;
  int widened = widens(p) ? 8 * loads : 0;
  int guarded = b->variant != VARIANT_FULL;
  int each = plan_mma_gathers(b) ? 12 / p->element + 6 : 3 + 3 * guarded;
  int copies = (p->copies_a + p->copies_b) * (plan_mma_by_tma(b) ? 8 : each);
  bool rolled = p->unroll_k < steps;
  int rings = p->unroll_stages ? p->stages : 1;
  int written = rolled ? 2 * p->unroll_k : steps; /* a loop's last turn stands behind it */
  int body = written * (products + loads + widened + (rolled ? 10 : 6)) + copies + 40;
  SET(loop_fmas, p->unroll_k * products * (rolled ? 1 : rings), "%d steps x %d instructions%s",
      p->unroll_k, products, rings > 1 && !rolled ? " x stages" : "");
  SET(loop_bytes, 16 * body * rings,
      "16 bytes x (%d steps x (%d products + %d loads + %d to widen) + %d for copies)%s", written,
      products, loads, widened, copies, rings > 1 ? " x stages" : "");
  int bodies = p->unroll_stages ? rings + 1 : 1; /* turns of the ring that are not whole */
  SET(code_bytes, 16 * (body * bodies + copies + epilogue_instructions(p) + 600) * 3 / 2 + 4096,
      "loop, prologue, %d instructions of the epilogue, and half for the compiler",
      epilogue_instructions(p));
  SET(compile_seconds, 30, "budget of every kernel");
  int gap = products * 3 / 4 / (loads > 0 ? loads : 1);
  SET(fragment_gap, gap > 0 ? gap : 1, "%d fragment loads over three quarters of %d products",
      loads, products);
  SET(copy_gap, products >= 32 ? 8 : 2, "spread, so that no two copies queue");
}

void plan_mma_cost(plan_builder *b) {
  kernel_plan *p = b->plan;
  int side = 2 * p->tile_m * p->tile_n / (p->tile_m + p->tile_n), best = best_speed(b);
  if (b->variant == VARIANT_NARROW) {
    int slots = plan_mma_gathers(b) ? PLAN_SLOTS_REGISTERS : PLAN_SLOTS_ASYNC;
    int rate = gpu_rate(b->gpu, plan_tensor_unit(p->type_a)) * best / 1000;
    double copies = plan_single_copies(p, true, true, slots, rate);
    int speed = (int)(best / (1 + 16.0 / side + copies));
    plan_speed(b, speed > 1 ? speed : 1,
               "%d / (1 + 16 / %d + %.2f): larger tiles read shared memory and L2 less; copies of "
               "one element, each %d slots of 128 beside %d FMAs a cycle",
               best, side, copies, slots, rate);
  } else if (!plan_speed_by_model(b)) {
    plan_speed(b, best * side / (side + 16),
               "%d x %d / (%d + 16): larger tiles read shared memory and L2 less", best, side,
               side);
  }
  SET(wave_loss, 100, "an idle SM's time is lost");
  TAKE(overhead_k, OVERHEAD_K, p->tile_k * (p->stages + 3), NULL,
       "%d k tiles to fill the ring, about 3 to store", p->stages);
  estimate_code(b);
}
