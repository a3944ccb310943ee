/* explain_fit.c - a kernel for a problem: waves, traffic, time, and what other choices would cost.
 *
 * Other choices are not formulas: the spec is changed in one field, planned anew by the same
 * planner and predicted by the same model. A choice that the planner refuses is listed with its
 * reason.
 */
#include "cli.h"
#include "explain_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sheet_fit sheet_fit_of(const sheet *s, const char *problem) {
  sheet_fit f = {.text = problem};
  int64_t size[4];
  cli_problem(problem, size);
  f.size = (model_problem){(double)size[0], (double)size[1], (double)size[2], (double)size[3]};
  const kernel_plan *p = s->plan;
  const int multiples[] = {p->multiple_m, p->multiple_n, p->multiple_k};
  static const char *const names[] = {"m is not a multiple", "n is not a multiple",
                                      "k is not a multiple"};
  for (int i = 0; i < 3 && !f.lacks; ++i)
    if (multiples[i] > 1 && size[i] % multiples[i] != 0) f.lacks = names[i];
  if (!f.lacks && size[2] < p->min_k) f.lacks = "k is too small";
  f.waves = model_waves_of(&s->model, s->gpu, &f.size);
  f.prediction = model_predict(&s->model, s->gpu, &f.size);
  return f;
}

/* -- 7, 8
 * ------------------------------------------------------------------------------------------ */

static void put_problem_intensity(const sheet *s, const sheet_fit *f, buf *out) {
  const model_kernel *k = &s->model;
  char text[2][32];
  double flop = model_flop(&f->size);
  double reads = model_compulsory_bytes(&f->size, k->element, k->element_d, false);
  double all = model_compulsory_bytes(&f->size, k->element, k->element_d, true);
  double ridge = model_ridge(s->gpu, s->unit);
  if (all <= 0 || ridge <= 0) return;
  buf_printf(
      out,
      "   problem   2 m n k%s = %.4g GFLOP; A and B %s: %.1f FLOP/B; with D %s: %.1f FLOP/B, "
      "%.1f x the ridge: the %s side\n",
      f->size.batch > 1 ? " x batch" : "", 1e-9 * flop, sheet_bytes(reads, text[0]),
      reads > 0 ? flop / reads : 0, sheet_bytes(all, text[1]), flop / all, flop / all / ridge,
      flop / all >= ridge ? "compute" : "memory");
}

static void put_waves(const sheet *s, const sheet_fit *f, buf *out) {
  const model_kernel *k = &s->model;
  const model_waves *w = &f->waves;
  char text[3][32];
  buf_puts(out, "7  Waves and traffic\n");
  buf_printf(out, "   tiles     %.0f x %.0f", w->tiles_m, w->tiles_n);
  if (f->size.batch > 1) buf_printf(out, " x %.0f batches", f->size.batch);
  if (k->cluster_k > 1) buf_printf(out, " x %d parts of k", k->cluster_k);
  buf_printf(out,
             " on %d SMs x %d = %.0f places: %.2f waves, %.0f rounds, %.1f %% of the places used\n",
             s->gpu->sms, k->blocks_sm, w->slots, w->waves, w->rounds, 100 * w->filled);
  buf_printf(out, "   inside    %.1f %% of the tiles' area is D\n", 100 * w->inside);
  buf_printf(out, "   together  %.0f x %.0f tiles, raster groups of %d along %s\n", w->side_m,
             w->side_n, k->raster_group, k->raster_n ? "n" : "m");
  buf_printf(out, "   L2        tiles x (%d + %d) x k x %d B = %s to the SMs\n", k->tile_m,
             k->tile_n, k->element, sheet_bytes(w->l2_bytes, text[0]));
  bool maps[2] = {k->path_a == MODEL_TMA, k->path_b == MODEL_TMA};
  const double outside[2] = {w->outside_m, w->outside_n};
  for (int i = 0; i < 2; ++i)
    if (maps[i] && outside[i] > 0)
      buf_printf(
          out,
          "   outside   %.1f %% of the rows that tiles ask of %c; each counts as %.1f in the "
          "traffic (tensor maps, fitted)\n",
          100 * outside[i], "AB"[i], model_fitted.outside);
  buf_printf(out, "   memory    %s, %.2f x the compulsory %s\n", sheet_bytes(w->hbm_bytes, text[0]),
             w->compulsory > 0 ? w->hbm_bytes / w->compulsory : 0,
             sheet_bytes(w->compulsory, text[1]));
  if (w->split_bytes > 0)
    buf_printf(out, "   split k   %s of partial sums change hands\n",
               sheet_bytes(w->split_bytes, text[2]));
  double lost = 100 * (1 - w->filled * w->inside);
  buf_printf(out, "   -> %.1f %% of the SMs' time is lost to the last round and the edges\n", lost);
}

static void put_prediction(const sheet *s, const sheet_fit *f, buf *out) {
  const model_prediction *r = &f->prediction;
  char text[32];
  buf_puts(out, "8  Prediction (constants fitted on an H200, docs/model.md)\n");
  for (int b = 0; b < BOUND_COUNT; ++b)
    buf_printf(out, "   %-17s %10s alone%s\n", model_bound_name((model_bound)b),
               sheet_seconds(r->alone[b], text),
               b == (int)r->binding     ? "  <- binds"
               : b == (int)r->runner_up ? "  <- next"
                                        : "");
  buf_printf(out, "   -> %s", sheet_seconds(r->seconds, text));
  buf_printf(out, ", %.2f TFLOP/s, %.1f %% of %.1f; %s of it launch; clock %.0f MHz\n", r->tflops,
             100 * r->peak_share, gpu_peak(s->gpu, s->unit),
             sheet_seconds(r->launch, (char[32]){0}), r->mhz);
  if (r->early)
    buf_printf(out,
               "   early     it starts while the kernel before ends: %s of launch and start less\n",
               sheet_seconds(1e-6 * model_fitted.early_us, text));
}

void sheet_print_fit(const sheet *s, const sheet_fit *f, buf *out) {
  buf_printf(out, "problem %s%s%s\n", f->text, f->lacks ? ": not taken, " : "",
             f->lacks ? f->lacks : "");
  put_problem_intensity(s, f, out);
  put_waves(s, f, out);
  if (!f->lacks) put_prediction(s, f, out);
}

/* -- Other choices
 * ------------------------------------------------------------------------------------ */

typedef struct choice {
  char what[64];
  char result[160];
  double seconds; /* 0: refused */
  bool listed;
} choice;

enum { MOST_CHOICES = 24 };

static void describe(const kernel_plan *p, double seconds, double now, choice *c) {
  char text[32];
  c->seconds = seconds;
  snprintf(c->result, sizeof c->result,
           "%+.1f %% time; %dx%dx%d, %d stage%s, %d registers, %s, %d block%s/SM",
           100 * (seconds / now - 1), p->tile_m, p->tile_n, p->tile_k, p->stages,
           p->stages == 1 ? "" : "s", p->registers, sheet_bytes(p->shared_bytes, text),
           p->blocks_sm, p->blocks_sm == 1 ? "" : "s");
}

/* One changed spec: planned, predicted. */
static void try_choice(const sheet *s, const sheet_fit *f, const kernel_spec *changed, choice *c) {
  kernel_plan p;
  plan_fault fault;
  c->seconds = 0;
  plan_result result = plan_make(changed, (plan_variant)s->plan->variant, &p, &fault);
  if (result == PLAN_ILLEGAL) snprintf(c->result, sizeof c->result, "refused: %.140s", fault.text);
  if (result != PLAN_OK) {
    /* What the family or the type has not is no choice. */
    c->listed = result == PLAN_ILLEGAL && strcmp(fault.code, "field-family") != 0;
    return;
  }
  sheet other = sheet_of(&p);
  sheet_fit g = sheet_fit_of(&other, f->text);
  bool same = memcmp(&other.model, &s->model, sizeof s->model) == 0;
  c->listed = !same && p.family == s->plan->family;
  if (g.lacks)
    snprintf(c->result, sizeof c->result, "does not take the problem: %s", g.lacks);
  else
    describe(&p, g.prediction.seconds, f->prediction.seconds, c);
  plan_free(&p);
}

static void add_choice(const sheet *s, const sheet_fit *f, choice *list, int *count, int fields,
                       const spec_field *field, const int *value) {
  if (*count == MOST_CHOICES) return;
  kernel_spec changed = *s->plan->spec;
  choice *c = &list[*count];
  *c = (choice){.listed = true};
  int n = 0;
  for (int i = 0; i < fields; ++i) {
    if (value[i] < spec_info(field[i])->low || value[i] > spec_info(field[i])->high) return;
    changed.value[field[i]] = value[i];
    n += snprintf(c->what + n, sizeof c->what - (size_t)n, "%s%s = %d", i ? ", " : "",
                  spec_field_name(field[i]), value[i]);
  }
  try_choice(s, f, &changed, c);
  if (c->listed) ++*count;
}

static void add_tiles(const sheet *s, const sheet_fit *f, choice *list, int *count) {
  static const spec_field tile[] = {SPEC_TILE_M, SPEC_TILE_N};
  int m = s->plan->tile_m, n = s->plan->tile_n;
  const int sides[][2] = {{m / 2, n}, {m, n / 2},  {m / 2, n / 2}, {2 * m, n},
                          {m, 2 * n}, {m + 64, n}, {m, n - 64},    {m, n + 64}};
  int ways = s->model.family == MODEL_WGMMA ? 8 : 5;
  for (int i = 0; i < ways; ++i)
    if (sides[i][0] > 0 && sides[i][1] > 0) add_choice(s, f, list, count, 2, tile, sides[i]);
}

static void add_threads(const sheet *s, const sheet_fit *f, choice *list, int *count) {
  static const spec_field thread[] = {SPEC_THREAD_M, SPEC_THREAD_N};
  static const int sides[][2] = {{4, 4}, {8, 4}, {8, 8}, {16, 8}, {16, 16}};
  if (s->model.family != MODEL_SIMT) return;
  for (size_t i = 0; i < sizeof sides / sizeof *sides; ++i)
    add_choice(s, f, list, count, 2, thread, sides[i]);
}

static void add_scalars(const sheet *s, const sheet_fit *f, choice *list, int *count) {
  const kernel_plan *p = s->plan;
  const struct {
    spec_field field;
    int value;
  } changes[] = {
      {SPEC_TILE_K, p->tile_k / 2},
      {SPEC_TILE_K, 2 * p->tile_k},
      {SPEC_STAGES, p->stages - 1},
      {SPEC_STAGES, p->stages + 1},
      {SPEC_FRAGMENTS, 3 - p->fragments},
      {SPEC_RASTER_GROUP, 1},
      {SPEC_RASTER_GROUP, 8},
      {SPEC_RASTER_GROUP, 16},
      {SPEC_K_SLICES, 2},
      {SPEC_CLUSTER_K, 2},
      {SPEC_CLUSTER_K, 4},
      {SPEC_CLUSTER_M, 2},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i)
    if (changes[i].value > 0)
      add_choice(s, f, list, count, 1, &changes[i].field, &changes[i].value);
}

static int by_seconds(const void *x, const void *y) {
  double a = ((const choice *)x)->seconds, b = ((const choice *)y)->seconds;
  if ((a > 0) != (b > 0)) return a > 0 ? -1 : 1;
  return (a > b) - (a < b);
}

void sheet_print_choices(const sheet *s, const sheet_fit *f, buf *out) {
  choice list[MOST_CHOICES];
  int count = 0;
  if (f->lacks) return;
  add_tiles(s, f, list, &count);
  add_threads(s, f, list, &count);
  add_scalars(s, f, list, &count);
  qsort(list, (size_t)count, sizeof *list, by_seconds);
  buf_printf(out, "9  Other choices for %s, one change each, best first\n", f->text);
  for (int i = 0; i < count; ++i)
    buf_printf(out, "   %-34s %s\n", list[i].what, list[i].result);
}
