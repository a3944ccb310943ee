/* mbarrier.c - mbarriers: arrivals and bytes of a phase, and who waits for it.
 *
 * A phase completes when no arrival is pending and no byte is expected; then the next begins.
 * Arrivals publish their past into the phase, waits acquire it. Each mbarrier is an agent that
 * signs what the copies it counts have written. Invariant: `complete` is what the last complete
 * phase published; a thread that waits for a phase stands in `waiting` until that phase is over.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

#define OP GGD_OP(GGD_MBAR, GGD_PLAIN, 8)

emu_mbarrier *ggi_emu_mbarrier_find(emu_block *b, uint32_t off) {
  for (uint32_t i = 0; i < b->mbarriers; i++)
    if (b->mbarrier[i].off == off && b->mbarrier[i].alive) return &b->mbarrier[i];
  return NULL;
}

emu_mbarrier *ggi_emu_mbarrier(emu_world *w, emu_block *b, uint32_t off, int remote, unsigned op,
                               int line) {
  const emu_thread *t = w->current;
  emu_mbarrier *m = ggi_emu_mbarrier_find(b, off);
  if (m == NULL) {
    ggi_emu_report_access(w, GG_EMU_BARRIER, line, 0, op,
                          "uses shared byte %u as an mbarrier, but none was initialised there",
                          off);
    return NULL;
  }
  int seen =
      ggi_emu_before(t, m->agent, m->init_stamp) || (m->fenced && t->cluster_waited > m->fenced_at);
  if (!seen && w->options.check)
    ggi_emu_report_access(w, GG_EMU_RACE, line, m->line, op,
                          "uses the mbarrier at shared byte %u, initialised by %s at line %d, "
                          "unordered",
                          off, ggi_emu_agent_name(w, m->agent).s, m->line);
  else if (remote && !m->fenced && w->options.check)
    ggi_emu_report_access(w, GG_EMU_MISSING_FENCE, line, m->line, op,
                          "uses the mbarrier at shared byte %u, but no gg_fence_mbarrier_init "
                          "follows its initialisation at line %d",
                          off, m->line);
  return m;
}

static void wake_all(emu_world *w, emu_mbarrier *m) {
  for (uint32_t i = 0; i < w->warps; i++) {
    w->warp[i].ready |= m->waiting[i];
    m->waiting[i] = 0;
  }
}

static void complete_perhaps(emu_world *w, emu_mbarrier *m) {
  if (m->pending != 0 || m->bytes != 0) return;
  m->phase++;
  m->pending = m->count;
  ggi_emu_clock_drop(w, m->complete);
  ggi_emu_clock_drop(w, m->last);
  m->complete = m->arrived;
  m->arrived = m->last = NULL;
  wake_all(w, m);
}

static emu_clock *arrived_of(emu_world *w, emu_mbarrier *m) {
  if (m->arrived == NULL) m->arrived = ggi_emu_clock_new(w);
  return m->arrived;
}

void ggi_emu_mbarrier_landed(emu_world *w, emu_mbarrier *m, uint32_t bytes) {
  arrived_of(w, m)->c[m->engine] = m->stamp;
  m->bytes -= bytes;
  complete_perhaps(w, m);
}

static void arrive(emu_world *w, emu_mbarrier *m, int line) {
  emu_thread *t = w->current;
  emu_clock *c = arrived_of(w, m);
  if (m->last != t->base) {
    ggi_emu_clock_join(w, c, t->base);
    ggi_emu_clock_drop(w, m->last);
    m->last = t->base;
    m->last->refs++;
  }
  ggi_emu_clock_stamp(w, c, t);
  t->warp->count++;
  if (m->pending == 0) {
    ggi_emu_report_access(w, GG_EMU_BARRIER, line, m->line, OP,
                          "arrives at the mbarrier at shared byte %u, which has all %u arrivals of "
                          "this phase",
                          m->off, m->count);
    return;
  }
  m->pending--;
  complete_perhaps(w, m);
}

/* -- Primitives -- */

static emu_mbarrier *new_mbarrier(emu_world *w, emu_block *b, uint32_t off, int line) {
  emu_mbarrier *m = ggi_emu_mbarrier_find(b, off);
  if (m != NULL) {
    ggi_emu_report_access(w, GG_EMU_BARRIER, line, m->line, OP,
                          "initialises the mbarrier at shared byte %u again", off);
    return m;
  }
  if (b->mbarrier == NULL) {
    b->mbarrier = calloc(EMU_MBARRIERS, sizeof *b->mbarrier);
    uint32_t *rows = calloc((size_t)EMU_MBARRIERS * w->warps, sizeof *rows);
    if (b->mbarrier == NULL || rows == NULL) {
      free(rows);
      w->short_of_memory = 1;
      ggi_emu_abandon(w);
    }
    for (uint32_t i = 0; i < EMU_MBARRIERS; i++)
      b->mbarrier[i].waiting = rows + (size_t)i * w->warps;
  }
  for (uint32_t i = 0; i < b->mbarriers && m == NULL; i++)
    if (!b->mbarrier[i].alive) m = &b->mbarrier[i];
  if (m == NULL && b->mbarriers < EMU_MBARRIERS) {
    m = &b->mbarrier[b->mbarriers++];
    m->engine = ggi_emu_engine(w);
    m->stamp = 0;
  }
  if (m == NULL) {
    ggi_emu_report_access(w, GG_EMU_BARRIER, line, 0, OP, "is one of more than %d mbarriers",
                          EMU_MBARRIERS);
    ggi_emu_abandon(w);
  }
  return m;
}

static void forget(emu_world *w, emu_mbarrier *m) {
  ggi_emu_clock_drop(w, m->arrived);
  ggi_emu_clock_drop(w, m->last);
  ggi_emu_clock_drop(w, m->complete);
  m->arrived = m->last = m->complete = NULL;
  m->alive = 0;
}

void gg_emu_mbar_init(unsigned off, unsigned count, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  if (!ggi_emu_shared_range(w, off, 8, 8, OP, line)) return;
  if (count == 0 || count > 1048575)
    ggi_emu_report_access(w, GG_EMU_BARRIER, line, 0, OP, "is for %u arrivals, of 1 to 1048575",
                          count);
  emu_mbarrier *m = new_mbarrier(w, t->block, off, line);
  if (m->alive)
    forget(w, m);
  else if (w->options.check)
    ggi_emu_shared_mbarrier(w, off, OP, line, 1);
  m->off = off;
  m->alive = 1;
  m->count = m->pending = count;
  m->phase = 0;
  m->bytes = 0;
  m->agent = t->agent;
  m->init_stamp = t->warp->count;
  m->line = line;
  m->fenced = 0;
}

void gg_emu_mbar_inval(unsigned off, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  emu_mbarrier *m = ggi_emu_mbarrier(w, w->current->block, off, 0, OP, line);
  if (m == NULL) return;
  if (m->bytes != 0)
    ggi_emu_report_access(w, GG_EMU_MISSING_WAIT, line, m->line, OP,
                          "ends an mbarrier that still expects %lld bytes", (long long)m->bytes);
  forget(w, m);
  if (w->options.check) ggi_emu_shared_mbarrier(w, off, OP, line, 0);
}

void gg_emu_mbar_arrive(unsigned off, int rank, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  emu_block *own = w->current->block;
  emu_block *b = rank < 0 ? own : ggi_emu_cluster_block(w, (unsigned)rank, OP, line);
  if (b == NULL) return;
  ggi_emu_cluster_used(w, b, line);
  emu_mbarrier *m = ggi_emu_mbarrier(w, b, off, b != own, OP, line);
  if (m != NULL) arrive(w, m, line);
}

void gg_emu_mbar_expect(unsigned off, unsigned bytes, int arrives, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  emu_mbarrier *m = ggi_emu_mbarrier(w, w->current->block, off, 0, OP, line);
  if (m == NULL) return;
  m->bytes += bytes;
  if (arrives)
    arrive(w, m, line);
  else
    complete_perhaps(w, m);
}

static int is_over(const emu_mbarrier *m, unsigned parity) {
  return (m->phase & 1) != (parity & 1);
}

void gg_emu_mbar_wait(unsigned off, unsigned parity, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  emu_mbarrier *m = ggi_emu_mbarrier(w, t->block, off, 0, OP, line);
  if (m == NULL) return;
  while (!is_over(m, parity)) {
    ggi_emu_count_wait(w);
    m->waiting[t->warp->index] |= 1u << t->lane;
    ggi_emu_wait(w, "gg_mbar_wait", line);
  }
  ggi_emu_clock_acquire(w, t, m->complete);
}

/* Others get a turn, else a loop around this would not end. */
int gg_emu_mbar_test(unsigned off, unsigned parity, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  emu_mbarrier *m = ggi_emu_mbarrier(w, t->block, off, 0, OP, line);
  if (m == NULL) return 1;
  if (!is_over(m, parity)) {
    gg_emu_nanosleep(line);
    return 0;
  }
  ggi_emu_clock_acquire(w, t, m->complete);
  return 1;
}

void gg_emu_nanosleep(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  ggi_emu_yield(w);
  if (w->tma != NULL) ggi_emu_tma_progress(w);
}

/* -- Fences -- */

static void fenced(emu_world *w, emu_thread *t, int own) {
  (void)w;
  for (uint32_t i = 0; i < t->block->mbarriers; i++) {
    emu_mbarrier *m = &t->block->mbarrier[i];
    if (!m->alive || m->fenced) continue;
    if (own ? m->agent != t->agent : !ggi_emu_before(t, m->agent, m->init_stamp)) continue;
    m->fenced = 1;
    m->fenced_at = t->cluster_arrived;
  }
}

void gg_emu_fence_mbarrier_init(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  fenced(w, w->current, 1);
}

void gg_emu_fence_proxy_async(int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  fenced(w, w->current, 0);
  ggi_emu_clock_fence(w, w->current);
}

/* -- Ends -- */

/* What the mbarrier that t waits for still lacks; empty: t waits for none. */
emu_op_name ggi_emu_mbarrier_missing(const emu_thread *t) {
  emu_op_name name = {""};
  const emu_block *b = t->block;
  for (uint32_t i = 0; i < b->mbarriers; i++) {
    const emu_mbarrier *m = &b->mbarrier[i];
    if ((m->waiting[t->warp->index] >> t->lane & 1) != 0)
      snprintf(name.s, sizeof name.s, " (%u arrivals, %lld bytes missing)", m->pending,
               (long long)m->bytes);
  }
  return name;
}

void ggi_emu_mbarriers_end(emu_world *w, emu_block *b) {
  for (uint32_t i = 0; i < b->mbarriers; i++) {
    emu_mbarrier *m = &b->mbarrier[i];
    if (m->alive && m->bytes > 0 && !w->abandoned)
      ggi_emu_report(w, GG_EMU_UNFINISHED, m->line, 0,
                     "block %llu ends while its mbarrier at shared byte %u expects %lld more bytes",
                     (unsigned long long)(w->block_index + b->rank), m->off, (long long)m->bytes);
    forget(w, m);
    memset(m->waiting, 0, w->warps * sizeof *m->waiting);
  }
  b->mbarriers = 0;
}

void ggi_emu_mbarriers_free(emu_block *b) {
  if (b->mbarrier != NULL) free(b->mbarrier[0].waiting);
  free(b->mbarrier);
}
