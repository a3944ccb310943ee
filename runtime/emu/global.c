/* global.c - allocations, bounds to the byte, and races in global memory.
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
#include <unistd.h>

#define RED_ZONE 256

/* -- Allocations -- */

static size_t words_of(uintptr_t start, size_t bytes) {
  return ((start + bytes + 3) >> 2) - (start >> 2) + 1;
}

/* First area that starts after p. */
static size_t after(const gg_emu *e, uintptr_t p) {
  size_t lo = 0, hi = e->areas;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (e->area[mid]->start <= p)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static int inside(const emu_area *a, uintptr_t p, size_t bytes) {
  return p >= a->start && p - a->start <= a->bytes && bytes <= a->bytes - (p - a->start);
}

emu_area *ggi_emu_area_find(const gg_emu *e, uintptr_t p, size_t bytes) {
  size_t i = after(e, p);
  return i > 0 && inside(e->area[i - 1], p, bytes) ? e->area[i - 1] : NULL;
}

/* A touched byte shall cost one small page. */
static void keep_sparse(void *p, size_t bytes) {
#ifdef MADV_NOHUGEPAGE
  madvise(p, bytes, MADV_NOHUGEPAGE);
#else
  (void)p;
  (void)bytes;
#endif
}

/* Memory of an area: filled with 0xFF, or pages that come when touched. NULL: memory is short. */
static void *area_memory(size_t whole, int sparse) {
  void *memory = NULL;
  if (sparse) {
    memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED) return NULL;
    keep_sparse(memory, whole);
    return memory;
  }
  memory = aligned_alloc(256, whole);
  if (memory != NULL) memset(memory, 0xff, whole);
  return memory;
}

static void *area_new(gg_emu *e, size_t bytes, size_t offset, const char *name, int sparse) {
  if (e == NULL || bytes > SIZE_MAX / 2 || offset > SIZE_MAX / 4) return NULL;
  if (e->areas == e->area_room) {
    size_t room = e->area_room == 0 ? 16 : e->area_room * 2;
    emu_area **grown = realloc(e->area, room * sizeof *grown);
    if (grown == NULL) return NULL;
    e->area = grown;
    e->area_room = room;
  }
  emu_area *a = calloc(1, sizeof *a);
  if (a == NULL) return NULL;
  size_t zone = RED_ZONE + offset % 256;
  size_t whole = (zone + bytes + RED_ZONE + 255) / 256 * 256;
  a->memory = area_memory(whole, sparse);
  if (a->memory == NULL) {
    free(a);
    return NULL;
  }
  a->mapped = sparse ? whole : 0;
  a->start = (uintptr_t)a->memory + zone;
  a->bytes = bytes;
  a->words = words_of(a->start, bytes);
  snprintf(a->name, sizeof a->name, "%s", name != NULL ? name : "?");
  size_t i = after(e, a->start);
  memmove(&e->area[i + 1], &e->area[i], (e->areas - i) * sizeof *e->area);
  e->area[i] = a;
  e->areas++;
  return (void *)a->start;
}

void *gg_emu_alloc(gg_emu *e, size_t bytes, const char *name) {
  return area_new(e, bytes, 0, name, 0);
}

void *gg_emu_alloc_at(gg_emu *e, size_t bytes, size_t offset, const char *name) {
  return area_new(e, bytes, offset, name, 0);
}

void *gg_emu_alloc_sparse(gg_emu *e, size_t bytes, size_t offset, const char *name) {
  return area_new(e, bytes, offset, name, 1);
}

static void drop_trace(void *p, size_t bytes) {
  if (p != NULL) munmap(p, bytes);
}

static void area_free(emu_area *a) {
  drop_trace((void *)atomic_load(&a->fixed), a->words * sizeof(uint32_t));
  drop_trace((void *)atomic_load(&a->read), a->words * sizeof(emu_trace));
  drop_trace((void *)atomic_load(&a->written), a->words * sizeof(emu_trace));
  if (a->mapped)
    munmap(a->memory, a->mapped);
  else
    free(a->memory);
  free(a);
}

int gg_emu_free(gg_emu *e, void *p) {
  if (e == NULL || p == NULL) return -1;
  size_t i = after(e, (uintptr_t)p);
  if (i == 0 || e->area[i - 1]->start != (uintptr_t)p) return -1;
  area_free(e->area[i - 1]);
  memmove(&e->area[i - 1], &e->area[i], (e->areas - i) * sizeof *e->area);
  e->areas--;
  return 0;
}

int gg_emu_contains(const gg_emu *e, const void *p, size_t bytes) {
  return e != NULL && p != NULL && ggi_emu_area_find(e, (uintptr_t)p, bytes) != NULL;
}

void ggi_emu_areas_free(gg_emu *e) {
  for (size_t i = 0; i < e->areas; i++)
    area_free(e->area[i]);
  free(e->area);
}

/* -- Bounds -- */

/* The allocation nearest to p says most about a bad address. */
static const emu_area *nearest(const gg_emu *e, uintptr_t p) {
  size_t i = after(e, p);
  const emu_area *below = i > 0 ? e->area[i - 1] : NULL;
  const emu_area *above = i < e->areas ? e->area[i] : NULL;
  if (below == NULL || above == NULL) return below != NULL ? below : above;
  uintptr_t end = below->start + below->bytes;
  return p < end || p - end <= above->start - p ? below : above;
}

static void report_outside(emu_world *w, uintptr_t p, unsigned bytes, unsigned op, int line) {
  const emu_area *a = nearest(w->device, p);
  if (a == NULL) {
    ggi_emu_report_access(w, GG_EMU_OUT_OF_BOUNDS, line, 0, op, "where no memory is allocated");
    return;
  }
  long long first = (long long)(p - a->start);
  ggi_emu_report_access(w, GG_EMU_OUT_OF_BOUNDS, line, 0, op,
                        "at bytes %lld to %lld of %s, which has %zu", first, first + bytes - 1,
                        a->name, a->bytes);
}

emu_area *ggi_emu_area_checked(emu_world *w, const void *p, unsigned bytes, unsigned align,
                               unsigned op, int line) {
  emu_area **near = &w->near[line & (EMU_NEAR - 1)];
  uintptr_t at = (uintptr_t)p;
  if (EMU_UNLIKELY(*near == NULL || !inside(*near, at, bytes))) {
    emu_area *a = ggi_emu_area_find(w->device, at, bytes);
    if (a == NULL) {
      report_outside(w, at, bytes, op, line);
      return NULL;
    }
    *near = a;
  }
  if (EMU_UNLIKELY((at & (align - 1)) != 0)) {
    ggi_emu_report_access(w, GG_EMU_MISALIGNED, line, 0, op,
                          "at byte %lld of %s: the address is not a multiple of %u",
                          (long long)(at - (*near)->start), (*near)->name, align);
    return NULL;
  }
  return *near;
}

/* -- Who did what to which word -- */

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
      keep_sparse(p, bytes);
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

void ggi_emu_global_write(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line) {
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

static void compare_word(race *r, const emu_trace *written, const emu_trace *read, uint32_t fixed) {
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
  if (fixed != 0)
    found(r, key_line(last), writer, (int)fixed, UINT64_MAX, "is read as constant by");
}

/* The first word at or after i whose trace was ever touched: sparse areas have gigabytes of traces,
 * and reading a page that nobody wrote would make it. Pages that cannot be told count as touched.
 */
static size_t touched(const emu_area *a, const emu_trace *written, size_t i) {
  enum { PAGES = 4096 };
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char resident[PAGES];
  const size_t per_page = page / sizeof *written;
  if (!a->mapped || i % per_page != 0) return i;
  while (i < a->words) {
    size_t left = (a->words - i + per_page - 1) / per_page;
    size_t pages = left < PAGES ? left : PAGES;
    if (mincore((void *)(uintptr_t)(written + i), pages * page, resident) != 0) return i;
    for (size_t k = 0; k < pages; k++)
      if (resident[k] & 1) return i + k * per_page;
    i += pages * per_page;
  }
  return a->words;
}

int ggi_emu_global_end(gg_emu *e, const gg_emu_launch *l, emu_notes *notes) {
  race r = {NULL, 0, l->block_x, notes, 0};
  for (size_t k = 0; k < e->areas; k++) {
    emu_area *a = e->area[k];
    const emu_trace *written = atomic_load(&a->written), *read = atomic_load(&a->read);
    _Atomic uint32_t *fixed = atomic_load(&a->fixed);
    if (written == NULL) continue;
    r.area = a;
    for (size_t i = 0; i < a->words; i++) {
      if ((i = touched(a, written, i)) >= a->words) break;
      r.byte = i == 0 ? 0 : i * 4 - (a->start & 3);
      compare_word(&r, &written[i], read != NULL ? &read[i] : NULL,
                   fixed != NULL ? atomic_load_explicit(&fixed[i], memory_order_relaxed) : 0);
    }
  }
  return r.status;
}
