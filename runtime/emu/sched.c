/* sched.c - the threads of one cluster, and which of them runs next.
 *
 * Invariant: a thread is in its warp's `ready` mask exactly when it could run now (the running one
 * included). With seed 0 the next one is the next ready lane of the same warp, then the next warp;
 * with another seed both are drawn. When nobody is ready, a copy in flight lands; when there is
 * none and somebody lives, that is a deadlock: no time-outs.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

__thread emu_world *ggi_emu_world __attribute__((tls_model("initial-exec")));

/* -- Who runs -- */

uint64_t ggi_emu_random(emu_world *w) {
  uint64_t x = w->random; /* xorshift64* */
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  w->random = x;
  return (x * 0x2545f4914f6cdd1dull) >> 11;
}

static uint64_t seeded(uint64_t seed, uint64_t block) {
  uint64_t z = seed * 0x9e3779b97f4a7c15ull + block * 0xd1342543de82ef95ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return z != 0 ? z : 1;
}

static emu_thread *lane_of(emu_world *w, const emu_warp *p, uint32_t mask) {
  return &w->thread[p->first + (uint32_t)__builtin_ctz(mask)];
}

static emu_thread *pick_random(emu_world *w) {
  uint32_t start = (uint32_t)(ggi_emu_random(w) % w->warps);
  for (uint32_t i = 0; i < w->warps; i++) {
    emu_warp *p = &w->warp[(start + i) % w->warps];
    uint32_t ready = p->ready;
    if (ready == 0) continue;
    int skip = (int)(ggi_emu_random(w) % (uint64_t)__builtin_popcount(ready));
    while (skip-- > 0)
      ready &= ready - 1;
    return lane_of(w, p, ready);
  }
  return NULL;
}

static emu_thread *pick_next(emu_world *w) {
  emu_warp *p = &w->warp[0];
  uint32_t later = ~0u;
  if (w->current != NULL) {
    p = w->current->warp;
    later = w->current->lane == EMU_WARP - 1 ? 0 : ~0u << (w->current->lane + 1);
  }
  if ((p->ready & later) != 0) return lane_of(w, p, p->ready & later);
  if (p->ready != 0) return lane_of(w, p, p->ready);
  for (uint32_t i = 1; i < w->warps; i++) {
    emu_warp *q = &w->warp[(p->index + i) % w->warps];
    if (q->ready != 0) return lane_of(w, q, q->ready);
  }
  return NULL;
}

static emu_thread *pick(emu_world *w) {
  for (;;) {
    if (EMU_UNLIKELY(w->tma != NULL)) ggi_emu_tma_perhaps(w);
    emu_thread *t = w->shuffled ? pick_random(w) : pick_next(w);
    if (EMU_LIKELY(t != NULL) || w->tma == NULL || !ggi_emu_tma_progress(w)) return t;
  }
}

void ggi_emu_wake(emu_thread *t) {
  t->warp->ready |= 1u << t->lane;
}

static void go(emu_world *w, emu_thread *to) {
  emu_thread *me = w->current;
  if (to == me) return;
  w->current = to;
  ggi_emu_fiber_switch(&me->fiber, &to->fiber);
}

void ggi_emu_yield(emu_world *w) {
  go(w, pick(w));
}

void ggi_emu_abandon(emu_world *w) {
  w->abandoned = 1;
  ggi_emu_fiber_leave(&w->current->fiber, &w->host);
  abort();
}

void ggi_emu_endless(emu_world *w, int line) {
  ggi_emu_report(w, GG_EMU_ENDLESS, line, 0, "%s is not done after %llu primitives; block given up",
                 ggi_emu_thread_name(w, w->current->agent).s, (unsigned long long)w->step_limit);
  ggi_emu_abandon(w);
}

/* Who waits where: the lines, lowest first, as far as the text goes. */
static void report_deadlock(emu_world *w) {
  char text[200];
  size_t used = 0;
  int line = 0, shown = 0, first = 0, second = 0;
  text[0] = 0;
  for (;;) {
    const emu_thread *example = NULL;
    int next = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->threads; i++) {
      const emu_thread *t = &w->thread[i];
      if (t->done || t->wait_line <= line) continue;
      if (next == 0 || t->wait_line < next) next = t->wait_line, n = 0, example = t;
      if (t->wait_line == next) n++;
    }
    if (example == NULL) break;
    line = next;
    if (first == 0)
      first = line;
    else if (second == 0)
      second = line;
    emu_op_name missing = ggi_emu_mbarrier_missing(example);
    int r = snprintf(text + used, sizeof text - used, "%s%u from thread %u at %s, line %d%s",
                     shown ? "; " : "", n, example->idx.x, example->wait_op, line, missing.s);
    if (r < 0 || (size_t)r >= sizeof text - used) {
      text[used] = 0;
      break;
    }
    used += (size_t)r;
    shown++;
  }
  ggi_emu_report(w, GG_EMU_DEADLOCK, first, second, "block %llu: no thread can go on: %s",
                 (unsigned long long)w->block_index, text);
}

void ggi_emu_wait(emu_world *w, const char *op, int line) {
  emu_thread *t = w->current;
  t->wait_op = op;
  t->wait_line = line;
  t->warp->ready &= ~(1u << t->lane);
  emu_thread *next = pick(w);
  if (next == NULL) {
    report_deadlock(w);
    ggi_emu_abandon(w);
  }
  go(w, next);
  t->wait_line = 0;
}

/* -- A thread's life -- */

static void thread_main(void) {
  emu_world *w = ggi_emu_world;
  ((void (*)(gg_args))w->launch->entry)(*w->args);

  emu_thread *t = w->current;
  emu_warp *p = t->warp;
  ggi_emu_copies_exit(w, t);
  ggi_emu_bulk_exit(w, t);
  ggi_emu_wgmma_exit(w, t);
  if (p->active != NULL && p->ready == 1u << t->lane) ggi_emu_count_align(p);
  t->done = 1;
  p->ready &= ~(1u << t->lane);
  p->alive &= ~(1u << t->lane);
  t->block->alive--;
  w->live--;
  if (t->block->alive == 0) {
    if (w->tma != NULL) ggi_emu_tma_block_exit(w, t->block);
    ggi_emu_cluster_block_exit(w, t->block);
  }
  ggi_emu_barrier_exit(w, t);
  if (w->live == 0) ggi_emu_fiber_leave(&t->fiber, &w->host);
  emu_thread *next = pick(w);
  if (next == NULL) {
    report_deadlock(w);
    ggi_emu_abandon(w);
  }
  w->current = next;
  ggi_emu_fiber_leave(&t->fiber, &next->fiber);
}

/* -- A cluster's life -- */

static void thread_reset(emu_world *w, emu_thread *t, emu_clock *zero) {
  t->done = 0;
  t->grid_waited = !w->launch->programmatic;
  t->wait_line = 0;
  t->steps = 0;
  t->copies.first = t->copies.count = 0;
  t->copies.first_group = t->copies.groups = 0;
  t->visible = 0;
  t->cluster_arrived = t->cluster_waited = 0;
  t->wgmma_issued = t->wgmma_groups = t->wgmma_waited = 0;
  t->wgmma_fenced = t->wgmma_fenced_a = 0;
  t->cluster_waiting = 0;
  ggi_emu_clock_set(w, t, zero);
  size_t bytes;
  void *stack = ggi_emu_stack(w, t, &bytes);
  ggi_emu_fiber_make(&t->fiber, stack, bytes, thread_main);
}

/* Clusters lie along x. */
static void block_begin(emu_world *w, emu_block *b) {
  const gg_emu_launch *l = w->launch;
  uint64_t index = w->block_index + b->rank;
  b->idx.x = (unsigned)(index % l->grid_x);
  b->idx.y = (unsigned)(index / l->grid_x % l->grid_y);
  b->idx.z = (unsigned)(index / l->grid_x / l->grid_y);
  b->alive = w->block_threads;
  ggi_emu_shared_reset(w, b);
}

static void block_end(emu_world *w, emu_block *b) {
  if (!w->abandoned) ggi_emu_barrier_end(w, b);
  for (int i = 0; i < EMU_BARRIERS; i++) {
    ggi_emu_clock_drop(w, b->barrier[i].arrivals);
    memset(&b->barrier[i], 0, sizeof b->barrier[i]);
  }
  memset(b->waiting, 0, sizeof b->waiting[0] * EMU_BARRIERS * w->warps);
  ggi_emu_mbarriers_end(w, b);
  ggi_emu_wgmma_end(w, b);
}

void ggi_emu_run_cluster(emu_world *w, uint64_t index) {
  w->block_index = index * w->blocks;
  w->first_thread = index * w->threads;
  w->random = seeded(w->options.seed, index);
  w->shuffled = w->options.seed != 0;
  w->abandoned = 0;
  w->current = NULL;
  w->live = w->threads;
  w->agents = w->threads;
  w->proxied = 0;
  for (uint32_t i = 0; i < w->blocks; i++)
    block_begin(w, &w->block[i]);

  emu_clock *zero = ggi_emu_clock_zero(w);
  if (zero == NULL) return;
  for (uint32_t i = 0; i < w->warps; i++) {
    emu_warp *p = &w->warp[i];
    p->ready = p->alive = p->lanes == EMU_WARP ? ~0u : (1u << p->lanes) - 1;
    p->waiting = p->at_collective = 0;
    p->wait_line = 0;
    p->count = 1;
  }
  for (uint32_t i = 0; i < w->threads; i++)
    thread_reset(w, &w->thread[i], zero);
  ggi_emu_clock_drop(w, zero);

  emu_thread *first = pick(w);
  w->current = first;
  ggi_emu_fiber_switch(&w->host, &first->fiber);

  if (w->tma != NULL) ggi_emu_tma_end(w);
  for (uint32_t i = 0; i < w->blocks; i++)
    block_end(w, &w->block[i]);
  ggi_emu_cluster_end(w);
  ggi_emu_clock_forget(w);
  for (uint32_t i = 0; i < w->warps; i++)
    ggi_emu_count_forget(&w->warp[i]);
  for (uint32_t i = 0; i < w->threads; i++) {
    ggi_emu_clock_set(w, &w->thread[i], NULL);
    ggi_emu_bulk_end(&w->thread[i]);
  }
}
