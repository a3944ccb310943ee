/* explain_sweep_measured.c - gemmbench's CSV beside the predictions: times of the problem, and what
 * gemmbench --sweep adds for each kernel. Columns are found by name; all but a few may be missing.
 */
#include "explain_sweep.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, MOST_BYTES = 64 << 20 };

/* ORDER FIGURE */
static const struct {
  const char *column, *name;
} figures[FIGURE_COUNT] = {
    {"registers", "ptxas"},        {"spill_bytes", "spill B"},     {"code_bytes", "code B"},
    {"compile_seconds", "nvcc s"}, {"shared_wavefronts", "waves"}, {"shared_ideal", "ideal"},
    {"sass_instructions", "SASS"},
};

const char *sweep_figure_name(sweep_figure f) {
  return figures[f].name;
}

const char *sweep_figure_text(const sweep_row *r, sweep_figure f, char scratch[32]) {
  if (r->figures[f] < 0) return "-";
  snprintf(scratch, 32, f == FIGURE_COMPILE ? "%.1f" : "%.0f", r->figures[f]);
  return scratch;
}

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

/* Where the columns are. */
typedef struct layout {
  int columns, kernel, us, size[4], figure[FIGURE_COUNT];
} layout;

static bool read_head(char *line, const char *path, layout *l, diag *d) {
  static const char *const wanted[] = {"kernel", "us", "m", "n", "k", "batch"};
  char *names[MOST_COLUMNS];
  int at[6];
  l->columns = split(line, names);
  for (int i = 0; i < 6; ++i) {
    at[i] = column(names, l->columns, wanted[i]);
    if (at[i] >= 0) continue;
    diag_add(d, DIAG_ERROR, path, 1, "--measured", "wrong-value",
             "no column '%s'; give the output of gemmbench --csv or --sweep", wanted[i]);
    return false;
  }
  l->kernel = at[0];
  l->us = at[1];
  memcpy(l->size, at + 2, sizeof l->size);
  for (int f = 0; f < FIGURE_COUNT; ++f)
    l->figure[f] = column(names, l->columns, figures[f].column);
  return true;
}

static void read_row(sweep_table *t, const layout *l, char **fields) {
  const double size[4] = {t->size.m, t->size.n, t->size.k, t->size.batch};
  bool same = true;
  for (int i = 0; i < 4; ++i)
    same &= atof(fields[l->size[i]]) == size[i];
  double seconds = same ? 1e-6 * atof(fields[l->us]) : 0;
  for (size_t i = 0; i < t->count; ++i) {
    sweep_row *r = &t->rows[i];
    if (strcmp(r->name, fields[l->kernel]) != 0) continue;
    if (seconds > 0) r->measured = seconds, t->has_times = true;
    for (int f = 0; f < FIGURE_COUNT; ++f) {
      if (l->figure[f] < 0 || fields[l->figure[f]][0] == '\0') continue;
      r->figures[f] = atof(fields[l->figure[f]]);
      t->has_figures = true;
    }
  }
}

bool sweep_load_measured(sweep_table *t, const char *path, diag *d) {
  buf text = {0};
  if (!buf_read_file_max(&text, path, MOST_BYTES) || !text.data) {
    diag_add(d, DIAG_ERROR, path, 0, "--measured", "unreadable", "it cannot be read, or is empty");
    buf_free(&text);
    return false;
  }
  layout l = {0};
  char *fields[MOST_COLUMNS], *next;
  bool head = true, good = true;
  for (char *line = text.data; line && *line && good; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    if (head)
      good = read_head(line, path, &l, d);
    else if (split(line, fields) == l.columns)
      read_row(t, &l, fields);
    head = false;
  }
  buf_free(&text);
  return good;
}
