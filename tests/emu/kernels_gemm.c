/* kernels_gemm.c - device code: a small GEMM that does everything an emitted one does, and can make
 * one fault at a time.
 *
 * Stage s: A at s * 2176, 8 rows (k) of 36 floats (32 of m, 4 of padding); B at s * 2176 + 1152, 8
 * rows of 32 floats. Iteration kt waits for stage kt % 3, meets, then fills the stage that
 * iteration kt - 1 read.
 */
#include "kernels.h"

enum { STAGE = 2176, B_AT = 1152, A_ROW = 36 * 4, B_ROW = 32 * 4 };

static void load(const gg_args *p, int fault, int m0, int n0, int kt, unsigned stage) {
  const float *a = (const float *)p->a, *b = (const float *)p->b;
  const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
  const unsigned b_row = fault == 8 ? B_ROW - 16 : B_ROW;
  for (int i = 0; i < 4; i++) {
    const int e = (int)threadIdx.x + 64 * i, mm = e / 8, kk = e % 8;
    const int ok = m0 + mm < m && kt * 8 + kk < k + (fault == 6);
    const float *from = a + (m0 + mm) * p->lda + kt * 8 + kk;
    const unsigned at = stage * STAGE + (unsigned)(kk * A_ROW + mm * 4);
    gg_cp_async_zfill_4(at, ok ? from : a, ok ? 4 : 0); /* @gemm_a */
  }
  for (int i = 0; i < 4; i++) {
    const int e = (int)threadIdx.x + 64 * i, kk = e / 32, nn = e % 32;
    const int ok = kt * 8 + kk < k && n0 + nn < n;
    const float *from = b + (kt * 8 + kk) * p->ldb + n0 + nn;
    const unsigned at = stage * STAGE + B_AT + (unsigned)kk * b_row + (unsigned)nn * 4;
    if (fault == 14 && kk == 7 && stage == 2)
      gg_cp_async_zfill_4(at + 4, ok ? from : b, ok ? 4 : 0); /* @gemm_b_outside */
    else
      gg_cp_async_zfill_4(at, ok ? from : b, ok ? 4 : 0); /* @gemm_b */
  }
}

void gemm_ring(const gg_args p) {
  const int fault = (int)p.stride_bias;
  const int tid = (int)threadIdx.x, tx = tid % 8, ty = tid / 8;
  const int tiles_n = (int)((p.n + 31) / 32), steps = (int)((p.k + 7) / 8);
  const int m0 = (int)blockIdx.x / tiles_n * 32, n0 = (int)blockIdx.x % tiles_n * 32;
  float acc[4][4] = {{0}};
  float a0, a1, a2, a3, b0, b1, b2, b3;

  for (int s = 0; s < 2; s++) {
    if (s < steps) load(&p, fault, m0, n0, s, (unsigned)s);
    gg_cp_async_commit();
  }
  for (int kt = 0; kt < steps; kt++) {
    const unsigned stage = (unsigned)(kt % 3) * STAGE;
    if (fault == 2 && kt + 2 < steps) load(&p, fault, m0, n0, kt + 2, (unsigned)(kt + 2) % 3);
    if (fault == 3)
      gg_cp_async_wait_2();
    else if (fault != 4)
      gg_cp_async_wait_1();
    if (fault == 10 && tid % 32 < 16)
      gg_syncthreads(); /* @gemm_barrier_branch */
    else if (fault == 11)
      gg_bar_sync(1, tid < 32 ? 64 : 96);
    else if (fault != 1)
      gg_syncthreads();
    if (fault != 2 && (kt + 2 < steps || fault == 12))
      load(&p, fault, m0, n0, kt + 2, (unsigned)(kt + (fault == 9 ? 3 : 2)) % 3);
    if (fault != 5) gg_cp_async_commit();

    for (unsigned kk = 0; kk < 8; kk++) {
      const unsigned at = stage + kk * A_ROW + (unsigned)ty * 16 + (fault == 15 ? 4 : 0);
      const unsigned bt = stage + B_AT + kk * B_ROW + (unsigned)tx * 16;
      gg_lds_f32x4(&a0, &a1, &a2, &a3, at); /* @gemm_lds_a */
      gg_lds_f32x4(&b0, &b1, &b2, &b3, bt); /* @gemm_lds_b */
      const float a[4] = {a0, a1, a2, a3}, b[4] = {b0, b1, b2, b3};
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
          acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
  }
  if (fault != 12 && fault != 5) gg_cp_async_wait_0();

  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      const int row = m0 + ty * 4 + i, col = n0 + tx * 4 + j;
      if (row >= p.m + (fault == 7) || col >= p.n) continue;
      const float *c = (const float *)p.c + row * p.ldc + col;
      float *d = (float *)p.d + row * p.ldd + (fault == 13 ? col & ~31 : col);
      float r = gg_mul_f32(p.alpha.f32, acc[i][j]), old;
      if (p.beta.f32 != 0) {
        if (fault == 16)
          gg_ldg_f32(&old, c); /* @gemm_ldg_c */
        else if (fault == 17)
          gg_ld_f32(&old, (const float *)p.c + (row ^ 4) * p.ldc + col); /* @gemm_ld_other */
        else
          gg_ld_f32(&old, c);
        r = fmaf(p.beta.f32, old, r);
      }
      gg_st_f32(d, r); /* @gemm_st */
    }
  }
}
