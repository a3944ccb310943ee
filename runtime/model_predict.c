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
    if (x[i] > 0.05 * top) sum += pow(x[i] / top, p);
  return top * pow(sum, 1 / p);
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
  double n = k->tile_n < MODEL_WARP ? k->tile_n : MODEL_WARP, m = MODEL_WARP / n;
  double touched = lines(m, k->element, k->along_k_a) + lines(n, k->element, k->along_k_b);
  return 2 * c->ldg_waves + touched * c->line_waves;
}

/* Cycles from one product of a warp (wgmma: warpgroup) to the same product of the next k tile, if
 * operands are there. */
static double serial(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                     double math) {
  if (k->family == MODEL_WGMMA) return (k->pingpong ? math : math / k->groups) + c->group_wait;
  double steps = model_steps(k);
  double warp = model_step_fmas(k) * MODEL_SCHEDULERS / model_rate(k, g);
  double sets = k->fragments > 0 ? k->fragments : 1;
  double wait = c->shared_latency - (sets - 1) * warp;
  /* With one output a thread the loads of all unrolled steps are under way at once. */
  bool single = k->family == MODEL_NAIVE || k->family == MODEL_SMEM;
  if (single) wait = c->shared_latency / (k->unroll_k > 0 ? k->unroll_k : 1);
  double chain = steps * (warp + most(0, wait));
  /* Family naive finds most of what it loads in L1: a line holds several k. */
  if (k->family == MODEL_NAIVE)
    return chain + c->latency_cycles * k->tile_k * k->element / MODEL_WAVEFRONT;
  return chain + c->barrier_cycles;
}

model_step model_step_of(const model_constants *c, const model_kernel *k, const gpu_facts *g) {
  model_step s = {0};
  double rate = model_rate(k, g);
  double share = !model_on_tensor_cores(k)  ? c->math_share
                 : k->family == MODEL_WGMMA ? c->tensor_share
                                            : c->mma_share;
  if (rate > 0) s.math = (double)k->tile_m * k->tile_n * k->tile_k / (rate * share);
  s.issue = model_issue_with(c, k, g).slots / MODEL_SCHEDULERS;
  double fragments = model_warps(k) * model_steps(k) * model_fragment_waves(k);
  s.shared = k->family == MODEL_NAIVE ? model_warps(k) * model_steps(k) * naive_waves(c, k)
                                      : fragments + (double)k->stage_bytes / MODEL_WAVEFRONT;
  double share_a = k->cluster_n > 1 ? k->cluster_n : 1,
         share_b = k->cluster_m > 1 ? k->cluster_m : 1;
  s.l2 = (k->tile_m / share_a + k->tile_n / share_b) * k->tile_k * k->element;
  double chain = serial(c, k, g, s.math);
  if (k->family == MODEL_NAIVE)
    s.chain = chain;
  else if (k->stages > 1)
    s.chain = most(chain, c->latency_cycles / (k->stages - 1));
  else
    s.chain = chain + c->latency_cycles;
  return s;
}

/* -- 5. Latency ----------------------------------------------------------------------------------
 */

model_latency model_latency_of(const model_kernel *k, const gpu_facts *g) {
  const model_constants *c = &model_fitted;
  model_latency l = {.latency = c->latency_cycles};
  int blocks = k->blocks_sm > 0 ? k->blocks_sm : 1;
  model_step s = model_step_of(c, k, g);
  double bytes_cycle = 1e3 * g->hbm_gbs / g->boost_mhz / g->sms;
  if (k->family == MODEL_NAIVE)
    l.in_flight = 2.0 * k->unroll_k * k->element * k->threads * blocks;
  else
    l.in_flight = (k->stages > 1 ? k->stages - 1 : 1) * (double)k->stage_bytes * blocks;
  l.needed = l.latency * bytes_cycle;
  l.compute = blocks * s.math;
  double stage = k->family == MODEL_NAIVE ? s.l2 : k->stage_bytes;
  l.fetch = l.latency + stage * blocks / most(bytes_cycle, c->sm_l2_bytes);
  l.stages_needed = l.compute > 0 ? 1 + ceil(l.fetch / l.compute) : 1;
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

/* Cycles of one round: b blocks at once on an SM, each with `steps` k tiles. */
static double round_cycles(const model_constants *c, const model_kernel *k, const model_step *s,
                           double b, double steps) {
  const double units[] = {s->math, s->issue, s->shared, s->l2 / c->sm_l2_bytes};
  double one = together(c->overlap, units, 4) * steps;
  double alone = two(c->overlap, one, s->chain * steps);
  double stores = (double)k->tile_m * k->tile_n * k->element_d / c->store_bytes;
  double ends = c->tail_cycles + stores;
  if (k->persistent) {
    double shown = k->pingpong ? 0 : c->epilogue_shown;
    return b > 1 ? most(b * one, alone + shown * ends) : alone + shown * ends;
  }
  ends += c->start_cycles + c->latency_cycles;
  return two(c->overlap, b * (one + stores), alone + ends);
}

/* Watts the card would draw at its highest clock, beside idle_watts, over its allowance. */
static double power_excess(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                           const model_waves *w, const model_problem *p, double seconds) {
  /* The energies were fitted on Hopper; other cards keep the clock of their papers. */
  if (!model_on_tensor_cores(k) || !g->has_wgmma || g->watts == 0) return 0;
  double rate = gpu_rate(g, (gpu_unit)k->unit);
  double fma = model_flop(p) / 2, k_tiles = ceil(p->k / k->tile_k);
  double reads = w->tiles * k_tiles * model_warps(k) * model_steps(k) * model_fragment_waves(k) *
                 MODEL_WAVEFRONT;
  double joules = 1e-12 * (fma * c->fma_pj * g->tensor_f16 / rate + reads * c->shared_pj +
                           w->l2_bytes * c->l2_pj + w->hbm_bytes * c->hbm_pj);
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
  model_step s = model_step_of(c, k, g);
  double split = k->cluster_k > 1 ? k->cluster_k : 1;
  double steps = ceil(p->k / split / k->tile_k);
  double b = k->blocks_sm > 0 ? k->blocks_sm : 1, blocks = w.tiles * split;

  /* Whole rounds of b blocks an SM, then one of what is left. */
  double full = floor(blocks / w.slots), rest = blocks - full * w.slots;
  double last = ceil(rest / g->sms);
  double cycles = full * round_cycles(c, k, &s, b, steps);
  if (rest > 0) cycles += round_cycles(c, k, &s, last, steps);
  double even = w.waves * round_cycles(c, k, &s, b, steps);
  if (full > 0 && even < cycles) cycles += c->wave_blur * (even - cycles);
  if (k->persistent) cycles += c->start_cycles + c->latency_cycles;
  if (split > 1) cycles += c->latency_cycles + w.split_bytes / blocks * b / c->sm_l2_bytes;

  double mhz = g->boost_mhz;
  bool capped = gpu_unit_is_tensor((gpu_unit)k->unit) && !g->has_wgmma;
  if (capped) mhz = gpu_clock(g, (gpu_unit)k->unit);
  double hbm = w.hbm_bytes / (1e9 * g->hbm_gbs * c->hbm_share);
  for (int pass = 0; pass < 2; ++pass) {
    double l2 = w.l2_bytes / (c->all_l2_bytes * g->sms * mhz * 1e6);
    const double limits[] = {cycles / (mhz * 1e6), l2, hbm};
    r.seconds = together(c->overlap, limits, 3);
    double excess = pass == 0 ? power_excess(c, k, g, &w, p, most(r.seconds, 1e-7)) : 0;
    if (excess <= 1) break;
    /* Power goes with the cube of the clock: cycles a second, times volts squared. */
    mhz /= cbrt(excess);
  }
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
  double ends = c->start_cycles + c->latency_cycles + c->tail_cycles;
  r.alone[BOUND_LATENCY] =
      (full + (rest > 0)) * (s.chain * steps + (k->persistent ? 0 : ends)) / (mhz * 1e6);
  rank_bounds(&r);
  return r;
}

model_prediction model_predict(const model_kernel *k, const gpu_facts *g, const model_problem *p) {
  return model_predict_with(&model_fitted, k, g, p);
}
