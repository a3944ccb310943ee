/* kernels.cu - one small kernel for each primitive of tensor cores, TMA and clusters: words in,
 * words out, nothing else. In the dialect of emitted kernels, so that it compiles for a GPU (nvcc,
 * with ptx.cuh and the generated products.cuh before it) and for the emulated one.
 *
 * Common: p.a, p.b, p.c are inputs, p.d is the output, words of 32 bits unless said otherwise.
 */
#include "gg_kernel.h"

#ifdef __cplusplus
#define UNIT extern "C" __global__ void
#else
#define UNIT void
#endif

typedef unsigned u32;
typedef unsigned long long u64;

/* -- mma.sync: a block has one warp and one tile: A 4 words a lane, B 2, C and D 4 -- */

UNIT unit_mma(const __grid_constant__ gg_args p) {
  const u32 at = blockIdx.x * 32 + threadIdx.x;
  u32 a[4], b[2], w[4];
  float f[4];
  int s[4];
  gg_ldg_u32x4(&a[0], &a[1], &a[2], &a[3], (const u32 *)p.a + at * 4);
  gg_ldg_u32x2(&b[0], &b[1], (const u32 *)p.b + at * 2);
  gg_ldg_u32x4(&w[0], &w[1], &w[2], &w[3], (const u32 *)p.c + at * 4);
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < 4; i++) {
    f[i] = gg_as_f32(w[i]);
    s[i] = (int)w[i];
  }
  const int k = (int)p.k, is_int = k >= 10, is_packed = k == 4 || k == 5;
  if (k == 0) gg_mma_m16n8k16_bf16(f, a, b);
  if (k == 1) gg_mma_m16n8k16_f16(f, a, b);
  if (k == 2) gg_mma_m16n8k8_tf32(f, a, b);
  if (k == 3) gg_mma_m16n8k8_f16(f, a, b);
  if (k == 4) gg_mma_m16n8k16_f16_acc16(w, a, b);
  if (k == 5) gg_mma_m16n8k8_f16_acc16(w, a, b);
  if (k == 6) gg_mma_m16n8k32_e4m3(f, a, b);
  if (k == 7) gg_mma_m16n8k32_e5m2(f, a, b);
  if (k == 8) gg_mma_m16n8k32_e4m3_e5m2(f, a, b);
  if (k == 9) gg_mma_m16n8k32_e5m2_e4m3(f, a, b);
  if (k == 10) gg_mma_m16n8k32_s8(s, a, b);
  if (k == 11) gg_mma_m16n8k32_u8(s, a, b);
  if (k == 12) gg_mma_m16n8k32_s8_u8(s, a, b);
  if (k == 13) gg_mma_m16n8k32_u8_s8(s, a, b);
  if (k == 14) gg_mma_m16n8k16_s8(s, a, b);
  if (k == 15) gg_mma_m16n8k16_u8(s, a, b);
  if (k == 16) gg_mma_m16n8k16_s8_u8(s, a, b);
  if (k == 17) gg_mma_m16n8k16_u8_s8(s, a, b);
  if (k == 18) gg_mma_m8n8k16_s8(s, a, b);
  if (k == 19) gg_mma_m8n8k16_u8(s, a, b);
  if (k == 20) gg_mma_m8n8k16_s8_u8(s, a, b);
  if (k == 21) gg_mma_m8n8k16_u8_s8(s, a, b);
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < 4; i++) {
    const u32 r = is_packed ? w[i] : is_int ? (u32)s[i] : gg_as_u32(f[i]);
    gg_st_u32((u32 *)p.d + at * 4 + i, r);
  }
}

/* f64: A 8 doubles a lane, B 4, C and D 4. */
UNIT unit_mma_f64(const __grid_constant__ gg_args p) {
  const u32 at = blockIdx.x * 32 + threadIdx.x;
  double a[8], b[4], c[4];
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < 8; i++)
    gg_ldg_f64(&a[i], (const double *)p.a + at * 8 + i);
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < 4; i++) {
    gg_ldg_f64(&b[i], (const double *)p.b + at * 4 + i);
    gg_ldg_f64(&c[i], (const double *)p.c + at * 4 + i);
  }
  if (p.k == 0) gg_mma_m8n8k4_f64(c, a, b);
  if (p.k == 1) gg_mma_m16n8k4_f64(c, a, b);
  if (p.k == 2) gg_mma_m16n8k8_f64(c, a, b);
  if (p.k == 3) gg_mma_m16n8k16_f64(c, a, b);
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < 4; i++)
    gg_st_f64((double *)p.d + at * 4 + i, c[i]);
}

/* -- wmma: a block has one warp; A and B 1024 words, C 2048, leading dimensions of 64 elements; A
 * and C come from global memory, B from shared. D goes out by shared memory, 2048 words, then
 * directly, 2048 more. C is laid out as A, D as B. -- */

#define UNIT_WMMA(NAME, T, IN, SHAPE, TYPE, SUMS, ACC, A, B)                                       \
  UNIT NAME(const __grid_constant__ gg_args p) {                                                   \
    const u32 lane = threadIdx.x, at = blockIdx.x;                                                 \
    u32 x;                                                                                         \
    IN a[8], b[8];                                                                                 \
    T d[8];                                                                                        \
    for (u32 i = lane; i < 1024; i += 32) {                                                        \
      gg_ldg_u32(&x, (const u32 *)p.b + at * 1024 + i);                                            \
      gg_sts_u32(i * 4, x);                                                                        \
    }                                                                                              \
    for (u32 i = lane; i < 2048; i += 32)                                                          \
      gg_sts_u32(4096 + i * 4, 0);                                                                 \
    gg_syncthreads();                                                                              \
    gg_wmma_load_a_##SHAPE##_##TYPE##_##A##_global(a, (const u32 *)p.a + at * 1024, 64);           \
    gg_wmma_load_b_##SHAPE##_##TYPE##_##B##_shared(b, 0, 64);                                      \
    gg_wmma_load_c_##SHAPE##_##ACC##_##A##_global(d, (const u32 *)p.c + at * 2048, 64);            \
    gg_wmma_mma_##SHAPE##_##SUMS##_##A##_##B(d, a, b);                                             \
    gg_wmma_store_d_##SHAPE##_##ACC##_##B##_shared(4096, d, 64);                                   \
    gg_wmma_store_d_##SHAPE##_##ACC##_##B##_global((u32 *)p.d + at * 4096 + 2048, d, 64);          \
    gg_syncthreads();                                                                              \
    for (u32 i = lane; i < 2048; i += 32) {                                                        \
      gg_lds_u32(&x, 4096 + i * 4);                                                                \
      gg_st_u32((u32 *)p.d + at * 4096 + i, x);                                                    \
    }                                                                                              \
  }

/* -- ldmatrix and stmatrix: one warp, 512 words in, 768 out -- */

UNIT unit_matrix(const __grid_constant__ gg_args p) {
  const u32 lane = threadIdx.x;
  u32 r[4], q[4], x;
  for (u32 i = lane; i < 512; i += 32) {
    gg_ldg_u32(&x, (const u32 *)p.a + i);
    gg_sts_u32(i * 4, x);
    gg_sts_u32(2048 + i * 4, 0);
  }
  gg_syncthreads();
  const u32 row = ((lane * 5 + 3) & 31) * 48;
  gg_ldmatrix_x4(r, row);
  gg_ldmatrix_x4_trans(q, row);
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < 4; i++) {
    gg_st_u32((u32 *)p.d + lane * 8 + i, r[i]);
    gg_st_u32((u32 *)p.d + lane * 8 + 4 + i, q[i]);
  }
  gg_stmatrix_x4(2048 + ((lane * 7 + 1) & 31) * 32, r);
  gg_stmatrix_x4_trans(2048 + ((lane * 7 + 1) & 31) * 32 + 16, r);
  gg_syncthreads();
  for (u32 i = lane; i < 512; i += 32) {
    gg_lds_u32(&x, 2048 + i * 4);
    gg_st_u32((u32 *)p.d + 256 + i, x);
  }
}

/* x1 and x2; 512 words in, 32 * 6 + 512 out. */
UNIT unit_matrix_small(const __grid_constant__ gg_args p) {
  const u32 lane = threadIdx.x;
  u32 a[1], b[2], c[1], d[2], x;
  for (u32 i = lane; i < 512; i += 32) {
    gg_ldg_u32(&x, (const u32 *)p.a + i);
    gg_sts_u32(i * 4, x);
    gg_sts_u32(2048 + i * 4, 0);
  }
  gg_syncthreads();
  const u32 row = ((lane * 5 + 3) & 31) * 48;
  gg_ldmatrix_x1(a, row);
  gg_ldmatrix_x2(b, row);
  gg_ldmatrix_x1_trans(c, row);
  gg_ldmatrix_x2_trans(d, row);
  gg_st_u32((u32 *)p.d + lane * 6 + 0, a[0]);
  gg_st_u32((u32 *)p.d + lane * 6 + 1, b[0]);
  gg_st_u32((u32 *)p.d + lane * 6 + 2, b[1]);
  gg_st_u32((u32 *)p.d + lane * 6 + 3, c[0]);
  gg_st_u32((u32 *)p.d + lane * 6 + 4, d[0]);
  gg_st_u32((u32 *)p.d + lane * 6 + 5, d[1]);
  const u32 to = 2048 + ((lane * 7 + 1) & 31) * 64;
  gg_stmatrix_x1(to, a);
  gg_stmatrix_x2(to + 16, b);
  gg_stmatrix_x1_trans(to + 32, c);
  gg_stmatrix_x2_trans(to + 48, d);
  gg_syncthreads();
  for (u32 i = lane; i < 512; i += 32) {
    gg_lds_u32(&x, 2048 + i * 4);
    gg_st_u32((u32 *)p.d + 192 + i, x);
  }
}

/* -- cp.async: sizes and zero fill; one warp, 128 words in, 224 out -- */

UNIT unit_copy(const __grid_constant__ gg_args p) {
  const u32 lane = threadIdx.x;
  const unsigned char *a = (const unsigned char *)p.a;
  u32 x;
  gg_cp_async_zfill_16(lane * 16, a + lane * 16, (int)(lane & 15));
  gg_cp_async_zfill_8(512 + lane * 8, a + lane * 8, (int)(lane % 9));
  gg_cp_async_zfill_4(768 + lane * 4, a + lane * 4, (int)(lane % 5));
  gg_cp_async_commit();
  gg_cp_async_wait_0();
  gg_syncthreads();
  for (u32 i = lane; i < 224; i += 32) {
    gg_lds_u32(&x, i * 4);
    gg_st_u32((u32 *)p.d + i, x);
  }
}

/* -- TMA: 128 threads, data in shared bytes 0 to 32767, the mbarrier at 32768. m: offset, n, k,
 * batch: coordinates, lda: rank, ldb: bytes expected -- */

UNIT unit_tma(const __grid_constant__ gg_args p) {
  const u32 t = threadIdx.x, off = (u32)p.m;
  const int x = (int)p.n, y = (int)p.k, z = (int)p.batch;
  u32 v;
  for (u32 i = t; i < 8192; i += 128)
    gg_sts_u32(i * 4, 0xdeadbeefu);
  if (t == 0) {
    gg_mbar_init(32768, 1);
    gg_fence_mbarrier_init();
  }
  gg_fence_proxy_async();
  gg_syncthreads();
  if (t == 0) {
    gg_mbar_arrive_expect_tx(32768, (u32)p.ldb);
    if (p.lda == 2) gg_tma_load_2d(off, &p.map_a, x, y, 32768);
    if (p.lda == 3) gg_tma_load_3d(off, &p.map_a, x, y, z, 32768);
    if (p.lda == 4) gg_tma_load_4d(off, &p.map_a, x, y, z, 1, 32768);
    if (p.lda == 1) gg_bulk_load(off, (const unsigned char *)p.a + x, (u32)p.ldb, 32768);
  }
  gg_mbar_wait(32768, 0);
  for (u32 i = t; i < 8192; i += 128) {
    gg_lds_u32(&v, i * 4);
    gg_st_u32((u32 *)p.d + i, v);
  }
}

/* p.b: what lies in shared memory. ldc: 0 store, 1 reduce-add; lda = 1: a plain stretch. */
UNIT unit_tma_store(const __grid_constant__ gg_args p) {
  const u32 t = threadIdx.x, off = (u32)p.m;
  const int x = (int)p.n, y = (int)p.k, z = (int)p.batch;
  u32 v;
  for (u32 i = t; i < 8192; i += 128) {
    gg_ldg_u32(&v, (const u32 *)p.b + i);
    gg_sts_u32(i * 4, v);
  }
  gg_fence_proxy_async();
  gg_syncthreads();
  if (t == 0) {
    if (p.lda == 2 && p.ldc == 0) gg_tma_store_2d(&p.map_d, off, x, y);
    if (p.lda == 3 && p.ldc == 0) gg_tma_store_3d(&p.map_d, off, x, y, z);
    if (p.lda == 4 && p.ldc == 0) gg_tma_store_4d(&p.map_d, off, x, y, z, 1);
    if (p.lda == 2 && p.ldc == 1) gg_tma_reduce_add_2d(&p.map_d, off, x, y);
    if (p.lda == 3 && p.ldc == 1) gg_tma_reduce_add_3d(&p.map_d, off, x, y, z);
    if (p.lda == 1) gg_bulk_store((unsigned char *)p.d + x, off, (u32)p.ldb);
    gg_bulk_commit();
    gg_bulk_wait_0();
  }
}

/* -- A cluster of 2: each block multicasts half a box to both, adds a remote word, arrives at the
 * other's mbarrier; 128 threads; p.d: 2 * 1024 words and 2 more -- */

UNIT unit_cluster(const __grid_constant__ gg_args p) {
  const u32 t = threadIdx.x, rank = gg_cluster_rank();
  u32 v, w;
  if (t == 0) {
    gg_mbar_init(8192, 1);
    gg_mbar_init(8200, 2);
    gg_fence_mbarrier_init();
  }
  gg_sts_u32(8208 + t * 4, rank * 1000 + t);
  gg_cluster_arrive();
  gg_cluster_wait();
  if (t == 0) {
    gg_mbar_arrive_expect_tx(8192, 4096);
    gg_tma_load_2d_multicast(rank * 2048, &p.map_a, 0, (int)rank * 16, 8192, 3);
  }
  gg_mbar_wait(8192, 0);
  for (u32 i = t; i < 1024; i += 128) {
    gg_lds_u32(&v, i * 4);
    gg_st_u32((u32 *)p.d + rank * 1024 + i, v);
  }
  gg_ld_cluster_u32(&w, gg_mapa(8208 + t * 4, rank ^ 1));
  gg_syncthreads();
  if (t < 2) gg_mbar_arrive_cluster(8200, t);
  gg_mbar_wait(8200, 0);
  if (t == 5) gg_st_u32((u32 *)p.d + 2048 + rank, w);
  gg_cluster_arrive_relaxed();
  gg_cluster_wait();
}

/* -- bar.arrive: warp 0 writes, arrives and goes on, warp 1 waits and reads; 64 words out -- */

UNIT unit_bar_arrive(const __grid_constant__ gg_args p) {
  const u32 t = threadIdx.x;
  u32 x;
  for (u32 i = 0; i < 2; i++) {
    if (t < 32) {
      if (i > 0) gg_bar_sync(2, 64);
      gg_sts_u32(t * 4, t * 3 + i);
      gg_bar_arrive(1, 64);
    } else {
      gg_bar_sync(1, 64);
      gg_lds_u32(&x, (63 - t) * 4);
      if (i == 0) gg_bar_arrive(2, 64);
      gg_st_u32((u32 *)p.d + i * 32 + t - 32, x);
    }
  }
}

/* -- Conversions and arithmetic: words in, 20 words out each -- */

UNIT unit_convert(const __grid_constant__ gg_args p) {
  const u32 at = blockIdx.x * 128 + threadIdx.x;
  u32 w, v, *d = (u32 *)p.d + at * 20;
  gg_ldg_u32(&w, (const u32 *)p.a + at);
  gg_ldg_u32(&v, (const u32 *)p.b + at);
  const float x = gg_as_f32(w), y = gg_as_f32(v);
  gg_st_u32(d + 0, gg_cvt_bf16x2(x, y));
  gg_st_u32(d + 1, gg_cvt_f16x2(x, y));
  gg_st_u32(d + 2, gg_cvt_e4m3x2(x, y));
  gg_st_u32(d + 3, gg_cvt_e5m2x2(x, y));
  gg_st_u32(d + 4, gg_cvt_tf32(x));
  gg_st_u32(d + 5, (u32)gg_cvt_s8(x));
  gg_st_u32(d + 6, (u32)gg_cvt_u8(x));
  gg_st_u32(d + 7, (u32)gg_cvt_s32(x));
  gg_st_u32(d + 8, gg_as_u32(gg_f32_from_f16(w & 0xffff)));
  gg_st_u32(d + 9, gg_as_u32(gg_f32_from_e4m3(w & 0xff)));
  gg_st_u32(d + 10, gg_as_u32(gg_f32_from_e5m2(w & 0xff)));
  gg_st_u32(d + 11, gg_prmt(w, v, w >> 16));
  gg_st_u32(d + 12, gg_as_u32(gg_min_f32(x, y)));
  gg_st_u32(d + 13, gg_as_u32(gg_max_f32(x, y)));
  gg_st_u32(d + 14, gg_redux_max_u32(w));
  gg_st_u32(d + 15, gg_shfl_sync_xor_u32(w, 5));
  gg_st_u32(d + 16, gg_as_u32(gg_add_f32(x, y)));
  gg_st_u32(d + 17, gg_as_u32(gg_mul_f32(x, y)));
  gg_st_u32(d + 18, gg_as_u32(gg_div_f32(x, y)));
  gg_st_u32(d + 19, gg_as_u32(gg_f32_from_s32((int)w)));
}

/* -- wgmma: an image of 64 KiB in shared memory, A from byte 0, B from 32768; a block takes the 8
 * words of p.residual + 8 * blockIdx.x: start, LBO, SBO and layout of A, then of B. p.c: the
 * accumulators of 128 threads, p.b: A registers, 4 words a thread -- */

#define UNIT_WGMMA(NAME, WORDS, T, OF, TO, FROM_REGISTERS, PRODUCT)                                \
  UNIT NAME(const __grid_constant__ gg_args p) {                                                   \
    const u32 t = threadIdx.x;                                                                     \
    const u32 *c = (const u32 *)p.residual + 8 * blockIdx.x;                                       \
    u32 s[8], x, a[4];                                                                             \
    T d[WORDS];                                                                                    \
    for (u32 i = t; i < 16384; i += 128) {                                                         \
      gg_ldg_u32(&x, (const u32 *)p.a + i);                                                        \
      gg_sts_u32(i * 4, x);                                                                        \
    }                                                                                              \
    gg_fence_proxy_async();                                                                        \
    gg_syncthreads();                                                                              \
    UNROLL for (int i = 0; i < WORDS; i++) {                                                       \
      gg_ldg_u32(&x, (const u32 *)p.c + t * WORDS + i);                                            \
      d[i] = OF(x);                                                                                \
    }                                                                                              \
    UNROLL for (int i = 0; i < 8; i++) gg_ldg_u32(&s[i], c + i);                                   \
    UNROLL for (int i = 0; i < 4; i++) gg_ldg_u32(&a[i], (const u32 *)p.b + t * 4 + i);            \
    const u64 da = gg_wgmma_desc(s[0], s[1], s[2], s[3]);                                          \
    const u64 db = gg_wgmma_desc(s[4], s[5], s[6], s[7]);                                          \
    gg_wgmma_fence();                                                                              \
    UNIT_##FROM_REGISTERS(PRODUCT);                                                                \
    gg_wgmma_commit();                                                                             \
    gg_wgmma_wait_0();                                                                             \
    UNROLL for (int i = 0; i < WORDS; i++)                                                         \
        gg_st_u32((u32 *)p.d + (blockIdx.x * 128 + t) * WORDS + i, TO(d[i]));                      \
    (void)a;                                                                                       \
    (void)da;                                                                                      \
  }
#define UNIT_SS(PRODUCT) PRODUCT(d, da, db, 1)
#define UNIT_RS(PRODUCT) PRODUCT(d, a, db, 1)
#define OF_WORD(x)       (x)
#define OF_INT(x)        ((int)(x))
#define TO_WORD(x)       ((u32)(x))
#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

/* name, accumulator registers, product, SS or RS; host code expands it too. */
#include "units.inc"
#define F32(NAME, WORDS, FORM, PRODUCT)                                                            \
  UNIT_WGMMA(NAME, WORDS, float, gg_as_f32, gg_as_u32, FORM, PRODUCT)
#define F16(NAME, WORDS, FORM, PRODUCT)                                                            \
  UNIT_WGMMA(NAME, WORDS, u32, OF_WORD, TO_WORD, FORM, PRODUCT)
#define S32(NAME, WORDS, FORM, PRODUCT) UNIT_WGMMA(NAME, WORDS, int, OF_INT, TO_WORD, FORM, PRODUCT)
UNITS(F32, F16, S32)
WMMA_UNITS(UNIT_WMMA)
