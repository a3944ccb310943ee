/* plan_auto.c - which candidates of plan_auto are kept.
 *
 * Invariant: the kept ones together are within TOLERANCE of the best candidate on every problem of
 * the suite, unless MOST_ROWS of them do not get there; each is there because without it some
 * problem would take longer, and says how much.
 */
#include "plan_auto_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = AUTO_MOST_ROWS, MOST_OPEN = 64 };
static const double TOLERANCE = 0.03; /* beyond the best candidate */
static const double GAIN = 0.004;     /* of the mean time that a row must bring */

bool plan_auto_fills(spec_field f) {
  return f == SPEC_FAMILY || f == SPEC_SPEED || f == SPEC_OVERHEAD_K ||
         (f >= SPEC_TILE_M && f <= SPEC_K_SLICES && f != SPEC_FAST_ACCUM);
}

static bool is_open(const kernel_spec *s) {
  if (s->sweep) return false;
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    if (s->value[f] != SPEC_UNSET && plan_auto_fills((spec_field)f)) return false;
  return true;
}

/* -- Choosing --------------------------------------------------------------------------------- */

typedef struct choice {
  const auto_search *search;
  double best[AUTO_PROBLEMS];
  size_t rows[MOST_ROWS];
  int count;
} choice;

static void find_best(choice *c) {
  for (int i = 0; i < AUTO_PROBLEMS; ++i) {
    c->best[i] = INFINITY;
    for (size_t j = 0; j < c->search->count; ++j)
      if (c->search->list[j].us[i] < c->best[i]) c->best[i] = c->search->list[j].us[i];
  }
}

/* The time of the kept rows and perhaps one more, without one of them (-1: with all). */
static double time_of(const choice *c, int problem, int without, long more) {
  double us = more >= 0 ? c->search->list[more].us[problem] : INFINITY;
  for (int r = 0; r < c->count; ++r) {
    double row = c->search->list[c->rows[r]].us[problem];
    if (r != without && row < us) us = row;
  }
  return us;
}

/* Mean of the logarithm of time over the best, and the worst ratio. A problem that nothing serves
 * counts as four times the best. */
static double loss(const choice *c, int without, long more, double *worst) {
  double sum = 0, most = 1;
  for (int i = 0; i < AUTO_PROBLEMS; ++i) {
    if (isinf(c->best[i])) continue;
    double ratio = time_of(c, i, without, more) / c->best[i];
    if (ratio > 4) ratio = 4;
    if (ratio > most) most = ratio;
    sum += log(ratio);
  }
  if (worst) *worst = most;
  return sum / AUTO_PROBLEMS;
}

/* Adds what lowers the loss most, until all problems are near their best. */
static void add_rows(choice *c) {
  double worst, now = loss(c, -1, -1, &worst);
  while (c->count < MOST_ROWS && (c->count == 0 || worst > 1 + TOLERANCE)) {
    long chosen = -1;
    double least = c->count == 0 ? INFINITY : now - GAIN;
    for (size_t j = 0; j < c->search->count; ++j) {
      double with = loss(c, -1, (long)j, NULL);
      if (with < least) least = with, chosen = (long)j;
    }
    if (chosen < 0) return;
    c->rows[c->count++] = (size_t)chosen;
    now = loss(c, -1, -1, &worst);
  }
}

/* Drops what later rows made needless. */
static void drop_rows(choice *c) {
  for (int r = 0; r < c->count && c->count > 1;) {
    double worst, with = loss(c, -1, -1, NULL), without = loss(c, r, -1, &worst);
    if (without - with > GAIN) {
      ++r;
      continue;
    }
    memmove(&c->rows[r], &c->rows[r + 1], (size_t)(c->count - r - 1) * sizeof *c->rows);
    --c->count;
  }
}

/* Stages and copies of the kept rows, each row in turn. */
static void refine_rows(choice *c, auto_search *s) {
  for (int r = 0; r < c->count; ++r) {
    size_t before = s->count;
    auto_refine(s, c->rows[r]);
    find_best(c);
    double least = loss(c, -1, -1, NULL) - GAIN;
    size_t chosen = c->rows[r];
    for (size_t j = before; j < s->count; ++j) {
      double with = loss(c, r, (long)j, NULL);
      if (with < least) least = with, chosen = j;
    }
    c->rows[r] = chosen;
  }
}

/* -- Saying why ---------------------------------------------------------------------------------
 */

static void put_problem(const model_problem *p, buf *out) {
  buf_printf(out, "%.0fx%.0fx%.0f", p->m, p->n, p->k);
  if (p->batch > 1) buf_printf(out, "x%.0f", p->batch);
}

/* "fastest on 9 of 32 problems; without it 4096x4096x512 takes 14 % longer". */
static void put_reason(const choice *c, int row, buf *out) {
  int first = 0, worst = 0, served = 0;
  double most = 0;
  for (int i = 0; i < AUTO_PROBLEMS; ++i) {
    if (isinf(c->best[i])) continue;
    ++served;
    double with = time_of(c, i, -1, -1), without = time_of(c, i, row, -1);
    first += c->search->list[c->rows[row]].us[i] <= with;
    double more = isinf(without) ? 9.99 : without / with - 1;
    if (more > most) most = more, worst = i;
  }
  buf_printf(out, "fastest of the kept on %d of %d problems", first, served);
  if (c->count == 1) return;
  buf_puts(out, "; without it ");
  put_problem(&auto_suite[worst], out);
  if (most >= 9.99)
    buf_puts(out, " has no tile of its size");
  else
    buf_printf(out, " takes %.0f %% longer", 100 * most);
}

static void put_report(const choice *c, const kernel_spec *open, double ranked, buf *out) {
  char scratch[32], note[48];
  const auto_search *s = c->search;
  double worst, mean = loss(c, -1, -1, &worst);
  const auto_candidate *first = &s->list[c->rows[0]];
  buf_printf(
      out, "== left open by %s:%d%s, layout %s: family %s on %s\n", open->file, open->line,
      spec_call_note(open, note),
      spec_value_text(SPEC_LAYOUT,
                      open->value[SPEC_LAYOUT] == SPEC_UNSET ? LAYOUT_NN : open->value[SPEC_LAYOUT],
                      scratch),
      spec_family_name(first->spec.value[SPEC_FAMILY]), open->gpu.name);
  buf_printf(
      out,
      "%zu candidates predicted on %d problems, %zu refused by the planner; %d kept: %.1f %% "
      "beyond the best candidate on average, %.1f %% at worst\n",
      s->count, AUTO_PROBLEMS, s->refused, c->count, 100 * (exp(mean) - 1), 100 * (worst - 1));
  for (int r = 0; r < c->count; ++r) {
    buf_printf(out, "   %s: ", s->list[c->rows[r]].name);
    put_reason(c, r, out);
    buf_puts(out, "\n");
  }
  if (ranked >= 0)
    buf_printf(out,
               "speed and overhead_k: by them the library takes rows %.1f %% beyond the best of "
               "these on average\n",
               100 * (exp(ranked) - 1));
  buf_puts(out, "\n");
}

/* -- The set ------------------------------------------------------------------------------------
 */

/* Points that take the place of the set's. */
typedef struct points {
  kernel_spec *specs;
  size_t count, capacity;
} points;

static bool append(points *p, const kernel_spec *s) {
  if (p->count == p->capacity) {
    size_t capacity = p->capacity ? 2 * p->capacity : 64;
    kernel_spec *grown = realloc(p->specs, capacity * sizeof *grown);
    if (!grown) return false;
    p->specs = grown;
    p->capacity = capacity;
  }
  p->specs[p->count++] = *s;
  return true;
}

/* The set's own copy of a text; NULL when memory is short. */
static const char *keep(spec_set *set, const char *text) {
  char **grown = realloc(set->texts, (set->text_count + 1) * sizeof *grown);
  if (!grown) return NULL;
  set->texts = grown;
  char *copy = strdup(text);
  if (copy) set->texts[set->text_count++] = copy;
  return copy;
}

static bool keep_report(spec_set *set, const char *text) {
  const char **grown = realloc(set->reports, (set->report_count + 1) * sizeof *grown);
  if (!grown) return false;
  set->reports = grown;
  const char *copy = keep(set, text);
  if (copy) set->reports[set->report_count++] = copy;
  return copy != NULL;
}

/* Only the largest and the smallest tile of wgmma have kernels for any D: one less each to compile.
 */
static void choose_edges(const choice *c, kernel_spec *rows) {
  int largest = 0, smallest = 0;
  for (int r = 1; r < c->count; ++r) {
    int area = rows[r].value[SPEC_TILE_M] * rows[r].value[SPEC_TILE_N];
    if (area > rows[largest].value[SPEC_TILE_M] * rows[largest].value[SPEC_TILE_N]) largest = r;
    if (area < rows[smallest].value[SPEC_TILE_M] * rows[smallest].value[SPEC_TILE_N]) smallest = r;
  }
  for (int r = 0; r < c->count; ++r)
    if (rows[r].value[SPEC_EDGE] == SPEC_UNSET)
      rows[r].value[SPEC_EDGE] = r == largest || r == smallest;
}

static bool add_choice(spec_set *set, points *out, const choice *c, const kernel_spec *open) {
  kernel_spec rows[MOST_ROWS];
  buf text = {0};
  bool ok = true;
  for (int r = 0; r < c->count; ++r)
    rows[r] = c->search->list[c->rows[r]].spec;
  bool wgmma = rows[0].value[SPEC_FAMILY] == FAMILY_WGMMA;
  if (wgmma) choose_edges(c, rows);
  const auto_candidate *kept[MOST_ROWS];
  for (int r = 0; r < c->count; ++r)
    kept[r] = &c->search->list[c->rows[r]];
  double ranked = auto_rank(rows, kept, c->count, c->best);
  for (int r = 0; r < c->count && ok; ++r) {
    text.size = 0;
    buf_puts(&text, "left open, chosen by the model: ");
    put_reason(c, r, &text);
    rows[r].chosen = text.failed ? NULL : keep(set, text.data);
    ok = rows[r].chosen && append(out, &rows[r]);
  }
  text.size = 0;
  put_report(c, open, ranked, &text);
  ok = ok && !text.failed && keep_report(set, text.data);
  buf_free(&text);
  return ok;
}

/* Where the card's facts do not suffice for predictions, or the family has no grid: the family, and
 * the planner's preferences. */
static bool add_family(spec_set *set, points *out, const kernel_spec *open, int family) {
  kernel_spec row = *open;
  row.value[SPEC_FAMILY] = family;
  row.chosen = keep(set, "left open: the first family that serves these types on this GPU");
  return row.chosen && append(out, &row);
}

static bool fill(spec_set *set, points *out, const kernel_spec *open, diag *d) {
  plan_fault fault = {0};
  int family = auto_family(open, &fault);
  if (family < 0) {
    spec_report(open, d, DIAG_ERROR, fault.field, fault.code, "%s", fault.text);
    return true;
  }
  auto_search s = {.open = open};
  choice c = {.search = &s};
  auto_grid(&s, family);
  if (s.count > 0) {
    find_best(&c);
    add_rows(&c);
    drop_rows(&c);
    refine_rows(&c, &s);
    drop_rows(&c);
  }
  bool ok = !s.memory &&
            (s.count > 0 ? add_choice(set, out, &c, open) : add_family(set, out, open, family));
  free(s.list);
  return ok;
}

static bool same_question(const kernel_spec *a, const kernel_spec *b) {
  return memcmp(a->value, b->value, sizeof a->value) == 0 &&
         memcmp(&a->gpu, &b->gpu, sizeof a->gpu) == 0;
}

/* Has the same been asked before? Its kernels serve both. */
static bool repeated(const spec_set *set, size_t at) {
  for (size_t i = 0; i < at; ++i)
    if (is_open(&set->specs[i]) && same_question(&set->specs[i], &set->specs[at])) return true;
  return false;
}

bool plan_auto_expand(spec_set *set, diag *d) {
  points out = {0};
  size_t open = 0;
  bool ok = true, any = false;
  for (size_t i = 0; i < set->count && !any; ++i)
    any = is_open(&set->specs[i]);
  if (!any) return true;
  for (size_t i = 0; i < set->count && ok; ++i) {
    const kernel_spec *s = &set->specs[i];
    if (!is_open(s))
      ok = append(&out, s);
    else if (repeated(set, i))
      continue;
    else if (++open <= MOST_OPEN)
      ok = fill(set, &out, s, d);
    else if (open == MOST_OPEN + 1)
      diag_add(d, DIAG_ERROR, s->file, s->line, NULL, "too-many-open",
               "more than %d gemms leave everything open; name a family or a tile in the others",
               MOST_OPEN);
  }
  if (!ok) {
    free(out.specs);
    return false;
  }
  free(set->specs);
  set->specs = out.specs;
  set->count = out.count;
  set->capacity = out.capacity;
  return true;
}
