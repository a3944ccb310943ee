/* matrix.c - ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements, rows of 16 bytes.
 *
 * Lanes 8i..8i+7 address the rows of matrix i; register i of lane l holds row l / 4, columns
 * 2 (l % 4) and the next; transposed: rows 2 (l % 4) and the next, column l / 4. The access is that
 * of the lane that gave the address.
 */
#include "emu_tensor.h"
#include <string.h>

typedef struct matrix_arg {
  unsigned off, op;
  int ok, line;
  unsigned *load;
  const unsigned *store;
} matrix_arg;

enum { MATRICES = 4 };
typedef uint16_t matrices[MATRICES][8][8];

static unsigned form_of(unsigned op) {
  return op >> 8 & 255;
}
static unsigned count_of(unsigned op) {
  static const unsigned counts[] = {1, 2, 4};
  return counts[(form_of(op) - GGD_X1) % 3];
}
static int is_transposed(unsigned op) {
  return form_of(op) >= GGD_X1_TRANS;
}

/* Row and column of half h of the lane's register. */
static uint16_t *element(uint16_t (*m)[8], unsigned lane, unsigned h, int transposed) {
  unsigned major = lane / 4, minor = lane % 4 * 2 + h;
  return transposed ? &m[minor][major] : &m[major][minor];
}

static void load(emu_world *w, emu_warp *p, uint32_t mask) {
  matrices m;
  ggi_emu_whole_warp(w, p, mask, "gg_ldmatrix");
  memset(m, 0xff, sizeof m);
  for (uint32_t l = 0; l < EMU_WARP; l++) {
    const matrix_arg *a = (mask >> l & 1) != 0 ? p->arg[l] : NULL;
    if (a == NULL || l / 8 >= count_of(a->op) || !a->ok) continue;
    if (w->options.check)
      ggi_emu_shared_read_as(w, p->block, &w->thread[p->first + l], a->off, a->op, a->line);
    memcpy(m[l / 8][l % 8], p->block->shared + a->off, 16);
  }
  for (uint32_t l = 0; l < EMU_WARP; l++) {
    if ((mask >> l & 1) == 0) continue;
    const matrix_arg *a = p->arg[l];
    for (unsigned i = 0; i < count_of(a->op); i++)
      a->load[i] = *element(m[i], l, 0, is_transposed(a->op)) |
                   (unsigned)*element(m[i], l, 1, is_transposed(a->op)) << 16;
  }
}

static void store(emu_world *w, emu_warp *p, uint32_t mask) {
  matrices m;
  ggi_emu_whole_warp(w, p, mask, "gg_stmatrix");
  memset(m, 0xff, sizeof m);
  for (uint32_t l = 0; l < EMU_WARP; l++) {
    if ((mask >> l & 1) == 0) continue;
    const matrix_arg *a = p->arg[l];
    for (unsigned i = 0; i < count_of(a->op); i++)
      for (unsigned h = 0; h < 2; h++)
        *element(m[i], l, h, is_transposed(a->op)) = (uint16_t)(a->store[i] >> 16 * h);
  }
  for (uint32_t l = 0; l < EMU_WARP; l++) {
    const matrix_arg *a = (mask >> l & 1) != 0 ? p->arg[l] : NULL;
    if (a == NULL || l / 8 >= count_of(a->op) || !a->ok) continue;
    if (w->options.check)
      ggi_emu_shared_write_as(w, p->block, &w->thread[p->first + l], a->off, a->op, a->line);
    memcpy(p->block->shared + a->off, m[l / 8][l % 8], 16);
  }
}

static void matrix(matrix_arg *a, emu_perform *perform, const char *name) {
  emu_world *w = ggi_emu_world;
  const emu_thread *t = w->current;
  ggi_emu_step(w, a->line);
  if (t->lane / 8 < count_of(a->op)) {
    a->ok = ggi_emu_shared_checked(w, a->off, a->op, a->line);
    if (a->ok && w->options.count) ggi_emu_count(w, a->op, a->line, a->off);
  }
  ggi_emu_collective(w, a, perform, a->op, name, a->line);
}

void gg_emu_ldmatrix(unsigned *r, unsigned off, unsigned op, int line) {
  matrix_arg a = {off, op, 0, line, r, NULL};
  matrix(&a, load, "gg_ldmatrix");
}

void gg_emu_stmatrix(unsigned off, const unsigned *r, unsigned op, int line) {
  matrix_arg a = {off, op, 0, line, NULL, r};
  matrix(&a, store, "gg_stmatrix");
}
