/* clock.c - vector clocks: who has seen how much of whom.
 *
 * Invariant: a clock with more than one owner does not change. A thread's base holds what it
 * acquired; its own past is its warp's count and needs no entry. Thus a barrier makes one clock for
 * all who leave it. Entries of engines not in use are zero, and so are those of the asynchronous
 * proxy while nobody has fenced (w->proxied).
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>

static size_t entries(const emu_world *w) {
  return (size_t)w->agent_room + w->warps + w->threads;
}

static uint32_t *minima(const emu_world *w, emu_clock *c) {
  return c->c + w->agent_room;
}

/* Per thread: the past that the asynchronous proxy may see. */
static uint32_t *visible(const emu_world *w, emu_clock *c) {
  return c->c + w->agent_room + w->warps;
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

emu_clock *ggi_emu_clock_zero(emu_world *w) {
  emu_clock *c = take(w);
  if (c != NULL) memset(c->c, 0, entries(w) * sizeof c->c[0]);
  return c;
}

emu_clock *ggi_emu_clock_new(emu_world *w) {
  emu_clock *c = ggi_emu_clock_zero(w);
  if (c == NULL) ggi_emu_abandon(w);
  return c;
}

emu_clock *ggi_emu_clock_copy(emu_world *w, const emu_clock *of) {
  emu_clock *c = take(w);
  if (c == NULL) ggi_emu_abandon(w);
  memcpy(c->c, of->c, entries(w) * sizeof c->c[0]);
  return c;
}

void ggi_emu_clock_drop(emu_world *w, emu_clock *c) {
  if (c == NULL || --c->refs > 0) return;
  memcpy(c->c, &w->free_clock, sizeof w->free_clock);
  w->free_clock = c;
}

static void raise_all(uint32_t *to, const uint32_t *from, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    to[i] = to[i] < from[i] ? from[i] : to[i];
}

void ggi_emu_clock_join(emu_world *w, emu_clock *c, const emu_clock *other) {
  raise_all(c->c, other->c, w->agents);
  if (EMU_UNLIKELY(w->proxied))
    raise_all(visible(w, c), other->c + w->agent_room + w->warps, w->threads);
}

void ggi_emu_clock_stamp(emu_world *w, emu_clock *c, const emu_thread *t) {
  if (c->c[t->agent] < t->warp->count) c->c[t->agent] = t->warp->count;
  if (EMU_UNLIKELY(w->proxied)) {
    uint32_t *seen = &visible(w, c)[t->agent];
    if (*seen < t->visible) *seen = t->visible;
  }
}

void ggi_emu_clock_seal(emu_world *w, emu_clock *c) {
  uint32_t *least_of = minima(w, c);
  for (uint32_t i = 0; i < w->warps; i++) {
    const emu_warp *p = &w->warp[i];
    uint32_t least = UINT32_MAX;
    for (uint32_t l = 0; l < p->lanes; l++)
      if (c->c[p->first + l] < least) least = c->c[p->first + l];
    least_of[i] = least;
  }
}

void ggi_emu_clock_set(emu_world *w, emu_thread *t, emu_clock *c) {
  emu_clock *old = t->base;
  if (c != NULL) c->refs++;
  t->base = c;
  ggi_emu_clock_drop(w, old);
}

/* Threads that acquire the same mostly stand at the same base: the last outcome is kept. */
static void remember(emu_world *w, emu_clock *base, emu_clock *other, emu_clock *outcome) {
  emu_clock *const now[3] = {base, other, outcome};
  for (int i = 0; i < 3; i++) {
    if (now[i] != NULL) now[i]->refs++;
    ggi_emu_clock_drop(w, w->joined[i]);
    w->joined[i] = now[i];
  }
}

void ggi_emu_clock_forget(emu_world *w) {
  remember(w, NULL, NULL, NULL);
}

void ggi_emu_clock_acquire(emu_world *w, emu_thread *t, emu_clock *other) {
  if (other == NULL || t->base == other) return;
  if (w->joined[0] != t->base || w->joined[1] != other) {
    emu_clock *c = ggi_emu_clock_copy(w, t->base);
    ggi_emu_clock_join(w, c, other);
    ggi_emu_clock_seal(w, c);
    remember(w, t->base, other, c);
    ggi_emu_clock_drop(w, c);
  }
  ggi_emu_clock_set(w, t, w->joined[2]);
}

/* Fencing is like acquiring one's own base: marked so in what is remembered. */
void ggi_emu_clock_fence(emu_world *w, emu_thread *t) {
  w->proxied = 1;
  t->visible = t->warp->count++;
  if (w->joined[0] != t->base || w->joined[1] != t->base) {
    emu_clock *c = ggi_emu_clock_copy(w, t->base);
    raise_all(visible(w, c), c->c, w->threads);
    remember(w, t->base, t->base, c);
    ggi_emu_clock_drop(w, c);
  }
  ggi_emu_clock_set(w, t, w->joined[2]);
}

/* How much of the agent's past the asynchronous proxy may see, as t knows. */
uint32_t ggi_emu_clock_visible(const emu_world *w, const emu_thread *t, uint32_t agent) {
  return agent == t->agent ? t->visible : t->base->c[w->agent_room + w->warps + agent];
}

uint32_t ggi_emu_engine(emu_world *w) {
  if (w->agents == w->agent_room) ggi_emu_abandon(w);
  return w->agents++;
}
