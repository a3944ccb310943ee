/* area.c - global allocations and the bounds of accesses, to the byte.
 *
 * Invariant: areas are sorted by address and do not change during a launch, so host threads look
 * them up without a lock.
 */
#include "emu.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
void ggi_emu_keep_sparse(void *p, size_t bytes) {
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
    ggi_emu_keep_sparse(memory, whole);
    return memory;
  }
  memory = aligned_alloc(256, whole);
  if (memory != NULL) memset(memory, 0xff, whole);
  return memory;
}

static void area_free(emu_area *a) {
  ggi_emu_trace_free(a);
  if (a->mapped != 0 && a->memory != NULL)
    munmap(a->memory, a->mapped);
  else
    free(a->memory);
  free(a);
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
  a->mapped = sparse ? whole : 0;
  a->start = (uintptr_t)a->memory + zone;
  a->bytes = bytes;
  a->words = words_of(a->start, bytes);
  if (a->memory == NULL || ggi_emu_trace_create(a) != 0) {
    area_free(a);
    return NULL;
  }
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
