/* tma_store.c - bulk and tensor stores and reductions: from shared to global memory.
 *
 * Invariant: from issue to the wait that covers it (gg_bulk_wait_N or _read_N) a store reads its
 * shared bytes at a moment nobody knows; to the shadow its thread reads them at the wait. The
 * global bytes are written at the same moment, and belong to the thread that issued the store.
 *
 * A row of the tensor that ends inside 16 bytes is written to their end, as an H200 does (loads
 * stop where the row does): what lies there changes, in a gap, a neighbour's row or beyond the
 * memory.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

typedef struct bulk_op {
  emu_map map; /* rank 0: a plain stretch */
  int at[4];
  uint8_t *to;
  uint32_t bytes, off;
  int line, ok, add, moved;
} bulk_op;

/* Operations, cut into groups: group i ends before op group_end[i]. */
struct emu_bulk {
  bulk_op *op;
  uint32_t count, room;
  uint32_t *group_end;
  uint32_t groups, group_room;
  uint32_t read; /* ops whose shared bytes are free again */
};

typedef struct moving {
  emu_world *w;
  emu_thread *t;
  bulk_op *o;
  unsigned op;
} moving;

static void each_piece(const bulk_op *o, emu_each_piece *each, moving *m) {
  if (o->map.rank > 0) {
    ggi_emu_box_each(&o->map, o->off, o->at, each, m);
    return;
  }
  for (uint32_t b = 0; b < o->bytes; b += 16) {
    emu_piece p = {o->off + b, 16, o->to + b, 0, 16};
    each(m, &p);
  }
}

/* Bytes written of a piece that begins inside the tensor: to the end of its 16. */
static uint32_t written(const emu_piece *p) {
  return p->size - p->from;
}

/* -- Moving the bytes -- */

static void add_f32(uint8_t *to, const uint8_t *from) {
  float x, y;
  memcpy(&x, to, sizeof x);
  memcpy(&y, from, sizeof y);
  x += y;
  memcpy(to, &x, sizeof x);
}
static void add_f64(uint8_t *to, const uint8_t *from) {
  double x, y;
  memcpy(&x, to, sizeof x);
  memcpy(&y, from, sizeof y);
  x += y;
  memcpy(to, &x, sizeof x);
}
static void add_u32(uint8_t *to, const uint8_t *from) {
  uint32_t x, y;
  memcpy(&x, to, sizeof x);
  memcpy(&y, from, sizeof y);
  x += y;
  memcpy(to, &x, sizeof x);
}
static void add_u64(uint8_t *to, const uint8_t *from) {
  uint64_t x, y;
  memcpy(&x, to, sizeof x);
  memcpy(&y, from, sizeof y);
  x += y;
  memcpy(to, &x, sizeof x);
}
static void add_f16(uint8_t *to, const uint8_t *from) {
  uint16_t x, y;
  memcpy(&x, to, sizeof x);
  memcpy(&y, from, sizeof y);
  x = (uint16_t)ggi_emu_to_f16(ggi_emu_from_f16(x) + ggi_emu_from_f16(y));
  memcpy(to, &x, sizeof x);
}
static void add_bf16(uint8_t *to, const uint8_t *from) {
  uint16_t x, y;
  float a[4], b[4];
  memcpy(&x, to, sizeof x);
  memcpy(&y, from, sizeof y);
  ggi_emu_unpack(EMU_BF16, x, a);
  ggi_emu_unpack(EMU_BF16, y, b);
  x = (uint16_t)ggi_emu_to_bf16(a[0] + b[0]);
  memcpy(to, &x, sizeof x);
}

typedef void add_element(uint8_t *to, const uint8_t *from);

/* By gg_emu_map_type; NULL: there is no such reduction. */
static add_element *const adds[] = {NULL,    NULL,    add_u32,  add_u32, add_u64, NULL, add_f16,
                                    add_f32, add_f64, add_bf16, add_f32, NULL,    NULL};

static void move_piece(void *context, const emu_piece *p) {
  const moving *m = context;
  const bulk_op *o = m->o;
  const uint8_t *from = m->t->block->shared + p->off;
  if (p->global == NULL || !o->ok) return;
  if (!o->add) {
    memcpy(p->global, from + p->from, written(p));
    return;
  }
  for (uint32_t i = p->from; i < p->size; i += o->map.bytes)
    adds[o->map.type](p->global + (i - p->from), from + i);
}

static void end_piece(void *context, const emu_piece *p) {
  const moving *m = context;
  ggi_emu_async_read_end(m->w, m->t->block, m->t, p->off, m->o->line, 0, 0);
}

static void move(emu_world *w, emu_thread *t, bulk_op *o) {
  moving m = {w, t, o, 0};
  if (o->moved) return;
  o->moved = 1;
  each_piece(o, move_piece, &m);
}

static void move_some(emu_world *w, emu_thread *t) {
  if (w->options.async != GG_EMU_RANDOM || t->bulk == NULL) return;
  for (uint32_t i = t->bulk->read; i < t->bulk->count; i++)
    if (ggi_emu_random(w) % 4 == 0) move(w, t, &t->bulk->op[i]);
}

/* -- Issue -- */

/* Says why a store leaves its memory where only what follows the tensor's row does. */
static int overruns(const moving *m, const emu_piece *p) {
  const emu_area *a = ggi_emu_area_find(m->w->device, (uintptr_t)p->global, p->end - p->from);
  if (a == NULL || ggi_emu_area_find(m->w->device, (uintptr_t)p->global, written(p)) != NULL)
    return 0;
  ggi_emu_report_access(m->w, GG_EMU_OUT_OF_BOUNDS, m->o->line, 0, m->op,
                        "ends a row %u bytes into 16 and writes them all, beyond %s and its %zu",
                        p->end, a->name, a->bytes);
  return 1;
}

static void check_piece(void *context, const emu_piece *p) {
  moving *m = context;
  if (m->w->options.check)
    ggi_emu_async_read_begin(m->w, m->t->block, m->t, p->off, m->op, m->o->line, 1);
  if (p->global == NULL || !m->o->ok) return;
  uint32_t bytes = written(p);
  emu_area *a = bytes > p->end - p->from && overruns(m, p)
                    ? NULL
                    : ggi_emu_area_checked(m->w, p->global, bytes, 1, m->op, m->o->line);
  if (a == NULL)
    m->o->ok = 0;
  else if (m->w->options.check && m->o->add)
    ggi_emu_global_loaded(m->w, a, p->global, bytes, m->o->line); /* adds do not race with adds */
  else if (m->w->options.check)
    ggi_emu_global_stored(m->w, a, p->global, bytes, m->o->line);
}

static void *grow(emu_world *w, void *old, uint32_t *room, size_t size) {
  uint32_t more = *room == 0 ? 8 : *room * 2;
  void *grown = realloc(old, more * size);
  if (grown == NULL) {
    w->short_of_memory = 1;
    ggi_emu_abandon(w);
  }
  *room = more;
  return grown;
}

static emu_bulk *bulk_of(emu_world *w, emu_thread *t) {
  if (t->bulk == NULL) t->bulk = calloc(1, sizeof *t->bulk);
  if (t->bulk == NULL) {
    w->short_of_memory = 1;
    ggi_emu_abandon(w);
  }
  return t->bulk;
}

static void issue(emu_world *w, bulk_op *o, unsigned op) {
  emu_thread *t = w->current;
  moving m = {w, t, o, op};
  each_piece(o, check_piece, &m);
  emu_bulk *q = bulk_of(w, t);
  if (q->count == q->room) q->op = grow(w, q->op, &q->room, sizeof *q->op);
  q->op[q->count] = *o;
  if (w->options.async == GG_EMU_EARLY) move(w, t, &q->op[q->count]);
  q->count++;
}

void gg_emu_tma_store(const void *map, unsigned off, int x, int y, int z, int v, unsigned op,
                      int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  int rank = (int)(op >> 8 & 255) - GGD_1D + 1;
  const emu_map *m = ggi_emu_map_of(w, map, rank, op, line);
  if (m == NULL) return;
  bulk_op o = {.map = *m, .at = {x, y, z, v}, .off = off, .line = line, .ok = 1};
  o.bytes = ggi_emu_box_bytes(m);
  o.add = ggi_emu_op_does(op) == GGD_TMA_REDUCE_ADD;
  if (o.add && adds[m->type] == NULL) {
    ggi_emu_report_access(w, GG_EMU_DESCRIPTOR, line, 0, op,
                          "adds elements of type %d, for which there is no reduction", m->type);
    return;
  }
  if (!ggi_emu_box_ok(w, m, o.at, 1, op, line) ||
      !ggi_emu_shared_range(w, off, o.bytes, 128, op, line))
    return;
  issue(w, &o, op);
}

void gg_emu_bulk_store(void *p, unsigned off, unsigned bytes, int line) {
  unsigned op = GGD_OP(GGD_BULK_STORE, GGD_PLAIN, 16);
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  if (bytes % 16 != 0 || (uintptr_t)p % 16 != 0) {
    ggi_emu_report_access(w, GG_EMU_MISALIGNED, line, 0, op,
                          "moves %u bytes to %p; both must be multiples of 16", bytes, p);
    return;
  }
  bulk_op o = {.to = p, .bytes = bytes, .off = off, .line = line, .ok = 1};
  if (bytes == 0 || !ggi_emu_shared_range(w, off, bytes, 16, op, line)) return;
  issue(w, &o, op);
}

void gg_emu_bulk_commit(int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  ggi_emu_step(w, line);
  move_some(w, t);
  emu_bulk *q = bulk_of(w, t);
  if (q->groups == q->group_room)
    q->group_end = grow(w, q->group_end, &q->group_room, sizeof *q->group_end);
  q->group_end[q->groups++] = q->count;
}

/* Both waits let the bytes move: nothing here could tell when they are visible to others. */
void gg_emu_bulk_wait(int groups, int read, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  emu_bulk *q = t->bulk;
  (void)read;
  ggi_emu_step(w, line);
  move_some(w, t);
  if (q == NULL || q->groups <= (uint32_t)groups) return;
  for (uint32_t end = q->group_end[q->groups - (uint32_t)groups - 1]; q->read < end; q->read++) {
    bulk_op *o = &q->op[q->read];
    moving m = {w, t, o, 0};
    move(w, t, o);
    if (w->options.check) each_piece(o, end_piece, &m);
  }
  if (q->read == q->count && groups == 0) q->read = q->count = q->groups = 0;
}

/* -- Ends -- */

void ggi_emu_bulk_exit(emu_world *w, emu_thread *t) {
  emu_bulk *q = t->bulk;
  if (q == NULL || q->read == q->count) return;
  uint32_t committed = q->groups > 0 ? q->group_end[q->groups - 1] : 0;
  ggi_emu_report(w, GG_EMU_UNFINISHED, q->op[q->read].line, 0, "%s exits with a store %s",
                 ggi_emu_thread_name(w, t->agent).s,
                 committed > q->read
                     ? "that may still read shared memory: no gg_bulk_wait covers it"
                     : "it never committed");
  for (; q->read < q->count; q->read++)
    move(w, t, &q->op[q->read]);
}

void ggi_emu_bulk_end(emu_thread *t) {
  if (t->bulk != NULL) t->bulk->read = t->bulk->count = t->bulk->groups = 0;
}

void ggi_emu_bulk_free(emu_thread *t) {
  if (t->bulk == NULL) return;
  free(t->bulk->op);
  free(t->bulk->group_end);
  free(t->bulk);
}
