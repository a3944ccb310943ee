// kernels_tma.cu - a product whose operands come and go through the four tensor maps of a call, for
// the tests of the library: 16 x 16 of D a block, 8 of k a stage, one tile after the other, blocks in
// clusters. sm_90. One source for both backends, see kernels.cu.
#include "gg_kernel.h"

#ifndef GEMMGEN_EMULATE
extern __shared__ __align__(1024) unsigned char buffer[];
static __device__ __forceinline__ unsigned at(unsigned off) {
  return (unsigned)__cvta_generic_to_shared(buffer) + off;
}
static __device__ __forceinline__ void gg_lds_f32(float *x, unsigned off) {
  *x = *(const float *)(buffer + off);
}
static __device__ __forceinline__ void gg_sts_f32(unsigned off, float x) {
  *(float *)(buffer + off) = x;
}
static __device__ __forceinline__ float gg_mul_f32(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ void gg_syncthreads(void) { __syncthreads(); }
static __device__ __forceinline__ unsigned gg_cluster_size(void) {
  unsigned n;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(n));
  return n;
}
static __device__ __forceinline__ void gg_mbar_init(unsigned off, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(off)), "r"(count) : "memory");
}
static __device__ __forceinline__ void gg_fence_mbarrier_init(void) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void gg_fence_proxy_async(void) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
static __device__ __forceinline__ void gg_mbar_arrive_expect_tx(unsigned off, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(off)), "r"(bytes)
               : "memory");
}
static __device__ __forceinline__ void gg_mbar_wait(unsigned off, unsigned parity) {
  asm volatile("{\n.reg .pred done;\n"
               "again%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again%=;\n}" ::"r"(at(off)),
               "r"(parity)
               : "memory");
}
static __device__ __forceinline__ void gg_tma_load_3d(unsigned off, const void *map, int x, int y,
                                                      int z, unsigned mbar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
               "[%1, {%2, %3, %4}], [%5];" ::"r"(at(off)),
               "l"(map), "r"(x), "r"(y), "r"(z), "r"(at(mbar))
               : "memory");
}
static __device__ __forceinline__ void gg_tma_store_3d(const void *map, unsigned off, int x, int y,
                                                       int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::
                   "l"(map),
               "r"(x), "r"(y), "r"(z), "r"(at(off))
               : "memory");
}
static __device__ __forceinline__ void gg_bulk_commit(void) {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ __forceinline__ void gg_bulk_wait_0(void) {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif

// Shared memory: A 16 rows of 32 B, swizzled by 32; B 8 rows of 64 B, swizzled by 64; C and D 16 rows
// of 64 B; the barrier.
#define AT_A 0
#define AT_B 512
#define AT_C 1024
#define AT_D 2048
#define AT_BARRIER 3072

#define KERNEL(NAME, CM, CN)                                                                       \
  LINKAGE __global__ void NAME(const __grid_constant__ gg_args p) {                                \
    const int thread = (int)threadIdx.x, i = thread / 16, j = thread % 16;                         \
    const gg_i64 clusters_n = ((p.n + 15) / 16 + CN - 1) / CN;                                     \
    const gg_i64 matrix = ((p.m + 15) / 16 + CM - 1) / CM * clusters_n;                            \
    const int rank = (int)(blockIdx.x % (CM * CN));                                                \
    unsigned phase = 0;                                                                            \
    if (gg_cluster_size() != CM * CN) return;                                                      \
    if (thread == 0) {                                                                             \
      gg_mbar_init(AT_BARRIER, 1);                                                                 \
      gg_fence_mbarrier_init();                                                                    \
    }                                                                                              \
    gg_syncthreads();                                                                              \
    for (gg_i64 c = blockIdx.x / (CM * CN); c < matrix * p.batch; c += gridDim.x / (CM * CN)) {    \
      const int batch = (int)(c / matrix);                                                         \
      const int row = (int)((c % matrix / clusters_n * CM + rank / CN) * 16);                      \
      const int column = (int)((c % clusters_n * CN + rank % CN) * 16);                            \
      float sum = 0, value = 0;                                                                    \
      const int k = p.alpha.f32 == 0 ? 0 : (int)p.k;                                               \
      for (int x = 0; x < k; x += 8) {                                                             \
        if (thread == 0) {                                                                         \
          gg_mbar_arrive_expect_tx(AT_BARRIER, 1024);                                              \
          gg_tma_load_3d(AT_A, &p.map_a, x, row, batch * (p.stride_a != 0), AT_BARRIER);           \
          gg_tma_load_3d(AT_B, &p.map_b, column, x, batch * (p.stride_b != 0), AT_BARRIER);        \
        }                                                                                          \
        gg_mbar_wait(AT_BARRIER, phase);                                                           \
        phase ^= 1;                                                                                \
        for (int step = 0; step < 8; ++step) {                                                     \
          const unsigned a_at = (unsigned)(AT_A + 32 * i + 4 * step);                              \
          const unsigned b_at = (unsigned)(AT_B + 64 * step + 4 * j);                              \
          float a, b;                                                                              \
          gg_lds_f32(&a, a_at ^ (a_at >> 7 & 1) << 4);                                             \
          gg_lds_f32(&b, b_at ^ (b_at >> 7 & 3) << 4);                                             \
          sum = fmaf(a, b, sum);                                                                   \
        }                                                                                          \
        gg_syncthreads();                                                                          \
      }                                                                                            \
      sum = gg_mul_f32(p.alpha.f32, sum);                                                          \
      if (p.beta.f32 != 0) {                                                                       \
        if (thread == 0) {                                                                         \
          gg_mbar_arrive_expect_tx(AT_BARRIER, 1024);                                              \
          gg_tma_load_3d(AT_C, &p.map_c, column, row, batch * (p.stride_c != 0), AT_BARRIER);      \
        }                                                                                          \
        gg_mbar_wait(AT_BARRIER, phase);                                                           \
        phase ^= 1;                                                                                \
        gg_lds_f32(&value, (unsigned)(AT_C + 64 * i + 4 * j));                                     \
        sum = fmaf(p.beta.f32, value, sum);                                                        \
      }                                                                                            \
      gg_sts_f32((unsigned)(AT_D + 64 * i + 4 * j), sum);                                          \
      gg_fence_proxy_async();                                                                      \
      gg_syncthreads();                                                                            \
      if (thread == 0) {                                                                           \
        gg_tma_store_3d(&p.map_d, AT_D, column, row, batch * (p.stride_d != 0));                   \
        gg_bulk_commit();                                                                          \
        gg_bulk_wait_0();                                                                          \
      }                                                                                            \
      gg_syncthreads();                                                                            \
    }                                                                                              \
  }

KERNEL(test_tma_1x1, 1, 1)
KERNEL(test_tma_2x1, 2, 1)
KERNEL(test_tma_2x2, 2, 2)
