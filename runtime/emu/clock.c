/* clock.c - vector clocks: who has seen how much of whom.
 *
 * Invariant: a clock with more than one owner does not change. A thread's base holds what it
 * acquired; its own past is its warp's count and needs no entry. Thus a barrier makes one clock for
 * all who leave it.
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>

static size_t entries(const emu_world *w) {
  return (size_t)w->agents + w->warps;
}

static emu_clock *take(emu_world *w) {
  emu_clock *c = w->free_clock;
  if (c != NULL) {
    memcpy(&w->free_clock, c->c, sizeof w->free_clock);
  } else {
    /* A free clock holds a pointer. */
    size_t n = entries(w) < 2 ? 2 : entries(w);
    c = malloc(sizeof *c + n * sizeof c->c[0]);
    if (c == NULL) {
      w->short_of_memory = 1;
      return NULL;
    }
  }
  c->refs = 1;
  return c;
}

emu_clock *ggi_emu_clock_new(emu_world *w) {
  emu_clock *c = take(w);
  if (c == NULL) ggi_emu_abandon(w);
  return c;
}

emu_clock *ggi_emu_clock_zero(emu_world *w) {
  emu_clock *c = take(w);
  if (c != NULL) memset(c->c, 0, entries(w) * sizeof c->c[0]);
  return c;
}

void ggi_emu_clock_drop(emu_world *w, emu_clock *c) {
  if (c == NULL || --c->refs > 0) return;
  memcpy(c->c, &w->free_clock, sizeof w->free_clock);
  w->free_clock = c;
}

void ggi_emu_clock_join(emu_world *w, emu_clock *c, const emu_clock *other) {
  for (uint32_t i = 0; i < w->agents; i++)
    if (c->c[i] < other->c[i]) c->c[i] = other->c[i];
}

void ggi_emu_clock_stamp(emu_clock *c, const emu_thread *t) {
  if (c->c[t->agent] < t->warp->count) c->c[t->agent] = t->warp->count;
}

void ggi_emu_clock_seal(emu_world *w, emu_clock *c) {
  for (uint32_t i = 0; i < w->warps; i++) {
    const emu_warp *p = &w->warp[i];
    uint32_t least = UINT32_MAX;
    for (uint32_t l = 0; l < p->lanes; l++)
      if (c->c[p->first + l] < least) least = c->c[p->first + l];
    c->c[w->agents + i] = least;
  }
}

void ggi_emu_clock_set(emu_world *w, emu_thread *t, emu_clock *c) {
  emu_clock *old = t->base;
  if (c != NULL) c->refs++;
  t->base = c;
  ggi_emu_clock_drop(w, old);
}
