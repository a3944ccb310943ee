/* explain_ncu.c - a profile set against the model, and the first thing to change.
 *
 * Rules stand in a table, in the order in which their remedies pay: what corrupts every other
 * figure (spills, conflicts) first, then what is starved, last what is merely busy. A rule tells
 * its evidence; one that lacks its figures is silent.
 */
#include "explain_ncu.h"

#include <math.h>
#include <string.h>

/* A profile of one kernel under diagnosis. */
typedef struct patient {
  const sheet *s;
  const sheet_fit *f; /* NULL: no problem was given */
  const ncu_kernel *k;
  double stalls; /* cycles a warp waits for each instruction, all reasons */
} patient;

static bool has(const patient *p, ncu_figure figure) {
  return p->k->known[figure];
}

static double of(const patient *p, ncu_figure figure) {
  return p->k->known[figure] ? p->k->value[figure] : 0;
}

/* The share of a warp's time, in per cent, that it waits for this. */
static double stall(const patient *p, ncu_figure figure) {
  return p->stalls > 0 ? 100 * of(p, figure) / (p->stalls + 1) : 0;
}

/* -- Rules: each returns whether it holds, with evidence and remedy
 * ----------------------------------- */

typedef struct finding {
  char evidence[240];
  char remedy[320];
} finding;

static bool spills(const patient *p, finding *f) {
  if (of(p, NCU_LOCAL) <= 0) return false;
  snprintf(f->evidence, sizeof f->evidence, "%.0f instructions on local memory: registers spill",
           of(p, NCU_LOCAL));
  snprintf(f->remedy, sizeof f->remedy,
           "a smaller thread tile, fewer min_blocks (the limit is %d registers), or fewer staged "
           "copies (tile.k)",
           p->s->plan->register_limit);
  return true;
}

static bool conflicts(const patient *p, finding *f) {
  double extra = of(p, NCU_CONFLICTS), all = of(p, NCU_WAVEFRONTS);
  if (!has(p, NCU_CONFLICTS) || all <= 0 || extra < 0.1 * all) return false;
  const kernel_plan *plan = p->s->plan;
  snprintf(f->evidence, sizeof f->evidence,
           "%.0f of %.0f wavefronts of shared memory are bank conflicts (%.0f %%)", extra, all,
           100 * extra / all);
  snprintf(f->remedy, sizeof f->remedy,
           "rows of shared memory are %d and %d elements apart: leave padding out (the plan "
           "spreads them) or use "
           "swizzle = 128; `gemmgen check --kernel` shows the line",
           plan->pitch_a, plan->pitch_b);
  return true;
}

static bool device_memory(const patient *p, finding *f) {
  if (of(p, NCU_DRAM) < 80) return false;
  double moved = of(p, NCU_DRAM_READ) + of(p, NCU_DRAM_WRITTEN);
  char bytes[3][32];
  int n = snprintf(f->evidence, sizeof f->evidence, "device memory at %.0f %% of its peak",
                   of(p, NCU_DRAM));
  bool extra = p->f && moved > 1.3 * p->f->waves.compulsory;
  if (p->f && moved > 0)
    snprintf(f->evidence + n, sizeof f->evidence - (size_t)n,
             "; %s moved, modelled %s, compulsory %s", sheet_bytes(moved, bytes[0]),
             sheet_bytes(p->f->waves.hbm_bytes, bytes[1]),
             sheet_bytes(p->f->waves.compulsory, bytes[2]));
  snprintf(f->remedy, sizeof f->remedy,
           extra ? "less of it: a larger tile, or another raster.group (now %d), so that blocks "
                   "that run together "
                   "share more"
                 : "nothing: the problem itself needs the bytes (raster.group = %d); narrower "
                   "types, or an epilogue "
                   "that takes over what comes after",
           p->s->plan->raster_group);
  return true;
}

static bool occupancy(const patient *p, finding *f) {
  model_residency r = model_residency_of(&p->s->model, p->s->gpu);
  double modelled =
      100 * (double)p->s->model.blocks_sm * p->s->model.threads / p->s->gpu->threads_sm;
  if (!has(p, NCU_OCCUPANCY) || of(p, NCU_OCCUPANCY) >= 0.5 * modelled) return false;
  bool few = p->f && p->f->waves.waves < 1;
  snprintf(f->evidence, sizeof f->evidence,
           "occupancy %.1f %% where %d blocks an SM would give %.1f %%%s", of(p, NCU_OCCUPANCY),
           p->s->model.blocks_sm, modelled,
           has(p, NCU_REGISTERS) && of(p, NCU_REGISTERS) > p->s->model.registers + 8
               ? "; ptxas used more registers than planned"
               : "");
  if (few)
    snprintf(
        f->remedy, sizeof f->remedy,
        "more blocks: %.0f tiles for %d SMs; a smaller tile, k_slices, or k split over a cluster",
        p->f->waves.tiles, p->s->gpu->sms);
  else
    snprintf(f->remedy, sizeof f->remedy,
             "look at what limits the blocks (section 3: registers %d, shared memory %d, threads "
             "%d) and at the "
             "last round of blocks",
             r.by_registers, r.by_shared, r.by_threads);
  return true;
}

static bool long_scoreboard(const patient *p, finding *f) {
  if (stall(p, NCU_STALL_LONG) < 25) return false;
  model_latency l = model_latency_of(&p->s->model, p->s->gpu);
  snprintf(f->evidence, sizeof f->evidence,
           "warps wait %.0f %% of their time for global memory (long scoreboard)",
           stall(p, NCU_STALL_LONG));
  if (p->s->model.family == MODEL_NAIVE)
    snprintf(f->remedy, sizeof f->remedy,
             "family simt: operands through shared memory, fetched ahead");
  else if (p->s->model.path_a == MODEL_STAGED || p->s->model.path_b == MODEL_STAGED)
    snprintf(f->remedy, sizeof f->remedy,
             "copies go through registers: cp.async of 4 bytes (copy.a, copy.b = 4) keeps them in "
             "flight longer, "
             "or a larger k tile hides them");
  else
    snprintf(f->remedy, sizeof f->remedy,
             "more stages than %d (by the model's latency %.0f cover a fetch), or a larger k tile",
             p->s->model.stages, l.stages_needed);
  return true;
}

static bool barrier(const patient *p, finding *f) {
  if (stall(p, NCU_STALL_BARRIER) < 20) return false;
  snprintf(f->evidence, sizeof f->evidence, "warps wait %.0f %% of their time at barriers",
           stall(p, NCU_STALL_BARRIER));
  if (p->s->model.stages < 2)
    snprintf(f->remedy, sizeof f->remedy,
             "two stages or more: one barrier a k tile instead of two, and copies that overlap");
  else
    snprintf(
        f->remedy, sizeof f->remedy,
        "a larger k tile (now %d) has fewer barriers; smaller blocks, more of them an SM, wait "
        "apart",
        p->s->plan->tile_k);
  return true;
}

static bool short_scoreboard(const patient *p, finding *f) {
  double share = stall(p, NCU_STALL_SHORT) + stall(p, NCU_STALL_MIO);
  if (share < 25) return false;
  model_shared m = model_shared_of(&p->s->model, p->s->gpu);
  snprintf(f->evidence, sizeof f->evidence,
           "warps wait %.0f %% of their time for shared memory (short scoreboard, MIO); modelled: "
           "%.0f %% of its "
           "port",
           share, 100 * m.share);
  if (p->s->plan->fragments == 1)
    snprintf(f->remedy, sizeof f->remedy,
             "two sets of fragments (unroll.fragments = 2), so that loads run beside the products");
  else
    snprintf(f->remedy, sizeof f->remedy,
             "a larger thread or warp tile: fewer bytes for each product");
  return true;
}

static bool instructions(const patient *p, finding *f) {
  if (stall(p, NCU_STALL_NO_INSTRUCTION) < 10) return false;
  snprintf(f->evidence, sizeof f->evidence,
           "warps wait %.0f %% of their time for instructions; the loop is about %d bytes",
           stall(p, NCU_STALL_NO_INSTRUCTION), p->s->plan->loop_bytes);
  snprintf(f->remedy, sizeof f->remedy,
           "less unrolling: loops beyond 32 KB leave the instruction cache (unroll.k, "
           "unroll.stages = false)");
  return true;
}

static bool global_queue(const patient *p, finding *f) {
  if (stall(p, NCU_STALL_LG) < 15) return false;
  snprintf(f->evidence, sizeof f->evidence,
           "warps wait %.0f %% of their time for the queue to global memory",
           stall(p, NCU_STALL_LG));
  snprintf(f->remedy, sizeof f->remedy,
           "wider copies (copy.a = %d, copy.b = %d bytes now): fewer instructions",
           p->s->plan->copy_a, p->s->plan->copy_b);
  return true;
}

static bool products(const patient *p, finding *f) {
  double busy = of(p, NCU_TENSOR), waits = stall(p, NCU_STALL_MATH);
  if (busy < 75 && waits < 25) return false;
  bool sync = p->s->model.family == MODEL_MMA || p->s->model.family == MODEL_WMMA;
  int n = 0;
  if (has(p, NCU_TENSOR) && busy > 0)
    n = snprintf(f->evidence, sizeof f->evidence, "tensor cores work %.0f %% of the time; ", busy);
  snprintf(f->evidence + n, sizeof f->evidence - (size_t)n,
           "warps wait %.0f %% of theirs for a multiplying pipe", waits);
  if (sync && p->s->gpu->has_wgmma)
    snprintf(f->remedy, sizeof f->remedy,
             "family wgmma: mma.sync reaches %d %% of these tensor cores' rate",
             p->s->gpu->mma_sync_percent);
  else
    snprintf(f->remedy, sizeof f->remedy,
             "nothing: the multiplying unit is the limit; another type or unit would be faster");
  return true;
}

static bool fixed_latency(const patient *p, finding *f) {
  if (stall(p, NCU_STALL_WAIT) < 40) return false;
  snprintf(f->evidence, sizeof f->evidence, "warps wait %.0f %% of their time for fixed latencies",
           stall(p, NCU_STALL_WAIT));
  snprintf(f->remedy, sizeof f->remedy,
           "more independent products a warp: a larger thread tile, more unrolled steps, or more "
           "warps an SM");
  return true;
}

static bool memory_units(const patient *p, finding *f) {
  if (of(p, NCU_MEMORY) < 80 || of(p, NCU_DRAM) >= 80) return false;
  snprintf(
      f->evidence, sizeof f->evidence,
      "memory units at %.0f %% of their peak, device memory at %.0f %%: L1, shared memory or L2",
      of(p, NCU_MEMORY), of(p, NCU_DRAM));
  snprintf(f->remedy, sizeof f->remedy,
           p->s->model.family == MODEL_NAIVE
               ? "family simt: each operand is loaded once for a tile, not for each FMA"
               : "a larger thread or warp tile takes bytes off shared memory, a larger block tile "
                 "off L2");
  return true;
}

static bool idle(const patient *p, finding *f) {
  double busy = has(p, NCU_SM_BUSY) ? of(p, NCU_SM_BUSY) : of(p, NCU_COMPUTE);
  if ((!has(p, NCU_SM_BUSY) && !has(p, NCU_COMPUTE)) || busy >= 60) return false;
  snprintf(f->evidence, sizeof f->evidence, "SMs busy %.0f %%, and no wait stands out", busy);
  if (p->f && p->f->waves.filled * p->f->waves.inside < 0.8)
    snprintf(f->remedy, sizeof f->remedy,
             "another tile: %.2f waves take %.0f rounds, %.0f %% of the tiles lie in D",
             p->f->waves.waves, p->f->waves.rounds, 100 * p->f->waves.inside);
  else
    snprintf(f->remedy, sizeof f->remedy,
             "start, stores and launch weigh here: a longer k, persistent blocks, or several "
             "problems in one batch");
  return true;
}

static bool busy_pipe(const patient *p, finding *f) {
  double busy = has(p, NCU_SM_BUSY) ? of(p, NCU_SM_BUSY) : of(p, NCU_COMPUTE);
  if (busy < 60) return false;
  snprintf(f->evidence, sizeof f->evidence, "SMs busy %.0f %%", busy);
  snprintf(f->remedy, sizeof f->remedy,
           busy >= 85
               ? "nothing: the multiplying unit is the limit; another type or unit would be faster"
               : "issue slots: what stands beside the products (section 6)");
  return true;
}

static bool (*const rules[])(const patient *, finding *) = {
    spills,   conflicts,        device_memory, occupancy,    long_scoreboard,
    barrier,  short_scoreboard, instructions,  global_queue, memory_units,
    products, fixed_latency,    idle,          busy_pipe};

/* -- Printing
 * -------------------------------------------------------------------------------------------- */

static void compare(buf *out, const char *what, bool known, double measured, double modelled,
                    const char *unit) {
  if (!known) return;
  buf_printf(out, "   %-24s %12.4g %12.4g %s\n", what, measured, modelled, unit);
}

static void put_table(const patient *p, buf *out) {
  const model_kernel *k = &p->s->model;
  double modelled = 100 * (double)k->blocks_sm * k->threads / p->s->gpu->threads_sm;
  buf_printf(out, "   %-24s %12s %12s\n", "", "measured", "modelled");
  if (p->f && !p->f->lacks) {
    const model_prediction *r = &p->f->prediction;
    double moved = of(p, NCU_DRAM_READ) + of(p, NCU_DRAM_WRITTEN);
    compare(out, "time", has(p, NCU_SECONDS), 1e6 * of(p, NCU_SECONDS), 1e6 * r->seconds, "us");
    double peak = 1e12 * gpu_peak(p->s->gpu, p->s->unit), seconds = of(p, NCU_SECONDS);
    bool share = seconds > 0 && peak > 0;
    compare(out, "of the unit's peak", share,
            share ? 100 * model_flop(&p->f->size) / seconds / peak : 0, 100 * r->peak_share, "%");
    compare(out, "device memory, bytes", has(p, NCU_DRAM_READ), moved, p->f->waves.hbm_bytes, "B");
    compare(out, "device memory", has(p, NCU_DRAM), of(p, NCU_DRAM),
            100 * r->alone[BOUND_HBM] / r->seconds, "% of its peak");
  }
  compare(out, "occupancy", has(p, NCU_OCCUPANCY), of(p, NCU_OCCUPANCY), modelled, "%");
  compare(out, "registers", has(p, NCU_REGISTERS), of(p, NCU_REGISTERS), k->registers, "a thread");
}

void explain_profile(const sheet *s, const sheet_fit *f, const ncu_kernel *k, buf *out) {
  patient p = {.s = s, .f = f, .k = k};
  for (int i = NCU_STALL_LONG; i <= NCU_STALL_OTHER; ++i)
    p.stalls += of(&p, (ncu_figure)i);
  buf_puts(out, "12 The profile\n");
  put_table(&p, out);
  int found = 0;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    finding x;
    /* Busy or idle is what remains where nothing else holds. */
    if (found > 0 && (rules[i] == idle || rules[i] == busy_pipe)) continue;
    if (!rules[i](&p, &x)) continue;
    buf_printf(out, "   %s %s\n      %s\n", found ? "then " : "first", x.evidence, x.remedy);
    ++found;
  }
  if (!found)
    buf_puts(out, "   the profile has none of the figures that a rule needs; use ncu --set full\n");
}
