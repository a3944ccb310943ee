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

/* fp8 goes through f16 on Hopper: two sums of 16; not verified there. f16 accumulators are not
 * either. */
/* clang-format off */
static const shape shapes[] = {
    [GGD_M16N8K16_BF16] = {"gg_mma_m16n8k16_bf16", 16, 16, EMU_BF16, EMU_BF16, 16, {-126, -126, 25, 23}},
    [GGD_M16N8K16_F16] = {"gg_mma_m16n8k16_f16", 16, 16, EMU_F16, EMU_F16, 16, {-14, -14, 25, 23}},
    [GGD_M16N8K8_F16] = {"gg_mma_m16n8k8_f16", 16, 8, EMU_F16, EMU_F16, 8, {-14, -14, 25, 23}},
    [GGD_M16N8K16_F16_ACC16] = {"gg_mma_m16n8k16_f16_acc16", 16, 16, EMU_F16, EMU_F16, 16, {-14, -14, 25, 10}},
    [GGD_M16N8K8_F16_ACC16] = {"gg_mma_m16n8k8_f16_acc16", 16, 8, EMU_F16, EMU_F16, 8, {-14, -14, 25, 10}},
    [GGD_M16N8K8_TF32] = {"gg_mma_m16n8k8_tf32", 16, 8, EMU_TF32, EMU_TF32, 8, {-126, -126, 25, 23}},
    [GGD_M16N8K32_E4M3] = {"gg_mma_m16n8k32_e4m3", 16, 32, EMU_E4M3, EMU_E4M3, 16, {-14, -14, 25, 23}},
    [GGD_M16N8K32_E5M2] = {"gg_mma_m16n8k32_e5m2", 16, 32, EMU_E5M2, EMU_E5M2, 16, {-14, -14, 25, 23}},
    [GGD_M16N8K32_E4M3_E5M2] = {"gg_mma_m16n8k32_e4m3_e5m2", 16, 32, EMU_E4M3, EMU_E5M2, 16, {-14, -14, 25, 23}},
    [GGD_M16N8K32_E5M2_E4M3] = {"gg_mma_m16n8k32_e5m2_e4m3", 16, 32, EMU_E5M2, EMU_E4M3, 16, {-14, -14, 25, 23}},
    [GGD_M16N8K32_S8] = {"gg_mma_m16n8k32_s8", 16, 32, EMU_S8, EMU_S8, 0, {0, 0, 0, 0}},
    [GGD_M16N8K32_U8] = {"gg_mma_m16n8k32_u8", 16, 32, EMU_U8, EMU_U8, 0, {0, 0, 0, 0}},
    [GGD_M16N8K16_S8] = {"gg_mma_m16n8k16_s8", 16, 16, EMU_S8, EMU_S8, 0, {0, 0, 0, 0}},
    [GGD_M8N8K16_S8] = {"gg_mma_m8n8k16_s8", 8, 16, EMU_S8, EMU_S8, 0, {0, 0, 0, 0}},
};
/* clang-format on */

typedef struct mma_arg {
  void *d;
  const void *a, *b;
} mma_arg;

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
        a[g + q % halves * 8][e * t + i + q / halves * 4 * e] = x[i];
    }
    for (int q = 0; q < b_words; q++) {
      ggi_emu_unpack(s->b, wb[q], x);
      for (int i = 0; i < e; i++)
        b[e * t + i + q * 4 * e][g] = x[i];
    }
  }
}

static void product_float(const emu_warp *p, uint32_t mask, const shape *s, float a[16][EMU_K_MOST],
                          float b[EMU_K_MOST][8]) {
  float c[16][8] = {{0}};
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const float *d = ((const mma_arg *)p->arg[lane])->d;
    const unsigned *packed = ((const mma_arg *)p->arg[lane])->d;
    for (int i = 0; i < 4; i++)
      c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] =
          s->sum.kept == 10 ? ggi_emu_from_f16(packed[i / 2] >> i % 2 * 16 & 0xffff) : d[i];
  }
  for (int k = 0; k < s->k; k += s->step)
    ggi_emu_sum(&s->sum, c[0], 8, &a[0][k], EMU_K_MOST, b[k], 8, 16, 8, s->step);
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    float *d = ((const mma_arg *)p->arg[lane])->d;
    unsigned *packed = ((const mma_arg *)p->arg[lane])->d;
    for (int i = 0; i < 4; i += 2) {
      const float *from = &c[lane / 4 + i / 2 * 8][lane % 4 * 2];
      if (s->sum.kept == 10) {
        packed[i / 2] = ggi_emu_to_f16(from[0]) | ggi_emu_to_f16(from[1]) << 16;
      } else {
        d[i] = from[0];
        d[i + 1] = from[1];
      }
    }
  }
}

static void product_int(const emu_warp *p, uint32_t mask, const shape *s, float a[16][EMU_K_MOST],
                        float b[EMU_K_MOST][8]) {
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    unsigned *d = ((const mma_arg *)p->arg[lane])->d;
    for (int i = 0; i < s->m / 4; i++) {
      int sum = 0; /* at most 32 * 255 * 255 */
      for (int k = 0; k < s->k; k++)
        sum += (int)a[lane / 4 + i / 2 * 8][k] * (int)b[k][lane % 4 * 2 + i % 2];
      d[i] += (unsigned)sum; /* wraps */
    }
  }
}

static void product(emu_world *w, emu_warp *p, uint32_t mask) {
  const shape *s = &shapes[p->collective_op];
  float a[16][EMU_K_MOST] = {{0}}, b[EMU_K_MOST][8] = {{0}};
  ggi_emu_whole_warp(w, p, mask, s->name);
  gather(p, mask, s, a, b);
  if (s->step == 0)
    product_int(p, mask, s, a, b);
  else
    product_float(p, mask, s, a, b);
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

/* -- f64: one fma after the other, in the order of k; not verified on an H200 -- */

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
