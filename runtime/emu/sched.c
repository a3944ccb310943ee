/* sched.c - the threads of one block, and which of them runs next.
 *
 * Invariant: a thread is in its warp's `ready` mask exactly when it could run now (the running one
 * included). With seed 0 the next one is the next ready lane of the same warp, then the next warp;
 * with another seed both are drawn. When nobody is ready and somebody lives, that is a deadlock: no
 * time-outs.
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if GGI_EMU_ASAN
#define STACK_BYTES ((size_t)512 << 10)
#else
#define STACK_BYTES ((size_t)256 << 10)
#endif

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
  return w->shuffled ? pick_random(w) : pick_next(w);
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
    int r = snprintf(text + used, sizeof text - used, "%s%u from thread %u at %s, line %d",
                     shown ? "; " : "", n, example->agent, example->wait_op, line);
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
  if (p->active != NULL && p->ready == 1u << t->lane) ggi_emu_count_align(p);
  t->done = 1;
  p->ready &= ~(1u << t->lane);
  p->alive &= ~(1u << t->lane);
  t->block->alive--;
  w->live--;
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

/* -- A block's life -- */

static void thread_reset(emu_world *w, emu_thread *t, emu_clock *zero) {
  t->done = 0;
  t->wait_line = 0;
  t->steps = 0;
  t->copies.first = t->copies.count = 0;
  t->copies.first_group = t->copies.groups = 0;
  ggi_emu_clock_set(w, t, zero);
  /* Staggered tops: else all stacks would fall into the same few sets of the cache. */
  size_t shift = (size_t)(t->agent % 32) * 320;
  ggi_emu_fiber_make(&t->fiber, w->stacks + STACK_BYTES * t->agent, STACK_BYTES - shift,
                     thread_main);
}

void ggi_emu_run_block(emu_world *w, uint64_t index) {
  const gg_emu_launch *l = w->launch;
  w->block_index = index;
  w->first_thread = index * w->threads;
  w->random = seeded(w->options.seed, index);
  w->shuffled = w->options.seed != 0;
  w->abandoned = 0;
  w->current = NULL;
  w->live = w->threads;

  emu_block *b = &w->block[0];
  b->idx.x = (unsigned)(index % l->grid_x);
  b->idx.y = (unsigned)(index / l->grid_x % l->grid_y);
  b->idx.z = (unsigned)(index / l->grid_x / l->grid_y);
  b->alive = w->threads;
  ggi_emu_shared_reset(w, b);

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

  if (!w->abandoned) ggi_emu_barrier_end(w, b);
  for (int i = 0; i < EMU_BARRIERS; i++) {
    ggi_emu_clock_drop(w, b->barrier[i].arrivals);
    memset(&b->barrier[i], 0, sizeof b->barrier[i]);
  }
  memset(b->waiting, 0, sizeof b->waiting[0] * EMU_BARRIERS * w->warps);
  for (uint32_t i = 0; i < w->warps; i++)
    ggi_emu_count_forget(&w->warp[i]);
  for (uint32_t i = 0; i < w->threads; i++)
    ggi_emu_clock_set(w, &w->thread[i], NULL);
}

/* -- A world's life -- */

static void *map(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* Whole pages that are zero until written, so that a large block costs what it uses. */
static int block_create(const emu_world *w, emu_block *b) {
  size_t cells = w->shared_room / EMU_CELL;
  b->shared = map(w->shared_room);
  b->cells = map(cells * sizeof *b->cells);
  b->parts = map(cells * EMU_PARTS * sizeof *b->parts);
  b->reads = map(cells * w->warps * sizeof *b->reads);
  b->part_reads = map(cells * EMU_PARTS * w->warps * sizeof *b->part_reads);
  b->waiting = calloc((size_t)EMU_BARRIERS * w->warps, sizeof *b->waiting);
  return b->shared && b->cells && b->parts && b->reads && b->part_reads && b->waiting ? 0 : -1;
}

static void unmap(void *p, size_t bytes) {
  if (p != NULL) munmap(p, bytes);
}

static void block_destroy(const emu_world *w, emu_block *b) {
  size_t cells = w->shared_room / EMU_CELL;
  unmap(b->shared, w->shared_room);
  unmap(b->cells, cells * sizeof *b->cells);
  unmap(b->parts, cells * EMU_PARTS * sizeof *b->parts);
  unmap(b->reads, cells * w->warps * sizeof *b->reads);
  unmap(b->part_reads, cells * EMU_PARTS * w->warps * sizeof *b->part_reads);
  free(b->overflow);
  free(b->waiting);
}

int ggi_emu_world_create(gg_emu *e, const gg_emu_launch *l, emu_world **out) {
  emu_world *w = calloc(1, sizeof *w);
  *out = w;
  if (w == NULL) return -1;
  w->device = e;
  w->blocks = 1;
  w->threads = l->block_x;
  w->warps = (l->block_x + EMU_WARP - 1) / EMU_WARP;
  w->agents = w->threads;
  w->shared_bytes = l->shared_bytes;
  w->shared_room = ((size_t)l->shared_bytes + EMU_CELL + 1023) / 1024 * 1024;

  w->thread = calloc(w->threads, sizeof *w->thread);
  w->warp = calloc(w->warps, sizeof *w->warp);
  w->block = calloc(w->blocks, sizeof *w->block);
  w->stacks = map(STACK_BYTES * w->threads);
  if (!w->thread || !w->warp || !w->block || !w->stacks || block_create(w, w->block) != 0) {
    ggi_emu_world_destroy(w);
    *out = NULL;
    return -1;
  }
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (uint32_t i = 0; i < w->threads; i++) {
    emu_thread *t = &w->thread[i];
    t->agent = i;
    t->lane = i % EMU_WARP;
    t->block = &w->block[0];
    t->warp = &w->warp[i / EMU_WARP];
    t->idx.x = i;
    (void)mprotect(w->stacks + STACK_BYTES * i, page, PROT_NONE); /* a guard is a courtesy */
  }
  for (uint32_t i = 0; i < w->warps; i++) {
    emu_warp *p = &w->warp[i];
    p->index = i;
    p->block = &w->block[0];
    p->first = i * EMU_WARP;
    p->lanes = w->threads - p->first < EMU_WARP ? w->threads - p->first : EMU_WARP;
  }
  return 0;
}

void ggi_emu_world_destroy(emu_world *w) {
  if (w == NULL) return;
  for (uint32_t i = 0; w->thread != NULL && i < w->threads; i++) {
    free(w->thread[i].copies.copy);
    free(w->thread[i].copies.group_end);
  }
  for (uint32_t i = 0; w->warp != NULL && i < w->warps; i++)
    ggi_emu_count_free(&w->warp[i]);
  if (w->block != NULL) block_destroy(w, w->block);
  unmap(w->stacks, STACK_BYTES * w->threads);
  while (w->free_clock != NULL) {
    emu_clock *c = w->free_clock;
    memcpy(&w->free_clock, c->c, sizeof w->free_clock);
    free(c);
  }
  ggi_emu_notes_free(&w->notes);
  free(w->thread);
  free(w->warp);
  free(w->block);
  free(w);
}
