/* kernels_tensor.c - device code: wmma, narrow stores, exchanges, shared memory of a cluster. */
#include "kernels.h"

/* -- wmma: one warp; p.a, p.b, p.c: A, B, C; p.d: D. Shared memory: A from 0, B from 4096. -- */

#define COPY_IN(AT, FROM, WORDS)                                                                   \
  for (unsigned i = threadIdx.x; i < (WORDS); i += 32) {                                           \
    unsigned x;                                                                                    \
    gg_ldg_u32(&x, (const unsigned *)(FROM) + i);                                                  \
    gg_sts_u32((AT) + i * 4, x);                                                                   \
  }

void wmma_f16(const gg_args p) {
  unsigned a[8], b[8];
  float c[8];
  COPY_IN(0, p.a, 128)
  COPY_IN(4096, p.b, 128)
  gg_syncwarp();
  gg_wmma_load_a_m16n16k16_f16_row_shared(a, 0, 16);
  gg_wmma_load_b_m16n16k16_f16_col_shared(b, 4096, 16);
  gg_wmma_load_c_m16n16k16_f32_col_global(c, p.c, 16);
  gg_wmma_mma_m16n16k16_f16_row_col(c, a, b);
  gg_wmma_store_d_m16n16k16_f32_row_global(p.d, c, 16);
}

void wmma_f16_acc16(const gg_args p) {
  unsigned a[8], b[8], c[4];
  gg_wmma_load_a_m16n16k16_f16_row_global(a, p.a, 16);
  gg_wmma_load_b_m16n16k16_f16_col_global(b, p.b, 16);
  gg_wmma_load_c_m16n16k16_f16_row_global(c, p.c, 16);
  gg_wmma_mma_m16n16k16_f16_acc16_row_col(c, a, b);
  gg_wmma_store_d_m16n16k16_f16_col_global(p.d, c, 16);
}

void wmma_bf16(const gg_args p) {
  unsigned a[8], b[2];
  float c[8];
  gg_wmma_load_a_m32n8k16_bf16_col_global(a, p.a, 32);
  gg_wmma_load_b_m32n8k16_bf16_row_global(b, p.b, 8);
  gg_wmma_load_c_m32n8k16_f32_row_global(c, p.c, 8);
  gg_wmma_mma_m32n8k16_bf16_col_row(c, a, b);
  gg_wmma_store_d_m32n8k16_f32_row_global(p.d, c, 8);
}

void wmma_s8(const gg_args p) {
  unsigned a[1], b[4];
  int c[8];
  gg_wmma_load_a_m8n32k16_s8_row_global(a, p.a, 16);
  gg_wmma_load_b_m8n32k16_s8_col_global(b, p.b, 16);
  gg_wmma_load_c_m8n32k16_s32_row_global(c, p.c, 32);
  gg_wmma_mma_m8n32k16_s8_row_col(c, a, b);
  gg_wmma_store_d_m8n32k16_s32_row_global(p.d, c, 32);
}

void wmma_tf32(const gg_args p) {
  unsigned a[4], b[4];
  float c[8];
  gg_wmma_load_a_m16n16k8_tf32_row_global(a, p.a, 8);
  gg_wmma_load_b_m16n16k8_tf32_col_global(b, p.b, 8);
  gg_wmma_load_c_m16n16k8_f32_row_global(c, p.c, 16);
  gg_wmma_mma_m16n16k8_tf32_row_col(c, a, b);
  gg_wmma_store_d_m16n16k8_f32_row_global(p.d, c, 16);
}

void wmma_f64(const gg_args p) {
  double a[1], b[1], c[2];
  COPY_IN(0, p.a, 64)
  COPY_IN(4096, p.b, 64)
  gg_syncwarp();
  gg_wmma_load_a_m8n8k4_f64_col_shared(a, 0, 8);
  gg_wmma_load_b_m8n8k4_f64_row_shared(b, 4096, 8);
  gg_wmma_load_c_m8n8k4_f64_row_global(c, p.c, 8);
  gg_wmma_mma_m8n8k4_f64_col_row(c, a, b);
  gg_wmma_store_d_m8n8k4_f64_row_shared(2048, c, 8);
  gg_syncwarp();
  gg_wmma_load_c_m8n8k4_f64_col_shared(c, 2048, 8);
  gg_wmma_store_d_m8n8k4_f64_col_global(p.d, c, 8);
}

/* The address is a multiple of the lane's bytes: 32 of f16, 8 of s8, 16 of f16 sums. */
void wmma_misaligned(const gg_args p) {
  unsigned a[8], c[4] = {0};
  const char *at = p.a;
  gg_wmma_load_a_m16n16k16_s8_row_global(a, at + 8, 16);
  gg_wmma_load_a_m16n16k16_s8_row_global(a, at + 4, 16); /* @wmma_s8_at_4 */
  gg_wmma_load_a_m16n16k16_f16_row_global(a, at, 24);
  gg_wmma_load_a_m16n16k16_f16_row_global(a, at + 16, 24); /* @wmma_f16_at_16 */
  gg_wmma_load_a_m16n16k16_f16_row_global(a, at, 20);      /* @wmma_f16_apart_40 */
  gg_wmma_load_a_m16n16k16_s8_row_shared(a, 8, 16);        /* @wmma_s8_shared_at_8 */
  gg_wmma_load_b_m16n16k16_s8_col_shared(a, 16, 24);       /* @wmma_s8_shared_apart_24 */
  gg_wmma_load_a_m16n16k16_s8_col_shared(a, 8, 24);        /* byte by byte */
  gg_wmma_load_a_m8n32k16_bf16_row_shared(a, 8, 16);       /* @wmma_bf16_shared_at_8 */
  gg_wmma_store_d_m16n16k16_f16_row_global((char *)p.d + 16, c, 24);
  gg_wmma_store_d_m16n16k16_f16_row_global((char *)p.d + 8, c, 24); /* @wmma_sums_at_8 */
}

/* Two warps; warp 1 multiplies what warp 0 wrote; p.k: what is wrong. */
void wmma_misuse(const gg_args p) {
  const int fault = (int)p.k;
  const unsigned t = threadIdx.x;
  unsigned a[8], b[8], c[4];
  if (t < 32) {
    for (unsigned i = t; i < (fault == 2 ? 100 : 128); i += 32)
      gg_sts_u32(i * 4, 0x3c003c00); /* @wm_sts */
  }
  if (fault != 1) gg_syncthreads();
  if (t < 32 && fault != 7) return;
  if (fault == 6 && t % 32 < 16) return;
  gg_wmma_load_a_m16n16k16_f16_row_shared(a, fault == 4 ? 16 : 0, 16);            /* @wm_load_a */
  gg_wmma_load_b_m16n16k16_f16_col_shared(b, 0, fault == 5 && t == 40 ? 24 : 16); /* @wm_load_b */
  gg_wmma_load_c_m16n16k16_f16_row_global(c, p.c, fault == 3 ? 512 : 16);         /* @wm_load_c */
  gg_wmma_mma_m16n16k16_f16_acc16_row_col(c, a, b);                               /* @wm_mma */
  gg_wmma_store_d_m16n16k16_f16_row_global((char *)p.d + 512, c, 16);             /* @wm_store */
}

/* Any load or store, p.k: GGD_WMMA; p.m: shared memory; p.n: store. */
void wmma_access(const gg_args p) {
  unsigned r[16] = {0};
  const unsigned spec = (unsigned)p.k, ld = (unsigned)p.lda, at = p.n == 2 ? threadIdx.x * 32 : 0;
  void *d = p.m ? 0 : p.d;
  if (p.n == 1)
    gg_emu_wmma_store(d, at, r, ld, spec, __LINE__); /* @wmma_store */
  else
    gg_emu_wmma_load(r, d, at, ld, spec, __LINE__); /* @wmma_load */
}

/* -- Neighbours share a word but no byte; with p.k = 1 they share a byte -- */

void narrow(const gg_args p) {
  const unsigned t = threadIdx.x;
  unsigned short x;
  unsigned char y;
  gg_sts_u16(t * 2, (unsigned short)t); /* @narrow_sts */
  gg_lds_u16(&x, t * 2);
  gg_st_u16((unsigned short *)p.d + (p.k != 0 ? t / 2 : t), x); /* @narrow_st */
  gg_sts_u8(512 + t, (unsigned char)t);
  gg_lds_u8(&y, p.k != 0 ? 512 + (t ^ 1) : 512 + t); /* @narrow_lds */
  gg_st_u8((unsigned char *)p.d + 512 + t, y);
  gg_ld_u16(&x, (const unsigned short *)p.d + 300 + t);
}

/* -- Warps: 32 threads; p.d: 8 words a lane -- */

void exchange(const gg_args p) {
  const unsigned t = threadIdx.x;
  unsigned *d = (unsigned *)p.d + t * 8;
  float f;
  gg_st_u32(d + 0, gg_shfl_sync_idx_u32(t, 7));
  gg_st_u32(d + 1, gg_shfl_sync_xor_u32(t, 3));
  gg_st_u32(d + 2, gg_shfl_sync_down_u32(t, 4));
  gg_st_u32(d + 3, gg_shfl_sync_up_u32(t, 4));
  gg_st_u32(d + 4, gg_redux_max_u32(t * 37 % 32));
  gg_st_u32(d + 5, gg_redux_add_u32(t));
  f = gg_shfl_sync_xor_f32((float)t, 1);
  gg_st_f32((float *)d + 6, f);
  gg_red_max_u32((unsigned *)p.d + 7, t + 100);
}

/* -- A cluster of 2, 64 threads each: words go around -- */

void ring(const gg_args p) {
  const unsigned t = threadIdx.x, rank = gg_cluster_rank(), other = rank ^ 1;
  float x;
  gg_sts_f32(t * 4, (float)(rank * 100 + t));
  if (p.k != 1) {
    gg_cluster_arrive();
    gg_cluster_wait();
  }
  gg_ld_cluster_f32(&x, gg_mapa((63 - t) * 4, other)); /* @ring_ld */
  gg_st_cluster_f32(gg_mapa(256 + t * 4, p.k == 2 ? 5 : other), x + 1000.0f);
  if (p.k == 3) return;
  gg_cluster_arrive();
  gg_cluster_wait();
  gg_lds_f32(&x, 256 + t * 4);
  gg_st_f32((float *)p.d + blockIdx.x * 64 + t, x + (float)gg_cluster_size());
}

/* -- Block 0 stores 8 rows of 16 floats by TMA, block 1 one float in each, from p.k. -- */

void overrun(const gg_args p) {
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 1) {
    if (t < 8) gg_st_f32((float *)p.d + t * 16 + p.k, -1.0f); /* @overrun_st */
    return;
  }
  gg_sts_f32x2(t * 8, (float)(2 * t), (float)(2 * t + 1));
  gg_fence_proxy_async();
  gg_syncthreads();
  if (t == 0) {
    gg_tma_store_2d(&p.map_d, 0, 0, 0); /* @overrun_store */
    gg_bulk_commit();
    gg_bulk_wait_0();
  }
}

/* -- mbarriers misused: p.k says how -- */

void mbarrier_misuse(const gg_args p) {
  const unsigned t = threadIdx.x;
  float x;
  if (t == 0) {
    gg_mbar_init(0, p.k == 1 ? 0u : 1u); /* @mb_init */
    if (p.k == 2) gg_mbar_init(0, 1);    /* @mb_again */
    if (p.k == 3) gg_mbar_arrive(8);     /* @mb_none */
    if (p.k == 4) gg_lds_f32(&x, 4);     /* @mb_touched */
    if (p.k == 5) gg_mbar_init(4, 1);    /* @mb_misaligned */
    if (p.k == 6) gg_mbar_expect_tx(0, 16);
    if (p.k == 0) {
      while (!gg_mbar_test(0, 1))
        gg_nanosleep(20);
      gg_mbar_arrive(0);
      gg_mbar_wait(0, 0);
      gg_mbar_inval(0);
      gg_sts_f32(0, 1.0f);
    }
  }
}

/* -- Releases by mbarrier: 64 threads; p.k = 0 is right -- */

/* Warp 0 reads, its lane 0 alone lets warp 1 overwrite. 1: lanes do not meet before. */
void lane0_release(const gg_args p) {
  const unsigned t = threadIdx.x;
  unsigned x;
  if (t == 0) gg_mbar_init(1016, 1);
  gg_sts_u32(t * 4, t);
  gg_syncthreads();
  if (t < 32) {
    gg_lds_u32(&x, t * 4); /* @lane0_read */
    if (p.k != 1) gg_syncwarp();
    if (t == 0) gg_mbar_arrive(1016);
    gg_st_u32((unsigned *)p.d + t, x);
  } else {
    gg_mbar_wait(1016, 0);
    gg_sts_u32((t - 32) * 4, 7); /* @lane0_write */
  }
}

/* 1: an arrival more than the phase takes, while bytes are missing. 2: mbarrier data is read with
 * no wait. */
void arrivals(const gg_args p) {
  const unsigned t = threadIdx.x;
  unsigned x;
  if (t == 0) {
    gg_mbar_init(1016, 1);
    gg_fence_mbarrier_init();
    gg_mbar_arrive_expect_tx(1016, 256);
    if (p.k == 1) gg_mbar_arrive(1016); /* @arrivals_more */
    gg_bulk_load(0, p.a, 256, 1016);    /* @arrivals_load */
  }
  gg_syncthreads();
  if (p.k != 2) gg_mbar_wait(1016, 0);
  gg_lds_u32(&x, t * 4); /* @arrivals_read */
  gg_st_u32((unsigned *)p.d + t, x);
  if (p.k == 2 && t == 0) gg_mbar_wait(1016, 0);
}

/* A relaxed arrival publishes no data: 1 uses one. */
void relaxed(const gg_args p) {
  const unsigned t = threadIdx.x;
  unsigned x;
  gg_sts_u32(t * 4, t); /* @relaxed_write */
  if (p.k == 1)
    gg_cluster_arrive_relaxed();
  else
    gg_cluster_arrive();
  gg_cluster_wait();
  gg_lds_u32(&x, (63 - t) * 4); /* @relaxed_read */
  gg_st_u32((unsigned *)p.d + t, x);
}

/* -- C by TMA, D where C is: 32 threads a block, 64 bytes each. 1: the neighbour's C is loaded. --
 */

void in_place(const gg_args p) {
  const unsigned t = threadIdx.x;
  char *c = (char *)p.d + blockIdx.x * 64;
  float x;
  if (t == 0) {
    gg_mbar_init(64, 1);
    gg_fence_mbarrier_init();
    gg_mbar_arrive_expect_tx(64, 64);
    gg_bulk_load(0, p.k == 1 ? (const char *)p.d : c, 64, 64); /* @in_place_load */
  }
  gg_syncthreads();
  gg_mbar_wait(64, 0);
  if (t >= 16) return;
  gg_lds_f32(&x, t * 4);
  gg_st_f32((float *)c + t, gg_add_f32(x, 1.0f)); /* @in_place_st */
}

/* C by threads, D where C is by a bulk store; 1: to the next block's, 2: C is read as constant. */
void in_place_store(const gg_args p) {
  const unsigned t = threadIdx.x;
  char *c = (char *)p.d + blockIdx.x * 128;
  float x;
  if (p.k == 2)
    gg_ldg_f32(&x, (const float *)c + t); /* @in_place_ldg */
  else
    gg_ld_f32(&x, (const float *)c + t);
  gg_sts_f32(t * 4, gg_add_f32(x, 1.0f));
  gg_fence_proxy_async();
  gg_syncthreads();
  if (t != 0) return;
  gg_bulk_store(p.k == 1 ? (char *)p.d + (blockIdx.x ^ 1) * 128 : c, 0, 128); /* @in_place_bulk */
  gg_bulk_commit();
  gg_bulk_wait_0();
}
