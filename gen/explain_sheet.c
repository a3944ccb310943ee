/* explain_sheet.c - a kernel's sheet of sums: each limit with its numbers put in.
 *
 * Every number printed is one of the model's or of the plan's; the text says what it was made of.
 * Lines that begin with "->" draw the conclusion.
 */
#include "explain_sheet.h"

#include <math.h>
#include <string.h>

/* -- Spelling -------------------------------------------------------------------------------------
 */

const char *sheet_bytes(double bytes, char scratch[32]) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int u = 0;
  while (bytes >= 1024 && u < 4)
    bytes /= 1024, ++u;
  bool whole = fabs(bytes - nearbyint(bytes)) < 0.05;
  snprintf(scratch, 32, whole ? "%.0f %s" : "%.1f %s", bytes, units[u]);
  return scratch;
}

const char *sheet_seconds(double seconds, char scratch[32]) {
  if (seconds < 1e-3)
    snprintf(scratch, 32, "%.2f us", 1e6 * seconds);
  else
    snprintf(scratch, 32, "%.3f ms", 1e3 * seconds);
  return scratch;
}

static const char *against(double value, double limit) {
  return value < 0.75 * limit ? "well below" : value < limit ? "below" : "at or above";
}

/* -- 1. Arithmetic intensity
 * ------------------------------------------------------------------------ */

static void put_intensity(const sheet *s, buf *out) {
  const model_kernel *k = &s->model;
  double tile = model_tile_intensity(k->tile_m, k->tile_n);
  double ridge = model_ridge(s->gpu, s->unit);
  buf_puts(out, "1  Arithmetic intensity\n");
  buf_printf(
      out,
      "   tile      2 x %d x %d / (%d + %d) = %.1f FLOP an element of A and B, / %d B = %.1f "
      "FLOP/B\n",
      k->tile_m, k->tile_n, k->tile_m, k->tile_n, tile, k->element, tile / k->element);
  if (ridge <= 0) {
    buf_printf(out, "   ridge     unknown: %s states no rate of its %s\n", s->gpu->name,
               gpu_unit_name(s->unit));
    return;
  }
  buf_printf(out, "   ridge     %.1f TFLOP/s / %d GB/s = %.1f FLOP/B (%s, %s)\n",
             gpu_peak(s->gpu, s->unit), s->gpu->hbm_gbs, ridge, s->gpu->name,
             gpu_unit_name(s->unit));
  if (tile / k->element >= ridge)
    buf_printf(
        out,
        "   -> even if every block read its operands from device memory, %.1f FLOP/B would do\n",
        tile / k->element);
  else
    buf_printf(out,
               "   -> %.1f of the %.1f FLOP/B come from the tile, a factor of %.1f from L2: blocks "
               "that run together share operands (raster groups)\n",
               tile / k->element, ridge, ridge * k->element / tile);
}

/* -- 2. Shared memory to registers
 * --------------------------------------------------------------------- */

static void put_shared(const sheet *s, buf *out) {
  const model_kernel *k = &s->model;
  buf_puts(out, "2  Shared memory to registers\n");
  if (model_shares_k(k)) {
    buf_printf(
        out,
        "   none: a thread loads %d B of B and of each of %d rows of A, and keeps its sums in "
        "registers\n",
        k->vector * k->element, k->thread_m);
    return;
  }
  if (k->family == MODEL_NAIVE) {
    buf_printf(
        out,
        "   two global loads of %d B for each FMA of a thread, through L1; no shared memory\n"
        "   -> loads, not FMAs, are the limit: see 6\n",
        k->element);
    return;
  }
  model_shared m = model_shared_of(k, s->gpu);
  double rate = model_feed(m.thread_m, m.thread_n, k->element, 1);
  double fmas = rate > 0 ? m.per_thread / rate : 0;
  bool cores = k->family == MODEL_SMEM || k->family == MODEL_SIMT;
  const char *group = k->family == MODEL_WGMMA ? "warpgroup" : "warp";
  if (fmas <= 0) {
    buf_printf(out, "   the rate of %s on %s is unknown\n", gpu_unit_name(s->unit), s->gpu->name);
    return;
  }
  if (cores)
    buf_printf(
        out,
        "   thread    (%.0f + %.0f) x %d B / (%.0f x %.0f) x %.0f FMA/cycle = %.0f B/cycle: each "
        "thread's operands counted, the textbook's sum\n",
        m.thread_m, m.thread_n, k->element, m.thread_m, m.thread_n, fmas, m.per_thread);
  buf_printf(out,
             "   %-9s (%.0f + %.0f) x %d B / (%.0f x %.0f) x %.0f FMA/cycle = %.1f B/cycle: %s\n",
             group, m.warp_m, m.warp_n, k->element, m.warp_m, m.warp_n, fmas, m.per_warp,
             cores ? "what its lanes share counted once (broadcast)"
                   : "each operand read once by those that share it");
  double step = model_fragment_waves(k);
  buf_printf(out,
             "   served    %.4g wavefronts of 128 B for each warp's k step%s = %.1f B/cycle at "
             "full rate\n",
             step, k->family == MODEL_WGMMA ? " (A again for each 64 rows)" : "", m.served);
  buf_printf(out,
             "   fill      (%d + %d) x %d B / (%d x %d) x %.0f = %.1f B/cycle, writing the ring\n",
             k->tile_m, k->tile_n, k->element, k->tile_m, k->tile_n, fmas, m.fill);
  buf_printf(out,
             "   -> of %.0f B/cycle: reads take %.0f %% of the port, %s the limit; with the fill "
             "%.0f %%\n",
             m.available, 100 * m.served / m.available, against(m.served, m.available),
             100 * m.share);
}

/* -- 3. Registers
 * ---------------------------------------------------------------------------------------- */

static void put_registers(const sheet *s, buf *out) {
  static const char *const limits[] = {"the blocks an SM can hold", "threads", "shared memory",
                                       "registers"};
  const model_kernel *k = &s->model;
  const kernel_plan *p = s->plan;
  model_residency r = model_residency_of(k, s->gpu);
  buf_puts(out, "3  Registers and residency\n");
  if (k->family == MODEL_WGMMA)
    buf_printf(
        out,
        "   thread    %.0f accumulators of the %d registers that setmaxnreg gives a computing "
        "warpgroup, %d the copying one\n",
        r.accumulators, p->consumer_registers, p->producer_registers);
  else
    buf_printf(
        out,
        "   thread    %.0f accumulators + %.0f fragments + %.0f for addresses, copies and the "
        "loop = %d of at most %d\n",
        r.accumulators, r.fragments, r.other, k->registers, p->register_limit);
  buf_printf(
      out,
      "   blocks    an SM's registers hold %d, its shared memory %d, its threads %d, at most %d: "
      "%d, by %s\n",
      r.by_registers, r.by_shared, r.by_threads, r.by_blocks, r.blocks, limits[r.limit]);
  buf_printf(out, "   warps     %d of %d: occupancy %.0f %%\n", r.warps, s->gpu->threads_sm / 32,
             100 * r.occupancy);
  if (k->family == MODEL_WGMMA)
    buf_puts(
        out,
        "   -> low on purpose: one instruction keeps a tensor core busy for a hundred cycles, and "
        "the "
        "copying warpgroup fetches ahead; more warps would take the registers that make the tile "
        "large\n");
  else if (r.occupancy < 0.5 && r.independent >= 4)
    buf_printf(
        out,
        "   -> low on purpose: a warp has %.0f independent products a k step and the ring fetches "
        "ahead, so few warps hide the latency; more of them would take the registers that make "
        "the tile large\n",
        r.independent);
  else if (r.independent < 4)
    buf_printf(
        out,
        "   -> each warp has %.3g independent products a k step: only many warps hide latency\n",
        r.independent);
}

/* -- 4. Capacity
 * ------------------------------------------------------------------------------------------ */

static void put_capacity(const sheet *s, buf *out) {
  const model_kernel *k = &s->model;
  buf_puts(out, "4  Shared memory's capacity\n");
  if (k->shared_bytes == 0) {
    buf_puts(out, "   none is used\n");
    return;
  }
  char text[3][32];
  model_capacity c = model_capacity_of(k, s->gpu);
  const kernel_plan *p = s->plan;
  if (k->family == MODEL_WGMMA)
    buf_printf(out, "   stage     (%d + %d) x %d x %d B = %s, rows of 128 B with a swizzle\n",
               k->tile_m, k->tile_n, k->tile_k, k->element, sheet_bytes(c.stage, text[0]));
  else
    buf_printf(
        out,
        "   stage     A %d + B %d B = %s (rows of %d and %d elements with %d and %d of pad%s)\n",
        p->bytes_a, p->bytes_b, sheet_bytes(c.stage, text[0]), p->pitch_a, p->pitch_b, p->pad_a,
        p->pad_b, p->swizzle ? ", swizzled" : "");
  buf_printf(out, "   block     %d x %s + %s for %s = %s of at most %s\n", k->stages,
             sheet_bytes(c.stage, text[0]), sheet_bytes(c.other, text[1]),
             k->family == MODEL_WGMMA ? "D and barriers" : "the rest",
             sheet_bytes(c.total, text[2]), sheet_bytes(s->gpu->shared_block, (char[32]){0}));
  buf_printf(out, "   -> %d stages fit beside the rest; %d block%s an SM, %.0f %% of its %s\n",
             c.stages_fit, k->blocks_sm, k->blocks_sm == 1 ? "" : "s", 100 * c.share,
             sheet_bytes(s->gpu->shared_sm, text[0]));
}

/* -- 5. Latency
 * ---------------------------------------------------------------------------------------------- */

/* The sum of the ring's period, by terms. */
static void put_ring(const sheet *s, const model_ring *r, buf *out) {
  const model_kernel *k = &s->model;
  buf_printf(
      out,
      "   fetch     %.0f cycles of latency x (1 + %.2f x %.0f %% of L2's rate asked for) + %d B / "
      "%.0f = %.0f cycles\n",
      r->latency, model_fitted.queue, 100 * r->asked, k->stage_bytes, model_fitted.sm_l2_bytes,
      r->fetch);
  buf_printf(out, "   ring      (%.0f to fetch + %.0f of products meanwhile) / %.0f ahead",
             r->fetch, r->held, r->ahead);
  if (r->group > 0) buf_printf(out, " + %.0f of a warpgroup's wait", r->group);
  buf_printf(out, "; own products, loads and sums %.0f", r->own);
  if (r->promoted > 0)
    buf_printf(out, " (of short sums %.0f to wait for, %.0f to add)", r->waits, r->promoted);
  if (r->turned > 0) buf_printf(out, "; turning B %.0f", r->turned);
  buf_printf(out, ": %.0f cycles of one block from one k tile to the next", r->period);
  if (r->barrier > 0) buf_printf(out, ", %.0f more at its barrier", r->barrier);
  if (r->first > 0) buf_printf(out, ", %.0f for first fragments (one set)", r->first);
  buf_puts(out, "\n");
  if (k->stages == 2 && k->family != MODEL_WGMMA && r->ahead <= 1)
    buf_puts(out,
             "   two       stages: the last copies leave with the last k step but one, and all of "
             "their latency shows\n");
}

static void put_latency(const sheet *s, buf *out) {
  const model_kernel *k = &s->model;
  char text[2][32];
  model_latency l = model_latency_of(k, s->gpu);
  buf_puts(out, "5  Latency\n");
  buf_printf(
      out,
      "   needed    %.0f cycles x %d GB/s / %d SMs = %s in flight an SM keep device memory busy "
      "(latency under load: fitted)\n",
      l.latency, s->gpu->hbm_gbs, s->gpu->sms, sheet_bytes(l.needed, text[0]));
  if (k->family == MODEL_NAIVE) {
    buf_printf(out, "   -> %d loads a thread and %d threads an SM: %s at most are in flight\n",
               (model_shares_k(k) ? 1 : 2) * k->unroll_k / k->vector, k->threads * k->blocks_sm,
               sheet_bytes(l.in_flight, text[0]));
    return;
  }
  buf_printf(out, "   provided  %d stage%s of %s x %d block%s = %s\n",
             k->stages > 1 ? k->stages - 1 : 1, k->stages > 2 ? "s" : "",
             sheet_bytes(k->stage_bytes, text[0]), k->blocks_sm, k->blocks_sm == 1 ? "" : "s",
             sheet_bytes(l.in_flight, text[1]));
  buf_printf(
      out,
      "   stage     %.0f cycles to compute (%d block%s at once), %.0f to fetch: 1 + %.0f / %.0f, "
      "rounded up = %.0f stages cover it\n",
      l.compute, k->blocks_sm, k->blocks_sm == 1 ? "" : "s", l.fetch, l.fetch, l.compute,
      l.stages_needed);
  put_ring(s, &l.ring, out);
  if (k->stages < 2)
    buf_puts(
        out,
        "   -> one stage: fetching and computing take turns, only other blocks overlap them\n");
  else if (k->stages < l.stages_needed)
    buf_printf(out,
               "   -> %d are fewer: a block waits for its ring; more stages, or a larger k tile\n",
               k->stages);
  else if (k->stages == l.stages_needed)
    buf_printf(out, "   -> %d are just enough\n", k->stages);
  else
    buf_printf(out, "   -> %d: the rest is insurance against slow fetches and uneven blocks\n",
               k->stages);
}

/* -- 6. Issue slots
 * ---------------------------------------------------------------------------------------------- */

static void put_issue(const sheet *s, buf *out) {
  const model_kernel *k = &s->model;
  model_issue i = model_issue_of(k, s->gpu);
  bool cores = k->family == MODEL_NAIVE || k->family == MODEL_SMEM || k->family == MODEL_SIMT;
  buf_puts(out, "6  Issue slots\n");
  buf_printf(
      out,
      "   k tile    %.0f %ss, %.0f loads, %.0f copies, %.0f stores, about %.0f of loop, addresses "
      "and barrier: %.0f slots of a block\n",
      i.math, cores ? "FMA" : "MMA", i.loads, i.copies, i.stores, i.other, i.slots);
  if (cores)
    buf_printf(out, "   -> FMAs get %.1f %% of the slots: no more of the peak than that%s\n",
               100 * i.bound,
               s->gpu->fma_f32 < 128 && s->unit == GPU_CORE_F32
                   ? " (here an FMA takes two slots' time, so the others fit beside it)"
                   : "");
  else
    buf_printf(out, "   -> %.0f slots / 4 schedulers = %.0f cycles of the k tile's %.0f: %s\n",
               i.slots, i.slots / 4,
               (double)k->tile_m * k->tile_n * k->tile_k /
                   (gpu_rate(s->gpu, s->unit) > 0 ? gpu_rate(s->gpu, s->unit) : 1),
               "tensor cores leave slots free");
}

void sheet_print(const sheet *s, buf *out) {
  put_intensity(s, out);
  put_shared(s, out);
  put_registers(s, out);
  put_capacity(s, out);
  put_latency(s, out);
  put_issue(s, out);
}

sheet sheet_of(const kernel_plan *p) {
  sheet s = {.plan = p, .gpu = &p->spec->gpu, .model = plan_model(p)};
  s.unit = (gpu_unit)s.model.unit;
  return s;
}
