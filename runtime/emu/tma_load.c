/* tma_load.c - bulk and tensor loads: from global to the shared memory of one or more blocks.
 *
 * A load is checked when it is issued and lands later: at once, at random moments, or when no
 * thread can go on (options.async). Invariant: between the two its bytes count as copies in flight
 * in every block it goes to. Landing signs them with the agent of that block's mbarrier and takes
 * their number off what it expects; bytes outside the tensor count.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

typedef struct tma_op {
  emu_map map; /* rank 0: a plain stretch */
  int at[4];
  const uint8_t *from;
  uint32_t bytes, off, mbarrier, blocks; /* blocks: a mask of ranks */
  int line, ok;
} tma_op;

struct emu_tma {
  tma_op *op;
  size_t count, room;
};

/* Context of what is done piece by piece. */
typedef struct moving {
  emu_world *w;
  emu_block *b;
  emu_thread *t;
  tma_op *o;
  unsigned op;
  uint32_t agent, stamp;
} moving;

static void each_piece(const tma_op *o, emu_each_piece *each, moving *m) {
  if (o->map.rank > 0) {
    ggi_emu_box_each(&o->map, o->off, o->at, each, m);
    return;
  }
  for (uint32_t b = 0; b < o->bytes; b += 16) {
    emu_piece p = {o->off + b, 16, (uint8_t *)(uintptr_t)(o->from + b), 0, 16};
    each(m, &p);
  }
}

/* -- Landing -- */

/* NaN of the element type, or zeros. */
static void fill(uint8_t *to, const emu_map *m) {
  memset(to, 0, 16);
  if (m->fill == 0) return;
  for (unsigned i = 0; i < 16; i += m->bytes)
    memset(to + i, 0xff, m->bytes);
}

static void land_piece(void *context, const emu_piece *p) {
  const moving *m = context;
  uint8_t *to = m->b->shared + p->off;
  fill(to, &m->o->map);
  if (p->global != NULL && m->o->ok) memcpy(to + p->from, p->global, p->end - p->from);
  if (m->w->options.check)
    ggi_emu_async_write_end(m->w, m->b, p->off, m->agent, m->stamp, m->o->line);
}

static void land(emu_world *w, tma_op *o) {
  for (uint32_t r = 0; r < w->blocks; r++) {
    if ((o->blocks >> r & 1) == 0) continue;
    emu_block *b = &w->block[r];
    emu_mbarrier *bar = ggi_emu_mbarrier_find(b, o->mbarrier);
    if (bar == NULL) continue; /* reported */
    moving m = {w, b, NULL, o, 0, bar->engine, ++bar->stamp};
    each_piece(o, land_piece, &m);
    ggi_emu_mbarrier_landed(w, bar, o->bytes);
  }
}

int ggi_emu_tma_progress(emu_world *w) {
  emu_tma *q = w->tma;
  if (q == NULL || q->count == 0) return 0;
  int any = w->shuffled || w->options.async == GG_EMU_RANDOM;
  size_t i = any ? (size_t)(ggi_emu_random(w) % q->count) : 0;
  tma_op o = q->op[i];
  memmove(&q->op[i], &q->op[i + 1], (--q->count - i) * sizeof *q->op);
  land(w, &o);
  return 1;
}

void ggi_emu_tma_perhaps(emu_world *w) {
  if (w->options.async == GG_EMU_RANDOM && w->tma->count > 0 && ggi_emu_random(w) % 8 == 0)
    ggi_emu_tma_progress(w);
}

/* -- Issue -- */

static void check_source(void *context, const emu_piece *p) {
  moving *m = context;
  if (p->global == NULL || !m->o->ok) return;
  uint32_t bytes = p->end - p->from;
  emu_area *a = ggi_emu_area_checked(m->w, p->global, bytes, 1, m->op, m->o->line);
  if (a == NULL)
    m->o->ok = 0;
  else if (m->w->options.check)
    ggi_emu_global_loaded(m->w, a, p->global, bytes, m->o->line);
}

static void begin_piece(void *context, const emu_piece *p) {
  const moving *m = context;
  ggi_emu_async_write_begin(m->w, m->b, m->t, p->off, m->op, m->o->line);
}

static tma_op *append(emu_world *w) {
  if (w->tma == NULL) w->tma = calloc(1, sizeof *w->tma);
  emu_tma *q = w->tma;
  if (q != NULL && q->count == q->room) {
    size_t room = q->room == 0 ? 16 : q->room * 2;
    tma_op *grown = realloc(q->op, room * sizeof *grown);
    if (grown != NULL) {
      q->op = grown;
      q->room = room;
    }
  }
  if (q == NULL || q->count == q->room) {
    w->short_of_memory = 1;
    ggi_emu_abandon(w);
  }
  return &q->op[q->count++];
}

/* Where it goes is legal: blocks that exist and have the mbarrier. */
static int targets_ok(emu_world *w, const tma_op *o, unsigned op) {
  for (uint32_t r = 0; r < 32; r++) {
    if ((o->blocks >> r & 1) == 0) continue;
    emu_block *b = ggi_emu_cluster_block(w, r, op, o->line);
    if (b == NULL || ggi_emu_mbarrier(w, b, o->mbarrier, 1, op, o->line) == NULL) return 0;
  }
  return 1;
}

static void issue(emu_world *w, tma_op *o, unsigned op) {
  if (!ggi_emu_shared_range(w, o->mbarrier, 8, 8, op, o->line) || !targets_ok(w, o, op)) return;
  moving m = {w, NULL, w->current, o, op, 0, 0};
  each_piece(o, check_source, &m);
  for (uint32_t r = 0; r < w->blocks && w->options.check; r++) {
    m.b = &w->block[r];
    if ((o->blocks >> r & 1) != 0) each_piece(o, begin_piece, &m);
  }
  if (w->options.async == GG_EMU_EARLY)
    land(w, o);
  else
    *append(w) = *o;
}

static uint32_t blocks_of(const emu_world *w, unsigned mask) {
  return mask != 0 ? mask : 1u << w->current->block->rank;
}

void gg_emu_tma_load(unsigned off, const void *map, int x, int y, int z, int v, unsigned mbar,
                     unsigned mask, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  int rank = (int)(op >> 8 & 255) - GGD_1D + 1;
  const emu_map *m = ggi_emu_map_of(w, map, rank, op, line);
  if (m == NULL) return;
  tma_op o = {.map = *m, .at = {x, y, z, v}, .off = off, .mbarrier = mbar, .line = line, .ok = 1};
  o.bytes = ggi_emu_box_bytes(m);
  o.blocks = blocks_of(w, mask);
  if (!ggi_emu_box_ok(w, m, o.at, 0, op, line) ||
      !ggi_emu_shared_range(w, off, o.bytes, 128, op, line))
    return;
  issue(w, &o, op);
}

void gg_emu_bulk_load(unsigned off, const void *p, unsigned bytes, unsigned mbar, unsigned mask,
                      int line) {
  unsigned op = GGD_OP(GGD_BULK_LOAD, GGD_PLAIN, 16);
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  if (bytes % 16 != 0 || (uintptr_t)p % 16 != 0) {
    ggi_emu_report_access(w, GG_EMU_MISALIGNED, line, 0, op,
                          "moves %u bytes from %p; both must be multiples of 16", bytes, p);
    return;
  }
  tma_op o = {.from = p, .bytes = bytes, .off = off, .mbarrier = mbar, .line = line, .ok = 1};
  o.blocks = blocks_of(w, mask);
  if (bytes == 0 || !ggi_emu_shared_range(w, off, bytes, 16, op, line)) return;
  issue(w, &o, op);
}

/* -- Ends -- */

void ggi_emu_tma_block_exit(emu_world *w, const emu_block *b) {
  for (size_t i = 0; i < w->tma->count; i++) {
    tma_op *o = &w->tma->op[i];
    if ((o->blocks >> b->rank & 1) == 0) continue;
    ggi_emu_report(w, GG_EMU_UNFINISHED, o->line, 0,
                   "block %llu ends with a load into it in flight",
                   (unsigned long long)(w->block_index + b->rank));
    o->blocks &= ~(1u << b->rank);
  }
}

void ggi_emu_tma_end(emu_world *w) {
  w->tma->count = 0;
}

void ggi_emu_tma_free(emu_world *w) {
  if (w->tma != NULL) free(w->tma->op);
  free(w->tma);
}
