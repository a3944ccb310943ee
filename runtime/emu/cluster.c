/* cluster.c - clusters: their barrier and the shared memory of other blocks.
 *
 * Whoever arrives publishes its past, unless the arrival is relaxed; whoever waits acquires it. The
 * barrier opens when all threads that have not left have arrived. Invariant: cluster_opened counts
 * openings; a thread has arrived at most once more than that. A block's shared memory may be used
 * as long as one of its threads lives.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

/* The last use by a thread of another block. */
struct emu_remote {
  uint32_t stamp; /* 0: none */
  uint32_t arrived;
  int line;
};

unsigned gg_emu_cluster_rank(void) {
  return ggi_emu_world->current->block->rank;
}
unsigned gg_emu_cluster_size(void) {
  return ggi_emu_world->blocks;
}

/* -- The barrier -- */

static void open_barrier(emu_world *w) {
  ggi_emu_clock_drop(w, w->cluster_clock);
  w->cluster_clock = w->cluster.arrivals;
  w->cluster.arrivals = NULL;
  w->cluster.arrived = 0;
  w->cluster_opened++;
  for (uint32_t i = 0; i < w->threads; i++) {
    emu_thread *t = &w->thread[i];
    if (!t->cluster_waiting) continue;
    t->cluster_waiting = 0;
    ggi_emu_wake(t);
  }
}

void gg_emu_cluster_arrive(int release, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  emu_barrier *b = &w->cluster;
  ggi_emu_step(w, line);
  if (t->cluster_arrived > t->cluster_waited) {
    ggi_emu_report(w, GG_EMU_BARRIER, line, b->line,
                   "%s arrives at the cluster's barrier again, with no gg_cluster_wait between",
                   ggi_emu_thread_name(w, t->agent).s);
    return;
  }
  if (release) {
    if (b->arrivals == NULL) b->arrivals = ggi_emu_clock_new(w);
    ggi_emu_clock_join(w, b->arrivals, t->base);
    ggi_emu_clock_stamp(w, b->arrivals, t);
    t->warp->count++;
  }
  t->cluster_arrived++;
  b->line = line;
  if (++b->arrived >= w->live) open_barrier(w);
}

void gg_emu_cluster_wait(int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  if (t->cluster_arrived == t->cluster_waited) {
    ggi_emu_report(w, GG_EMU_BARRIER, line, 0,
                   "%s waits at the cluster's barrier without having arrived",
                   ggi_emu_thread_name(w, t->agent).s);
    return;
  }
  while (w->cluster_opened < t->cluster_arrived) {
    ggi_emu_count_wait(w);
    t->cluster_waiting = 1;
    ggi_emu_wait(w, "gg_cluster_wait", line);
  }
  t->cluster_waited = t->cluster_arrived;
  ggi_emu_clock_acquire(w, t, w->cluster_clock);
}

/* Whoever leaves counts as arrived for good. */
void ggi_emu_cluster_exit(emu_world *w) {
  emu_barrier *b = &w->cluster;
  if (w->current->cluster_arrived > w->cluster_opened) b->arrived--;
  if (b->arrived != 0 && b->arrived >= w->live) open_barrier(w);
}

void ggi_emu_cluster_end(emu_world *w) {
  ggi_emu_clock_drop(w, w->cluster.arrivals);
  ggi_emu_clock_drop(w, w->cluster_clock);
  memset(&w->cluster, 0, sizeof w->cluster);
  w->cluster_clock = NULL;
  w->cluster_opened = 0;
  for (uint32_t i = 0; i < w->blocks; i++)
    if (w->block[i].remote != NULL) memset(w->block[i].remote, 0, w->threads * sizeof(emu_remote));
}

/* -- Shared memory of the cluster -- */

emu_block *ggi_emu_cluster_block(emu_world *w, unsigned rank, unsigned op, int line) {
  if (rank >= w->blocks) {
    ggi_emu_report_access(w, GG_EMU_OUT_OF_BOUNDS, line, 0, op,
                          "in block %u of a cluster, which has %u", rank, w->blocks);
    return NULL;
  }
  emu_block *b = &w->block[rank];
  if (b->alive != 0) return b;
  ggi_emu_report_access(w, GG_EMU_EXITED, line, 0, op,
                        "in block %llu of its cluster, all of whose threads have exited",
                        (unsigned long long)(w->block_index + rank));
  return NULL;
}

void ggi_emu_cluster_used(emu_world *w, emu_block *b, int line) {
  const emu_thread *t = w->current;
  if (b == t->block || !w->options.check) return;
  if (b->remote == NULL) b->remote = calloc(w->threads, sizeof *b->remote);
  if (b->remote == NULL) {
    w->short_of_memory = 1;
    ggi_emu_abandon(w);
  }
  b->remote[t->agent] = (emu_remote){t->warp->count, t->cluster_arrived, line};
}

/* Some thread of the block has learnt of the use, or met its user at the cluster's barrier. */
static int is_known(const emu_world *w, const emu_block *b, uint32_t agent) {
  const emu_remote *r = &b->remote[agent];
  for (uint32_t i = 0; i < w->block_threads; i++) {
    const emu_thread *t = &w->thread[b->rank * w->block_threads + i];
    if (t->base->c[agent] >= r->stamp || t->cluster_waited > r->arrived) return 1;
  }
  return 0;
}

void ggi_emu_cluster_block_exit(emu_world *w, emu_block *b) {
  if (b->remote == NULL) return;
  for (uint32_t i = 0; i < w->threads; i++)
    if (b->remote[i].stamp != 0 && !is_known(w, b, i))
      ggi_emu_report(w, GG_EMU_EXITED, b->remote[i].line, 0,
                     "%s uses shared memory of block %llu, which ends without waiting for that",
                     ggi_emu_thread_name(w, i).s, (unsigned long long)(w->block_index + b->rank));
  memset(b->remote, 0, w->threads * sizeof *b->remote);
}

void ggi_emu_cluster_free(emu_block *b) {
  free(b->remote);
}

/* NULL: refused. */
static emu_block *target(emu_world *w, unsigned address, unsigned op, int line) {
  emu_block *b = ggi_emu_cluster_block(w, (address >> 24) - 1, op, line);
  if (b == NULL || !ggi_emu_shared_checked(w, address & 0xffffff, op, line)) return NULL;
  ggi_emu_cluster_used(w, b, line);
  return b;
}

static void *refused(emu_world *w) {
  memset(w->nowhere, 0xff, sizeof w->nowhere);
  return w->nowhere;
}

const void *gg_emu_ld_cluster(unsigned address, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  emu_block *b = target(w, address, op, line);
  if (b == NULL) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, address);
  if (w->options.check) ggi_emu_shared_read_as(w, b, w->current, address & 0xffffff, op, line);
  return b->shared + (address & 0xffffff);
}

void *gg_emu_st_cluster(unsigned address, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  emu_block *b = target(w, address, op, line);
  if (b == NULL) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, address);
  if (w->options.check) ggi_emu_shared_write_as(w, b, w->current, address & 0xffffff, op, line);
  return b->shared + (address & 0xffffff);
}
