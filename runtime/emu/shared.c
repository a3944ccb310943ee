/* shared.c - the shadow of shared memory: who wrote and who read each byte last.
 *
 * A cell of 16 bytes keeps the last write and, per warp, the reads since; a partial access splits
 * it into cells of 4 bytes, and those into bytes; a full write joins them again. Invariants: a row
 * of reads is all zero where its cell's `read` is 0; what a cell that is not split has below it
 * means nothing, but rows there keep the first invariant. A write forgets the reads before it:
 * whoever races with those races with the write as well. Between the begin and the end of an
 * asynchronous access the cell counts it, and nobody may touch what is written or write what is
 * read.
 */
#include "emu_tensor.h"
#include <stdlib.h>
#include <string.h>

static const uint32_t grain[EMU_PLANES] = {16, 4, 1};

/* An access under way: t's clock decides what comes before it; agent and stamp sign it. */
typedef struct access {
  emu_world *w;
  emu_thread *t;
  emu_block *b;
  uint32_t off;
  unsigned op;
  int line;
  uint32_t agent, stamp;
  int flag; /* of the action */
} access;

static access access_of(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                        int line) {
  return (access){w, t, b, off, op, line, t->agent, t->warp->count, 0};
}

static emu_cell *cell_at(const access *a, int level, uint32_t i) {
  return &a->b->plane[level].cell[i];
}
static emu_reads *row_at(const access *a, int level, uint32_t i) {
  return &a->b->plane[level].reads[(size_t)i * a->w->warps];
}

/* -- Reads that do not fit a row -- */

static void overflow_drop(emu_block *b, const emu_cell *c) {
  size_t kept = 0;
  for (size_t i = 0; i < b->overflow_count; i++)
    if (b->overflow[i].cell != c) b->overflow[kept++] = b->overflow[i];
  b->overflow_count = kept;
}

static void overflow_add(emu_world *w, emu_block *b, const emu_cell *c, uint32_t warp,
                         emu_reads reads) {
  if (b->overflow_count == b->overflow_room) {
    size_t room = b->overflow_room == 0 ? 64 : b->overflow_room * 2;
    emu_overflow *grown = realloc(b->overflow, room * sizeof *grown);
    if (grown == NULL) {
      w->short_of_memory = 1;
      return;
    }
    b->overflow = grown;
    b->overflow_room = room;
  }
  b->overflow[b->overflow_count++] = (emu_overflow){c, warp, reads};
}

static void forget_reads(const access *a, emu_cell *c, emu_reads *row) {
  if (c->read == 0) return;
  memset(row, 0, a->w->warps * sizeof *row);
  if (c->read == 2) overflow_drop(a->b, c);
  c->read = 0;
}

/* -- Splitting and joining -- */

static void split(const access *a, int level, uint32_t i) {
  emu_cell *c = cell_at(a, level, i);
  emu_reads *row = row_at(a, level, i);
  for (uint32_t k = 0; k < EMU_PARTS; k++) {
    emu_cell *part = cell_at(a, level + 1, i * EMU_PARTS + k);
    *part = *c;
    if (c->read != 0)
      memcpy(row_at(a, level + 1, i * EMU_PARTS + k), row, a->w->warps * sizeof *row);
    if (c->read == 2)
      for (size_t o = 0, n = a->b->overflow_count; o < n; o++)
        if (a->b->overflow[o].cell == c)
          overflow_add(a->w, a->b, part, a->b->overflow[o].warp, a->b->overflow[o].reads);
  }
  forget_reads(a, c, row);
  c->split = 1;
}

/* All parts are equal. */
static void join(const access *a, int level, uint32_t i) {
  for (uint32_t k = 0; k < EMU_PARTS; k++)
    forget_reads(a, cell_at(a, level + 1, i * EMU_PARTS + k),
                 row_at(a, level + 1, i * EMU_PARTS + k));
  emu_cell *c = cell_at(a, level, i);
  *c = *cell_at(a, level + 1, i * EMU_PARTS);
  c->split = 0;
  c->read = 0;
}

/* One function a level, for a byte has no parts. */
static void clear_part(const access *a, uint32_t i) {
  emu_cell *c = cell_at(a, 1, i);
  for (uint32_t k = 0; c->split && k < EMU_PARTS; k++)
    forget_reads(a, cell_at(a, 2, i * EMU_PARTS + k), row_at(a, 2, i * EMU_PARTS + k));
  forget_reads(a, c, row_at(a, 1, i));
  c->split = 0;
}

static void clear(const access *a, uint32_t i) {
  emu_cell *c = cell_at(a, 0, i);
  for (uint32_t k = 0; c->split && k < EMU_PARTS; k++)
    clear_part(a, i * EMU_PARTS + k);
  forget_reads(a, c, row_at(a, 0, i));
  c->split = 0;
}

/* -- From an access to its cells -- */

typedef void action(const access *a, emu_cell *c, emu_reads *row);

static inline __attribute__((always_inline)) void
on_part(const access *a, uint32_t i, uint32_t from, uint32_t end, int joins, action *act) {
  emu_cell *c = cell_at(a, 1, i);
  if (EMU_LIKELY(!c->split)) {
    if (EMU_LIKELY(end - from == grain[1])) {
      act(a, c, row_at(a, 1, i));
      return;
    }
    split(a, 1, i);
  }
  for (uint32_t k = from; k < end; k++)
    act(a, cell_at(a, 2, i * EMU_PARTS + k), row_at(a, 2, i * EMU_PARTS + k));
  if (joins && end - from == grain[1]) join(a, 1, i);
}

/* joins: the action leaves all it touches alike. */
static inline __attribute__((always_inline)) void each_cell(const access *a, uint32_t bytes,
                                                            int joins, action *act) {
  uint32_t i = a->off / EMU_CELL, from = a->off % EMU_CELL, end = from + bytes;
  emu_cell *c = cell_at(a, 0, i);
  if (!c->split) {
    if (bytes == EMU_CELL) {
      act(a, c, row_at(a, 0, i));
      return;
    }
    split(a, 0, i);
  }
  for (uint32_t p = from / grain[1]; p * grain[1] < end; p++) {
    uint32_t first = p * grain[1];
    on_part(a, i * EMU_PARTS + p, from > first ? from - first : 0,
            end < first + grain[1] ? end - first : grain[1], joins, act);
  }
  if (joins && bytes == EMU_CELL) join(a, 0, i);
}

/* -- Reports -- */

static uint32_t byte_of(const access *a, const emu_cell *c) {
  for (int level = 0; level < EMU_PLANES; level++) {
    size_t cells = a->w->shared_room / grain[level];
    if (c >= a->b->plane[level].cell && c < a->b->plane[level].cell + cells)
      return (uint32_t)(c - a->b->plane[level].cell) * grain[level];
  }
  return a->off;
}

static void report_flight(const access *a, const emu_cell *c) {
  const char *what = c->written == 2 ? "touches shared byte %u, part of the mbarrier of line %d"
                     : c->copies != 0
                         ? "touches shared byte %u while the copy of line %d is in flight"
                         : "overwrites shared byte %u while the read of line %d is in flight";
  char text[120];
  snprintf(text, sizeof text, what, byte_of(a, c), c->copy_line);
  ggi_emu_report_access(a->w, GG_EMU_MISSING_WAIT, a->line, c->copy_line, a->op, "%s", text);
}

static void report_race(const access *a, const emu_cell *c, uint32_t agent, unsigned line,
                        const char *does, const char *did) {
  ggi_emu_report_access(a->w, GG_EMU_RACE, a->line, (int)line, a->op,
                        "%s shared byte %u, %s by %s at line %u, unordered", does, byte_of(a, c),
                        did, ggi_emu_agent_name(a->w, agent).s, line);
}

/* -- Reads -- */

static uint32_t engine_of(const access *a, uint32_t warp) {
  const emu_warp *p = &a->w->warp[warp];
  return ggi_emu_group_engine(p->block, (warp - p->block->rank * a->w->block_warps) / 4);
}

/* The first agent of these reads that the thread has not seen; -1: it has seen all. */
static int unseen(const access *a, uint32_t warp, const emu_reads *r) {
  if (EMU_UNLIKELY(r->engine)) {
    uint32_t agent = engine_of(a, warp);
    return ggi_emu_before(a->t, agent, r->stamp) ? -1 : (int)agent;
  }
  if (a->t->base->c[a->w->agent_room + warp] >= r->stamp) return -1;
  for (uint32_t m = r->mask; m != 0; m &= m - 1) {
    uint32_t agent = a->w->warp[warp].first + (uint32_t)__builtin_ctz(m);
    if (!ggi_emu_before(a->t, agent, r->stamp)) return (int)agent;
  }
  return -1;
}

/* The warp's row entry has another stamp or kind: what it held may have to be kept. */
static void note_new_stamp(const access *a, emu_cell *c, emu_reads *r, uint32_t warp, uint32_t bit,
                           int engine) {
  emu_reads old = *r;
  if (!engine && !old.engine) old.mask &= ~bit; /* its own earlier read comes before this one */
  if (old.mask != 0 && !(engine && old.engine) && unseen(a, warp, &old) >= 0) {
    overflow_add(a->w, a->b, c, warp, old);
    c->read = 2;
  }
  *r = (emu_reads){a->stamp, bit, (unsigned)a->line & INT32_MAX, engine != 0};
}

static inline void note_read(const access *a, emu_cell *c, emu_reads *row, uint32_t warp,
                             uint32_t bit, int engine) {
  emu_reads *r = &row[warp];
  if (c->read == 0) c->read = 1;
  if (EMU_LIKELY(r->stamp == a->stamp && r->engine == (unsigned)engine)) {
    r->mask |= bit;
    r->line = (unsigned)a->line & INT32_MAX;
  } else {
    note_new_stamp(a, c, r, warp, bit, engine);
  }
}

/* 0: reported, and not worth more. */
static inline int check_read(const access *a, emu_cell *c) {
  if (EMU_UNLIKELY(c->copies != 0)) {
    report_flight(a, c);
    return 0;
  }
  if (EMU_UNLIKELY(c->written == 0)) {
    ggi_emu_report_access(a->w, GG_EMU_UNINITIALISED, a->line, 0, a->op,
                          "reads shared byte %u, which nothing wrote", byte_of(a, c));
    return 0;
  }
  if (EMU_UNLIKELY(!ggi_emu_before(a->t, c->agent, c->stamp)))
    report_race(a, c, c->agent, (unsigned)c->line, "reads", "written");
  return 1;
}

static inline void read_cell(const access *a, emu_cell *c, emu_reads *row) {
  if (check_read(a, c)) note_read(a, c, row, a->t->warp->index, 1u << a->t->lane, 0);
}

void ggi_emu_shared_read(emu_world *w, uint32_t off, unsigned op, int line) {
  emu_thread *t = w->current;
  access a = access_of(w, t->block, t, off, op, line);
  each_cell(&a, ggi_emu_op_bytes(op), 0, read_cell);
}

void ggi_emu_shared_read_as(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                            int line) {
  access a = access_of(w, b, t, off, op, line);
  each_cell(&a, ggi_emu_op_bytes(op), 0, read_cell);
}

/* -- Writes -- */

static void check_write(const access *a, const emu_cell *c, const emu_reads *row) {
  if (EMU_UNLIKELY((c->copies | c->fetches) != 0)) report_flight(a, c);
  if (c->written == 1 && EMU_UNLIKELY(!ggi_emu_before(a->t, c->agent, c->stamp)))
    report_race(a, c, c->agent, (unsigned)c->line, "overwrites", "written");
  if (c->read == 0) return;
  for (uint32_t i = 0; i < a->w->warps; i++) {
    if (row[i].mask == 0) continue;
    int agent = unseen(a, i, &row[i]);
    if (EMU_UNLIKELY(agent >= 0))
      report_race(a, c, (uint32_t)agent, row[i].line, "overwrites", "read");
  }
  if (c->read < 2) return;
  for (size_t i = 0; i < a->b->overflow_count; i++) {
    const emu_overflow *o = &a->b->overflow[i];
    if (o->cell != c) continue;
    int agent = unseen(a, o->warp, &o->reads);
    if (agent >= 0) report_race(a, c, (uint32_t)agent, o->reads.line, "overwrites", "read");
  }
}

static void set_written(const access *a, emu_cell *c, emu_reads *row) {
  forget_reads(a, c, row);
  c->written = 1;
  c->agent = a->agent;
  c->stamp = a->stamp;
  c->line = a->line;
}

static void write_cell(const access *a, emu_cell *c, emu_reads *row) {
  check_write(a, c, row);
  set_written(a, c, row);
}

static void begin_copy(const access *a, emu_cell *c, emu_reads *row) {
  check_write(a, c, row);
  forget_reads(a, c, row);
  c->copies++;
  c->copy_line = a->line;
}

static void end_copy(const access *a, emu_cell *c, emu_reads *row) {
  if (c->copies > 0) c->copies--;
  set_written(a, c, row);
}

void ggi_emu_shared_write(emu_world *w, uint32_t off, unsigned op, int line) {
  access a = access_of(w, w->current->block, w->current, off, op, line);
  each_cell(&a, ggi_emu_op_bytes(op), 1, write_cell);
}

void ggi_emu_shared_write_as(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                             int line) {
  access a = access_of(w, b, t, off, op, line);
  each_cell(&a, ggi_emu_op_bytes(op), 1, write_cell);
}

void ggi_emu_shared_copy_begin(emu_world *w, uint32_t off, unsigned op, int line) {
  access a = access_of(w, w->current->block, w->current, off, op, line);
  each_cell(&a, ggi_emu_op_bytes(op), 1, begin_copy);
}

void ggi_emu_shared_copy_end(emu_world *w, uint32_t off, unsigned width, int line) {
  access a = access_of(w, w->current->block, w->current, off, 0, line);
  each_cell(&a, width, 1, end_copy);
}

/* -- The asynchronous proxy -- */

/* What threads wrote must have passed a proxy fence. */
static void check_proxy(const access *a, const emu_cell *c) {
  if (c->written != 1 || c->agent >= a->w->threads) return;
  if (ggi_emu_clock_visible(a->w, a->t, c->agent) >= c->stamp) return;
  if (!ggi_emu_before(a->t, c->agent, c->stamp)) return; /* reported as a race */
  ggi_emu_report_access(a->w, GG_EMU_MISSING_FENCE, a->line, c->line, a->op,
                        "meets shared byte %u, written by %s at line %d, with no "
                        "gg_fence_proxy_async between",
                        byte_of(a, c), ggi_emu_agent_name(a->w, c->agent).s, c->line);
}

static void begin_async_copy(const access *a, emu_cell *c, emu_reads *row) {
  check_proxy(a, c);
  begin_copy(a, c, row);
}

static void check_fetch(const access *a, emu_cell *c, emu_reads *row) {
  (void)row;
  if (check_read(a, c)) check_proxy(a, c);
}

static void begin_fetch(const access *a, emu_cell *c, emu_reads *row) {
  check_fetch(a, c, row);
  c->fetches++;
  c->copy_line = a->line;
}

static void end_fetch(const access *a, emu_cell *c, emu_reads *row) {
  if (c->fetches > 0) c->fetches--;
  uint32_t warp = a->t->warp->index;
  note_read(a, c, row, warp, a->flag ? ~0u : 1u << a->t->lane, a->flag);
}

void ggi_emu_async_write_begin(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                               int line) {
  access a = access_of(w, b, t, off, op, line);
  each_cell(&a, EMU_CELL, 1, begin_async_copy);
}

void ggi_emu_async_write_end(emu_world *w, emu_block *b, uint32_t off, uint32_t agent,
                             uint32_t stamp, int line) {
  access a = {w, NULL, b, off, 0, line, agent, stamp, 0};
  each_cell(&a, EMU_CELL, 1, end_copy);
}

void ggi_emu_async_read_begin(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                              int line, int first) {
  access a = access_of(w, b, t, off, op, line);
  each_cell(&a, EMU_CELL, 0, first ? begin_fetch : check_fetch);
}

void ggi_emu_async_read_end(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, int line,
                            int engine, uint32_t stamp) {
  access a = access_of(w, b, t, off, 0, line);
  a.flag = engine;
  if (engine) a.stamp = stamp;
  each_cell(&a, EMU_CELL, 0, end_fetch);
}

/* -- mbarriers -- */

static void set_object(const access *a, emu_cell *c, emu_reads *row) {
  if (a->flag) check_write(a, c, row);
  forget_reads(a, c, row);
  c->written = a->flag ? 2 : 0;
  c->copies = a->flag != 0;
  c->fetches = 0;
  c->copy_line = a->line;
}

void ggi_emu_shared_mbarrier(emu_world *w, uint32_t off, unsigned op, int line, int alive) {
  access a = access_of(w, w->current->block, w->current, off, op, line);
  a.flag = alive;
  each_cell(&a, 8, 0, set_object);
}

/* -- A new block -- */

void ggi_emu_shared_reset(emu_world *w, emu_block *b) {
  access a = {w, NULL, b, 0, 0, 0, 0, 0, 0};
  memset(b->shared, 0xff, w->shared_room);
  b->overflow_count = 0;
  if (!w->options.check) return;
  uint32_t cells = (uint32_t)(w->shared_room / EMU_CELL);
  for (uint32_t i = 0; i < cells; i++)
    if (b->plane[0].cell[i].split || b->plane[0].cell[i].read) clear(&a, i);
  memset(b->plane[0].cell, 0, cells * sizeof *b->plane[0].cell);
}
