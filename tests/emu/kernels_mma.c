/* kernels_mma.c - device code: a GEMM with cp.async, ldmatrix and mma.sync, and one fault at a
 * time.
 *
 * D[m,n] = A[m,k] * B[k,n] in bf16, sums and D in f32; k and n multiples of 8. Tiles of 32 x 64 x
 * 32, 64 threads, a ring of 3 stages. Stage s at s * 6656: A, 32 rows of 80 bytes (64 and padding);
 * then B, 32 rows of 128 bytes whose 16-byte chunks are swizzled by the row.
 */
#include "kernels.h"

enum { M_STAGE = 6656, M_B_AT = 2560, M_A_ROW = 80, M_B_ROW = 128 };

static void load(const gg_args *p, int fault, int m0, int n0, int kt, unsigned stage) {
  const unsigned short *a = (const unsigned short *)p->a, *b = (const unsigned short *)p->b;
  const unsigned t = threadIdx.x, at = stage * M_STAGE;
  for (unsigned i = 0; i < 2; i++) { /* 32 rows of 4 chunks */
    const unsigned row = (t + 64 * i) / 4, chunk = t % 4;
    const int m = m0 + (int)row, k = kt * 32 + (int)chunk * 8;
    const int ok = m < p->m && (k < p->k || fault == 8);
    const unsigned to = at + row * M_A_ROW + chunk * 16 + (fault == 6 && row == 7 ? 8 : 0);
    gg_cp_async_zfill_16(to, ok ? a + m * p->lda + k : a, ok ? 16 : 0); /* @m_load_a */
  }
  for (unsigned i = 0; i < 4; i++) { /* 32 rows of 8 chunks */
    const unsigned row = (t + 64 * i) / 8, chunk = t % 8;
    const int k = kt * 32 + (int)row, n = n0 + (int)chunk * 8;
    const int ok = k < p->k && n < p->n;
    const unsigned to = at + M_B_AT + row * M_B_ROW + ((chunk ^ (row & 7)) << 4);
    if (fault == 9 && row == 31) continue;
    gg_cp_async_zfill_16(to, ok ? b + k * p->ldb + n : b, ok ? 16 : 0); /* @m_load_b */
  }
}

void mma_gemm(const gg_args p) {
  const int fault = (int)p.stride_bias;
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int across = (int)((p.n + 63) / 64), steps = (int)((p.k + 31) / 32);
  const int m0 = (int)blockIdx.x / across * 32, n0 = (int)blockIdx.x % across * 64;
  float acc[8][4] = {{0}};
  unsigned a[4], b[8][2];
  for (int s = 0; s < 2; s++) {
    if (s < steps) load(&p, fault, m0, n0, s, (unsigned)s);
    gg_cp_async_commit();
  }
  for (int kt = 0; kt < steps; kt++) {
    const unsigned at = (unsigned)(kt % 3) * M_STAGE;
    if (fault == 2 && kt + 2 < steps) load(&p, fault, m0, n0, kt + 2, (unsigned)(kt + 2) % 3);
    if (fault == 3)
      gg_cp_async_wait_2();
    else if (fault != 4)
      gg_cp_async_wait_1();
    if (fault != 1) gg_syncthreads();
    if (fault != 2 && (kt + 2 < steps || fault == 7))
      load(&p, fault, m0, n0, kt + 2, (unsigned)(kt + 2) % 3);
    if (fault != 5) gg_cp_async_commit();
    for (unsigned kk = 0; kk < 2; kk++) {
      const unsigned from = at + (warp * 16 + lane % 16) * M_A_ROW + kk * 32 + lane / 16 * 16;
      gg_ldmatrix_x4(a, from + (fault == 10 ? 4 : 0)); /* @m_ldmatrix_a */
      for (unsigned j = 0; j < 4; j++) {
        const unsigned row = kk * 16 + lane % 16, chunk = j * 2 + lane / 16;
        const unsigned of = at + M_B_AT + row * M_B_ROW + ((chunk ^ (row & 7)) << 4);
        gg_ldmatrix_x4_trans(&b[2 * j][0], of); /* @m_ldmatrix_b */
      }
      for (unsigned j = 0; j < 8; j++) {
        if (fault == 11 && lane > 7)
          gg_mma_m16n8k16_bf16(acc[j], a, b[j]); /* @m_other_mma */
        else
          gg_mma_m16n8k16_bf16(acc[j], a, b[j]); /* @m_mma */
      }
    }
  }
  if (fault != 7 && fault != 5) gg_cp_async_wait_0();
  for (unsigned j = 0; j < 8; j++)
    for (unsigned h = 0; h < 2; h++) {
      const int row = m0 + (int)(warp * 16 + lane / 4 + h * 8),
                col = n0 + (int)(j * 8 + lane % 4 * 2);
      if (row >= p.m + (fault == 12) || col >= p.n) continue;
      float *d = (float *)p.d + row * p.ldd + (fault == 13 ? col & ~7 : col);
      gg_st_f32x2(d, acc[j][2 * h], acc[j][2 * h + 1]); /* @m_store */
    }
}
