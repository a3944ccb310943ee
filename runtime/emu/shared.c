/* shared.c - the shadow of shared memory: who wrote and who read each byte last.
 *
 * A cell of 16 bytes keeps the last write and, per warp, the reads since; a partial access splits
 * it into cells of 4 bytes, a full write joins them again. Invariants: a row of reads is all zero
 * where its cell's `read` is 0; the parts of a cell that is not split mean nothing, but their rows
 * keep the first invariant. A write forgets the reads before it: whoever races with those races
 * with the write as well.
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>

/* An access under way. */
typedef struct access {
  emu_world *w;
  emu_thread *t;
  emu_block *b;
  uint32_t off;
  unsigned op;
  int line;
} access;

static emu_reads *row_of(const access *a, uint32_t cell) {
  return &a->b->reads[(size_t)cell * a->w->warps];
}
static emu_reads *part_row_of(const access *a, uint32_t cell, uint32_t part) {
  return &a->b->part_reads[((size_t)cell * EMU_PARTS + part) * a->w->warps];
}
static emu_cell *part_of(const access *a, uint32_t cell, uint32_t part) {
  return &a->b->parts[(size_t)cell * EMU_PARTS + part];
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

static void split(const access *a, uint32_t cell) {
  emu_cell *c = &a->b->cells[cell];
  emu_reads *row = row_of(a, cell);
  for (uint32_t i = 0; i < EMU_PARTS; i++) {
    emu_cell *part = part_of(a, cell, i);
    *part = *c;
    if (c->read != 0) memcpy(part_row_of(a, cell, i), row, a->w->warps * sizeof *row);
    if (c->read == 2)
      for (size_t k = 0, n = a->b->overflow_count; k < n; k++)
        if (a->b->overflow[k].cell == c)
          overflow_add(a->w, a->b, part, a->b->overflow[k].warp, a->b->overflow[k].reads);
  }
  forget_reads(a, c, row);
  c->split = 1;
}

static void join(const access *a, uint32_t cell) {
  for (uint32_t i = 0; i < EMU_PARTS; i++)
    forget_reads(a, part_of(a, cell, i), part_row_of(a, cell, i));
  a->b->cells[cell].split = 0;
  a->b->cells[cell].read = 0;
}

/* -- Reports -- */

static uint32_t byte_of(const access *a, const emu_cell *c) {
  size_t whole = (size_t)(c - a->b->cells);
  if (c >= a->b->cells && whole < a->w->shared_room / EMU_CELL) return (uint32_t)whole * EMU_CELL;
  return (uint32_t)(c - a->b->parts) * EMU_GRAIN;
}

static void report_copy(const access *a, const emu_cell *c) {
  ggi_emu_report_access(a->w, GG_EMU_MISSING_WAIT, a->line, c->copy_line, a->op,
                        "touches shared byte %u while the copy of line %d is in flight",
                        byte_of(a, c), c->copy_line);
}

static void report_race(const access *a, const emu_cell *c, uint32_t agent, int line,
                        const char *does, const char *did) {
  ggi_emu_report_access(a->w, GG_EMU_RACE, a->line, line, a->op,
                        "%s shared byte %u, %s by thread %u at line %d, unordered", does,
                        byte_of(a, c), did, agent, line);
}

/* -- Reads -- */

/* The warp's row entry has another stamp: what it held may have to be kept. */
static void note_new_stamp(const access *a, emu_cell *c, emu_reads *r, uint32_t bit) {
  emu_reads old = *r;
  old.mask &= ~bit; /* its own earlier read comes before this one */
  for (uint32_t m = old.mask; m != 0; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m);
    if (!ggi_emu_before(a->t, a->t->warp->first + lane, old.stamp)) {
      overflow_add(a->w, a->b, c, a->t->warp->index, old);
      c->read = 2;
      break;
    }
  }
  r->stamp = a->t->warp->count;
  r->mask = bit;
  r->line = a->line;
}

static inline void read_cell(const access *a, emu_cell *c, emu_reads *row) {
  const emu_thread *t = a->t;
  uint32_t bit = 1u << t->lane, stamp = t->warp->count;
  emu_reads *r = &row[t->warp->index];
  if (EMU_UNLIKELY(c->copies != 0)) {
    report_copy(a, c);
    return;
  }
  if (EMU_UNLIKELY(c->written == 0)) {
    ggi_emu_report_access(a->w, GG_EMU_UNINITIALISED, a->line, 0, a->op,
                          "reads shared byte %u, which nothing wrote", byte_of(a, c));
    return;
  }
  if (EMU_UNLIKELY(!ggi_emu_before(t, c->agent, c->stamp)))
    report_race(a, c, c->agent, c->line, "reads", "written");
  if (c->read == 0) c->read = 1;
  if (EMU_LIKELY(r->stamp == stamp)) {
    r->mask |= bit;
    r->line = a->line;
  } else {
    note_new_stamp(a, c, r, bit);
  }
}

void ggi_emu_shared_read(emu_world *w, uint32_t off, unsigned op, int line) {
  emu_thread *t = w->current;
  access a = {w, t, t->block, off, op, line};
  uint32_t bytes = ggi_emu_op_bytes(op), cell = off / EMU_CELL;
  emu_cell *c = &a.b->cells[cell];
  if (!c->split) {
    if (bytes == EMU_CELL) {
      read_cell(&a, c, row_of(&a, cell));
      return;
    }
    split(&a, cell);
  }
  uint32_t first = off % EMU_CELL / EMU_GRAIN, end = first + (bytes + EMU_GRAIN - 1) / EMU_GRAIN;
  for (uint32_t i = first; i < end; i++)
    read_cell(&a, part_of(&a, cell, i), part_row_of(&a, cell, i));
}

/* -- Writes -- */

/* The first lane of these reads that the thread has not seen; -1: it has seen all. */
static int unseen(const access *a, uint32_t warp, const emu_reads *r) {
  if (a->t->base->c[a->w->agents + warp] >= r->stamp) return -1;
  for (uint32_t m = r->mask; m != 0; m &= m - 1) {
    uint32_t agent = a->w->warp[warp].first + (uint32_t)__builtin_ctz(m);
    if (!ggi_emu_before(a->t, agent, r->stamp)) return (int)agent;
  }
  return -1;
}

static void check_write(const access *a, const emu_cell *c, const emu_reads *row) {
  if (EMU_UNLIKELY(c->copies != 0)) report_copy(a, c);
  if (c->written != 0 && EMU_UNLIKELY(!ggi_emu_before(a->t, c->agent, c->stamp)))
    report_race(a, c, c->agent, c->line, "overwrites", "written");
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
  c->agent = a->t->agent;
  c->stamp = a->t->warp->count;
  c->line = a->line;
}

static void begin_copy(const access *a, emu_cell *c, emu_reads *row) {
  forget_reads(a, c, row);
  c->copies++;
  c->copy_line = a->line;
}

static void end_copy(const access *a, emu_cell *c, emu_reads *row) {
  if (c->copies > 0) c->copies--;
  set_written(a, c, row);
}

typedef void change(const access *a, emu_cell *c, emu_reads *row);

/* Applies `then` to the cells of a write. */
static inline void write_cells(const access *a, uint32_t bytes, int checked, change *then) {
  uint32_t cell = a->off / EMU_CELL;
  emu_cell *c = &a->b->cells[cell];
  if (bytes < EMU_CELL && !c->split) split(a, cell);
  if (!c->split) {
    if (checked) check_write(a, c, row_of(a, cell));
    then(a, c, row_of(a, cell));
    return;
  }
  uint32_t first = a->off % EMU_CELL / EMU_GRAIN;
  uint32_t end = first + (bytes + EMU_GRAIN - 1) / EMU_GRAIN;
  for (uint32_t i = first; i < end; i++) {
    if (checked) check_write(a, part_of(a, cell, i), part_row_of(a, cell, i));
    then(a, part_of(a, cell, i), part_row_of(a, cell, i));
  }
  if (bytes < EMU_CELL) return;
  join(a, cell); /* all parts are equal now */
  emu_cell whole = *part_of(a, cell, 0);
  whole.split = 0;
  whole.read = 0;
  *c = whole;
}

void ggi_emu_shared_write(emu_world *w, uint32_t off, unsigned op, int line) {
  access a = {w, w->current, w->current->block, off, op, line};
  write_cells(&a, ggi_emu_op_bytes(op), 1, set_written);
}

void ggi_emu_shared_copy_begin(emu_world *w, uint32_t off, unsigned op, int line) {
  access a = {w, w->current, w->current->block, off, op, line};
  write_cells(&a, ggi_emu_op_bytes(op), 1, begin_copy);
}

void ggi_emu_shared_copy_end(emu_world *w, uint32_t off, unsigned width, int line) {
  access a = {w, w->current, w->current->block, off, 0, line};
  write_cells(&a, width, 0, end_copy);
}

/* -- A new block -- */

void ggi_emu_shared_reset(emu_world *w, emu_block *b) {
  access a = {w, NULL, b, 0, 0, 0};
  memset(b->shared, 0xff, w->shared_room);
  b->overflow_count = 0;
  if (!w->options.check) return;
  uint32_t cells = (uint32_t)(w->shared_room / EMU_CELL);
  for (uint32_t i = 0; i < cells; i++) {
    emu_cell *c = &b->cells[i];
    if (c->split) join(&a, i);
    forget_reads(&a, c, row_of(&a, i));
  }
  memset(b->cells, 0, cells * sizeof *b->cells);
}
