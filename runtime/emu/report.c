/* report.c - findings, one per (kind, line, other line), and the names they use.
 *
 * Invariant: a world meets its blocks in rising order, so its first text of a finding is that of
 * its lowest block; merging keeps the lowest of all. Counts add up. What is reported thus does not
 * depend on how blocks were dealt to host threads.
 */
#include "emu.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ORDER FINDING (gg_emu.h) */
static const char *const kind_names[GG_EMU_KIND_COUNT] = {NULL,
                                                          "race",
                                                          "global-race",
                                                          "uninitialised",
                                                          "missing-wait",
                                                          "out-of-bounds",
                                                          "misaligned",
                                                          "divergence",
                                                          "deadlock",
                                                          "barrier",
                                                          "unfinished",
                                                          "endless",
                                                          "missing-fence",
                                                          "exited",
                                                          "descriptor"};

/* ORDER OP (gg_emu_device.h) */
static const char *const does_names[] = {"lds",
                                         "sts",
                                         "ldg",
                                         "ld",
                                         "st",
                                         "cp_async",
                                         "cp_async_zfill",
                                         "ldmatrix",
                                         "stmatrix",
                                         "ld_cluster",
                                         "st_cluster",
                                         "red_max",
                                         "tma_load",
                                         "bulk_load",
                                         "tma_store",
                                         "tma_reduce_add",
                                         "bulk_store",
                                         "mbar",
                                         "wgmma",
                                         "wmma_load",
                                         "wmma_store"};
static const char *const form_names[] = {
    "f32",      "f32x2", "f32x4", "f64",   "f64x2", "4",  "8",  "16",       "u8",
    "u16",      "u32",   "u32x2", "u32x4", "x1",    "x2", "x4", "x1_trans", "x2_trans",
    "x4_trans", "1d",    "2d",    "3d",    "4d",    "5d", ""};

const char *gg_emu_kind_name(gg_emu_kind kind) {
  return kind >= 1 && kind < GG_EMU_KIND_COUNT ? kind_names[kind] : "unknown";
}

emu_op_name ggi_emu_op_name(unsigned op) {
  emu_op_name name;
  const char *form = form_names[op >> 8 & 255];
  snprintf(name.s, sizeof name.s, "gg_%s%s%s", does_names[op >> 16], *form ? "_" : "", form);
  return name;
}

emu_op_name ggi_emu_thread_name(const emu_world *w, uint32_t agent) {
  emu_op_name name;
  snprintf(name.s, sizeof name.s, "block %llu, thread %u",
           (unsigned long long)(w->block_index + agent / w->block_threads),
           agent % w->block_threads);
  return name;
}

emu_op_name ggi_emu_agent_name(const emu_world *w, uint32_t agent) {
  emu_op_name name;
  if (w->blocks > 1 && agent < w->threads) return ggi_emu_thread_name(w, agent);
  if (agent < w->threads)
    snprintf(name.s, sizeof name.s, "thread %u", agent);
  else
    snprintf(name.s, sizeof name.s, "TMA or wgmma");
  return name;
}

static size_t hash(gg_emu_kind kind, int line, int other) {
  uint64_t h = (uint64_t)kind * 0x9e3779b97f4a7c15ull;
  h = (h ^ (uint64_t)(unsigned)line) * 0xd1342543de82ef95ull;
  h = (h ^ (uint64_t)(unsigned)other) * 0x94d049bb133111ebull;
  return (size_t)(h >> 20);
}

/* Where the finding is or would be. */
static uint32_t *slot_of(const emu_notes *n, gg_emu_kind kind, int line, int other) {
  size_t i = hash(kind, line, other) & (n->slots - 1);
  for (; n->slot[i] != 0; i = (i + 1) & (n->slots - 1)) {
    const gg_emu_finding *f = &n->note[n->slot[i] - 1].finding;
    if (f->kind == kind && f->line == line && f->other_line == other) break;
  }
  return &n->slot[i];
}

static int grow(emu_notes *n) {
  size_t room = n->room == 0 ? 32 : n->room * 2;
  emu_note *note = realloc(n->note, room * sizeof *note);
  if (note == NULL) return -1;
  n->note = note;
  n->room = room;
  uint32_t *slot = calloc(room * 2, sizeof *slot);
  if (slot == NULL) return -1;
  free(n->slot);
  n->slot = slot;
  n->slots = room * 2;
  for (size_t i = 0; i < n->count; i++) {
    const gg_emu_finding *f = &n->note[i].finding;
    *slot_of(n, f->kind, f->line, f->other_line) = (uint32_t)i + 1;
  }
  return 0;
}

emu_note *ggi_emu_note(emu_notes *n, gg_emu_kind kind, int line, int other) {
  if (n->count * 2 >= n->slots && grow(n) != 0) return NULL;
  uint32_t *slot = slot_of(n, kind, line, other);
  if (*slot != 0) return &n->note[*slot - 1];
  if (n->count == n->room) return NULL;
  emu_note *note = &n->note[n->count];
  memset(note, 0, sizeof *note);
  note->finding.kind = kind;
  note->finding.line = line;
  note->finding.other_line = other;
  *slot = (uint32_t)++n->count;
  return note;
}

/* The note of a new finding; NULL: counted, or memory is short. */
static emu_note *first_of(emu_world *w, gg_emu_kind kind, int line, int other) {
  emu_note *note = ggi_emu_note(&w->notes, kind, line, other);
  if (note == NULL) w->short_of_memory = 1;
  if (note == NULL || note->finding.count++ > 0) return NULL;
  note->where = w->block_index;
  return note;
}

void ggi_emu_report(emu_world *w, gg_emu_kind kind, int line, int other, const char *format, ...) {
  emu_note *note = first_of(w, kind, line, other);
  if (note == NULL) return;
  va_list args;
  va_start(args, format);
  vsnprintf(note->finding.text, sizeof note->finding.text, format, args);
  va_end(args);
}

void ggi_emu_report_access(emu_world *w, gg_emu_kind kind, int line, int other, unsigned op,
                           const char *format, ...) {
  emu_note *note = first_of(w, kind, line, other);
  if (note == NULL) return;
  char *text = note->finding.text;
  size_t room = sizeof note->finding.text;
  int n = snprintf(text, room, "%s by %s ", ggi_emu_op_name(op).s,
                   ggi_emu_thread_name(w, w->current->agent).s);
  if (n < 0 || (size_t)n >= room) return;
  va_list args;
  va_start(args, format);
  vsnprintf(text + n, room - (size_t)n, format, args);
  va_end(args);
}

int ggi_emu_notes_merge(emu_notes *into, const emu_notes *from) {
  for (size_t i = 0; i < from->count; i++) {
    const emu_note *f = &from->note[i];
    emu_note *t = ggi_emu_note(into, f->finding.kind, f->finding.line, f->finding.other_line);
    if (t == NULL) return -1;
    uint64_t count = t->finding.count + f->finding.count;
    if (t->finding.count == 0 || f->where < t->where) *t = *f;
    t->finding.count = count;
  }
  return 0;
}

static int compare(const void *a, const void *b) {
  const gg_emu_finding *x = &((const emu_note *)a)->finding, *y = &((const emu_note *)b)->finding;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return x->other_line < y->other_line ? -1 : x->other_line > y->other_line;
}

void ggi_emu_notes_sort(emu_notes *n) {
  if (n->count == 0) return;
  qsort(n->note, n->count, sizeof *n->note, compare);
  memset(n->slot, 0, n->slots * sizeof *n->slot);
  for (size_t i = 0; i < n->count; i++) {
    const gg_emu_finding *f = &n->note[i].finding;
    *slot_of(n, f->kind, f->line, f->other_line) = (uint32_t)i + 1;
  }
}

void ggi_emu_notes_clear(emu_notes *n) {
  n->count = 0;
  if (n->slot != NULL) memset(n->slot, 0, n->slots * sizeof *n->slot);
}

void ggi_emu_notes_free(emu_notes *n) {
  free(n->note);
  free(n->slot);
  memset(n, 0, sizeof *n);
}
