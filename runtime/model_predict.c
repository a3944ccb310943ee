/* model_predict.c - how long a kernel takes for a problem, and what binds it.
 *
 * An SM's units work side by side, so a k tile takes as long as the unit that it asks most of; the
 * others show a little (the norm of model_constants.overlap). A block also has a chain of its own:
 * fetch, barrier, product. With b blocks on an SM a round takes the larger of b times the units'
 * time and one chain. Rounds add up over the SMs; device memory and L2 bound the whole.
 */
#include "model_parts.h"

#include <math.h>

static double most(double a, double b) {
  return a > b ? a : b;
}

/* Limits that overlap: near the largest. */
static double together(double p, const double *x, int count) {
  double top = 0, sum = 0;
  for (int i = 0; i < count; ++i)
    top = most(top, x[i]);
  if (top <= 0) return 0;
  for (int i = 0; i < count; ++i)
    if (x[i] == top)
      sum += 1;
    else if (x[i] > 0.2 * top)
      sum += pow(x[i] / top, p);
  return sum > 1 ? top * pow(sum, 1 / p) : top;
}

static double two(double p, double a, double b) {
  const double x[2] = {a, b};
  return together(p, x, 2);
}

/* -- A k tile of a block ------------------------------------------------------------------------
 */

/* 128-byte lines that a warp's load touches of an operand whose `count` elements it needs lie along
 * k (each its own line) or beside each other. */
static double lines(double count, double element, bool along_k) {
  return along_k ? count : ceil(count * element / MODEL_WAVEFRONT);
}

static double naive_waves(const model_constants *c, const model_kernel *k) {
  if (model_shares_k(k)) /* whole lines */
    return (k->thread_m + k->thread_n) * (double)k->element * MODEL_WARP / MODEL_WAVEFRONT;
  double n = k->tile_n < MODEL_WARP ? k->tile_n : MODEL_WARP, m = MODEL_WARP / n;
  double touched = lines(m, k->element, k->along_k_a) + lines(n, k->element, k->along_k_b);
  return 2 * c->ldg_waves + touched * c->line_waves;
}

/* Cycles of one k tile for a warp that has its scheduler alone, operands being there: products and
 * loads one after the other, and the wait for loads that no products hide. */
static double warp_cycles(const model_constants *c, const model_kernel *k, const gpu_facts *g) {
  double steps = model_steps(k);
  double products = model_step_fmas(k) * MODEL_SCHEDULERS / model_rate(k, g);
  double sets = k->fragments > 0 ? k->fragments : 1;
  double wait = c->shared_latency - (sets - 1) * products;
  /* With one output a thread the loads of all unrolled steps are under way at once. */
  if (k->family == MODEL_SMEM) wait = c->shared_latency / (k->unroll_k > 0 ? k->unroll_k : 1);
  double issue = model_issue_with(c, k, g).slots / model_warps(k) / steps;
  return steps * (most(products, issue) + most(0, wait));
}

/* Period of a ring: cycles from one k tile of a block to the next.
 * wgmma: a stage is given back when the products of the next one have begun, so all stages but one
 * hold what is fetched; its 64-row blocks are computed in turn, and the last one holds it. An
 * operand that the copying warps turn takes them turn_cycles a copy.
 * CUDA cores, mma: while one stage is computed the copies of the one s - 1 tiles ahead are spread
 * over its k steps, but the last; rolled, they stand before the first. So s - 1 periods hold those
 * steps and the last copy's latency; with two sets of fragments the next tile is waited for before
 * the last step, which they hold as well. A ring of two stages hides nothing of the latency. What
 * is copied through registers waits there for one k tile more. */
static model_ring ring_of(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                          const model_step *s) {
  model_ring r = {.latency = s->latency,
                  .asked = s->asked,
                  .fetch = s->fetch,
                  .ahead = k->stages > 1 ? k->stages - 1 : 1};
  if (k->family == MODEL_WGMMA) {
    double blocks = model_wgmma_rows(k) / 64;
    if (k->promote_k > 0) {
      r.promoted = (double)k->tile_m * k->tile_n / MODEL_WAVEFRONT;
      r.waits = blocks * c->promote_cycles;
    }
    r.held = (blocks - 1) / blocks * s->math + r.promoted;
    r.group = c->group_wait;
    r.own = (s->math + r.promoted + r.waits) / (k->pingpong ? 1 : k->groups);
    if (k->path_b == MODEL_STAGED) r.turned = k->copies_b * c->turn_cycles;
  } else {
    double steps = model_steps(k);
    bool rolled = k->unroll_k > 0 && k->unroll_k < steps;
    double last = steps > 1 ? 1 / steps : 1, spread = rolled ? 0 : 1 - last;
    double share = k->stages == 1 ? 1 : spread + (k->fragments > 1 ? last : 0);
    r.own = warp_cycles(c, k, g);
    /* The block's warps together. */
    double busy = most(most(r.own, s->math), most(s->issue, s->shared));
    bool staged = k->path_a == MODEL_STAGED && k->path_b == MODEL_STAGED;
    if (staged && k->stages > 1) r.ahead += 1;
    /* By tensor maps a stage is asked for, by warps in turn, as soon as all have read it: the fetch
     * and one k tile's products share the whole ring. */
    if (k->path_a == MODEL_TMA && k->path_b == MODEL_TMA) share = 1, r.ahead = k->stages;
    r.held = share * busy;
  }
  r.period = most(most(r.own, (r.fetch + r.held) / r.ahead + r.group), r.turned);
  return r;
}

/* The unrolled loads of family naive wait for L2 together, unless they find their line in L1: along
 * k a line holds several steps, across it each step has its own. */
static double naive_chain(const model_constants *c, const model_kernel *k) {
  if (model_shares_k(k)) return c->latency_cycles; /* of a round of loads */
  double line = (double)k->tile_k * k->element / MODEL_WAVEFRONT;
  double misses = k->along_k_a && k->along_k_b ? line : 1;
  return c->shared_latency + c->load_cycles * misses;
}

/* What shared memory's port does for a k tile. */
static double port_cycles(const model_constants *c, const model_kernel *k) {
  if (k->family == MODEL_NAIVE) return model_warps(k) * model_steps(k) * naive_waves(c, k);
  model_wavefronts w = model_wavefronts_of(k);
  return w.loads + (k->family == MODEL_WGMMA ? c->fill_share : 1) * w.fill;
}

model_step model_step_of(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                         const model_problem *p, const model_waves *w) {
  model_step s = {0};
  double rate = model_rate(k, g);
  double share = !model_on_tensor_cores(k)   ? 1 /* in the issue slots */
                 : k->family == MODEL_WGMMA  ? c->tensor_share
                 : k->unit == GPU_TENSOR_F64 ? c->dmma_share
                 : k->family == MODEL_MMA    ? c->mma_share
                                             : c->wmma_share;
  if (rate > 0) s.math = (double)k->tile_m * k->tile_n * k->tile_k / (rate * share);
  s.issue = model_issue_with(c, k, g).slots / MODEL_SCHEDULERS;
  s.shared = port_cycles(c, k);
  model_traffic factor = {1, 1};
  double far = 0;
  if (w && w->l2_bytes > 0) {
    factor = model_traffic_of(c, k, p, w);
    far = (w->hbm_bytes - p->m * p->n * p->batch * k->element_d) / w->l2_bytes;
  }
  /* What other blocks of a cluster have fetched arrives here as well. */
  s.l2 = (factor.a * k->tile_m + factor.b * k->tile_n) * k->tile_k * k->element;
  bool maps = k->path_a == MODEL_TMA;
  s.latency = (maps ? c->tma_cycles : c->latency_cycles) + c->far_cycles * (far < 1 ? far : 1);
  /* Copies queue where the products, at full rate, ask L2 for much of what it gives. */
  double busy = most(s.math, most(s.issue, s.shared));
  s.asked = busy > 0 ? s.l2 / busy / c->all_l2_bytes : 0;
  if (s.asked > 1) s.asked = 1;
  s.fetch = s.latency * (1 + c->queue * s.asked) + s.l2 / c->sm_l2_bytes;
  if (k->family == MODEL_NAIVE) {
    s.chain = naive_chain(c, k);
    return s;
  }
  if (k->path_a != MODEL_TMA) {
    s.barrier = c->barrier_cycles;
    /* A second set would have been loaded before; without one the other blocks of the SM, which
     * compute from a single set as well, do not fill the gap either (measured: f64). */
    if (k->fragments == 1) {
      s.first = s.barrier + c->first_share * model_warps(k) / k->k_slices * model_fragment_waves(k);
      s.barrier = 0;
    }
  }
  s.chain = ring_of(c, k, g, &s).period;
  /* Beyond the instruction cache the loop is fetched anew each time. */
  double beyond = (double)k->loop_bytes / (32 << 10) - 1;
  if (beyond > 0) s.issue *= 1 + c->code_share * beyond, s.chain *= 1 + c->code_share * beyond;
  return s;
}

/* -- 5. Latency ----------------------------------------------------------------------------------
 */

model_latency model_latency_of(const model_kernel *k, const gpu_facts *g) {
  const model_constants *c = &model_fitted;
  model_latency l = {.latency = k->path_a == MODEL_TMA ? c->tma_cycles : c->latency_cycles};
  int blocks = k->blocks_sm > 0 ? k->blocks_sm : 1;
  model_step s = model_step_of(c, k, g, NULL, NULL);
  double bytes_cycle = 1e3 * g->hbm_gbs / g->boost_mhz / g->sms;
  if (k->family != MODEL_NAIVE) l.latency = s.latency * (1 + c->queue * s.asked);
  if (k->family == MODEL_NAIVE)
    l.in_flight = (model_shares_k(k) ? 1.0 : 2.0) * k->unroll_k * k->element * k->threads * blocks;
  else
    l.in_flight = (k->stages > 1 ? k->stages - 1 : 1) * (double)k->stage_bytes * blocks;
  l.needed = l.latency * bytes_cycle;
  l.compute = blocks * s.math;
  double stage = k->family == MODEL_NAIVE ? s.l2 : k->stage_bytes;
  l.fetch = l.latency + stage * blocks / c->sm_l2_bytes;
  l.stages_needed = l.compute > 0 ? 1 + ceil(l.fetch / l.compute) : 1;
  if (k->family == MODEL_NAIVE) return l;
  l.ring = ring_of(c, k, g, &s);
  l.ring.barrier = s.barrier;
  l.ring.first = s.first;
  return l;
}

/* -- 8. Prediction -------------------------------------------------------------------------------
 */

/* ORDER BOUND */
static const char *const bound_names[BOUND_COUNT] = {
    "multiplying unit", "issue slots", "shared memory", "L2", "device memory", "latency"};

const char *model_bound_name(model_bound b) {
  return bound_names[b];
}

/* Parts of a block, in cycles. start: with the first fetch; units, alone: all its k tiles, by what
 * they ask of the SM's units, and by that and the block's own chain. */
typedef struct timeline {
  double start, units, chain, alone, stores, tail;
} timeline;

/* Cycles of one k tile that the units of an SM need for one block. On CUDA cores the products are
 * among what is issued; tensor cores work beside it. */
static double unit_cycles(const model_constants *c, const model_kernel *k, const model_step *s) {
  double l2 = s->l2 / c->sm_l2_bytes;
  if (!model_on_tensor_cores(k)) {
    const double units[] = {most(s->math, s->issue), s->shared, l2};
    return together(c->overlap, units, 3);
  }
  const double units[] = {s->math, s->issue, s->shared, l2};
  return together(c->overlap, units, 4);
}

double model_sm_rate(const model_kernel *k, const gpu_facts *g, int blocks) {
  const model_constants *c = &model_fitted;
  model_step s = model_step_of(c, k, g, NULL, NULL);
  double units = unit_cycles(c, k, &s) + s.first;
  double cycles = two(c->overlap_blocks, units, s.chain) + s.barrier;
  if (blocks > 1) cycles = two(c->overlap_blocks, blocks * units, cycles);
  return cycles > 0 ? blocks * (double)k->tile_m * k->tile_n * k->tile_k / cycles : 0;
}

/* Cycles of one round: b blocks at once on an SM. */
static double round_cycles(const model_constants *c, const model_kernel *k, const timeline *t,
                           double b) {
  double ends = t->tail + t->stores;
  /* Ping-pong: one group's products at a time, stores of one behind the products of the other. */
  if (k->persistent && k->pingpong)
    return most(two(c->overlap_blocks, t->units, t->chain), (t->chain + ends) / 2);
  if (k->persistent)
    ends *= c->epilogue_shown;
  else
    ends += t->start;
  if (b <= 1) return t->alone + ends;
  return two(c->overlap_blocks, b * (t->units + t->stores), t->alone + ends);
}

/* Cycles of all rounds on the busiest SM. */
static double all_rounds(const model_constants *c, const model_kernel *k, const model_waves *w,
                         const timeline *t, double blocks, int sms) {
  double b = k->blocks_sm > 0 ? k->blocks_sm : 1;
  double full = floor(blocks / w->slots), rest = blocks - full * w->slots;
  double last = ceil(rest / sms), whole = round_cycles(c, k, t, b);
  double cycles = full * whole;
  if (rest > 0) cycles += last == b ? whole : round_cycles(c, k, t, last);
  double even = blocks / w->slots * whole;
  if (full > 0 && even < cycles) cycles += c->wave_blur * (even - cycles);
  if (!k->persistent) return cycles;
  /* The first fetch, and the last stores, behind which nothing is left to hide. */
  double ends = t->tail + t->stores;
  cycles += t->start + (k->pingpong ? 1 : 1 - c->epilogue_shown) * ends;
  /* A single tile of a ping-pong block runs alone. */
  if (k->pingpong && full + (rest > 0) < 2) cycles = most(cycles, t->alone + t->start + ends);
  return cycles;
}

static double fma_pj(const model_constants *c, const model_kernel *k) {
  if (k->unit == GPU_TENSOR_F64) return c->dmma_pj;
  double own = k->unit == GPU_TENSOR_TF32 ? c->tf32_pj
               : k->unit == GPU_TENSOR_F8 ? c->f8_pj
               : k->unit == GPU_TENSOR_S8 ? c->s8_pj
                                          : c->fma_pj;
  return k->family == MODEL_WGMMA ? own : own + c->mma_pj;
}

/* Watts the card would draw at its highest clock, beside idle_watts, over its allowance. */
static double power_excess(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                           const model_waves *w, const model_problem *p, double seconds) {
  /* The energies were fitted on Hopper; other cards keep the clock of their papers. */
  if (!model_on_tensor_cores(k) || !g->has_wgmma || g->watts == 0) return 0;
  double fma = model_flop(p) / 2, k_tiles = ceil(p->k / k->tile_k);
  double reads = w->tiles * k_tiles * model_warps(k) * model_steps(k) * model_fragment_waves(k) *
                 MODEL_WAVEFRONT;
  double each = fma_pj(c, k);
  double joules = 1e-12 * (fma * each + reads * c->shared_pj + w->l2_bytes * c->l2_pj +
                           w->hbm_bytes * c->hbm_pj);
  return joules / seconds / (g->watts - c->idle_watts);
}

static void rank_bounds(model_prediction *r) {
  for (int b = 1; b < BOUND_COUNT; ++b)
    if (r->alone[b] > r->alone[r->binding]) r->binding = (model_bound)b;
  r->runner_up = r->binding == 0 ? (model_bound)1 : (model_bound)0;
  for (int b = 0; b < BOUND_COUNT; ++b)
    if (b != (int)r->binding && r->alone[b] > r->alone[r->runner_up]) r->runner_up = (model_bound)b;
}

model_prediction model_predict_with(const model_constants *c, const model_kernel *k,
                                    const gpu_facts *g, const model_problem *p) {
  model_prediction r = {.launch = 1e-6 * c->launch_us};
  model_waves w = model_waves_with(c, k, g, p);
  model_step s = model_step_of(c, k, g, p, &w);
  double split = k->cluster_k > 1 ? k->cluster_k : 1;
  double b = k->blocks_sm > 0 ? k->blocks_sm : 1, blocks = w.tiles * split;
  double full = floor(blocks / w.slots), rest = blocks - full * w.slots;
  double last = ceil(rest / g->sms);
  bool maps = k->path_a == MODEL_TMA;
  double steps = ceil(p->k / split / k->tile_k);
  double store = k->family == MODEL_WGMMA && k->guarded ? c->guarded_bytes : c->store_bytes;
  double meet = k->cluster_m * k->cluster_n > 1 ? c->cluster_start : 0;
  timeline t = {.start = c->start_cycles + (maps ? c->map_cycles : 0) + meet + s.fetch,
                .units = steps * (unit_cycles(c, k, &s) + s.first),
                .chain = steps * s.chain,
                .stores = (double)k->tile_m * k->tile_n * k->element_d / store / split,
                .tail = c->tail_cycles};
  if (split > 1) t.tail += c->cluster_cycles + w.split_bytes / blocks / c->cluster_bytes;
  /* At a barrier all warps of a block stand; other blocks go on. */
  t.alone = two(c->overlap_blocks, t.units, t.chain) + steps * s.barrier;
  double cycles = blocks > 0 ? all_rounds(c, k, &w, &t, blocks, g->sms) : 0;

  double mhz = g->boost_mhz;
  bool capped = gpu_unit_is_tensor((gpu_unit)k->unit) && !g->has_wgmma;
  if (capped) mhz = gpu_clock(g, (gpu_unit)k->unit);
  double written = p->m * p->n * p->batch * k->element_d;
  double read = model_shares_k(k) ? c->stream_share : c->hbm_share;
  double hbm = ((w.hbm_bytes - written) / read + written / c->write_share) / (1e9 * g->hbm_gbs);
  for (int pass = 0; pass < 2; ++pass) {
    double l2 = w.l2_bytes / (c->all_l2_bytes * g->sms * mhz * 1e6);
    const double limits[] = {cycles / (mhz * 1e6), l2, hbm};
    r.seconds = together(c->overlap_memory, limits, 3);
    double excess = pass == 0 ? power_excess(c, k, g, &w, p, most(r.seconds, 1e-7)) : 0;
    if (excess <= 1) break;
    /* Power goes with the cube of the clock: cycles a second, times volts squared. */
    mhz /= cbrt(excess);
  }
  /* As the library launches it (runtime/select.c). */
  r.early = k->programmatic && (2 * hbm <= r.seconds || 2 * blocks <= g->sms);
  if (r.early) r.launch -= 1e-6 * c->early_us;
  r.seconds += r.launch;
  r.mhz = mhz;
  r.tflops = r.seconds > 0 ? 1e-12 * model_flop(p) / r.seconds : 0;
  double peak = gpu_peak(g, (gpu_unit)k->unit);
  r.peak_share = peak > 0 ? r.tflops / peak : 0;

  double turns = (full * b + (rest > 0 ? last : 0)) * steps / (mhz * 1e6);
  r.alone[BOUND_MATH] = turns * s.math;
  r.alone[BOUND_ISSUE] = turns * s.issue;
  r.alone[BOUND_SHARED] = turns * s.shared;
  r.alone[BOUND_L2] =
      most(turns * s.l2 / c->sm_l2_bytes, w.l2_bytes / (c->all_l2_bytes * g->sms * mhz * 1e6));
  r.alone[BOUND_HBM] = hbm;
  double ends = t.start + t.tail, rounds = full + (rest > 0);
  double chains = s.chain + s.barrier;
  r.alone[BOUND_LATENCY] =
      (rounds * chains * steps + (k->persistent ? rounds > 0 : rounds) * ends) / (mhz * 1e6);
  /* Whole rounds are counted, of which uneven blocks hide a little. */
  for (int bound = 0; bound < BOUND_COUNT; ++bound)
    if (r.alone[bound] > r.seconds) r.alone[bound] = r.seconds;
  rank_bounds(&r);
  return r;
}

model_prediction model_predict(const model_kernel *k, const gpu_facts *g, const model_problem *p) {
  return model_predict_with(&model_fitted, k, g, p);
}
