/* count.c - collects each line's accesses until all lanes of a warp have made them.
 *
 * Lanes run one after another, so the n-th execution of a line by one lane belongs to the n-th of
 * the others: one warp instruction. Loops that lanes leave at different times are aligned anew
 * where the warp meets. Invariant: a site is active, and its `room` not zero, exactly when it holds
 * executions not yet evaluated; slot i of a lane is its execution base + i.
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>

enum {
  ROOM_FIRST = 4,
  ROOM_MOST = 1024,
  TURNS_IDLE = 64, /* without an execution by anyone: a random schedule may serve other warps */
  LANE_PAD = 8     /* keeps one slot of all lanes from falling into one set of the cache */
};

static int is_copy(unsigned op) {
  unsigned does = ggi_emu_op_does(op);
  return does == GGD_CP_ASYNC || does == GGD_CP_ASYNC_ZFILL;
}
static int is_global(unsigned op) {
  unsigned does = ggi_emu_op_does(op);
  return does == GGD_LDG || does == GGD_LD || does == GGD_ST || does == GGD_RED_MAX;
}

/* -- Sites -- */

static uint32_t capacity(const emu_site *s) {
  return s->stride - LANE_PAD;
}

/* 0, or -1: the counts of this site stay incomplete. */
static int make_room(emu_site *s, uint32_t room) {
  uint32_t stride = room + LANE_PAD, sides = is_copy(s->op) ? 2 : 1;
  uint64_t *addr = malloc((size_t)stride * EMU_WARP * sides * sizeof *addr);
  if (addr == NULL) return -1;
  uint64_t *source = sides == 2 ? addr + (size_t)stride * EMU_WARP : NULL;
  for (uint32_t l = 0; s->addr != NULL && l < EMU_WARP; l++) {
    memcpy(addr + l * stride, s->addr + l * s->stride, capacity(s) * sizeof *addr);
    if (source != NULL)
      memcpy(source + l * stride, s->source + l * s->stride, capacity(s) * sizeof *addr);
  }
  free(s->addr);
  s->addr = addr;
  s->source = source;
  s->stride = stride;
  return 0;
}

static emu_site *site_new(emu_site *next, unsigned op, int line) {
  emu_site *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->op = op;
  s->line = line;
  s->next = next;
  if (make_room(s, ROOM_FIRST) != 0) {
    free(s);
    return NULL;
  }
  return s;
}

static emu_site *site_of(emu_warp *p, unsigned op, int line) {
  if (line < 0) return NULL;
  if (line >= p->site_room) {
    int room = line + 256;
    emu_site **grown = realloc(p->sites, (size_t)room * sizeof(emu_site *));
    if (grown == NULL) return NULL;
    memset(grown + p->site_room, 0, (size_t)(room - p->site_room) * sizeof(emu_site *));
    p->sites = grown;
    p->site_room = room;
  }
  emu_site **at = &p->sites[line];
  while (*at != NULL && (*at)->op != op)
    at = &(*at)->next;
  emu_site *s = *at;
  if (s == NULL) {
    s = site_new(p->sites[line], op, line);
    if (s == NULL) return NULL;
  } else {
    *at = s->next; /* to the front, where it is found at once: kernels change, sites stay */
    s->next = p->sites[line];
  }
  p->sites[line] = s;
  return s;
}

/* -- Evaluation -- */

static void add(emu_site *s, int shared, emu_cost c) {
  s->requests[shared]++;
  s->cost[shared] += c.cost;
  s->ideal[shared] += c.ideal;
}

static void evaluate(emu_site *s, uint32_t mask, uint32_t slot) {
  uint64_t addr[EMU_WARP] = {0}, source[EMU_WARP] = {0};
  uint8_t bytes[EMU_WARP];
  unsigned width = ggi_emu_op_bytes(s->op);
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(m);
    addr[l] = s->addr[l * s->stride + slot];
  }
  if (is_global(s->op)) {
    memset(bytes, (int)width, sizeof bytes);
    add(s, 0, ggi_emu_cost_global(mask, addr, bytes));
    return;
  }
  if (!is_copy(s->op)) {
    add(s, 1, ggi_emu_cost_shared(mask, addr, width, ggi_emu_op_does(s->op) == GGD_LDS));
    return;
  }
  uint32_t reading = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(m);
    uint64_t from = s->source[l * s->stride + slot];
    bytes[l] = (uint8_t)(from >> 56);
    source[l] = from & ((1ull << 56) - 1);
    if (bytes[l] != 0) reading |= 1u << l;
  }
  add(s, 1, ggi_emu_cost_copy(mask, addr, source, width));
  if (reading != 0) add(s, 0, ggi_emu_cost_global(reading, source, bytes));
}

/* Executions [base, end) are evaluated with the lanes that made them. */
static void evaluate_to(emu_site *s, uint32_t end) {
  uint32_t least = UINT32_MAX;
  for (uint32_t l = 0; l < EMU_WARP; l++)
    if (s->n[l] < least) least = s->n[l];
  for (uint32_t i = s->base; i < end; i++) {
    uint32_t mask = i < least ? ~0u : 0;
    for (uint32_t l = 0; i >= least && l < EMU_WARP; l++)
      if (s->n[l] > i) mask |= 1u << l;
    if (mask != 0) evaluate(s, mask, i - s->base);
  }
}

static uint32_t most_executions(const emu_site *s) {
  uint32_t most = 0;
  for (uint32_t l = 0; l < EMU_WARP; l++)
    if (s->n[l] > most) most = s->n[l];
  return most;
}

static void close_site(emu_site *s) {
  s->base = 0;
  s->room = 0;
  memset(s->n, 0, sizeof s->n);
}

void ggi_emu_count_align(emu_warp *p) {
  for (emu_site *s = p->active; s != NULL; s = s->next_active) {
    evaluate_to(s, most_executions(s));
    close_site(s);
  }
  p->active = NULL;
}

void ggi_emu_count_forget(emu_warp *p) {
  for (emu_site *s = p->active; s != NULL; s = s->next_active)
    close_site(s);
  p->active = NULL;
}

/* Executions that every runnable lane of the warp has made. */
static uint32_t passed_by_all(const emu_warp *p, const emu_site *s, uint64_t *sum) {
  uint32_t least = UINT32_MAX;
  *sum = 0;
  for (uint32_t m = p->ready; m != 0; m &= m - 1) {
    uint32_t n = s->n[__builtin_ctz(m)];
    *sum += n;
    if (n < least) least = n;
  }
  return least;
}

/* Evaluates what all have passed and moves the rest to the front. */
static void shift(emu_site *s, uint32_t passed) {
  uint32_t gone = passed - s->base;
  evaluate_to(s, passed);
  for (uint32_t l = 0; l < EMU_WARP; l++) {
    if (s->n[l] <= passed) continue;
    uint64_t *lane = s->addr + l * s->stride;
    memmove(lane, lane + gone, (s->n[l] - passed) * sizeof *lane);
    if (s->source == NULL) continue;
    lane = s->source + l * s->stride;
    memmove(lane, lane + gone, (s->n[l] - passed) * sizeof *lane);
  }
  s->base = passed;
}

/* The site is full for this lane: the others get turns to catch up. Where they do not come this way
 * it is evaluated without them. */
static void make_way(emu_world *w, emu_site *s) {
  uint64_t sum, before = 0;
  int idle = 0;
  for (;;) {
    const emu_thread *t = w->current;
    uint32_t passed = passed_by_all(t->warp, s, &sum);
    if (sum != before) idle = 0;
    before = sum;
    if (passed > s->base || ++idle > TURNS_IDLE) {
      shift(s, passed > s->base ? passed : s->n[t->lane]);
      return;
    }
    ggi_emu_yield(w);
    /* Meanwhile the site may have been aligned, or emptied by another lane. */
    if (s->n[w->current->lane] - s->base < capacity(s)) return;
  }
}

/* A slot for the running lane's next execution; NULL: memory is short. */
static emu_site *open_slot(emu_world *w, unsigned op, int line) {
  emu_thread *t = w->current;
  emu_site *s = site_of(t->warp, op, line);
  if (s == NULL) {
    w->short_of_memory = 1;
    return NULL;
  }
  if (s->n[t->lane] < s->base) s->n[t->lane] = s->base; /* it came late; see make_way */
  if (s->n[t->lane] - s->base >= capacity(s)) {
    if (capacity(s) >= ROOM_MOST || make_room(s, capacity(s) * 2) != 0) make_way(w, s);
  }
  if (s->room == 0) {
    s->next_active = t->warp->active;
    t->warp->active = s;
  }
  s->room = capacity(s);
  return s;
}

void ggi_emu_count_slow(emu_world *w, unsigned op, int line, uint64_t addr) {
  emu_site *s = open_slot(w, op, line);
  if (s == NULL) return;
  uint32_t lane = w->current->lane;
  s->addr[lane * s->stride + s->n[lane]++ - s->base] = addr;
}

void ggi_emu_count_copy(emu_world *w, unsigned op, int line, uint64_t off, uint64_t source) {
  emu_site *s = open_slot(w, op, line);
  if (s == NULL) return;
  uint32_t lane = w->current->lane, at = lane * s->stride + s->n[lane]++ - s->base;
  s->addr[at] = off;
  s->source[at] = source;
}

void ggi_emu_count_warp(emu_world *w, emu_warp *p, unsigned op, int shared,
                        const uint64_t addr[EMU_WARP], uint32_t mask, unsigned bytes, int load) {
  uint8_t each[EMU_WARP];
  emu_site *s = site_of(p, op, p->wait_line);
  if (s == NULL) {
    w->short_of_memory = 1;
    return;
  }
  memset(each, (int)bytes, sizeof each);
  add(s, shared,
      shared ? ggi_emu_cost_shared(mask, addr, bytes, load)
             : ggi_emu_cost_global(mask, addr, each));
}

/* -- Results -- */

static gg_emu_access *access_of(gg_emu *e, const emu_site *s, int shared) {
  emu_op_name full = ggi_emu_op_name(s->op);
  const char *name = full.s + strlen("gg_");
  for (size_t i = 0; i < e->accesses; i++) {
    gg_emu_access *a = &e->access[i];
    if (a->line == s->line && a->shared == shared && strcmp(a->op, name) == 0) return a;
  }
  if (e->accesses == e->access_room) {
    size_t room = e->access_room == 0 ? 64 : e->access_room * 2;
    gg_emu_access *grown = realloc(e->access, room * sizeof *grown);
    if (grown == NULL) return NULL;
    e->access = grown;
    e->access_room = room;
  }
  gg_emu_access *a = &e->access[e->accesses++];
  memset(a, 0, sizeof *a);
  a->line = s->line;
  a->shared = shared;
  snprintf(a->op, sizeof a->op, "%.23s", name);
  return a;
}

static int merge_site(gg_emu *e, emu_site *s) {
  for (int shared = 0; shared < 2; shared++) {
    if (s->requests[shared] == 0) continue;
    gg_emu_access *a = access_of(e, s, shared);
    if (a == NULL) return -1;
    a->requests += s->requests[shared];
    a->cost += s->cost[shared];
    a->ideal += s->ideal[shared];
    s->requests[shared] = s->cost[shared] = s->ideal[shared] = 0;
  }
  return 0;
}

static int compare(const void *x, const void *y) {
  const gg_emu_access *a = x, *b = y;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  int names = strcmp(a->op, b->op);
  return names != 0 ? names : a->shared - b->shared;
}

int ggi_emu_count_merge(gg_emu *e, emu_world *w) {
  for (uint32_t i = 0; i < w->warps; i++) {
    const emu_warp *p = &w->warp[i];
    for (int line = 0; line < p->site_room; line++)
      for (emu_site *s = p->sites[line]; s != NULL; s = s->next)
        if (merge_site(e, s) != 0) return -1;
  }
  if (e->accesses > 0) qsort(e->access, e->accesses, sizeof *e->access, compare);
  return 0;
}

void ggi_emu_count_free(emu_warp *p) {
  for (int line = 0; line < p->site_room; line++)
    for (emu_site *s = p->sites[line], *next; s != NULL; s = next) {
      next = s->next;
      free(s->addr);
      free(s);
    }
  free(p->sites);
}
