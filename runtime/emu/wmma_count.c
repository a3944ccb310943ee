/* wmma_count.c - the loads and stores that ptxas makes of wmma, for the counts of wavefronts and
 * sectors.
 *
 * Fragments are those of mma.sync: with g = lane / 4, t = lane % 4 a lane has e elements side by
 * side along k, or along n of C and D, at e t of row g; m8n32k16 is computed transposed. Depending
 * on how the matrix lies in memory these are one access along a line of it or e accesses across
 * lines. Pairs of 16 bits are always loaded along and turned in registers (MOVM); ldmatrix loads
 * them, and bytes that lie along k, from shared memory. Read from ptxas's output for sm_80 and
 * sm_90; the counts of 256 cases are those of a profiler (tests/emu/fixtures/wmma.csv).
 */
#include "emu_tensor.h"

typedef struct lines {
  int major, minor, size; /* lines of memory, elements of one, bytes of an element */
  int each;               /* elements of a lane side by side */
  int along, rows;        /* along a line; by ldmatrix */
} lines;

static lines lines_of(const emu_wmma *m, int shared, int stores) {
  const int is_sum = m->role == 2, tall = m->m == 8 && m->n == 32;
  lines s = {m->column ? m->columns : m->rows, m->column ? m->rows : m->columns, m->bytes, 1, 0, 0};
  if (is_sum || m->bytes == 2) s.each = 2;
  if (!is_sum && m->bytes == 1) s.each = 4;
  s.along = m->bytes == 2 || (is_sum ? m->column == tall : m->column == m->role);
  s.rows = shared && !stores && !is_sum && m->bytes <= 2 && s.along;
  return s;
}

typedef struct counting {
  emu_world *w;
  emu_warp *p;
  const emu_wmma *m;
  uint32_t mask;
  int shared, stores;
} counting;

static void count_one(const counting *c, const uint64_t addr[EMU_WARP], uint32_t mask, int bytes) {
  unsigned op = GGD_OP(c->stores ? GGD_WMMA_STORE : GGD_WMMA_LOAD, GGD_PLAIN, 16);
  ggi_emu_count_warp(c->w, c->p, op, c->shared, addr, mask & c->mask, (unsigned)bytes, !c->stores);
}

/* 8 lines of 16 bytes, up to 4 times in one instruction. */
static void count_rows(const counting *c, const lines *s) {
  const int across = s->minor * s->size / 16, all = s->major / 8 * across * 8;
  uint64_t addr[EMU_WARP] = {0};
  for (int first = 0; first < all; first += EMU_WARP) {
    const int lanes = all - first < EMU_WARP ? all - first : EMU_WARP;
    for (int l = 0; l < lanes; l++) {
      const int block = (first + l) / 8, line = block / across * 8 + l % 8;
      addr[l] = c->m->start[l] + (uint64_t)line * c->m->ld * (uint64_t)s->size +
                (uint64_t)(block % across * 16);
    }
    /* The stores' rule: lanes that share addresses are not served as one. */
    unsigned op = GGD_OP(GGD_WMMA_LOAD, GGD_PLAIN, 16);
    uint32_t mask = lanes == EMU_WARP ? ~0u : (1u << lanes) - 1;
    ggi_emu_count_warp(c->w, c->p, op, 1, addr, mask & c->mask, 16, 0);
  }
}

/* The i-th access of the lanes to the block at (line, element). */
static void count_block(const counting *c, const lines *s, int line, int element, int i) {
  uint64_t addr[EMU_WARP];
  for (int l = 0; l < EMU_WARP; l++) {
    const int g = l / 4, t = l % 4;
    const int y = line + (s->along ? g : s->each * t + i);
    const int x = element + (s->along ? s->each * t : g);
    addr[l] = c->m->start[l] + ((uint64_t)y * c->m->ld + (uint64_t)x) * (uint64_t)s->size;
  }
  count_one(c, addr, ~0u, s->along ? s->each * s->size : s->size);
}

void ggi_emu_wmma_count(emu_world *w, emu_warp *p, uint32_t mask, const emu_wmma *m, int shared,
                        int stores) {
  const counting c = {w, p, m, mask, shared, stores};
  const lines s = lines_of(m, shared, stores);
  if (s.rows) {
    count_rows(&c, &s);
    return;
  }
  const int high = s.along ? 8 : 4 * s.each, wide = s.along ? 4 * s.each : 8;
  for (int line = 0; line < s.major; line += high)
    for (int element = 0; element < s.minor; element += wide)
      for (int i = 0; i < (s.along ? 1 : s.each); i++)
        count_block(&c, &s, line, element, i);
}
