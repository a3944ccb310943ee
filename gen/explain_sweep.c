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
  memcpy(row->name, p.name, sizeof row->name);
  plan_free(&p);
  return true;
}

static int by_prediction(const void *x, const void *y) {
  const sweep_row *a = x, *b = y;
  if (a->seconds != b->seconds) return a->seconds < b->seconds ? -1 : 1;
  return strcmp(a->name, b->name);
}

static void find_varying(sweep_table *t) {
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    for (size_t i = 1; i < t->count; ++i)
      if (t->rows[i].spec->value[f] != t->rows[0].spec->value[f]) {
        t->varying[t->varying_count++] = (spec_field)f;
        break;
      }
}

/* -- Measured times: gemmbench's CSV
 * ---------------------------------------------------------------- */

enum { MOST_COLUMNS = 64 };

static int split(char *line, char **fields) {
  int n = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *at = line; at && n < MOST_COLUMNS; ++n) {
    fields[n] = at;
    at = strchr(at, ',');
    if (at) *at++ = '\0';
  }
  return n;
}

static int column(char **names, int count, const char *name) {
  for (int i = 0; i < count; ++i)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

static void set_measured(sweep_table *t, const char *name, double seconds) {
  for (size_t i = 0; i < t->count; ++i)
    if (strcmp(t->rows[i].name, name) == 0) t->rows[i].measured = seconds;
}

static bool load_measured(sweep_table *t, const char *path, diag *d) {
  buf text = {0};
  if (!buf_read_file_max(&text, path, 64 << 20) || !text.data) {
    diag_add(d, DIAG_ERROR, path, 0, "--measured", "unreadable", "it cannot be read, or is empty");
    buf_free(&text);
    return false;
  }
  char *names[MOST_COLUMNS], *fields[MOST_COLUMNS], *next;
  static const char *const wanted[] = {"kernel", "us", "m", "n", "k", "batch"};
  int at[6], columns = 0, line = 0;
  for (char *row = text.data; row && *row; row = next) {
    next = strchr(row, '\n');
    if (next) *next++ = '\0';
    if (line++ == 0) {
      columns = split(row, names);
      for (int i = 0; i < 6; ++i) {
        at[i] = column(names, columns, wanted[i]);
        if (at[i] >= 0) continue;
        diag_add(d, DIAG_ERROR, path, 1, "--measured", "wrong-value",
                 "no column '%s'; give the output of gemmbench --csv or --sweep", wanted[i]);
        buf_free(&text);
        return false;
      }
      continue;
    }
    if (split(row, fields) != columns) continue;
    bool same = atof(fields[at[2]]) == t->size.m && atof(fields[at[3]]) == t->size.n &&
                atof(fields[at[4]]) == t->size.k && atof(fields[at[5]]) == t->size.batch;
    if (same) set_measured(t, fields[at[0]], 1e-6 * atof(fields[at[1]]));
  }
  buf_free(&text);
  return true;
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
  if (measured && diag_errors(d) == errors) load_measured(t, measured, d);
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

void sweep_text(const sweep_table *t, buf *out) {
  char scratch[32];
  int width[SPEC_FIELD_COUNT];
  bool any = false;
  for (size_t i = 0; i < t->count; ++i)
    any |= t->rows[i].measured > 0;
  for (int v = 0; v < t->varying_count; ++v) {
    width[v] = (int)strlen(spec_field_name(t->varying[v]));
    buf_printf(out, "%-*s ", width[v], spec_field_name(t->varying[v]));
  }
  buf_printf(out, "%9s %8s %6s %6s %-16s %9s %5s %6s %9s %6s %7s  %s\n", "us", "TFLOP/s", "peak%",
             "FLOP/B", "bound", any ? "measured" : "", "regs", "stages", "shared", "blocks", "loop",
             "kernel");
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
    buf_printf(out, "%5d %6d %9d %6d %7d  %s\n", r->registers, r->stages, r->shared_bytes,
               r->blocks_sm, r->loop_bytes, r->name);
  }
  buf_printf(out, "%zu points predicted for %s, %zu refused\n", t->count, t->problem, t->refused);
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
    buf_printf(out,
               ", \"tile_flop_byte\": %.2f, \"registers\": %d, \"plan_stages\": %d, "
               "\"shared_bytes\": %d, \"blocks_sm\": %d, \"loop_bytes\": %d }%s\n",
               r->intensity, r->registers, r->stages, r->shared_bytes, r->blocks_sm, r->loop_bytes,
               i + 1 < t->count ? "," : "");
  }
  buf_puts(out, "] }\n");
}
