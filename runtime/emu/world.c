/* world.c - what the threads of one cluster run on: stacks, shared memory, shadow.
 *
 * Invariant: a world is made for one geometry of launch (threads, cluster, shared bytes) and serves
 * cluster after cluster. Large arrays are mapped pages that come when touched.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if GGI_EMU_ASAN
#define STACK_BYTES ((size_t)512 << 10)
#else
#define STACK_BYTES ((size_t)256 << 10)
#endif

/* Staggered tops: else all stacks would fall into the same few sets of the cache. */
void *ggi_emu_stack(const emu_world *w, const emu_thread *t, size_t *bytes) {
  *bytes = STACK_BYTES - (size_t)(t->agent % 32) * 320;
  return w->stacks + STACK_BYTES * t->agent;
}

static void *map(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void unmap(void *p, size_t bytes) {
  if (p != NULL) munmap(p, bytes);
}

static size_t cells_of(const emu_world *w, int level) {
  static const size_t grain[EMU_PLANES] = {16, 4, 1};
  return w->shared_room / grain[level];
}

static int block_create(const emu_world *w, emu_block *b, uint32_t rank) {
  int ok = 1;
  b->rank = rank;
  b->shared = map(w->shared_room);
  for (int i = 0; i < EMU_PLANES; i++) {
    b->plane[i].cell = map(cells_of(w, i) * sizeof(emu_cell));
    b->plane[i].reads = map(cells_of(w, i) * w->warps * sizeof(emu_reads));
    ok = ok && b->plane[i].cell && b->plane[i].reads;
  }
  b->waiting = calloc((size_t)EMU_BARRIERS * w->warps, sizeof *b->waiting);
  return ok && b->shared && b->waiting ? 0 : -1;
}

static void block_destroy(const emu_world *w, emu_block *b) {
  unmap(b->shared, w->shared_room);
  for (int i = 0; i < EMU_PLANES; i++) {
    unmap(b->plane[i].cell, cells_of(w, i) * sizeof(emu_cell));
    unmap(b->plane[i].reads, cells_of(w, i) * w->warps * sizeof(emu_reads));
  }
  free(b->overflow);
  free(b->waiting);
  ggi_emu_mbarriers_free(b);
  ggi_emu_wgmma_free(b);
  ggi_emu_cluster_free(b);
}

/* Blocks follow one another in threads and warps; no warp is shared. */
static void geometry(emu_world *w) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (uint32_t i = 0; i < w->threads; i++) {
    emu_thread *t = &w->thread[i];
    uint32_t rank = i / w->block_threads, within = i % w->block_threads;
    t->agent = i;
    t->lane = within % EMU_WARP;
    t->block = &w->block[rank];
    t->warp = &w->warp[rank * w->block_warps + within / EMU_WARP];
    t->idx.x = within;
    (void)mprotect(w->stacks + STACK_BYTES * i, page, PROT_NONE); /* a guard is a courtesy */
  }
  for (uint32_t i = 0; i < w->warps; i++) {
    emu_warp *p = &w->warp[i];
    uint32_t rank = i / w->block_warps, first = i % w->block_warps * EMU_WARP;
    p->index = i;
    p->block = &w->block[rank];
    p->first = rank * w->block_threads + first;
    p->lanes = w->block_threads - first < EMU_WARP ? w->block_threads - first : EMU_WARP;
  }
}

int ggi_emu_world_create(gg_emu *e, const gg_emu_launch *l, emu_world **out) {
  emu_world *w = calloc(1, sizeof *w);
  *out = w;
  if (w == NULL) return -1;
  w->device = e;
  w->blocks = l->cluster_x > 1 ? l->cluster_x : 1;
  w->block_threads = l->block_x;
  w->block_warps = (l->block_x + EMU_WARP - 1) / EMU_WARP;
  w->threads = w->block_threads * w->blocks;
  w->warps = w->block_warps * w->blocks;
  w->agents = w->threads;
  w->agent_room = w->threads + EMU_ENGINES * w->blocks;
  w->shared_bytes = l->shared_bytes;
  w->shared_room = ((size_t)l->shared_bytes + EMU_CELL + 1023) / 1024 * 1024;

  w->thread = calloc(w->threads, sizeof *w->thread);
  w->warp = calloc(w->warps, sizeof *w->warp);
  w->block = calloc(w->blocks, sizeof *w->block);
  w->stacks = map(STACK_BYTES * w->threads);
  int ok = w->thread && w->warp && w->block && w->stacks;
  for (uint32_t i = 0; ok && i < w->blocks; i++)
    ok = block_create(w, &w->block[i], i) == 0;
  if (!ok) {
    ggi_emu_world_destroy(w);
    *out = NULL;
    return -1;
  }
  geometry(w);
  return 0;
}

void ggi_emu_world_destroy(emu_world *w) {
  if (w == NULL) return;
  for (uint32_t i = 0; w->thread != NULL && i < w->threads; i++) {
    free(w->thread[i].copies.copy);
    free(w->thread[i].copies.group_end);
    ggi_emu_bulk_free(&w->thread[i]);
  }
  for (uint32_t i = 0; w->warp != NULL && i < w->warps; i++)
    ggi_emu_count_free(&w->warp[i]);
  for (uint32_t i = 0; w->block != NULL && i < w->blocks; i++)
    block_destroy(w, &w->block[i]);
  unmap(w->stacks, STACK_BYTES * w->threads);
  while (w->free_clock != NULL) {
    emu_clock *c = w->free_clock;
    memcpy(&w->free_clock, c->c, sizeof w->free_clock);
    free(c);
  }
  ggi_emu_tma_free(w);
  ggi_emu_notes_free(&w->notes);
  free(w->thread);
  free(w->warp);
  free(w->block);
  free(w);
}
