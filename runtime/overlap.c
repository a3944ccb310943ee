/* overlap.c - integer search for a byte that two strided views share.
 *
 * Runs start at x0 + i*stride + r*pitch, and two runs meet when their starts differ by less than
 * their lengths. So views x and y share a byte if and only if for some t
 *   low <= offset + t1*c1 + ... + tn*cn <= high,   0 <= ti < counti, ci > 0
 * where each distance is a term (y's count downwards, which moves the offset). Terms are merged
 * where one continues another and absorbed by the window [low, high] where their steps leave no
 * gap. What is left is searched from the largest step down; each level tries only values that the
 * levels below can still bring into the window.
 */
#include "overlap.h"

typedef __int128 wide;

typedef struct term {
  wide step;
  wide count;
} term;

typedef struct search {
  term terms[4];
  int count;
  wide low, high;
  long budget;
} search;

static void add(search *s, gg_i64 step, gg_i64 count) {
  if (step > 0 && count > 1) s->terms[s->count++] = (term){step, count};
}

static void sort(search *s) {
  for (int i = 1; i < s->count; ++i)
    for (int j = i; j > 0 && s->terms[j].step < s->terms[j - 1].step; --j) {
      term t = s->terms[j];
      s->terms[j] = s->terms[j - 1];
      s->terms[j - 1] = t;
    }
}

static void take_out(search *s, int i) {
  for (--s->count; i < s->count; ++i)
    s->terms[i] = s->terms[i + 1];
}

/* {t1*c + t2*q*c} with q <= count1 is {t*c} without a gap. */
static bool merge_one(search *s) {
  for (int i = 0; i < s->count; ++i)
    for (int j = i + 1; j < s->count; ++j) {
      term *a = &s->terms[i], *b = &s->terms[j];
      if (b->step % a->step != 0 || b->step / a->step > a->count) continue;
      a->count += (b->count - 1) * (b->step / a->step);
      take_out(s, j);
      return true;
    }
  return false;
}

/* Steps no longer than the window widen it. */
static bool absorb_one(search *s) {
  if (s->count == 0 || s->terms[0].step > s->high - s->low + 1) return false;
  s->low -= (s->terms[0].count - 1) * s->terms[0].step;
  take_out(s, 0);
  return true;
}

static wide floor_div(wide a, wide b) {
  return a / b - (a % b < 0);
}

/* Does some choice of the terms below `level` bring offset into the window? */
static bool reach(search *s, int level, wide offset) {
  if (s->low > s->high) return false;
  if (level == 0) return s->low <= offset && offset <= s->high;
  wide rest = 0;
  for (int i = 0; i < level - 1; ++i)
    rest += (s->terms[i].count - 1) * s->terms[i].step;
  const term *t = &s->terms[level - 1];
  wide first = -floor_div(offset + rest - s->low, t->step); /* least t with offset+t+rest >= low */
  wide last = floor_div(s->high - offset, t->step);
  if (first < 0) first = 0;
  if (last > t->count - 1) last = t->count - 1;
  if (level == 1) return first <= last;
  for (wide i = first; i <= last; ++i) {
    if (--s->budget < 0) return true;
    if (reach(s, level - 1, offset + i * t->step)) return true;
  }
  return false;
}

static bool solve(search *s, wide offset) {
  s->budget = 1L << 18;
  sort(s);
  while (merge_one(s) || absorb_one(s)) {
  }
  return reach(s, s->count, offset);
}

static bool is_empty(const ggi_view *v) {
  return v->run <= 0 || v->rows <= 0 || v->batch <= 0;
}

static wide extent(const ggi_view *v) {
  return (wide)(v->batch - 1) * v->stride + (wide)(v->rows - 1) * v->pitch + v->run;
}

bool ggi_views_overlap(const ggi_view *x, const ggi_view *y) {
  if (is_empty(x) || is_empty(y)) return false;
  wide distance = (wide)(uintptr_t)x->start - (wide)(uintptr_t)y->start;
  if (distance >= extent(y) || -distance >= extent(x)) return false;

  search s = {.count = 0, .low = 1 - (wide)x->run, .high = (wide)y->run - 1};
  add(&s, x->pitch, x->rows);
  add(&s, x->stride, x->batch);
  add(&s, y->pitch, y->rows);
  add(&s, y->stride, y->batch);
  distance -= (wide)(y->rows - 1) * y->pitch + (wide)(y->batch - 1) * y->stride;
  return solve(&s, distance);
}

bool ggi_view_self_overlap(const ggi_view *x) {
  if (is_empty(x) || x->batch <= 1) return false;
  /* Matrices 0 and b >= 1; rows differ by -(rows-1) .. rows-1. */
  search s = {.count = 0, .low = 1 - (wide)x->run, .high = (wide)x->run - 1};
  add(&s, x->stride, x->batch - 1);
  add(&s, x->pitch, 2 * x->rows - 1);
  return solve(&s, (wide)x->stride - (wide)(x->rows - 1) * x->pitch);
}
