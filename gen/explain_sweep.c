/* explain_sweep.c - many points, one line each.
 *
 * Only the full kernel of each point is planned, or the narrow one where that is all there is; a
 * plan lives no longer than its prediction, so that ten thousand points cost a second and a few
 * megabytes.
 */
#include "explain_sweep.h"

#include "cli.h"
#include "plan_auto.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- Predicting -----------------------------------------------------------------------------------
 */

static bool predict(const sweep_table *t, const kernel_spec *s, sweep_row *row) {
  kernel_plan p;
  plan_fault fault;
  plan_result result = plan_make(s, VARIANT_FULL, &p, &fault);
  if (result == PLAN_SAME) result = plan_make(s, VARIANT_NARROW, &p, &fault);
  if (result != PLAN_OK) return false;
  sheet sh = sheet_of(&p);
  sheet_fit f = sheet_fit_of(&sh, t->problem);
  *row = (sweep_row){.spec = s,
                     .registers = p.registers,
                     .shared_bytes = p.shared_bytes,
                     .blocks_sm = p.blocks_sm,
                     .loop_bytes = p.loop_bytes,
                     .stages = p.stages,
                     .intensity = model_tile_intensity(p.tile_m, p.tile_n) / p.element,
                     .seconds = f.lacks ? INFINITY : f.prediction.seconds,
                     .peak_share = f.lacks ? 0 : f.prediction.peak_share,
                     .binding = f.prediction.binding};
  for (int i = 0; i < FIGURE_COUNT; ++i)
    row->figures[i] = -1;
  memcpy(row->name, p.name, sizeof row->name);
  plan_free(&p);
  return true;
}

static int by_prediction(const void *x, const void *y) {
  const sweep_row *a = x, *b = y;
  if (a->seconds != b->seconds) return a->seconds < b->seconds ? -1 : 1;
  /* A tie: as in the specs, whose points stand in one array. */
  return a->spec < b->spec ? -1 : a->spec > b->spec;
}

static void find_varying(sweep_table *t) {
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    for (size_t i = 1; i < t->count; ++i)
      if (t->rows[i].spec->value[f] != t->rows[0].spec->value[f]) {
        t->varying[t->varying_count++] = (spec_field)f;
        break;
      }
}

bool sweep_load(sweep_table *t, const char *const *paths, size_t count, const char *gpu,
                const char *problem, const char *measured, diag *d) {
  size_t errors = diag_errors(d);
  *t = (sweep_table){.problem = problem};
  int64_t size[4];
  cli_problem(problem, size);
  t->size = (model_problem){(double)size[0], (double)size[1], (double)size[2], (double)size[3]};
  if (gpu) t->specs.gpu = gpu_find(gpu);
  for (size_t i = 0; i < count; ++i)
    spec_load(paths[i], &t->specs, d);
  if (!plan_auto_expand(&t->specs, d))
    diag_add(d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
  t->rows = calloc(t->specs.count ? t->specs.count : 1, sizeof *t->rows);
  if (!t->rows) diag_add(d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
  for (size_t i = 0; t->rows && i < t->specs.count; ++i)
    if (predict(t, &t->specs.specs[i], &t->rows[t->count]))
      ++t->count;
    else
      ++t->refused;
  if (t->count > 1) qsort(t->rows, t->count, sizeof *t->rows, by_prediction);
  find_varying(t);
  if (measured && diag_errors(d) == errors) sweep_load_measured(t, measured, d);
  return diag_errors(d) == errors;
}

void sweep_free(sweep_table *t) {
  free(t->rows);
  spec_set_free(&t->specs);
}

/* -- Printing
 * --------------------------------------------------------------------------------------- */

static const char *value_text(const sweep_row *row, spec_field f, char scratch[32]) {
  int value = row->spec->value[f];
  return value == SPEC_UNSET ? "-" : spec_value_text(f, value, scratch);
}

/* The columns that gemmbench --sweep adds; r: NULL for their names. */
static void put_figures(const sweep_table *t, const sweep_row *r, buf *out) {
  char scratch[32];
  for (int f = 0; t->has_figures && f < FIGURE_COUNT; ++f)
    buf_printf(out, "%8s ",
               r ? sweep_figure_text(r, (sweep_figure)f, scratch)
                 : sweep_figure_name((sweep_figure)f));
}

static int by_value(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* How far predictions are from times, and what the first of them costs. */
static void put_agreement(const sweep_table *t, buf *out) {
  double *errors = malloc((t->count + 1) * sizeof *errors);
  size_t timed = 0;
  const sweep_row *first = NULL, *best = NULL;
  for (size_t i = 0; errors && i < t->count; ++i) {
    const sweep_row *r = &t->rows[i];
    if (!(r->measured > 0) || isinf(r->seconds)) continue;
    errors[timed++] = fabs(r->seconds / r->measured - 1);
    if (!first) first = r; /* the rows are sorted by prediction */
    if (!best || r->measured < best->measured) best = r;
  }
  if (timed > 0) {
    qsort(errors, timed, sizeof *errors, by_value);
    buf_printf(
        out,
        "%zu of them measured: half of the predictions are within %.1f %% of it, nine tenths "
        "within %.1f %%\n"
        "first by prediction: %.2f us measured, %.1f %% beyond the fastest (%s)\n",
        timed, 100 * errors[timed / 2], 100 * errors[(timed * 9) / 10], 1e6 * first->measured,
        100 * (first->measured / best->measured - 1), best->name);
  }
  free(errors);
}

void sweep_text(const sweep_table *t, buf *out) {
  char scratch[32];
  int width[SPEC_FIELD_COUNT];
  bool any = t->has_times;
  for (int v = 0; v < t->varying_count; ++v) {
    width[v] = (int)strlen(spec_field_name(t->varying[v]));
    buf_printf(out, "%-*s ", width[v], spec_field_name(t->varying[v]));
  }
  buf_printf(out, "%9s %8s %6s %6s %-16s %9s %5s %6s %9s %6s %7s ", "us", "TFLOP/s", "peak%",
             "FLOP/B", "bound", any ? "measured" : "", "regs", "stages", "shared", "blocks",
             "loop");
  put_figures(t, NULL, out);
  buf_puts(out, " kernel\n");
  for (size_t i = 0; i < t->count; ++i) {
    const sweep_row *r = &t->rows[i];
    for (int v = 0; v < t->varying_count; ++v)
      buf_printf(out, "%-*s ", width[v], value_text(r, t->varying[v], scratch));
    if (isinf(r->seconds)) {
      buf_printf(out, "%9s does not take the problem  %s\n", "-", r->name);
      continue;
    }
    buf_printf(out, "%9.2f %8.2f %6.1f %6.1f %-16s ", 1e6 * r->seconds,
               1e-12 * model_flop(&t->size) / r->seconds, 100 * r->peak_share, r->intensity,
               model_bound_name(r->binding));
    if (r->measured > 0)
      buf_printf(out, "%9.2f ", 1e6 * r->measured);
    else
      buf_printf(out, "%9s ", any ? "-" : "");
    buf_printf(out, "%5d %6d %9d %6d %7d ", r->registers, r->stages, r->shared_bytes, r->blocks_sm,
               r->loop_bytes);
    put_figures(t, r, out);
    buf_printf(out, " %s\n", r->name);
  }
  buf_printf(out, "%zu points predicted for %s, %zu refused\n", t->count, t->problem, t->refused);
  if (any) put_agreement(t, out);
}

void sweep_json(const sweep_table *t, buf *out) {
  char scratch[32];
  buf_printf(out, "{ \"problem\": \"%s\", \"refused\": %zu, \"points\": [\n", t->problem,
             t->refused);
  for (size_t i = 0; i < t->count; ++i) {
    const sweep_row *r = &t->rows[i];
    buf_printf(out, "  { \"kernel\": \"%s\"", r->name);
    for (int v = 0; v < t->varying_count; ++v) {
      buf_printf(out, ", \"%s\": ", spec_field_name(t->varying[v]));
      buf_json_string(out, value_text(r, t->varying[v], scratch));
    }
    if (!isinf(r->seconds))
      buf_printf(out, ", \"us\": %.4f, \"peak_share\": %.4f, \"binding\": \"%s\"", 1e6 * r->seconds,
                 r->peak_share, model_bound_name(r->binding));
    if (r->measured > 0) buf_printf(out, ", \"measured_us\": %.3f", 1e6 * r->measured);
    for (int f = 0; f < FIGURE_COUNT; ++f)
      if (r->figures[f] >= 0)
        buf_printf(out, ", \"measured %s\": %s", sweep_figure_name((sweep_figure)f),
                   sweep_figure_text(r, (sweep_figure)f, scratch));
    buf_printf(out,
               ", \"tile_flop_byte\": %.2f, \"registers\": %d, \"plan_stages\": %d, "
               "\"shared_bytes\": %d, \"blocks_sm\": %d, \"loop_bytes\": %d }%s\n",
               r->intensity, r->registers, r->stages, r->shared_bytes, r->blocks_sm, r->loop_bytes,
               i + 1 < t->count ? "," : "");
  }
  buf_puts(out, "] }\n");
}
