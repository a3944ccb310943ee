/* collective.c - what the lanes of a warp do together: meetings, shuffles, reductions.
 *
 * Each lane deposits a pointer to its operands and waits; the last to come does the work for all.
 * Invariant: warp->at_collective holds the lanes that wait there, all for the same operation.
 * Nothing is published by that: only gg_syncwarp orders memory.
 */
#include "emu_tensor.h"

static void open_collective(emu_world *w, emu_warp *p) {
  uint32_t mask = p->at_collective;
  p->at_collective = 0;
  p->perform(w, p, mask);
  p->ready |= mask;
  p->waiting &= ~mask;
}

void ggi_emu_collective(emu_world *w, const void *arg, emu_perform *perform, unsigned op,
                        const char *name, int line) {
  emu_thread *t = w->current;
  emu_warp *p = t->warp;
  ggi_emu_meet(w, name, line);
  if (p->at_collective != 0 && (p->perform != perform || p->collective_op != op)) {
    if (p->wait_line == line) /* else reported */
      ggi_emu_report(w, GG_EMU_DIVERGENCE, line, 0, "%s is at %s, lanes of its warp at another",
                     ggi_emu_thread_name(w, t->agent).s, name);
    ggi_emu_abandon(w);
  }
  p->perform = perform;
  p->collective_op = op;
  p->arg[t->lane] = arg;
  p->at_collective |= 1u << t->lane;
  if (p->at_collective == p->alive)
    open_collective(w, p);
  else
    ggi_emu_wait(w, name, line);
}

/* The lane that left is no longer waited for. */
void ggi_emu_collective_exit(emu_world *w, emu_warp *p) {
  if (p->at_collective != 0 && p->at_collective == p->alive) open_collective(w, p);
}

void ggi_emu_whole_warp(emu_world *w, const emu_warp *p, uint32_t mask, const char *name) {
  if (mask == ~0u) return;
  ggi_emu_report(w, GG_EMU_DIVERGENCE, p->wait_line, 0,
                 "%s by lanes %08x only of the warp of %s; it takes all 32", name, mask,
                 ggi_emu_thread_name(w, p->first).s);
}

/* -- Meetings -- */

static void meet_only(emu_world *w, emu_warp *p, uint32_t mask) {
  ggi_emu_join(w, &mask, p->index, 1, NULL);
}

void gg_emu_syncwarp(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  ggi_emu_collective(w, NULL, meet_only, 0, "gg_syncwarp", line);
}

/* -- Other kernels of the stream: those before have ended, for this thread; those behind need
 * nothing here, since launches of the emulated GPU do not overlap -- */

void gg_emu_grid_wait(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  w->current->grid_waited = 1;
}

void gg_emu_grid_release(int line) {
  ggi_emu_step(ggi_emu_world, line);
}

/* -- Shuffles and reductions: 32-bit words -- */

typedef struct exchange {
  unsigned give, *take;
  int by;
} exchange;

static const exchange *lane_arg(const emu_warp *p, unsigned lane) {
  return p->arg[lane];
}

/* Lanes out of range, and lanes that are not there, leave the own value. */
static void shuffle(emu_world *w, emu_warp *p, uint32_t mask) {
  (void)w;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    int lane = __builtin_ctz(m), from = lane;
    const exchange *x = p->arg[lane];
    switch (p->collective_op) {
    case GGD_SHFL_IDX:
      from = x->by & 31;
      break;
    case GGD_SHFL_XOR:
      from = lane ^ x->by;
      break;
    case GGD_SHFL_DOWN:
      from = lane + x->by;
      break;
    default:
      from = lane - x->by;
    }
    if (from < 0 || from >= EMU_WARP || (mask >> from & 1) == 0) from = lane;
    *x->take = lane_arg(p, (unsigned)from)->give;
  }
}

static void reduce(emu_world *w, emu_warp *p, uint32_t mask) {
  (void)w;
  unsigned most = 0, sum = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned give = lane_arg(p, (unsigned)__builtin_ctz(m))->give;
    sum += give;
    if (give > most) most = give;
  }
  for (uint32_t m = mask; m != 0; m &= m - 1)
    *lane_arg(p, (unsigned)__builtin_ctz(m))->take = p->collective_op == GGD_REDUX_MAX ? most : sum;
}

unsigned gg_emu_exchange(unsigned x, int by, unsigned op, int line) {
  static const char *const names[] = {"gg_shfl_sync_idx", "gg_shfl_sync_xor", "gg_shfl_sync_down",
                                      "gg_shfl_sync_up",  "gg_redux_max",     "gg_redux_add"};
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  unsigned out = x;
  exchange e = {x, &out, by};
  ggi_emu_collective(w, &e, op < GGD_REDUX_MAX ? shuffle : reduce, op, names[op], line);
  return out;
}
