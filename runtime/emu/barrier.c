/* barrier.c - block barriers.
 *
 * Invariant: block->waiting[id][warp] holds the lanes that wait at barrier id, warp->waiting their
 * union with those at a collective. A warp's lanes may wait at one place only, anything else is
 * divergence. Whoever waits publishes its past and leaves with everyone's; an arrival without
 * waiting publishes at once and learns nothing.
 */
#include "emu_tensor.h"
#include <string.h>

static uint32_t *waiting_row(const emu_world *w, emu_block *b, int id) {
  return &b->waiting[(size_t)id * w->warps];
}

void ggi_emu_join(emu_world *w, const uint32_t *masks, uint32_t first_warp, uint32_t warps,
                  const emu_clock *extra) {
  emu_clock *all = NULL;
  const emu_clock *last = NULL;
  for (uint32_t i = 0; i < warps; i++) {
    const emu_warp *p = &w->warp[first_warp + i];
    for (uint32_t m = masks[i]; m != 0; m &= m - 1) {
      emu_thread *t = &w->thread[p->first + (uint32_t)__builtin_ctz(m)];
      if (all == NULL) {
        all = ggi_emu_clock_copy(w, t->base);
        if (extra != NULL) ggi_emu_clock_join(w, all, extra);
      } else if (t->base != last) {
        ggi_emu_clock_join(w, all, t->base);
      }
      last = t->base;
    }
  }
  if (all == NULL) return;
  for (uint32_t i = 0; i < warps; i++) {
    const emu_warp *p = &w->warp[first_warp + i];
    for (uint32_t m = masks[i]; m != 0; m &= m - 1)
      ggi_emu_clock_stamp(w, all, &w->thread[p->first + (uint32_t)__builtin_ctz(m)]);
  }
  ggi_emu_clock_seal(w, all);
  for (uint32_t i = 0; i < warps; i++) {
    emu_warp *p = &w->warp[first_warp + i];
    if (masks[i] == 0) continue;
    for (uint32_t m = masks[i]; m != 0; m &= m - 1)
      ggi_emu_clock_set(w, &w->thread[p->first + (uint32_t)__builtin_ctz(m)], all);
    p->count++;
    p->ready |= masks[i];
    p->waiting &= ~masks[i];
  }
  ggi_emu_clock_drop(w, all);
}

static void barrier_open(emu_world *w, emu_block *b, int id) {
  emu_barrier *r = &b->barrier[id];
  uint32_t *row = waiting_row(w, b, id);
  ggi_emu_join(w, row, 0, w->warps, r->arrivals);
  memset(row, 0, sizeof row[0] * w->warps);
  ggi_emu_clock_drop(w, r->arrivals);
  memset(r, 0, sizeof *r);
}

void ggi_emu_meet(emu_world *w, const char *op, int line) {
  emu_thread *t = w->current;
  emu_warp *p = t->warp;
  ggi_emu_count_wait(w);
  if (p->waiting != 0 && p->wait_line != line)
    ggi_emu_report(w, GG_EMU_DIVERGENCE, line, p->wait_line,
                   "%s is at %s while lanes of its warp wait at %s, line %d",
                   ggi_emu_thread_name(w, t->agent).s, op, p->wait_op, p->wait_line);
  p->wait_op = op;
  p->wait_line = line;
  p->waiting |= 1u << t->lane;
}

static void barrier_sync(emu_world *w, int id, uint32_t needed, const char *op, int line) {
  emu_thread *t = w->current;
  emu_block *b = t->block;
  emu_barrier *r = &b->barrier[id];
  ggi_emu_meet(w, op, line);
  r->needed = needed;
  r->arrived++;
  r->line = line;
  waiting_row(w, b, id)[t->warp->index] |= 1u << t->lane;
  if (r->arrived >= needed)
    barrier_open(w, b, id);
  else
    ggi_emu_wait(w, op, line);
}

/* 0: the call is wrong and reported. */
static int named_ok(emu_world *w, int id, int threads, const char *op, int line) {
  emu_thread *t = w->current;
  if (id < 1 || id >= EMU_BARRIERS) {
    ggi_emu_report(w, GG_EMU_BARRIER, line, 0, "%s with barrier %d; 1 to 15 exist", op, id);
    return 0;
  }
  if (threads <= 0 || threads % EMU_WARP != 0) {
    ggi_emu_report(w, GG_EMU_BARRIER, line, 0, "%s for %d threads, not a multiple of 32", op,
                   threads);
    return 0;
  }
  const emu_barrier *r = &t->block->barrier[id];
  if (r->arrived != 0 && r->needed != (uint32_t)threads)
    ggi_emu_report(w, GG_EMU_BARRIER, line, r->line,
                   "%s at barrier %d for %d threads, but line %d expects %u there", op, id, threads,
                   r->line, r->needed);
  return 1;
}

void gg_emu_syncthreads(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  barrier_sync(w, 0, w->current->block->alive, "gg_syncthreads", line);
}

void gg_emu_bar_sync(int id, int threads, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  if (!named_ok(w, id, threads, "gg_bar_sync", line)) return;
  barrier_sync(w, id, (uint32_t)threads, "gg_bar_sync", line);
}

void gg_emu_bar_arrive(int id, int threads, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  if (!named_ok(w, id, threads, "gg_bar_arrive", line)) return;
  emu_thread *t = w->current;
  emu_barrier *r = &t->block->barrier[id];
  if (r->arrivals == NULL) r->arrivals = ggi_emu_clock_new(w);
  ggi_emu_clock_join(w, r->arrivals, t->base);
  ggi_emu_clock_stamp(w, r->arrivals, t);
  t->warp->count++;
  r->needed = (uint32_t)threads;
  r->arrived++;
  r->line = line;
  if (r->arrived >= r->needed) barrier_open(w, t->block, id);
}

/* -- Exits -- */

/* A thread that exits is no longer waited for by gg_syncthreads and gg_syncwarp. */
void ggi_emu_barrier_exit(emu_world *w, emu_thread *t) {
  emu_warp *p = t->warp;
  ggi_emu_collective_exit(w, p);
  ggi_emu_cluster_exit(w);
  emu_barrier *r = &t->block->barrier[0];
  if (r->arrived != 0 && r->arrived >= t->block->alive) barrier_open(w, t->block, 0);
}

void ggi_emu_barrier_end(emu_world *w, emu_block *b) {
  for (int id = 0; id < EMU_BARRIERS; id++) {
    const emu_barrier *r = &b->barrier[id];
    if (r->arrived != 0)
      ggi_emu_report(w, GG_EMU_BARRIER, r->line, 0,
                     "block %llu ends with %u of %u threads arrived at barrier %d",
                     (unsigned long long)(w->block_index + b->rank), r->arrived, r->needed, id);
  }
}
