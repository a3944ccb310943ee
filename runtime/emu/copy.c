/* copy.c - cp.async: copies in flight, groups of them, and when their bytes land.
 *
 * Invariant: from issue to the wait that covers it a copy is in flight, whatever the moment its
 * bytes land (options.async); to the shadow it lands at the wait, written by the thread that
 * waited.
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>

static void land(const emu_thread *t, emu_copy *c) {
  uint8_t *to = t->block->shared + c->off;
  if (c->landed) return;
  c->landed = 1;
  if (c->bytes > 0) memcpy(to, c->from, c->bytes);
  memset(to + c->bytes, 0, (size_t)(c->width - c->bytes));
}

static emu_copy *append(emu_world *w, emu_copies *q) {
  if (q->first + q->count == q->room) {
    if (q->first > q->room / 2) { /* mostly done: the rest moves to the front */
      memmove(q->copy, q->copy + q->first, q->count * sizeof *q->copy);
      for (uint32_t i = 0; i < q->groups; i++)
        q->group_end[q->first_group + i] -= q->first;
      q->first = 0;
    } else {
      uint32_t room = q->room == 0 ? 16 : q->room * 2;
      emu_copy *grown = realloc(q->copy, room * sizeof *grown);
      if (grown == NULL) {
        w->short_of_memory = 1;
        ggi_emu_abandon(w);
      }
      q->copy = grown;
      q->room = room;
    }
  }
  return &q->copy[q->first + q->count++];
}

void gg_emu_cp_async(unsigned off, const void *p, int bytes, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  unsigned width = ggi_emu_op_bytes(op);
  ggi_emu_step(w, line);
  if (bytes < 0 || (unsigned)bytes > width) {
    ggi_emu_report_access(w, GG_EMU_OUT_OF_BOUNDS, line, 0, op, "reads %d bytes, of 0 to %u", bytes,
                          width);
    bytes = 0;
  }
  if (!ggi_emu_shared_checked(w, off, op, line)) return;
  if (bytes > 0) {
    emu_area *a = ggi_emu_area_checked(w, p, (unsigned)bytes, width, op, line);
    if (a == NULL)
      bytes = 0;
    else if (w->options.check)
      ggi_emu_global_fixed(w, a, p, (unsigned)bytes, line);
  }
  if (w->options.count)
    ggi_emu_count_copy(w, op, line, off,
                       bytes > 0 ? (uint64_t)bytes << 56 | (uint64_t)(uintptr_t)p : 0);
  if (w->options.check) ggi_emu_shared_copy_begin(w, off, op, line);

  emu_copy *c = append(w, &t->copies);
  c->off = off;
  c->line = line;
  c->from = p;
  c->width = (uint8_t)width;
  c->bytes = (uint8_t)bytes;
  c->landed = 0;
  if (w->options.async == GG_EMU_EARLY ||
      (w->options.async == GG_EMU_RANDOM && ggi_emu_random(w) % 4 == 0))
    land(t, c);
}

/* Some of what is in flight lands before it must. */
static void land_some(emu_world *w, const emu_thread *t) {
  const emu_copies *q = &t->copies;
  if (w->options.async != GG_EMU_RANDOM) return;
  for (uint32_t i = 0; i < q->count; i++)
    if (ggi_emu_random(w) % 4 == 0) land(t, &q->copy[q->first + i]);
}

void gg_emu_cp_async_commit(int line) {
  emu_world *w = ggi_emu_world;
  emu_copies *q = &w->current->copies;
  ggi_emu_step(w, line);
  land_some(w, w->current);
  if (q->first_group + q->groups == q->group_room) {
    if (q->first_group > 0) {
      memmove(q->group_end, q->group_end + q->first_group, q->groups * sizeof *q->group_end);
      q->first_group = 0;
    } else {
      uint32_t room = q->group_room == 0 ? 8 : q->group_room * 2;
      uint32_t *grown = realloc(q->group_end, room * sizeof *grown);
      if (grown == NULL) {
        w->short_of_memory = 1;
        ggi_emu_abandon(w);
      }
      q->group_end = grown;
      q->group_room = room;
    }
  }
  q->group_end[q->first_group + q->groups++] = q->first + q->count;
}

void gg_emu_cp_async_wait(int groups, int line) {
  emu_world *w = ggi_emu_world;
  emu_thread *t = w->current;
  emu_copies *q = &t->copies;
  ggi_emu_step(w, line);
  land_some(w, t);
  while (q->groups > (uint32_t)groups) {
    uint32_t end = q->group_end[q->first_group];
    for (; q->first < end; q->first++, q->count--) {
      emu_copy *c = &q->copy[q->first];
      land(t, c);
      if (w->options.check) ggi_emu_shared_copy_end(w, c->off, c->width, c->line);
    }
    q->first_group++;
    q->groups--;
  }
  if (q->count == 0 && q->groups == 0) q->first = q->first_group = 0;
}

/* The running thread writes global bytes that a copy of its own may not have read yet. */
void ggi_emu_copies_source(emu_world *w, const void *p, unsigned bytes, unsigned op, int line) {
  const emu_copies *q = &w->current->copies;
  for (uint32_t i = 0; i < q->count; i++) {
    const emu_copy *c = &q->copy[q->first + i];
    /* A copy of 0 bytes has no source, wherever it points. */
    if (c->bytes > 0 && (const uint8_t *)p < c->from + c->bytes &&
        c->from < (const uint8_t *)p + bytes)
      ggi_emu_report_access(w, GG_EMU_MISSING_WAIT, line, c->line, op,
                            "writes the source of its copy of line %d, which is in flight",
                            c->line);
  }
}

void ggi_emu_copies_exit(emu_world *w, emu_thread *t) {
  const emu_copies *q = &t->copies;
  if (q->count == 0) return;
  const emu_copy *c = &q->copy[q->first];
  uint32_t committed = q->groups > 0 ? q->group_end[q->first_group + q->groups - 1] : q->first;
  if (committed > q->first)
    ggi_emu_report(w, GG_EMU_UNFINISHED, c->line, 0,
                   "%s exits with a copy in flight: no gg_cp_async_wait covers it",
                   ggi_emu_thread_name(w, t->agent).s);
  else
    ggi_emu_report(w, GG_EMU_UNFINISHED, c->line, 0, "%s exits with a copy it never committed",
                   ggi_emu_thread_name(w, t->agent).s);
}
