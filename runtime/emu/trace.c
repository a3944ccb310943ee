/* trace.c - races in global memory: who did what to which word during a launch.
 *
 * A launch has no order between threads that this emulator would track in global memory, so every
 * word written by one thread belongs to that thread for the launch: no other may write or read it,
 * and what is read as constant (gg_ldg, the source of a copy) may not be written at all. Invariant:
 * per word only maxima are kept, which do not depend on the order of events; the launch's end
 * compares them.
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

static void raise_to(_Atomic uint64_t *at, uint64_t value) {
  uint64_t old = atomic_load_explicit(at, memory_order_relaxed);
  while (old < value && !atomic_compare_exchange_weak_explicit(
                            at, &old, value, memory_order_relaxed, memory_order_relaxed)) {
  }
}

void ggi_emu_global_fixed(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  _Atomic uint32_t *fixed = atomic_load_explicit(&a->fixed, memory_order_acquire);
  if (EMU_UNLIKELY(fixed == NULL)) {
    fixed = give(w, a, (_Atomic(void *) *)&a->fixed, a->words * sizeof *fixed);
    if (fixed == NULL) return;
  }
  size_t i = ((uintptr_t)p >> 2) - (a->start >> 2);
  size_t end = (((uintptr_t)p + bytes - 1) >> 2) - (a->start >> 2);
  for (; i <= end; i++) {
    uint32_t old = atomic_load_explicit(&fixed[i], memory_order_relaxed);
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

static void leave_trace(emu_world *w, _Atomic(emu_trace *) *where, const emu_area *a, const void *p,
                        unsigned bytes, int line) {
  emu_trace *trace = atomic_load_explicit(where, memory_order_acquire);
  if (EMU_UNLIKELY(trace == NULL)) {
    trace = give(w, a, (_Atomic(void *) *)where, a->words * sizeof *trace);
    if (trace == NULL) return;
  }
  uint64_t key = trace_key(w, line);
  size_t i = ((uintptr_t)p >> 2) - (a->start >> 2);
  size_t end = (((uintptr_t)p + bytes - 1) >> 2) - (a->start >> 2);
  for (; i <= end; i++) {
    raise_to(&trace[i].last, key);
    raise_to(&trace[i].first, ~key);
  }
}

void ggi_emu_global_read(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  leave_trace(w, &a->read, a, p, bytes, line);
}

static void mark_chunk(const emu_area *a, size_t word) {
  _Atomic uint8_t *mark = &a->chunk_written[word / CHUNK];
  if (atomic_load_explicit(mark, memory_order_relaxed) == 0)
    atomic_store_explicit(mark, 1, memory_order_relaxed);
}

void ggi_emu_global_write(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
  mark_chunk(a, ((uintptr_t)p >> 2) - (a->start >> 2));
  mark_chunk(a, (((uintptr_t)p + bytes - 1) >> 2) - (a->start >> 2));
  leave_trace(w, &a->written, a, p, bytes, line);
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

static void compare_word(race *r, const emu_trace *written, const emu_trace *read,
                         const _Atomic uint32_t *fixed) {
  uint64_t last = atomic_load_explicit(&written->last, memory_order_relaxed);
  if (last == 0) return;
  uint64_t first = ~atomic_load_explicit(&written->first, memory_order_relaxed);
  uint64_t writer = key_thread(last);
  if (key_thread(first) != writer)
    found(r, key_line(last), writer, key_line(first), key_thread(first), "and by");
  if (read != NULL) {
    uint64_t reader = atomic_load_explicit(&read->last, memory_order_relaxed);
    if (reader != 0 && key_thread(reader) == writer)
      reader = ~atomic_load_explicit(&read->first, memory_order_relaxed);
    if (reader != 0 && key_thread(reader) != writer)
      found(r, key_line(last), writer, key_line(reader), key_thread(reader), "is read by");
  }
  uint32_t constant = fixed != NULL ? atomic_load_explicit(fixed, memory_order_relaxed) : 0;
  if (constant != 0)
    found(r, key_line(last), writer, (int)constant, UINT64_MAX, "is read as constant by");
}

static void compare_chunk(race *r, size_t chunk) {
  const emu_area *a = r->area;
  const emu_trace *written = atomic_load(&a->written), *read = atomic_load(&a->read);
  const _Atomic uint32_t *fixed = atomic_load(&a->fixed);
  size_t end = (chunk + 1) * CHUNK < a->words ? (chunk + 1) * CHUNK : a->words;
  for (size_t i = chunk * CHUNK; i < end; i++) {
    r->byte = i == 0 ? 0 : i * 4 - (a->start & 3);
    compare_word(r, &written[i], read != NULL ? &read[i] : NULL, fixed != NULL ? &fixed[i] : NULL);
  }
}

int ggi_emu_global_end(gg_emu *e, const gg_emu_launch *l, emu_notes *notes) {
  race r = {NULL, 0, l->block_x, notes, 0};
  for (size_t k = 0; k < e->areas; k++) {
    r.area = e->area[k];
    if (atomic_load(&r.area->written) == NULL) continue;
    for (size_t i = 0; i * CHUNK < r.area->words; i++)
      if (atomic_load_explicit(&r.area->chunk_written[i], memory_order_relaxed) != 0)
        compare_chunk(&r, i);
  }
  return r.status;
}
