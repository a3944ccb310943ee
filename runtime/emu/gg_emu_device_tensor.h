/* gg_emu_device_tensor.h - device side of the emulated GPU: warps, tensor cores, TMA, clusters.
 *
 * Included by gg_emu_device.h, whose rules hold here.
 */
#ifndef GG_EMU_DEVICE_TENSOR_H
#define GG_EMU_DEVICE_TENSOR_H

/* What the lanes of a warp do with words of each other. ORDER EXCHANGE (emu/collective.c). */
typedef enum ggd_exchange {
  GGD_SHFL_IDX,
  GGD_SHFL_XOR,
  GGD_SHFL_DOWN,
  GGD_SHFL_UP,
  GGD_REDUX_MAX,
  GGD_REDUX_ADD
} ggd_exchange;

/* Shapes of mma.sync but f64 (emu/mma.c). */
typedef enum ggd_mma {
  GGD_M16N8K16_BF16,
  GGD_M16N8K16_F16,
  GGD_M16N8K8_F16,
  GGD_M16N8K16_F16_ACC16,
  GGD_M16N8K8_F16_ACC16,
  GGD_M16N8K8_TF32,
  GGD_M16N8K32_E4M3,
  GGD_M16N8K32_E5M2,
  GGD_M16N8K32_E4M3_E5M2,
  GGD_M16N8K32_E5M2_E4M3,
  GGD_M16N8K32_S8,
  GGD_M16N8K32_U8,
  GGD_M16N8K32_S8_U8,
  GGD_M16N8K32_U8_S8,
  GGD_M16N8K16_S8,
  GGD_M16N8K16_U8,
  GGD_M16N8K16_S8_U8,
  GGD_M16N8K16_U8_S8,
  GGD_M8N8K16_S8,
  GGD_M8N8K16_U8,
  GGD_M8N8K16_S8_U8,
  GGD_M8N8K16_U8_S8
} ggd_mma;

#ifdef __cplusplus
extern "C" {
#endif

unsigned gg_emu_exchange(unsigned x, int by, unsigned op, int line);
void gg_emu_ldmatrix(unsigned *r, unsigned off, unsigned op, int line);
void gg_emu_stmatrix(unsigned off, const unsigned *r, unsigned op, int line);
void gg_emu_mma_f32(float *d, const unsigned *a, const unsigned *b, unsigned spec, int line);
void gg_emu_mma_f16(unsigned *d, const unsigned *a, const unsigned *b, unsigned spec, int line);
void gg_emu_mma_s32(int *d, const unsigned *a, const unsigned *b, unsigned spec, int line);
void gg_emu_mma_f64(double *d, const double *a, const double *b, int m, int k, int line);
void gg_emu_red_max(unsigned *p, unsigned x, unsigned op, int line);

void gg_emu_wmma_load(void *r, const void *p, unsigned off, unsigned ld, unsigned spec, int line);
void gg_emu_wmma_store(const void *p, unsigned off, const void *r, unsigned ld, unsigned spec,
                       int line);
void gg_emu_wmma_mma(void *d, const unsigned *a, const unsigned *b, unsigned spec, int line);
void gg_emu_wmma_f64(double *d, const double *a, const double *b, unsigned spec, int line);

void gg_emu_mbar_init(unsigned off, unsigned count, int line);
void gg_emu_mbar_inval(unsigned off, int line);
/* rank < 0: this block's. */
void gg_emu_mbar_arrive(unsigned off, int rank, int line);
void gg_emu_mbar_expect(unsigned off, unsigned bytes, int arrive, int line);
void gg_emu_mbar_wait(unsigned off, unsigned parity, int line);
int gg_emu_mbar_test(unsigned off, unsigned parity, int line);
void gg_emu_fence_mbarrier_init(int line);
void gg_emu_fence_proxy_async(int line);

/* mask 0: to this block only. */
void gg_emu_tma_load(unsigned off, const void *map, int x, int y, int z, int w, unsigned mbar,
                     unsigned mask, unsigned op, int line);
void gg_emu_bulk_load(unsigned off, const void *p, unsigned bytes, unsigned mbar, unsigned mask,
                      int line);
void gg_emu_tma_store(const void *map, unsigned off, int x, int y, int z, int w, unsigned op,
                      int line);
void gg_emu_bulk_store(void *p, unsigned off, unsigned bytes, int line);
void gg_emu_bulk_commit(int line);
void gg_emu_bulk_wait(int groups, int read, int line);

/* a = 0: both operands by descriptor. spec: GGD_WG. */
void gg_emu_wgmma_f32(float *d, const unsigned *a, ggd_u64 da, ggd_u64 db, int scale, unsigned spec,
                      int line);
void gg_emu_wgmma_f16(unsigned *d, const unsigned *a, ggd_u64 da, ggd_u64 db, int scale,
                      unsigned spec, int line);
void gg_emu_wgmma_s32(int *d, const unsigned *a, ggd_u64 da, ggd_u64 db, int scale, unsigned spec,
                      int line);
void gg_emu_wgmma_fence(int line);
void gg_emu_wgmma_commit(int line);
void gg_emu_wgmma_wait(int groups, int line);

void gg_emu_cluster_arrive(int release, int line);
void gg_emu_cluster_wait(int line);
unsigned gg_emu_cluster_rank(void) __attribute__((const));
unsigned gg_emu_cluster_size(void) __attribute__((const));
const void *gg_emu_ld_cluster(unsigned address, unsigned op, int line);
void *gg_emu_st_cluster(unsigned address, unsigned op, int line);
void gg_emu_nanosleep(int line);

#ifdef __cplusplus
}
#endif

/* -- Warps ------------------------------------------------------------------------------------ */

#define gg_shfl_sync_idx_u32(x, lane)   gg_emu_exchange(x, lane, GGD_SHFL_IDX, __LINE__)
#define gg_shfl_sync_xor_u32(x, mask)   gg_emu_exchange(x, mask, GGD_SHFL_XOR, __LINE__)
#define gg_shfl_sync_down_u32(x, delta) gg_emu_exchange(x, delta, GGD_SHFL_DOWN, __LINE__)
#define gg_shfl_sync_up_u32(x, delta)   gg_emu_exchange(x, delta, GGD_SHFL_UP, __LINE__)
#define gg_shfl_sync_idx_f32(x, lane)                                                              \
  gg_as_f32(gg_emu_exchange(gg_as_u32(x), lane, GGD_SHFL_IDX, __LINE__))
#define gg_shfl_sync_xor_f32(x, mask)                                                              \
  gg_as_f32(gg_emu_exchange(gg_as_u32(x), mask, GGD_SHFL_XOR, __LINE__))
#define gg_shfl_sync_down_f32(x, delta)                                                            \
  gg_as_f32(gg_emu_exchange(gg_as_u32(x), delta, GGD_SHFL_DOWN, __LINE__))
#define gg_shfl_sync_up_f32(x, delta)                                                              \
  gg_as_f32(gg_emu_exchange(gg_as_u32(x), delta, GGD_SHFL_UP, __LINE__))
#define gg_redux_max_u32(x)  gg_emu_exchange(x, 0, GGD_REDUX_MAX, __LINE__)
#define gg_redux_add_u32(x)  gg_emu_exchange(x, 0, GGD_REDUX_ADD, __LINE__)
#define gg_red_max_u32(p, x) gg_emu_red_max(p, x, GGD_OP(GGD_RED_MAX, GGD_U32, 4), __LINE__)

#define GGD_MATRIX(does, form)       GGD_OP(does, form, 16), __LINE__
#define gg_ldmatrix_x1(r, off)       gg_emu_ldmatrix(r, off, GGD_MATRIX(GGD_LDMATRIX, GGD_X1))
#define gg_ldmatrix_x2(r, off)       gg_emu_ldmatrix(r, off, GGD_MATRIX(GGD_LDMATRIX, GGD_X2))
#define gg_ldmatrix_x4(r, off)       gg_emu_ldmatrix(r, off, GGD_MATRIX(GGD_LDMATRIX, GGD_X4))
#define gg_ldmatrix_x1_trans(r, off) gg_emu_ldmatrix(r, off, GGD_MATRIX(GGD_LDMATRIX, GGD_X1_TRANS))
#define gg_ldmatrix_x2_trans(r, off) gg_emu_ldmatrix(r, off, GGD_MATRIX(GGD_LDMATRIX, GGD_X2_TRANS))
#define gg_ldmatrix_x4_trans(r, off) gg_emu_ldmatrix(r, off, GGD_MATRIX(GGD_LDMATRIX, GGD_X4_TRANS))
#define gg_stmatrix_x1(off, r)       gg_emu_stmatrix(off, r, GGD_MATRIX(GGD_STMATRIX, GGD_X1))
#define gg_stmatrix_x2(off, r)       gg_emu_stmatrix(off, r, GGD_MATRIX(GGD_STMATRIX, GGD_X2))
#define gg_stmatrix_x4(off, r)       gg_emu_stmatrix(off, r, GGD_MATRIX(GGD_STMATRIX, GGD_X4))
#define gg_stmatrix_x1_trans(off, r) gg_emu_stmatrix(off, r, GGD_MATRIX(GGD_STMATRIX, GGD_X1_TRANS))
#define gg_stmatrix_x2_trans(off, r) gg_emu_stmatrix(off, r, GGD_MATRIX(GGD_STMATRIX, GGD_X2_TRANS))
#define gg_stmatrix_x4_trans(off, r) gg_emu_stmatrix(off, r, GGD_MATRIX(GGD_STMATRIX, GGD_X4_TRANS))

#define gg_mma_m16n8k16_bf16(d, a, b)      gg_emu_mma_f32(d, a, b, GGD_M16N8K16_BF16, __LINE__)
#define gg_mma_m16n8k16_f16(d, a, b)       gg_emu_mma_f32(d, a, b, GGD_M16N8K16_F16, __LINE__)
#define gg_mma_m16n8k8_f16(d, a, b)        gg_emu_mma_f32(d, a, b, GGD_M16N8K8_F16, __LINE__)
#define gg_mma_m16n8k16_f16_acc16(d, a, b) gg_emu_mma_f16(d, a, b, GGD_M16N8K16_F16_ACC16, __LINE__)
#define gg_mma_m16n8k8_f16_acc16(d, a, b)  gg_emu_mma_f16(d, a, b, GGD_M16N8K8_F16_ACC16, __LINE__)
#define gg_mma_m16n8k8_tf32(d, a, b)       gg_emu_mma_f32(d, a, b, GGD_M16N8K8_TF32, __LINE__)
#define gg_mma_m16n8k32_e4m3(d, a, b)      gg_emu_mma_f32(d, a, b, GGD_M16N8K32_E4M3, __LINE__)
#define gg_mma_m16n8k32_e5m2(d, a, b)      gg_emu_mma_f32(d, a, b, GGD_M16N8K32_E5M2, __LINE__)
#define gg_mma_m16n8k32_e4m3_e5m2(d, a, b) gg_emu_mma_f32(d, a, b, GGD_M16N8K32_E4M3_E5M2, __LINE__)
#define gg_mma_m16n8k32_e5m2_e4m3(d, a, b) gg_emu_mma_f32(d, a, b, GGD_M16N8K32_E5M2_E4M3, __LINE__)
#define gg_mma_m16n8k32_s8(d, a, b)        gg_emu_mma_s32(d, a, b, GGD_M16N8K32_S8, __LINE__)
#define gg_mma_m16n8k32_u8(d, a, b)        gg_emu_mma_s32(d, a, b, GGD_M16N8K32_U8, __LINE__)
#define gg_mma_m16n8k32_s8_u8(d, a, b)     gg_emu_mma_s32(d, a, b, GGD_M16N8K32_S8_U8, __LINE__)
#define gg_mma_m16n8k32_u8_s8(d, a, b)     gg_emu_mma_s32(d, a, b, GGD_M16N8K32_U8_S8, __LINE__)
#define gg_mma_m16n8k16_s8(d, a, b)        gg_emu_mma_s32(d, a, b, GGD_M16N8K16_S8, __LINE__)
#define gg_mma_m16n8k16_u8(d, a, b)        gg_emu_mma_s32(d, a, b, GGD_M16N8K16_U8, __LINE__)
#define gg_mma_m16n8k16_s8_u8(d, a, b)     gg_emu_mma_s32(d, a, b, GGD_M16N8K16_S8_U8, __LINE__)
#define gg_mma_m16n8k16_u8_s8(d, a, b)     gg_emu_mma_s32(d, a, b, GGD_M16N8K16_U8_S8, __LINE__)
#define gg_mma_m8n8k16_s8(d, a, b)         gg_emu_mma_s32(d, a, b, GGD_M8N8K16_S8, __LINE__)
#define gg_mma_m8n8k16_u8(d, a, b)         gg_emu_mma_s32(d, a, b, GGD_M8N8K16_U8, __LINE__)
#define gg_mma_m8n8k16_s8_u8(d, a, b)      gg_emu_mma_s32(d, a, b, GGD_M8N8K16_S8_U8, __LINE__)
#define gg_mma_m8n8k16_u8_s8(d, a, b)      gg_emu_mma_s32(d, a, b, GGD_M8N8K16_U8_S8, __LINE__)
#define gg_mma_m8n8k4_f64(d, a, b)         gg_emu_mma_f64(d, a, b, 8, 4, __LINE__)
#define gg_mma_m16n8k4_f64(d, a, b)        gg_emu_mma_f64(d, a, b, 16, 4, __LINE__)
#define gg_mma_m16n8k8_f64(d, a, b)        gg_emu_mma_f64(d, a, b, 16, 8, __LINE__)
#define gg_mma_m16n8k16_f64(d, a, b)       gg_emu_mma_f64(d, a, b, 16, 16, __LINE__)

/* -- mbarriers and fences --------------------------------------------------------------------- */

#define gg_mbar_init(off, count)             gg_emu_mbar_init(off, count, __LINE__)
#define gg_mbar_inval(off)                   gg_emu_mbar_inval(off, __LINE__)
#define gg_mbar_arrive(off)                  gg_emu_mbar_arrive(off, -1, __LINE__)
#define gg_mbar_arrive_cluster(off, rank)    gg_emu_mbar_arrive(off, (int)(rank), __LINE__)
#define gg_mbar_expect_tx(off, bytes)        gg_emu_mbar_expect(off, bytes, 0, __LINE__)
#define gg_mbar_arrive_expect_tx(off, bytes) gg_emu_mbar_expect(off, bytes, 1, __LINE__)
#define gg_mbar_wait(off, parity)            gg_emu_mbar_wait(off, parity, __LINE__)
#define gg_mbar_test(off, parity)            gg_emu_mbar_test(off, parity, __LINE__)
#define gg_fence_mbarrier_init()             gg_emu_fence_mbarrier_init(__LINE__)
#define gg_fence_proxy_async()               gg_emu_fence_proxy_async(__LINE__)

/* -- Bulk and tensor copies ------------------------------------------------------------------- */

#define GGD_LOAD_OP(form)   GGD_OP(GGD_TMA_LOAD, form, 16), __LINE__
#define GGD_STORE_OP(form)  GGD_OP(GGD_TMA_STORE, form, 16), __LINE__
#define GGD_REDUCE_OP(form) GGD_OP(GGD_TMA_REDUCE_ADD, form, 16), __LINE__

#define gg_policy_evict_first()    1ull
#define gg_policy_evict_last()     2ull
#define gg_prefetch_tensormap(map) ((void)(map))
#define gg_tma_load_2d(off, map, x, y, mbar)                                                       \
  gg_emu_tma_load(off, map, x, y, 0, 0, mbar, 0, GGD_LOAD_OP(GGD_2D))
#define gg_tma_load_2d_hint(off, map, x, y, mbar, policy)                                          \
  gg_emu_tma_load(off, map, x, y, 0, 0, mbar, 0, GGD_LOAD_OP(GGD_2D))
#define gg_tma_load_2d_multicast(off, map, x, y, mbar, mask)                                       \
  gg_emu_tma_load(off, map, x, y, 0, 0, mbar, mask, GGD_LOAD_OP(GGD_2D))
#define gg_tma_load_2d_multicast_hint(off, map, x, y, mbar, mask, policy)                          \
  gg_emu_tma_load(off, map, x, y, 0, 0, mbar, mask, GGD_LOAD_OP(GGD_2D))
#define gg_tma_store_2d(map, off, x, y) gg_emu_tma_store(map, off, x, y, 0, 0, GGD_STORE_OP(GGD_2D))
#define gg_tma_store_2d_hint(map, off, x, y, policy)                                               \
  gg_emu_tma_store(map, off, x, y, 0, 0, GGD_STORE_OP(GGD_2D))
#define gg_tma_reduce_add_2d(map, off, x, y)                                                       \
  gg_emu_tma_store(map, off, x, y, 0, 0, GGD_REDUCE_OP(GGD_2D))
#define gg_tma_load_3d(off, map, x, y, z, mbar)                                                    \
  gg_emu_tma_load(off, map, x, y, z, 0, mbar, 0, GGD_LOAD_OP(GGD_3D))
#define gg_tma_load_3d_hint(off, map, x, y, z, mbar, policy)                                       \
  gg_emu_tma_load(off, map, x, y, z, 0, mbar, 0, GGD_LOAD_OP(GGD_3D))
#define gg_tma_load_3d_multicast(off, map, x, y, z, mbar, mask)                                    \
  gg_emu_tma_load(off, map, x, y, z, 0, mbar, mask, GGD_LOAD_OP(GGD_3D))
#define gg_tma_load_3d_multicast_hint(off, map, x, y, z, mbar, mask, policy)                       \
  gg_emu_tma_load(off, map, x, y, z, 0, mbar, mask, GGD_LOAD_OP(GGD_3D))
#define gg_tma_store_3d(map, off, x, y, z)                                                         \
  gg_emu_tma_store(map, off, x, y, z, 0, GGD_STORE_OP(GGD_3D))
#define gg_tma_store_3d_hint(map, off, x, y, z, policy)                                            \
  gg_emu_tma_store(map, off, x, y, z, 0, GGD_STORE_OP(GGD_3D))
#define gg_tma_reduce_add_3d(map, off, x, y, z)                                                    \
  gg_emu_tma_store(map, off, x, y, z, 0, GGD_REDUCE_OP(GGD_3D))
#define gg_tma_load_4d(off, map, x, y, z, w, mbar)                                                 \
  gg_emu_tma_load(off, map, x, y, z, w, mbar, 0, GGD_LOAD_OP(GGD_4D))
#define gg_tma_load_4d_hint(off, map, x, y, z, w, mbar, policy)                                    \
  gg_emu_tma_load(off, map, x, y, z, w, mbar, 0, GGD_LOAD_OP(GGD_4D))
#define gg_tma_load_4d_multicast(off, map, x, y, z, w, mbar, mask)                                 \
  gg_emu_tma_load(off, map, x, y, z, w, mbar, mask, GGD_LOAD_OP(GGD_4D))
#define gg_tma_load_4d_multicast_hint(off, map, x, y, z, w, mbar, mask, policy)                    \
  gg_emu_tma_load(off, map, x, y, z, w, mbar, mask, GGD_LOAD_OP(GGD_4D))
#define gg_tma_store_4d(map, off, x, y, z, w)                                                      \
  gg_emu_tma_store(map, off, x, y, z, w, GGD_STORE_OP(GGD_4D))
#define gg_tma_store_4d_hint(map, off, x, y, z, w, policy)                                         \
  gg_emu_tma_store(map, off, x, y, z, w, GGD_STORE_OP(GGD_4D))
#define gg_tma_reduce_add_4d(map, off, x, y, z, w)                                                 \
  gg_emu_tma_store(map, off, x, y, z, w, GGD_REDUCE_OP(GGD_4D))

#define gg_bulk_load(off, p, bytes, mbar) gg_emu_bulk_load(off, p, bytes, mbar, 0, __LINE__)
#define gg_bulk_load_hint(off, p, bytes, mbar, policy)                                             \
  gg_emu_bulk_load(off, p, bytes, mbar, 0, __LINE__)
#define gg_bulk_load_multicast(off, p, bytes, mbar, mask)                                          \
  gg_emu_bulk_load(off, p, bytes, mbar, mask, __LINE__)
#define gg_bulk_store(p, off, bytes) gg_emu_bulk_store(p, off, bytes, __LINE__)
#define gg_bulk_commit()             gg_emu_bulk_commit(__LINE__)
#define gg_bulk_wait_0()             gg_emu_bulk_wait(0, 0, __LINE__)
#define gg_bulk_wait_1()             gg_emu_bulk_wait(1, 0, __LINE__)
#define gg_bulk_wait_2()             gg_emu_bulk_wait(2, 0, __LINE__)
#define gg_bulk_wait_3()             gg_emu_bulk_wait(3, 0, __LINE__)
#define gg_bulk_wait_4()             gg_emu_bulk_wait(4, 0, __LINE__)
#define gg_bulk_wait_5()             gg_emu_bulk_wait(5, 0, __LINE__)
#define gg_bulk_wait_6()             gg_emu_bulk_wait(6, 0, __LINE__)
#define gg_bulk_wait_7()             gg_emu_bulk_wait(7, 0, __LINE__)
#define gg_bulk_wait_read_0()        gg_emu_bulk_wait(0, 1, __LINE__)
#define gg_bulk_wait_read_1()        gg_emu_bulk_wait(1, 1, __LINE__)
#define gg_bulk_wait_read_2()        gg_emu_bulk_wait(2, 1, __LINE__)
#define gg_bulk_wait_read_3()        gg_emu_bulk_wait(3, 1, __LINE__)
#define gg_bulk_wait_read_4()        gg_emu_bulk_wait(4, 1, __LINE__)
#define gg_bulk_wait_read_5()        gg_emu_bulk_wait(5, 1, __LINE__)
#define gg_bulk_wait_read_6()        gg_emu_bulk_wait(6, 1, __LINE__)
#define gg_bulk_wait_read_7()        gg_emu_bulk_wait(7, 1, __LINE__)

/* -- Clusters --------------------------------------------------------------------------------- */

#define gg_cluster_arrive()         gg_emu_cluster_arrive(1, __LINE__)
#define gg_cluster_arrive_relaxed() gg_emu_cluster_arrive(0, __LINE__)
#define gg_cluster_wait()           gg_emu_cluster_wait(__LINE__)
#define gg_cluster_rank()           gg_emu_cluster_rank()
#define gg_cluster_size()           gg_emu_cluster_size()
/* An address in the cluster's shared memory; never 0. */
#define gg_mapa(off, rank) (((unsigned)(rank) + 1) << 24 | (unsigned)(off))

#define GGD_CLUSTER(form, FORM, T, n, bytes)                                                       \
  GGD_LOAD_##n(ggd_ld_cluster_##form, T, unsigned address,                                         \
               gg_emu_ld_cluster(address, GGD_OP(GGD_LD_CLUSTER, FORM, bytes), line))              \
      GGD_STORE_##n(ggd_st_cluster_##form, T, unsigned address,                                    \
                    gg_emu_st_cluster(address, GGD_OP(GGD_ST_CLUSTER, FORM, bytes), line))
GGD_CLUSTER(f32, GGD_F32, float, 1, 4)
GGD_CLUSTER(f32x2, GGD_F32X2, float, 2, 8)
GGD_CLUSTER(f32x4, GGD_F32X4, float, 4, 16)
GGD_CLUSTER(u32, GGD_U32, unsigned, 1, 4)
GGD_CLUSTER(u32x4, GGD_U32X4, unsigned, 4, 16)
#define gg_ld_cluster_f32(x0, address)       ggd_ld_cluster_f32(x0, address, __LINE__)
#define gg_st_cluster_f32(address, x0)       ggd_st_cluster_f32(address, x0, __LINE__)
#define gg_ld_cluster_f32x2(x0, x1, address) ggd_ld_cluster_f32x2(x0, x1, address, __LINE__)
#define gg_st_cluster_f32x2(address, x0, x1) ggd_st_cluster_f32x2(address, x0, x1, __LINE__)
#define gg_ld_cluster_f32x4(x0, x1, x2, x3, address)                                               \
  ggd_ld_cluster_f32x4(x0, x1, x2, x3, address, __LINE__)
#define gg_st_cluster_f32x4(address, x0, x1, x2, x3)                                               \
  ggd_st_cluster_f32x4(address, x0, x1, x2, x3, __LINE__)
#define gg_ld_cluster_u32(x0, address) ggd_ld_cluster_u32(x0, address, __LINE__)
#define gg_st_cluster_u32(address, x0) ggd_st_cluster_u32(address, x0, __LINE__)
#define gg_ld_cluster_u32x4(x0, x1, x2, x3, address)                                               \
  ggd_ld_cluster_u32x4(x0, x1, x2, x3, address, __LINE__)
#define gg_st_cluster_u32x4(address, x0, x1, x2, x3)                                               \
  ggd_st_cluster_u32x4(address, x0, x1, x2, x3, __LINE__)

#define gg_griddepcontrol_wait()              ((void)0)
#define gg_griddepcontrol_launch_dependents() ((void)0)
#define gg_nanosleep(nanoseconds)             ((void)(nanoseconds), gg_emu_nanosleep(__LINE__))

/* -- wgmma ------------------------------------------------------------------------------------ */

#define gg_wgmma_fence()  gg_emu_wgmma_fence(__LINE__)
#define gg_wgmma_commit() gg_emu_wgmma_commit(__LINE__)
#define gg_wgmma_wait_0() gg_emu_wgmma_wait(0, __LINE__)
#define gg_wgmma_wait_1() gg_emu_wgmma_wait(1, __LINE__)
#define gg_wgmma_wait_2() gg_emu_wgmma_wait(2, __LINE__)
#define gg_wgmma_wait_3() gg_emu_wgmma_wait(3, __LINE__)
#define gg_wgmma_wait_4() gg_emu_wgmma_wait(4, __LINE__)
#define gg_wgmma_wait_5() gg_emu_wgmma_wait(5, __LINE__)
#define gg_wgmma_wait_6() gg_emu_wgmma_wait(6, __LINE__)
#define gg_wgmma_wait_7() gg_emu_wgmma_wait(7, __LINE__)

/* layout: 0 none, 1 128-byte, 2 64-byte, 3 32-byte swizzle; lbo, sbo in bytes. */
GGD_INLINE ggd_u64 gg_wgmma_desc(unsigned off, unsigned lbo, unsigned sbo, unsigned layout) {
  return (ggd_u64)(off >> 4 & 0x3fff) | (ggd_u64)(lbo >> 4 & 0x3fff) << 16 |
         (ggd_u64)(sbo >> 4 & 0x3fff) << 32 | (ggd_u64)layout << 62;
}

/* trans: 1 A, 2 B lie MN-major. */
#define GGD_WG(n, type, trans) ((unsigned)(n) | (unsigned)(type) << 16 | (unsigned)(trans) << 24)
#define GGD_SS(acc, n, type, trans, d, a, b, scale)                                                \
  gg_emu_wgmma_##acc(d, 0, a, b, scale, GGD_WG(n, GGD_T_##type, trans), __LINE__)
#define GGD_RS(acc, n, type, trans, d, a, b, scale)                                                \
  gg_emu_wgmma_##acc(d, a, 0, b, scale, GGD_WG(n, GGD_T_##type, trans), __LINE__)

/* -- wmma ------------------------------------------------------------------------------------- */

/* shape: 0 m16n16k16, 1 m32n8k16, 2 m8n32k16, 3 m16n16k8, 4 m8n8k4; type: ggd_type, of accumulators
 * 0 f32, 1 f16, 2 s32, 3 f64; role: 0 A, 1 B, 2 C or D; col: 1. Of a product: col of A, col of B,
 * accumulators. */
#define GGD_WMMA(shape, type, role, col)                                                           \
  ((unsigned)(shape) | (unsigned)(type) << 4 | (unsigned)(role) << 8 | (unsigned)(col) << 10)
#define GGD_WMMA_S(r, off, ld, shape, type, role, col)                                             \
  gg_emu_wmma_load(r, 0, off, ld, GGD_WMMA(shape, type, role, col), __LINE__)
#define GGD_WMMA_G(r, p, ld, shape, type, role, col)                                               \
  gg_emu_wmma_load(r, p, 0, ld, GGD_WMMA(shape, type, role, col), __LINE__)
#define GGD_WMMA_SS(off, r, ld, shape, type, col)                                                  \
  gg_emu_wmma_store(0, off, r, ld, GGD_WMMA(shape, type, 2, col), __LINE__)
#define GGD_WMMA_GS(p, r, ld, shape, type, col)                                                    \
  gg_emu_wmma_store(p, 0, r, ld, GGD_WMMA(shape, type, 2, col), __LINE__)
#define GGD_WMMA_MMA(d, a, b, shape, type, acc, cols)                                              \
  gg_emu_wmma_mma(d, a, b, GGD_WMMA(shape, type, 0, cols) | (unsigned)(acc) << 12, __LINE__)
#define GGD_WMMA_F64(d, a, b, cols)                                                                \
  gg_emu_wmma_f64(d, a, b, GGD_WMMA(4, 3, 0, cols) | 3u << 12, __LINE__)

/* setmaxnreg, wgmma and wmma, a line for each name. */
#include "gg_emu_names_narrow.h"
#include "gg_emu_names_wmma.h"
#include "gg_emu_names_wide.h"

#endif
