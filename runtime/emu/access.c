/* access.c - loads and stores of kernels: the hot path.
 *
 * Each function checks, counts, then hands back where the kernel's inline code reads or writes at
 * once: no other thread runs in between. A refused access gets 0xFF bytes to read, or nowhere.
 */
#include "emu_tensor.h"
#include <string.h>

const ggd_uint3 *gg_emu_thread_idx(void) {
  return &ggi_emu_world->current->idx;
}
const ggd_uint3 *gg_emu_block_idx(void) {
  return &ggi_emu_world->current->block->idx;
}
const ggd_uint3 *gg_emu_block_dim(void) {
  return &ggi_emu_world->block_dim;
}
const ggd_uint3 *gg_emu_grid_dim(void) {
  return &ggi_emu_world->grid_dim;
}

static void *refused(emu_world *w) {
  memset(w->nowhere, 0xff, sizeof w->nowhere);
  return w->nowhere;
}

/* -- Shared memory -- */

int ggi_emu_shared_checked(emu_world *w, unsigned off, unsigned op, int line) {
  unsigned bytes = ggi_emu_op_bytes(op);
  if (EMU_LIKELY(off <= w->shared_bytes && bytes <= w->shared_bytes - off &&
                 (off & (bytes - 1)) == 0))
    return 1;
  return ggi_emu_shared_range(w, off, bytes, bytes, op, line);
}

int ggi_emu_shared_range(emu_world *w, unsigned off, unsigned bytes, unsigned align, unsigned op,
                         int line) {
  if (off > w->shared_bytes || bytes > w->shared_bytes - off) {
    ggi_emu_report_access(w, GG_EMU_OUT_OF_BOUNDS, line, 0, op,
                          "at shared bytes %u to %llu, of %zu", off,
                          (unsigned long long)off + bytes - 1, w->shared_bytes);
    return 0;
  }
  if ((off & (align - 1)) == 0) return 1;
  ggi_emu_report_access(w, GG_EMU_MISALIGNED, line, 0, op,
                        "at shared byte %u, not a multiple of %u", off, align);
  return 0;
}

const void *gg_emu_lds(unsigned off, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  if (EMU_UNLIKELY(!ggi_emu_shared_checked(w, off, op, line))) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, off);
  if (w->options.check) ggi_emu_shared_read(w, off, op, line);
  return w->current->block->shared + off;
}

void *gg_emu_sts(unsigned off, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  if (EMU_UNLIKELY(!ggi_emu_shared_checked(w, off, op, line))) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, off);
  if (w->options.check) ggi_emu_shared_write(w, off, op, line);
  return w->current->block->shared + off;
}

/* -- Global memory -- */

const void *gg_emu_ldg(const void *p, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  unsigned bytes = ggi_emu_op_bytes(op);
  ggi_emu_step(w, line);
  emu_area *a = ggi_emu_area_checked(w, p, bytes, bytes, op, line);
  if (EMU_UNLIKELY(a == NULL)) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, (uintptr_t)p);
  if (w->options.check) ggi_emu_global_fixed(w, a, p, bytes, line);
  return p;
}

const void *gg_emu_ld(const void *p, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  unsigned bytes = ggi_emu_op_bytes(op);
  ggi_emu_step(w, line);
  emu_area *a = ggi_emu_area_checked(w, p, bytes, bytes, op, line);
  if (EMU_UNLIKELY(a == NULL)) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, (uintptr_t)p);
  if (w->options.check) ggi_emu_global_read(w, a, p, bytes, line);
  return p;
}

void *gg_emu_st(void *p, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  unsigned bytes = ggi_emu_op_bytes(op);
  ggi_emu_step(w, line);
  emu_area *a = ggi_emu_area_checked(w, p, bytes, bytes, op, line);
  if (EMU_UNLIKELY(a == NULL)) return refused(w);
  if (w->options.count) ggi_emu_count(w, op, line, (uintptr_t)p);
  if (w->options.check) {
    ggi_emu_copies_source(w, p, bytes, op, line);
    ggi_emu_global_write(w, a, p, bytes, line);
  }
  return p;
}

/* Atomics count as reads: they race with writes only. */
void gg_emu_red_max(unsigned *p, unsigned x, unsigned op, int line) {
  emu_world *w = ggi_emu_world;
  ggi_emu_step(w, line);
  emu_area *a = ggi_emu_area_checked(w, p, 4, 4, op, line);
  if (EMU_UNLIKELY(a == NULL)) return;
  if (w->options.count) ggi_emu_count(w, op, line, (uintptr_t)p);
  if (w->options.check) ggi_emu_global_read(w, a, p, 4, line);
  unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (old < x &&
         !__atomic_compare_exchange_n(p, &old, x, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
