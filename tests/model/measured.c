/* measured.c - reads the two CSV files and scores predictions against them. */
#include "measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 96, MOST_LINE = 4096 };

static _Noreturn void stop(const char *file, int line, const char *why) {
  fprintf(stderr, "%s:%d: %s\n", file, line, why);
  exit(2);
}

/* -- CSV ------------------------------------------------------------------------------------------
 */

typedef struct csv {
  const char *path;
  FILE *file;
  int line, columns;
  char head[MOST_LINE], row[MOST_LINE];
  char *names[MOST_COLUMNS], *values[MOST_COLUMNS];
} csv;

static int split(char *text, char **fields) {
  int n = 0;
  text[strcspn(text, "\r\n")] = '\0';
  for (char *at = text; at && n < MOST_COLUMNS; ++n) {
    fields[n] = at;
    at = strchr(at, ',');
    if (at) *at++ = '\0';
  }
  return n;
}

static csv csv_open(const char *path) {
  csv c = {.path = path, .file = fopen(path, "r"), .line = 1};
  if (!c.file || !fgets(c.head, sizeof c.head, c.file)) stop(path, 1, "cannot be read");
  return c;
}

static bool csv_next(csv *c) {
  if (c->columns == 0) c->columns = split(c->head, c->names);
  if (!fgets(c->row, sizeof c->row, c->file)) return false;
  ++c->line;
  if (split(c->row, c->values) != c->columns) stop(c->path, c->line, "another number of columns");
  return true;
}

/* Of a column that may be missing. */
static const char *csv_text_or(const csv *c, const char *name, const char *otherwise) {
  for (int i = 0; i < c->columns; ++i)
    if (strcmp(c->names[i], name) == 0) return c->values[i];
  return otherwise;
}

static const char *csv_text(const csv *c, const char *name) {
  const char *text = csv_text_or(c, name, NULL);
  if (!text) stop(c->path, 1, name);
  return text;
}

static double csv_number(const csv *c, const char *name) {
  return atof(csv_text(c, name));
}

/* -- Loading --------------------------------------------------------------------------------------
 */

typedef struct known {
  char name[128];
  model_kernel kernel;
} known;

static known *load_kernels(const char *path, int *count) {
  csv c = csv_open(path);
  known *list = NULL;
  *count = 0;
  while (csv_next(&c)) {
    list = realloc(list, (size_t)(*count + 1) * sizeof *list);
    known *k = &list[(*count)++];
    snprintf(k->name, sizeof k->name, "%s", csv_text(&c, "kernel"));
    /* Tables of earlier builds lack what no kernel had then. */
#define X(member, text) k->kernel.member = atoi(csv_text_or(&c, #member, "0"));
    MODEL_FIELDS(X)
#undef X
  }
  fclose(c.file);
  return list;
}

static const known *find(const known *list, int count, const char *name) {
  for (int i = 0; i < count; ++i)
    if (strcmp(list[i].name, name) == 0) return &list[i];
  return NULL;
}

static int group_of(measured *m, const char *name) {
  for (int i = 0; i < m->groups; ++i)
    if (strcmp(m->group_names[i], name) == 0) return i;
  m->group_names = realloc(m->group_names, (size_t)(m->groups + 1) * sizeof *m->group_names);
  snprintf(m->group_names[m->groups], sizeof *m->group_names, "%s", name);
  return m->groups++;
}

/* FNV-1a: the halves depend on nothing but the pair. */
static unsigned hash(const char *text, unsigned h) {
  for (; *text; ++text)
    h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}

measured measured_load(const char *kernels, const char *times) {
  measured m = {0};
  measured_add(&m, kernels, times);
  return m;
}

void measured_add(measured *to, const char *kernels, const char *times) {
  measured m = *to;
  int count;
  known *list = load_kernels(kernels, &count);
  csv c = csv_open(times);
  while (csv_next(&c)) {
    const known *k = find(list, count, csv_text(&c, "kernel"));
    if (!k) stop(times, c.line, "a kernel that the other file has not");
    /* Of another layout than the call: operands were turned by a pass, whose time is in this. */
    char layout[16];
    snprintf(layout, sizeof layout, "_%.8s_", csv_text(&c, "layout"));
    if (!strstr(k->name, layout)) continue;
    m.pairs = realloc(m.pairs, (size_t)(m.count + 1) * sizeof *m.pairs);
    measured_pair *p = &m.pairs[m.count++];
    /* Times of one run are of one card: rivals are those of a problem and a run. */
    char problem[96], group[96];
    snprintf(problem, sizeof problem, "%s %s %sx%sx%sx%s", csv_text(&c, "dtype"),
             csv_text(&c, "layout"), csv_text(&c, "m"), csv_text(&c, "n"), csv_text(&c, "k"),
             csv_text(&c, "batch"));
    const char *run = csv_text_or(&c, "run", "");
    snprintf(group, sizeof group, "%.80s%s%.8s", problem, *run ? " run " : "", run);
    *p = (measured_pair){.kernel = k->kernel,
                         .gpu = gpu_find(csv_text_or(&c, "gpu", "h200")),
                         .problem = {csv_number(&c, "m"), csv_number(&c, "n"), csv_number(&c, "k"),
                                     csv_number(&c, "batch")},
                         .us = csv_number(&c, "us"),
                         .group = group_of(&m, group)};
    if (!p->gpu || p->us <= 0) stop(times, c.line, "no such GPU, or no time");
    snprintf(p->name, sizeof p->name, "%s", k->name);
    p->held_out = (hash(problem, 2166136261u) >> 16) & 1;
  }
  fclose(c.file);
  free(list);
  *to = m;
}

void measured_free(measured *m) {
  free(m->pairs);
  free(m->group_names);
  *m = (measured){0};
}

/* -- Scoring --------------------------------------------------------------------------------------
 */

static int by_value(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static double quantile(double *x, int n, double q) {
  if (n == 0) return 0;
  qsort(x, (size_t)n, sizeof *x, by_value);
  double at = q * (n - 1);
  int low = (int)at;
  return low + 1 < n ? x[low] + (at - low) * (x[low + 1] - x[low]) : x[low];
}

/* Mean ranks, ties shared. */
static void ranks(const double *x, int n, double *rank) {
  for (int i = 0; i < n; ++i) {
    int below = 0, same = 0;
    for (int j = 0; j < n; ++j)
      below += x[j] < x[i], same += x[j] == x[i];
    rank[i] = below + 0.5 * (same - 1);
  }
}

static double correlation(const double *x, const double *y, int n) {
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (int i = 0; i < n; ++i)
    mx += x[i] / n, my += y[i] / n;
  for (int i = 0; i < n; ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

enum { MOST_RIVALS = 512 };

/* One group's pairs into x (predicted) and y (measured). */
static int gather(const measured *m, const double *us, int group, int held_out, double *x,
                  double *y) {
  int n = 0;
  for (int i = 0; i < m->count && n < MOST_RIVALS; ++i) {
    const measured_pair *p = &m->pairs[i];
    if (p->group != group || (held_out >= 0 && p->held_out != (held_out == 1))) continue;
    x[n] = us[i];
    y[n++] = p->us;
  }
  return n;
}

measured_score measured_score_of(const measured *m, const double *us, int held_out) {
  measured_score s = {0};
  double *errors = malloc((size_t)m->count * sizeof *errors);
  double *rhos = malloc((size_t)m->groups * sizeof *rhos);
  for (int i = 0; i < m->count; ++i)
    if (held_out < 0 || m->pairs[i].held_out == (held_out == 1))
      errors[s.pairs++] = fabs(us[i] / m->pairs[i].us - 1);
  s.worst_decile = quantile(errors, s.pairs, 0.9);
  s.median_error = quantile(errors, s.pairs, 0.5);
  for (int g = 0; g < m->groups; ++g) {
    double x[MOST_RIVALS], y[MOST_RIVALS], rx[MOST_RIVALS], ry[MOST_RIVALS];
    int n = gather(m, us, g, held_out, x, y);
    if (n < (m->least_rivals > 0 ? m->least_rivals : 3)) continue;
    ranks(x, n, rx);
    ranks(y, n, ry);
    rhos[s.groups] = correlation(rx, ry, n);
    s.spearman += rhos[s.groups++];
    int first = 0, best = 0;
    for (int i = 1; i < n; ++i) {
      if (x[i] < x[first]) first = i;
      if (y[i] < y[best]) best = i;
    }
    double regret = y[first] / y[best] - 1;
    s.regret_mean += regret;
    s.regret_within += regret <= 0.05;
  }
  if (s.groups > 0) {
    s.spearman /= s.groups;
    s.regret_mean /= s.groups;
    s.regret_within /= s.groups;
  }
  s.spearman_median = quantile(rhos, s.groups, 0.5);
  free(errors);
  free(rhos);
  return s;
}
