/* trace.c - races in global memory: who did what to which word during a launch.
 *
 * A launch has no order between threads that this emulator would track in global memory, so every
 * word written by one thread belongs to that thread for the launch: no other may write or read it,
 * and what is read as constant (gg_ldg, the source of a copy) may not be written at all. Accesses
 * of 1 and 2 bytes are kept per byte, in arrays of their own. Invariant: only maxima are kept,
 * which do not depend on the order of events; the launch's end compares them.
 */
#include "emu.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Words that share a mark "written": what a launch's end need not look at is skipped. */
enum { CHUNK = 4096 };

static size_t chunks(const emu_area *a) {
  return a->words / CHUNK + 1;
}

int ggi_emu_trace_create(emu_area *a) {
  a->chunk_written = calloc(chunks(a), sizeof *a->chunk_written);
  return a->chunk_written != NULL ? 0 : -1;
}

static void drop(void *p, size_t bytes) {
  if (p != NULL) munmap(p, bytes);
}

void ggi_emu_trace_free(emu_area *a) {
  drop((void *)atomic_load(&a->fixed), a->words * sizeof(uint32_t));
  drop((void *)atomic_load(&a->read), a->words * sizeof(emu_trace));
  drop((void *)atomic_load(&a->written), a->words * sizeof(emu_trace));
  drop((void *)atomic_load(&a->loaded), a->words * sizeof(emu_trace));
  drop((void *)atomic_load(&a->stored), a->words * sizeof(emu_trace));
  drop((void *)atomic_load(&a->byte_fixed), a->words * 4 * sizeof(uint32_t));
  drop((void *)atomic_load(&a->byte_read), a->words * 4 * sizeof(emu_trace));
  drop((void *)atomic_load(&a->byte_written), a->words * 4 * sizeof(emu_trace));
  free((void *)a->chunk_written);
}

static pthread_mutex_t birth = PTHREAD_MUTEX_INITIALIZER;

/* Zero pages, when the first access of the kind comes. NULL: memory is short. */
static void *give(emu_world *w, const emu_area *a, _Atomic(void *) *where, size_t bytes) {
  pthread_mutex_lock(&birth);
  void *p = atomic_load(where);
  if (p == NULL) {
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p == MAP_FAILED) {
      p = NULL;
      w->short_of_memory = 1;
    } else if (a->mapped) {
      ggi_emu_keep_sparse(p, bytes);
    }
    atomic_store(where, p);
  }
  pthread_mutex_unlock(&birth);
  return p;
}

static inline void raise_to(const emu_world *w, _Atomic uint64_t *at, uint64_t value) {
  uint64_t old = atomic_load_explicit(at, memory_order_relaxed);
  if (w->alone) {
    if (old < value) atomic_store_explicit(at, value, memory_order_relaxed);
    return;
  }
  while (old < value && !atomic_compare_exchange_weak_explicit(
                            at, &old, value, memory_order_relaxed, memory_order_relaxed)) {
  }
}

/* What of the arrays an access touches: words, or bytes where it has less than a word. */
typedef struct span {
  int narrow;
  size_t first, last, entries;
} span;

static span span_of(emu_world *w, const emu_area *a, const void *p, unsigned bytes, int line) {
  if (EMU_UNLIKELY(!w->current->grid_waited))
    ggi_emu_report(w, GG_EMU_MISSING_WAIT, line, 0,
                   "%s touches %s before gg_grid_wait: a kernel before this one may still "
                   "write it",
                   ggi_emu_thread_name(w, w->current->agent).s, a->name);
  uintptr_t at = (uintptr_t)p, base = a->start & ~(uintptr_t)3;
  if (EMU_UNLIKELY(bytes < 4)) return (span){1, at - base, at - base + bytes - 1, a->words * 4};
  return (span){0, (at - base) >> 2, (at + bytes - 1 - base) >> 2, a->words};
}

void ggi_emu_global_fixed(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  span s = span_of(w, a, p, bytes, line);
  _Atomic(_Atomic uint32_t *) *where = s.narrow ? &a->byte_fixed : &a->fixed;
  _Atomic uint32_t *fixed = atomic_load_explicit(where, memory_order_acquire);
  if (EMU_UNLIKELY(fixed == NULL)) {
    fixed = give(w, a, (_Atomic(void *) *)where, s.entries * sizeof *fixed);
    if (fixed == NULL) return;
  }
  for (size_t i = s.first; i <= s.last; i++) {
    uint32_t old = atomic_load_explicit(&fixed[i], memory_order_relaxed);
    if (w->alone) {
      if (old < (uint32_t)line)
        atomic_store_explicit(&fixed[i], (uint32_t)line, memory_order_relaxed);
      continue;
    }
    while (old < (uint32_t)line &&
           !atomic_compare_exchange_weak_explicit(&fixed[i], &old, (uint32_t)line,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
  }
}

/* (thread + 1, line) in one number: the thread decides, the line tells. */
static uint64_t trace_key(const emu_world *w, int line) {
  uint64_t thread = w->first_thread + w->current->agent + 1;
  return thread << EMU_LINE_BITS | ((uint64_t)(unsigned)line & ((1u << EMU_LINE_BITS) - 1));
}
static uint64_t key_thread(uint64_t key) {
  return (key >> EMU_LINE_BITS) - 1;
}
static int key_line(uint64_t key) {
  return (int)(key & ((1u << EMU_LINE_BITS) - 1));
}

static void leave_trace(emu_world *w, _Atomic(emu_trace *) *where, const emu_area *a, span s,
                        int line) {
  emu_trace *trace = atomic_load_explicit(where, memory_order_acquire);
  if (EMU_UNLIKELY(trace == NULL)) {
    trace = give(w, a, (_Atomic(void *) *)where, s.entries * sizeof *trace);
    if (trace == NULL) return;
  }
  uint64_t key = trace_key(w, line);
  for (size_t i = s.first; i <= s.last; i++) {
    raise_to(w, &trace[i].last, key);
    raise_to(w, &trace[i].first, ~key);
  }
}

void ggi_emu_global_read(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  span s = span_of(w, a, p, bytes, line);
  leave_trace(w, s.narrow ? &a->byte_read : &a->read, a, s, line);
}

static void mark_chunk(const emu_area *a, size_t word) {
  _Atomic uint8_t *mark = &a->chunk_written[word / CHUNK];
  if (atomic_load_explicit(mark, memory_order_relaxed) == 0)
    atomic_store_explicit(mark, 1, memory_order_relaxed);
}

void ggi_emu_global_write(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  mark_chunk(a, ((uintptr_t)p >> 2) - (a->start >> 2));
  mark_chunk(a, (((uintptr_t)p + bytes - 1) >> 2) - (a->start >> 2));
  span s = span_of(w, a, p, bytes, line);
  leave_trace(w, s.narrow ? &a->byte_written : &a->written, a, s, line);
}

/* TMA: whole words, since it starts at 16 bytes and no row of the tensor goes on behind its end.
 * One thread speaks for its block: others of it may read or write the same, as barriers order. */
void ggi_emu_global_loaded(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  leave_trace(w, &a->loaded, a, span_of(w, a, p, bytes < 4 ? 4 : bytes, line), line);
}

void ggi_emu_global_stored(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  span s = span_of(w, a, p, bytes < 4 ? 4 : bytes, line);
  mark_chunk(a, s.first);
  mark_chunk(a, s.last);
  leave_trace(w, &a->stored, a, s, line);
}

/* Back to zero: small arrays by hand, the pages of large ones are given away. */
static void wipe(void *p, size_t bytes) {
  if (p == NULL) return;
  if (bytes > (size_t)1 << 20 && madvise(p, bytes, MADV_DONTNEED) == 0) return;
  memset(p, 0, bytes);
}

void ggi_emu_global_begin(gg_emu *e) {
  for (size_t i = 0; i < e->areas; i++) {
    emu_area *a = e->area[i];
    wipe((void *)atomic_load(&a->fixed), a->words * sizeof(uint32_t));
    wipe((void *)atomic_load(&a->read), a->words * sizeof(emu_trace));
    wipe((void *)atomic_load(&a->written), a->words * sizeof(emu_trace));
    wipe((void *)atomic_load(&a->loaded), a->words * sizeof(emu_trace));
    wipe((void *)atomic_load(&a->stored), a->words * sizeof(emu_trace));
    wipe((void *)atomic_load(&a->byte_fixed), a->words * 4 * sizeof(uint32_t));
    wipe((void *)atomic_load(&a->byte_read), a->words * 4 * sizeof(emu_trace));
    wipe((void *)atomic_load(&a->byte_written), a->words * 4 * sizeof(emu_trace));
    memset((void *)a->chunk_written, 0, chunks(a));
  }
}

/* -- The launch is over -- */

typedef struct race {
  const emu_area *area;
  size_t byte;
  uint32_t block_threads;
  emu_notes *notes;
  int status;
} race;

static void found(race *r, int line, uint64_t thread, int other, uint64_t other_thread,
                  const char *did) {
  emu_note *note = ggi_emu_note(r->notes, GG_EMU_GLOBAL_RACE, line, other);
  if (note == NULL) {
    r->status = -1;
    return;
  }
  if (note->finding.count++ > 0) return;
  int n = snprintf(note->finding.text, sizeof note->finding.text,
                   "byte %zu of %s, written by block %llu, thread %llu, line %d %s line %d",
                   r->byte, r->area->name, (unsigned long long)(thread / r->block_threads),
                   (unsigned long long)(thread % r->block_threads), line, did, other);
  if (other_thread == UINT64_MAX || n < 0 || (size_t)n >= sizeof note->finding.text) return;
  snprintf(note->finding.text + n, sizeof note->finding.text - (size_t)n,
           ", block %llu, thread %llu", (unsigned long long)(other_thread / r->block_threads),
           (unsigned long long)(other_thread % r->block_threads));
}

/* What was done to one word or byte; all zero: nothing. */
typedef struct deeds {
  uint64_t written_last, written_first, read_last, read_first, loaded_last, loaded_first;
  uint64_t stored_last, stored_first;
  uint32_t fixed;
} deeds;

static void add_trace(const emu_trace *t, uint64_t *last, uint64_t *first) {
  if (t == NULL) return;
  uint64_t l = atomic_load_explicit(&t->last, memory_order_relaxed);
  uint64_t f = atomic_load_explicit(&t->first, memory_order_relaxed);
  if (*last < l) *last = l;
  if (*first < f) *first = f;
}

/* The write and the extremes of something else lie in different blocks. */
static void other_block(race *r, uint64_t write, uint64_t last, uint64_t first, const char *did) {
  if (last == 0) return;
  uint64_t block = key_thread(write) / r->block_threads, other = last;
  if (key_thread(other) / r->block_threads == block) other = ~first;
  if (key_thread(other) / r->block_threads == block) return;
  found(r, key_line(write), key_thread(write), key_line(other), key_thread(other), did);
}

/* What TMA wrote. */
static void compare_stored(race *r, const deeds *d) {
  uint64_t write = d->stored_last;
  if (write == 0) return;
  other_block(r, write, write, d->stored_first, "and by");
  other_block(r, write, d->written_last, d->written_first, "and by");
  other_block(r, write, d->read_last, d->read_first, "is read by");
  other_block(r, write, d->loaded_last, d->loaded_first, "is loaded by");
  if (d->fixed != 0)
    found(r, key_line(write), key_thread(write), (int)d->fixed, UINT64_MAX,
          "is read as constant by");
}

static void compare_deeds(race *r, const deeds *d) {
  if (d->written_last == 0) return;
  uint64_t first = ~d->written_first, writer = key_thread(d->written_last);
  int line = key_line(d->written_last);
  if (key_thread(first) != writer)
    found(r, line, writer, key_line(first), key_thread(first), "and by");
  uint64_t reader = d->read_last;
  if (reader != 0 && key_thread(reader) == writer) reader = ~d->read_first;
  if (reader != 0 && key_thread(reader) != writer)
    found(r, line, writer, key_line(reader), key_thread(reader), "is read by");
  other_block(r, d->written_last, d->loaded_last, d->loaded_first, "is loaded by");
  if (d->fixed != 0) found(r, line, writer, (int)d->fixed, UINT64_MAX, "is read as constant by");
}

/* An area's arrays, those that are there. */
typedef struct arrays {
  const emu_trace *written, *read, *loaded, *stored;
  const _Atomic uint32_t *fixed;
} arrays;

static void add_deeds(deeds *d, const arrays *a, size_t i) {
  add_trace(a->written != NULL ? &a->written[i] : NULL, &d->written_last, &d->written_first);
  add_trace(a->read != NULL ? &a->read[i] : NULL, &d->read_last, &d->read_first);
  add_trace(a->loaded != NULL ? &a->loaded[i] : NULL, &d->loaded_last, &d->loaded_first);
  add_trace(a->stored != NULL ? &a->stored[i] : NULL, &d->stored_last, &d->stored_first);
  uint32_t fixed = a->fixed != NULL ? atomic_load_explicit(&a->fixed[i], memory_order_relaxed) : 0;
  if (d->fixed < fixed) d->fixed = fixed;
}

static void compare_chunk(race *r, size_t chunk) {
  const emu_area *a = r->area;
  const arrays words = {atomic_load(&a->written), atomic_load(&a->read), atomic_load(&a->loaded),
                        atomic_load(&a->stored), atomic_load(&a->fixed)};
  const arrays bytes = {atomic_load(&a->byte_written), atomic_load(&a->byte_read), NULL, NULL,
                        atomic_load(&a->byte_fixed)};
  int narrow = bytes.written != NULL || bytes.read != NULL || bytes.fixed != NULL;
  size_t end = (chunk + 1) * CHUNK < a->words ? (chunk + 1) * CHUNK : a->words;
  for (size_t i = chunk * CHUNK; i < end; i++) {
    deeds word = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    add_deeds(&word, &words, i);
    r->byte = i == 0 ? 0 : i * 4 - (a->start & 3);
    if (!narrow) {
      compare_deeds(r, &word);
      compare_stored(r, &word);
      continue;
    }
    for (size_t k = i * 4; k < i * 4 + 4; k++) {
      deeds byte = word;
      add_deeds(&byte, &bytes, k);
      r->byte = k < (a->start & 3) ? 0 : k - (a->start & 3);
      compare_deeds(r, &byte);
      compare_stored(r, &byte);
    }
  }
}

int ggi_emu_global_end(gg_emu *e, const gg_emu_launch *l, emu_notes *notes) {
  race r = {NULL, 0, l->block_x, notes, 0};
  for (size_t k = 0; k < e->areas; k++) {
    r.area = e->area[k];
    if (atomic_load(&r.area->written) == NULL && atomic_load(&r.area->byte_written) == NULL &&
        atomic_load(&r.area->stored) == NULL)
      continue;
    for (size_t i = 0; i * CHUNK < r.area->words; i++)
      if (atomic_load_explicit(&r.area->chunk_written[i], memory_order_relaxed) != 0)
        compare_chunk(&r, i);
  }
  return r.status;
}
