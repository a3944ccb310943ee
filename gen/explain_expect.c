/* explain_expect.c - the sums turned round (what P per cent of the peak needs), and what moves when
 * a kernel goes to another card.
 */
#include "explain_sheet.h"

#include <math.h>
#include <string.h>

/* -- What a target needs
 * ---------------------------------------------------------------------------- */

typedef struct verdicts {
  int missing;
  const char *first; /* what is missing and costs most */
  double worst;      /* has / needs of it */
} verdicts;

/* Ends a line: needs at least, or at most, and what is there. */
static void verdict(verdicts *v, const char *what, double has, double needs, bool at_least,
                    buf *out) {
  bool good = at_least ? has >= needs : has <= needs;
  buf_puts(out, good ? ": yes\n" : ": NO\n");
  if (good) return;
  double ratio = at_least ? has / needs : needs / has;
  ++v->missing;
  if (v->first == NULL || ratio < v->worst) v->first = what, v->worst = ratio;
}

static void expect_memory(const sheet *s, const sheet_fit *f, double target, verdicts *v,
                          buf *out) {
  const model_kernel *k = &s->model;
  double flop = model_flop(&f->size), seconds = flop / target;
  double has = flop / model_compulsory_bytes(&f->size, k->element, k->element_d, true);
  double needs = target / (1e9 * s->gpu->hbm_gbs);
  buf_printf(out, "   intensity    %.1f TFLOP/s / %d GB/s = %.1f FLOP/B; the problem has %.1f",
             1e-12 * target, s->gpu->hbm_gbs, needs, has);
  verdict(v, "intensity of the problem", has, needs, true, out);
  double rate = f->waves.hbm_bytes / seconds * 1e-9;
  double reach = s->gpu->hbm_gbs * model_fitted.hbm_share;
  buf_printf(
      out, "   memory       the kernel's traffic in that time is %.0f GB/s; about %.0f can be had",
      rate, reach);
  verdict(v, "traffic of device memory: a larger tile or raster group", rate, reach, false, out);
  double l2 = f->waves.l2_bytes / seconds * 1e-9;
  double l2_reach = model_fitted.all_l2_bytes * s->gpu->sms * s->gpu->boost_mhz * 1e-3;
  buf_printf(out, "   L2           %.0f GB/s to the SMs; about %.0f can be had", l2, l2_reach);
  verdict(v, "traffic of L2: a larger block tile", l2, l2_reach, false, out);
}

static void expect_sm(const sheet *s, double percent, verdicts *v, buf *out) {
  const model_kernel *k = &s->model;
  double part = percent / 100;
  model_shared m = model_shared_of(k, s->gpu);
  bool cores = k->family == MODEL_SIMT || k->family == MODEL_SMEM;
  if (k->family != MODEL_NAIVE) {
    double asks = part * (m.served + m.fill);
    buf_printf(out, "   shared port  %.0f %% x (%.1f + %.1f) B/cycle = %.1f of %.0f", percent,
               m.served, m.fill, asks, m.available);
    verdict(v,
            cores ? "shared memory's port: a larger thread tile"
                  : "shared memory's port: a wider tile",
            asks, m.available, false, out);
  }
  if (cores) {
    double rate = gpu_rate(s->gpu, s->unit), side = 2 * k->element * rate * part / m.available;
    buf_printf(
        out,
        "   thread tile  by the textbook's sum a square of 2 x %d B x %.0f x %.2f / %.0f = %.1f "
        "outputs a side; the kernel's is %d x %d: %.1f",
        k->element, rate, part, m.available, side, k->thread_m, k->thread_n,
        2.0 * k->thread_m * k->thread_n / (k->thread_m + k->thread_n));
    double has = 2.0 * k->thread_m * k->thread_n / (k->thread_m + k->thread_n);
    /* Broadcast makes smaller tiles do: stated, not counted as missing. */
    buf_puts(out, has >= side ? ": yes\n" : ": no, but lanes share operands\n");
  }
  model_issue i = model_issue_of(k, s->gpu);
  double fma_time = gpu_rate(s->gpu, s->unit) > 0 ? 128.0 / gpu_rate(s->gpu, s->unit) : 1;
  double reach = !cores && k->family != MODEL_NAIVE ? 1 : fmin(1, i.bound * fma_time);
  buf_printf(out, "   issue slots  leave %.1f %% of the peak", 100 * reach);
  verdict(v, "issue slots: fewer loads for each FMA", reach, part, true, out);
}

static void expect_parallel(const sheet *s, const sheet_fit *f, double percent, verdicts *v,
                            buf *out) {
  const model_kernel *k = &s->model;
  const model_waves *w = &f->waves;
  double used = 100 * w->filled * w->inside;
  buf_printf(out,
             "   parallelism  %.0f blocks on %.0f places in %.0f rounds, %.1f %% of their area in "
             "D: %.1f %% "
             "of the SMs' time is work",
             w->tiles * k->cluster_k, w->slots, w->rounds, 100 * w->inside, used);
  verdict(
      v, w->rounds <= 1 ? "parallelism: smaller tiles, or split k" : "the last round: another tile",
      used, percent, true, out);
  if (k->family == MODEL_NAIVE) return;
  model_latency l = model_latency_of(k, s->gpu);
  double compute = l.compute / (percent / 100);
  double stages = compute > 0 ? 1 + ceil(l.fetch / compute) : 1;
  buf_printf(out,
             "   stages       1 + %.0f cycles to fetch / %.0f to compute at that rate = %.0f; the "
             "kernel has %d",
             l.fetch, compute, stages, k->stages);
  verdict(v, "stages", k->stages, stages, true, out);
  double tile = model_tile_intensity(k->tile_m, k->tile_n) / k->element;
  double peak = 1e12 * gpu_peak(s->gpu, s->unit) / s->gpu->sms * percent / 100;
  double needed = l.latency / (1e6 * s->gpu->boost_mhz) * peak / tile;
  char text[2][32];
  buf_printf(
      out,
      "   in flight    %.0f cycles x %.0f GFLOP/s an SM / %.1f FLOP/B of the tile = %s; the ring "
      "has %s",
      l.latency, 1e-9 * peak, tile, sheet_bytes(needed, text[0]),
      sheet_bytes(l.in_flight, text[1]));
  verdict(v, "bytes in flight: more stages or blocks", l.in_flight, needed, true, out);
}

void sheet_print_expect(const sheet *s, const sheet_fit *f, double percent, buf *out) {
  double peak = 1e12 * gpu_peak(s->gpu, s->unit), target = peak * percent / 100;
  if (peak <= 0 || f->lacks || model_flop(&f->size) <= 0) return;
  verdicts v = {0};
  buf_printf(out, "10 What %g %% of %.1f TFLOP/s needs (%.1f TFLOP/s, %s for %s)\n", percent,
             1e-12 * peak, 1e-12 * target,
             sheet_seconds(model_flop(&f->size) / target, (char[32]){0}), f->text);
  expect_memory(s, f, target, &v, out);
  expect_sm(s, percent, &v, out);
  expect_parallel(s, f, percent, &v, out);
  double share = 100 * f->prediction.peak_share;
  buf_printf(out, "   -> predicted: %.1f %%", share);
  if (v.first)
    buf_printf(out, "; missing most: %s\n", v.first);
  else if (share >= percent)
    buf_puts(out, "; it has all it needs\n");
  else
    buf_printf(out, "; each limit alone allows it, together they cost more: first %s, then %s\n",
               model_bound_name(f->prediction.binding), model_bound_name(f->prediction.runner_up));
}

/* -- Another card
 * ---------------------------------------------------------------------------------------- */

static void row(buf *out, const char *what, double from, double to, const char *unit, int digits) {
  buf_printf(out, "   %-34s %12.*f %12.*f %-10s", what, digits, from, digits, to, unit);
  if (from > 0 && to > 0) buf_printf(out, " x %.2f", to / from);
  buf_puts(out, "\n");
}

void sheet_print_moves(const sheet *from, const sheet *to, const char *problem, buf *out) {
  const gpu_facts *a = from->gpu, *b = to->gpu;
  const model_kernel *ka = &from->model, *kb = &to->model;
  buf_printf(out, "11 What moves from %s to %s\n", a->name, b->name);
  buf_printf(out, "   %-34s %12s %12s\n", "", a->name, b->name);
  row(out, "peak of the unit", gpu_peak(a, from->unit), gpu_peak(b, to->unit), "TFLOP/s", 1);
  row(out, "device memory", a->hbm_gbs, b->hbm_gbs, "GB/s", 0);
  row(out, "ridge", model_ridge(a, from->unit), model_ridge(b, to->unit), "FLOP/B", 1);
  row(out, "FMAs an SM and cycle", gpu_rate(a, from->unit), gpu_rate(b, to->unit), "", 0);
  row(out, "SMs", a->sms, b->sms, "", 0);
  model_shared sa = model_shared_of(ka, a), sb = model_shared_of(kb, b);
  row(out, "shared port at full rate", 100 * sa.share, 100 * sb.share, "%", 0);
  row(out, "shared memory of a block, limit", a->shared_block, b->shared_block, "B", 0);
  row(out, "shared memory of the kernel", ka->shared_bytes, kb->shared_bytes, "B", 0);
  row(out, "stages", ka->stages, kb->stages, "", 0);
  row(out, "blocks an SM", ka->blocks_sm, kb->blocks_sm, "", 0);
  row(out, "registers", ka->registers, kb->registers, "", 0);
  row(out, "L2", a->l2_bytes / 1048576.0, b->l2_bytes / 1048576.0, "MiB", 0);
  if (!problem) return;
  sheet_fit fa = sheet_fit_of(from, problem), fb = sheet_fit_of(to, problem);
  row(out, "waves", fa.waves.waves, fb.waves.waves, "", 2);
  row(out, "places used in whole rounds", 100 * fa.waves.filled, 100 * fb.waves.filled, "%", 1);
  if (fa.lacks || fb.lacks) return;
  row(out, "time", 1e6 * fa.prediction.seconds, 1e6 * fb.prediction.seconds, "us", 1);
  row(out, "of the unit's peak", 100 * fa.prediction.peak_share, 100 * fb.prediction.peak_share,
      "%", 1);
  if (fa.prediction.binding != fb.prediction.binding)
    buf_printf(out, "   the limit moves from %s to %s\n", model_bound_name(fa.prediction.binding),
               model_bound_name(fb.prediction.binding));
  else
    buf_printf(out, "   the limit stays: %s\n", model_bound_name(fa.prediction.binding));
}
