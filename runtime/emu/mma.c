/* mma.c - mma.sync: fragments to matrices, the product, and back.
 *
 * With g = lane / 4, t = lane % 4 and e elements in a register: register q of A holds row g (+ 8
 * for odd q where m = 16), columns e t + i and 4 e further for the next pair; register q of B holds
 * rows e t + i + 4 e q of column g; C and D have columns 2 t, 2 t + 1 of row g, then of row g + 8.
 */
#include "emu_tensor.h"
#include <math.h>
#include <string.h>

typedef struct shape {
  const char *name;
  int m, k; /* n is 8 */
  emu_format a, b;
  int step; /* of k that is summed at once; 0: exact integers */
  emu_sum sum;
} shape;

#define SUM_BF16                                                                                   \
  { -126, -126, 25, 23 }
#define SUM_F16                                                                                    \
  { -14, -14, 25, 23 }
#define SUM_HALF                                                                                   \
  { -14, -14, 25, 10 }
#define SUM_TF32                                                                                   \
  { -126, -126, 25, 23 }
#define FLOAT(SHAPE, NAME, M, K, A, B, STEP, SUM)                                                  \
  [GGD_##SHAPE] = {"gg_mma_" NAME, M, K, EMU_##A, EMU_##B, STEP, SUM}
#define INTEGER(SHAPE, NAME, M, K, A, B)                                                           \
  [GGD_##SHAPE] = {"gg_mma_" NAME, M, K, EMU_##A, EMU_##B, 0, {0, 0, 0, 0}}
#define INTEGERS(SHAPE, NAME, M, K)                                                                \
  INTEGER(SHAPE##_S8, NAME "_s8", M, K, S8, S8), INTEGER(SHAPE##_U8, NAME "_u8", M, K, U8, U8),    \
      INTEGER(SHAPE##_S8_U8, NAME "_s8_u8", M, K, S8, U8),                                         \
      INTEGER(SHAPE##_U8_S8, NAME "_u8_s8", M, K, U8, S8)

static const shape shapes[] = {
    FLOAT(M16N8K16_BF16, "m16n8k16_bf16", 16, 16, BF16, BF16, 16, SUM_BF16),
    FLOAT(M16N8K16_F16, "m16n8k16_f16", 16, 16, F16, F16, 16, SUM_F16),
    FLOAT(M16N8K8_F16, "m16n8k8_f16", 16, 8, F16, F16, 8, SUM_F16),
    FLOAT(M16N8K16_F16_ACC16, "m16n8k16_f16_acc16", 16, 16, F16, F16, 16, SUM_HALF),
    FLOAT(M16N8K8_F16_ACC16, "m16n8k8_f16_acc16", 16, 8, F16, F16, 8, SUM_HALF),
    FLOAT(M16N8K8_TF32, "m16n8k8_tf32", 16, 8, TF32, TF32, 8, SUM_TF32),
    FLOAT(M16N8K32_E4M3, "m16n8k32_e4m3", 16, 32, E4M3, E4M3, 16, SUM_F16),
    FLOAT(M16N8K32_E5M2, "m16n8k32_e5m2", 16, 32, E5M2, E5M2, 16, SUM_F16),
    FLOAT(M16N8K32_E4M3_E5M2, "m16n8k32_e4m3_e5m2", 16, 32, E4M3, E5M2, 16, SUM_F16),
    FLOAT(M16N8K32_E5M2_E4M3, "m16n8k32_e5m2_e4m3", 16, 32, E5M2, E4M3, 16, SUM_F16),
    INTEGERS(M16N8K32, "m16n8k32", 16, 32),
    INTEGERS(M16N8K16, "m16n8k16", 16, 16),
    INTEGERS(M8N8K16, "m8n8k16", 8, 16),
};

/* fp8 has no tensor core of its own on Hopper: ptxas converts to f16, multiplies from zero in two
 * steps of 16, and adds D with a plain addition. */
static int goes_through_f16(const shape *s) {
  return s->step == 16 && s->k == 32;
}

typedef struct mma_arg {
  void *d;
  const void *a, *b;
} mma_arg;

/* Where element i of the t-th thread's register lies along k, `pair` registers further. Elements 0
 * and 1 of four go first where the product takes two steps. */
static int k_at(const shape *s, int e, int t, int i, int pair) {
  if (goes_through_f16(s)) return i / 2 * 16 + pair * 8 + t * 2 + i % 2;
  return e * t + i + pair * 4 * e;
}

/* a[m][k] and b[k][n]. */
static void gather(const emu_warp *p, uint32_t mask, const shape *s, float a[16][EMU_K_MOST],
                   float b[EMU_K_MOST][8]) {
  int e = 4 / ggi_emu_format_bytes(s->a), halves = s->m / 8;
  int a_words = s->m * s->k / (EMU_WARP * e), b_words = s->k * 8 / (EMU_WARP * e);
  float x[4];
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const mma_arg *arg = p->arg[lane];
    const unsigned *wa = arg->a, *wb = arg->b;
    int g = lane / 4, t = lane % 4;
    for (int q = 0; q < a_words; q++) {
      ggi_emu_unpack(s->a, wa[q], x);
      for (int i = 0; i < e; i++)
        a[g + q % halves * 8][k_at(s, e, t, i, q / halves)] = x[i];
    }
    for (int q = 0; q < b_words; q++) {
      ggi_emu_unpack(s->b, wb[q], x);
      for (int i = 0; i < e; i++)
        b[k_at(s, e, t, i, q)][g] = x[i];
    }
  }
}

/* Registers of D are words: values, integers as such, or two halves each. */
static void accumulators(const emu_warp *p, uint32_t mask, const shape *s, float c[16][8]) {
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const unsigned *d = ((const mma_arg *)p->arg[lane])->d;
    for (int i = 0; i < s->m / 4; i++) {
      float *to = &c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
      if (s->sum.kept == 10)
        *to = ggi_emu_from_f16(d[i / 2] >> i % 2 * 16 & 0xffff);
      else
        memcpy(to, &d[i], sizeof *to);
    }
  }
}

static void results(const emu_warp *p, uint32_t mask, const shape *s, float c[16][8]) {
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    unsigned *d = ((const mma_arg *)p->arg[lane])->d;
    for (int i = 0; i < s->m / 4; i += 2) {
      const float *from = &c[lane / 4 + i / 2 * 8][lane % 4 * 2];
      if (s->sum.kept == 10)
        d[i / 2] = ggi_emu_to_f16(from[0]) | ggi_emu_to_f16(from[1]) << 16;
      else
        memcpy(&d[i], from, 2 * sizeof *from);
    }
  }
}

static void product(emu_world *w, emu_warp *p, uint32_t mask) {
  const shape *s = &shapes[p->collective_op];
  const int apart = goes_through_f16(s);
  float a[16][EMU_K_MOST] = {{0}}, b[EMU_K_MOST][8] = {{0}}, c[16][8] = {{0}}, d[16][8] = {{0}};
  ggi_emu_whole_warp(w, p, mask, s->name);
  gather(p, mask, s, a, b);
  accumulators(p, mask, s, c);
  if (s->step == 0) ggi_emu_sum_integers(c[0], 8, a[0], EMU_K_MOST, b[0], 8, s->m, 8, s->k);
  for (int k = 0; k < s->k && s->step != 0; k += s->step)
    ggi_emu_sum(&s->sum, apart ? d[0] : c[0], 8, &a[0][k], EMU_K_MOST, b[k], 8, 16, 8, s->step);
  for (int i = 0; i < 16 * 8 && apart; i++)
    c[i / 8][i % 8] = gg_add_f32(c[i / 8][i % 8], d[i / 8][i % 8]);
  results(p, mask, s, c);
}

static void run(void *d, const unsigned *a, const unsigned *b, unsigned spec, int line) {
  emu_world *w = ggi_emu_world;
  mma_arg arg = {d, a, b};
  ggi_emu_step(w, line);
  ggi_emu_collective(w, &arg, product, spec, shapes[spec].name, line);
}

void gg_emu_mma_f32(float *d, const unsigned *a, const unsigned *b, unsigned spec, int line) {
  run(d, a, b, spec, line);
}
void gg_emu_mma_f16(unsigned *d, const unsigned *a, const unsigned *b, unsigned spec, int line) {
  run(d, a, b, spec, line);
}
void gg_emu_mma_s32(int *d, const unsigned *a, const unsigned *b, unsigned spec, int line) {
  run(d, a, b, spec, line);
}

/* -- f64: one fma after the other, in the order of k -- */

static void product_f64(emu_world *w, emu_warp *p, uint32_t mask) {
  int m = (int)(p->collective_op >> 8), k = (int)(p->collective_op & 255), halves = m / 8;
  double a[16][16] = {{0}}, b[16][8] = {{0}};
  ggi_emu_whole_warp(w, p, mask, "gg_mma_f64");
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const double *da = ((const mma_arg *)p->arg[lane])->a, *db = ((const mma_arg *)p->arg[lane])->b;
    for (int q = 0; q < halves * k / 4; q++)
      a[lane / 4 + q % halves * 8][lane % 4 + q / halves * 4] = da[q];
    for (int q = 0; q < k / 4; q++)
      b[lane % 4 + q * 4][lane / 4] = db[q];
  }
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    double *d = ((const mma_arg *)p->arg[lane])->d;
    for (int i = 0; i < halves * 2; i++)
      for (int j = 0; j < k; j++)
        d[i] = fma(a[lane / 4 + i / 2 * 8][j], b[j][lane % 4 * 2 + i % 2], d[i]);
  }
}

void gg_emu_mma_f64(double *d, const double *a, const double *b, int m, int k, int line) {
  emu_world *w = ggi_emu_world;
  mma_arg arg = {d, a, b};
  ggi_emu_step(w, line);
  ggi_emu_collective(w, &arg, product_f64, (unsigned)m << 8 | (unsigned)k, "gg_mma_f64", line);
}
