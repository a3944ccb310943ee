/* model.c - what a kernel asks of an SM: intensity, shared memory, registers, capacity, issue
 * slots.
 *
 * Nothing here is fitted but the issue slots of shared loads and copies; the rest is arithmetic on
 * the kernel's own numbers and the GPU's papers.
 */
#include "model_parts.h"

#include <math.h>

/* -- Shape --------------------------------------------------------------------------------------
 */

double model_rate(const model_kernel *k, const gpu_facts *g) {
  double rate = gpu_rate(g, (gpu_unit)k->unit);
  bool sync = k->family == MODEL_WMMA || k->family == MODEL_MMA;
  /* Where there is wgmma, mma.sync computes e4m3 and e5m2 as f16; f64 has no other form. */
  if (sync && g->has_wgmma && k->unit == GPU_TENSOR_F8) rate = g->tensor_f16;
  if (sync && k->unit != GPU_TENSOR_F64 && g->mma_sync_percent > 0)
    rate *= g->mma_sync_percent / 100.0;
  return rate;
}

double model_warps(const model_kernel *k) {
  /* Ping-pong: each tile is one warpgroup's. */
  if (k->family == MODEL_WGMMA) return 4.0 * (k->pingpong ? 1 : k->groups);
  return (double)k->threads / MODEL_WARP;
}

bool model_shares_k(const model_kernel *k) {
  return k->family == MODEL_NAIVE && k->k_slices > 1;
}

double model_steps(const model_kernel *k) {
  double one = model_on_tensor_cores(k) && k->inst_k > 0 ? k->inst_k : 1;
  return k->tile_k / one / k->k_slices;
}

/* What a warp computes; on CUDA cores with one output a thread it is a run along n. */
static void warp_tile(const model_kernel *k, double *m, double *n) {
  if (k->family == MODEL_WGMMA) {
    /* The warpgroup's: its four warps read one B together. */
    *m = model_wgmma_rows(k) / (k->pingpong ? 1 : k->groups);
    *n = k->swap ? k->tile_m : k->tile_n;
  } else if (model_on_tensor_cores(k)) {
    *m = k->warp_m;
    *n = k->warp_n;
  } else if (model_shares_k(k)) {
    *m = k->thread_m; /* of each lane's part of k */
    *n = k->thread_n * MODEL_WARP;
  } else if (k->family == MODEL_SIMT) {
    *m = k->lanes_m * k->thread_m;
    *n = k->lanes_n * k->thread_n;
  } else {
    *n = k->tile_n < MODEL_WARP ? k->tile_n : MODEL_WARP;
    *m = MODEL_WARP / *n;
  }
}

double model_step_fmas(const model_kernel *k) {
  double m, n;
  warp_tile(k, &m, &n);
  if (k->family == MODEL_WGMMA) m /= 4;
  return m * n * (model_on_tensor_cores(k) && k->inst_k > 0 ? k->inst_k : 1);
}

/* -- 1. Arithmetic intensity --------------------------------------------------------------------
 */

double model_flop(const model_problem *p) {
  return 2 * p->m * p->n * p->k * p->batch;
}

double model_compulsory_bytes(const model_problem *p, double element, double element_d,
                              bool with_d) {
  double bytes = (p->m * p->k + p->k * p->n) * element;
  if (with_d) bytes += p->m * p->n * element_d;
  return bytes * p->batch;
}

double model_tile_intensity(double m, double n) {
  return 2 * m * n / (m + n);
}

double model_ridge(const gpu_facts *g, gpu_unit unit) {
  return 1e3 * gpu_peak(g, unit) / g->hbm_gbs;
}

/* -- 2. Shared memory to registers --------------------------------------------------------------
 */

double model_feed(double m, double n, double element, double rate) {
  return (m + n) * element / (m * n) * rate;
}

/* Wavefronts of one load of `bytes` a lane, where lane l reads vector index l / run (rows) or
 * l % run (columns) of a contiguous row. Shared memory serves 32 lanes of 4 bytes, 16 of 8 or 8 of
 * 16 at once; two such groups are served as one where lanes l and l ^ 1, or l and l ^ 2, read the
 * same (measured on an H200; the emulated GPU counts by the same rule). */
static double load_waves(double bytes, int run, bool rows) {
  int group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  int groups = MODEL_WARP / group;
  bool paired = rows ? run % 2 == 0 : run <= 2;
  if (groups > 1 && paired) group *= 2, groups /= 2;
  int distinct = rows ? (group + run - 1) / run : run < group ? run : group;
  return groups * ceil(distinct * bytes / MODEL_WAVEFRONT);
}

/* Matrix loads take 8 rows of 16 bytes at once, which 32 banks serve in one wavefront if the rows
 * begin in 8 different chunks of the 128 bytes; pitch: between the rows. */
static double matrix_ways(int pitch, bool swizzled) {
  if (swizzled || pitch <= 0) return 1;
  int apart = pitch % MODEL_WAVEFRONT, begins = 1;
  while (begins < 8 && apart * begins % MODEL_WAVEFRONT != 0)
    ++begins;
  return 8.0 / begins;
}

double model_fragment_waves(const model_kernel *k) {
  if (k->family == MODEL_NAIVE) return 0;
  if (k->family == MODEL_SMEM) return 2 * load_waves(k->element, MODEL_WARP, false);
  if (k->family == MODEL_SIMT) {
    double bytes = k->vector * k->element;
    return (double)k->thread_m / k->vector * load_waves(bytes, k->lanes_n, true) +
           (double)k->thread_n / k->vector * load_waves(bytes, k->lanes_n, false);
  }
  double m, n;
  warp_tile(k, &m, &n);
  double step = k->inst_k * k->element;
  if (k->family == MODEL_MMA) return (m * k->meet_a + n * k->meet_b) * step / MODEL_WAVEFRONT;
  if (k->family != MODEL_WGMMA)
    return (m * matrix_ways(k->pitch_a, k->swizzle) + n * matrix_ways(k->pitch_b, k->swizzle)) *
           step / MODEL_WAVEFRONT;
  /* Each m64 instruction of a warpgroup reads its own A and all of B; a quarter for each warp. */
  return m / 64 * (64 + n) * step / MODEL_WAVEFRONT / 4;
}

model_wavefronts model_wavefronts_of(const model_kernel *k) {
  model_wavefronts w = {0};
  if (k->family == MODEL_NAIVE) return w;
  w.loads = model_warps(k) * model_steps(k) * model_fragment_waves(k);
  w.fill = k->fill_a + k->fill_b;
  return w;
}

model_shared model_shared_of(const model_kernel *k, const gpu_facts *g) {
  model_shared s = {.available = g->shared_bytes_cycle};
  double rate = model_rate(k, g);
  warp_tile(k, &s.warp_m, &s.warp_n);
  bool cores = !model_on_tensor_cores(k);
  s.thread_m = cores ? k->thread_m : s.warp_m;
  s.thread_n = cores ? k->thread_n : s.warp_n;
  s.per_thread = model_feed(s.thread_m, s.thread_n, k->element, rate);
  s.per_warp = model_feed(s.warp_m, s.warp_n, k->element, rate);
  if (k->family == MODEL_NAIVE) return s;
  s.served = model_fragment_waves(k) * MODEL_WAVEFRONT / model_step_fmas(k) * rate;
  s.fill = model_feed(k->tile_m, k->tile_n, k->element, rate);
  s.share = (s.served + s.fill) / s.available;
  return s;
}

/* -- 3. Registers and residency -----------------------------------------------------------------
 */

/* Registers are given out 256 at a time to each warp (8 a thread), a quarter of them to the warps
 * of each scheduler. */
static int blocks_by_registers(const model_kernel *k, const gpu_facts *g) {
  int thread = (k->registers + 7) / 8 * 8;
  if (thread == 0) return g->blocks_sm;
  int warps = g->registers_sm / MODEL_SCHEDULERS / (MODEL_WARP * thread);
  return MODEL_SCHEDULERS * warps / ((k->threads + MODEL_WARP - 1) / MODEL_WARP);
}

model_residency model_residency_of(const model_kernel *k, const gpu_facts *g) {
  model_residency r = {.by_registers = blocks_by_registers(k, g),
                       .by_shared = g->blocks_sm,
                       .by_threads = g->threads_sm / k->threads,
                       .by_blocks = g->blocks_sm};
  if (k->shared_bytes + g->shared_reserved > 0)
    r.by_shared = g->shared_sm / (k->shared_bytes + g->shared_reserved);
  r.blocks = r.by_blocks;
  r.limit = LIMIT_BLOCKS;
  if (r.by_threads < r.blocks) r.blocks = r.by_threads, r.limit = LIMIT_THREADS;
  if (r.by_shared < r.blocks) r.blocks = r.by_shared, r.limit = LIMIT_SHARED;
  if (r.by_registers < r.blocks) r.blocks = r.by_registers, r.limit = LIMIT_REGISTERS;
  double words = k->element > 4 ? 2 : 1, m, n;
  warp_tile(k, &m, &n);
  if (k->family == MODEL_WGMMA) {
    r.accumulators = m * n / 128;
  } else if (model_on_tensor_cores(k)) {
    r.accumulators = words * m * n / MODEL_WARP;
    r.fragments = k->fragments * (m + n) * k->inst_k * k->element / 4 / MODEL_WARP;
  } else {
    r.accumulators = words * k->thread_m * k->thread_n;
    int sets = k->fragments > 0 ? k->fragments : 1;
    r.fragments = words * sets * (k->thread_m + k->thread_n);
  }
  if (k->promote_k > 0) r.accumulators *= 2;
  r.other = k->registers - r.accumulators - r.fragments;
  r.warps = r.blocks * k->threads / MODEL_WARP;
  r.occupancy = (double)r.warps * MODEL_WARP / g->threads_sm;
  double instruction = model_on_tensor_cores(k) && k->inst_m > 0
                           ? (double)k->inst_m * k->inst_n * k->inst_k
                           : MODEL_WARP;
  r.independent = model_step_fmas(k) * (k->family == MODEL_WGMMA ? 4 : 1) / instruction;
  return r;
}

/* -- 4. Shared memory's capacity ----------------------------------------------------------------
 */

model_capacity model_capacity_of(const model_kernel *k, const gpu_facts *g) {
  model_capacity c = {.stage = k->stage_bytes, .total = k->shared_bytes};
  c.ring = (double)k->stages * k->stage_bytes;
  c.other = c.total > c.ring ? c.total - c.ring : 0;
  if (k->stage_bytes > 0) c.stages_fit = (int)((g->shared_block - c.other) / k->stage_bytes);
  c.blocks = k->shared_bytes > 0 ? g->shared_sm / (k->shared_bytes + g->shared_reserved) : 0;
  int blocks = k->blocks_sm > 0 ? k->blocks_sm : 1;
  c.share = (double)blocks * (k->shared_bytes > 0 ? k->shared_bytes + g->shared_reserved : 0) /
            g->shared_sm;
  return c;
}

/* -- 6. Issue slots ------------------------------------------------------------------------------
 */

/* Math instructions of one k step of one warp. */
static double math_instructions(const model_kernel *k) {
  if (!model_on_tensor_cores(k)) return model_step_fmas(k) / MODEL_WARP;
  double one = (double)k->inst_m * k->inst_n * k->inst_k;
  if (k->family == MODEL_WGMMA) one /= 4; /* each of the four warps issues it */
  return one > 0 ? model_step_fmas(k) / one : 0;
}

/* Shared (naive: global) loads of one k step of one warp, and the 4-byte words a lane gets of one.
 */
static double fragment_loads(const model_kernel *k, double *words) {
  *words = 1;
  switch ((model_family)k->family) {
  case MODEL_WGMMA:
    return 0;
  case MODEL_WMMA:
  case MODEL_MMA: {
    double m, n;
    warp_tile(k, &m, &n);
    double bytes = (double)k->inst_k * k->element / MODEL_WARP;
    double loads = m * bytes / k->load_a + n * bytes / k->load_b;
    *words = (m + n) * bytes / 4 / loads;
    return loads;
  }
  case MODEL_SIMT:
    *words = k->vector * k->element / 4.0;
    return (double)(k->thread_m + k->thread_n) / k->vector;
  case MODEL_SMEM:
    *words = k->element < 4 ? 1 : k->element / 4.0;
    return 2;
  case MODEL_NAIVE:
    *words = k->element < 4 ? 1 : k->element / 4.0;
    return (double)(k->thread_m + k->thread_n) / k->vector;
  }
  return 0;
}

/* Turns of the loop over k steps that a warp makes in one k tile. */
static double turns(const model_kernel *k) {
  if (k->family != MODEL_SIMT && k->family != MODEL_SMEM && k->family != MODEL_MMA) return 0;
  double steps = model_steps(k);
  return k->unroll_k > 0 && k->unroll_k < steps ? steps / k->unroll_k : 0;
}

model_issue model_issue_with(const model_constants *c, const model_kernel *k, const gpu_facts *g) {
  (void)g;
  model_issue i = {0};
  double warps = model_warps(k), steps = model_steps(k), words, copy_slots = 0;
  i.math = warps * steps * math_instructions(k);
  i.loads = warps * steps * fragment_loads(k, &words);
  const int paths[2] = {k->path_a, k->path_b}, copies[2] = {k->copies_a, k->copies_b};
  const int turned[2] = {k->turn_a, k->turn_b}, bytes[2] = {k->copy_a, k->copy_b};
  for (int o = 0; o < 2; ++o) {
    if (paths[o] == MODEL_DIRECT || paths[o] == MODEL_TMA) continue;
    bool staged = paths[o] == MODEL_STAGED;
    double all = (o ? k->tile_n : k->tile_m) * (double)k->tile_k * k->element;
    /* The last round has work for some of the threads only. */
    double made = all / bytes[o] / MODEL_WARP;
    i.copies += made;
    copy_slots += all / MODEL_WAVEFRONT * c->fill_slots;
    copy_slots += warps * copies[o] * (staged ? c->staged_slots : c->copy_slots);
    /* Registers go to shared memory in one store, or turned in one for each element; mma gathers
     * narrow ones into words. */
    double each = turned[o] ? (double)bytes[o] / k->element : 1;
    if (k->family == MODEL_MMA && bytes[o] < 4) each = bytes[o] / 4.0;
    if (staged) i.stores += made * each;
  }
  i.other = warps * (c->stage_slots + turns(k) * c->turn_slots);
  /* Sums that move to full precision: an addition for each accumulator; scales of such a part. */
  if (k->promote_k > 0) {
    double parts = (double)k->tile_k / k->promote_k, scales = warps * k->scale_loads * parts;
    i.other += (double)k->tile_m * k->tile_n / MODEL_WARP * parts;
    i.copies += scales;
    copy_slots += scales;
  }
  double load_slots = 1 + c->lds_slots * words;
  if (k->family == MODEL_NAIVE) load_slots = 3; /* the load and its address */
  /* An FMA takes a little more than its slot where its operands come from loads: register banks. */
  double math_slots = model_on_tensor_cores(k) ? 1 : 1 / c->math_share;
  i.slots = i.math * math_slots + i.loads * load_slots + copy_slots + i.stores + i.other;
  i.bound = i.math / i.slots;
  return i;
}

model_issue model_issue_of(const model_kernel *k, const gpu_facts *g) {
  return model_issue_with(&model_fitted, k, g);
}
