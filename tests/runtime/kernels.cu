// kernels.cu - plain kernels for the tests of the library, one element of D a thread, 16 x 16 a
// block. One source for both backends, in the dialect of emitted kernels:
//   nvcc kernels.cu,   or   cc -x c -DGEMMGEN_EMULATE -include gg_emu_device.h kernels.cu
#include "gg_kernel.h"

#ifndef GEMMGEN_EMULATE
static __device__ __forceinline__ void gg_ldg_f32(float *x, const float *p) { *x = *p; }
static __device__ __forceinline__ void gg_ldg_f64(double *x, const double *p) { *x = *p; }
static __device__ __forceinline__ void gg_st_f32(float *p, float x) { *p = x; }
static __device__ __forceinline__ void gg_st_f64(double *p, double x) { *p = x; }
static __device__ __forceinline__ float gg_mul_f32(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ double gg_mul_f64(double a, double b) { return __dmul_rn(a, b); }
#define gg_ld_f32 gg_ldg_f32
#define gg_ld_f64 gg_ldg_f64
#endif

#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif

// A is read at row * A_ROW + x * A_STEP, B at x * B_STEP + column * B_COLUMN.
#define KERNEL(NAME, T, t, FMA, A_ROW, A_STEP, B_STEP, B_COLUMN)                                   \
  LINKAGE __global__ void NAME(const __grid_constant__ gg_args p) {                                \
    const gg_i64 tiles_n = (p.n + 15) / 16, tiles = (p.m + 15) / 16 * tiles_n;                     \
    const gg_i64 batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;                            \
    const gg_i64 row = tile / tiles_n * 16 + threadIdx.x / 16;                                     \
    const gg_i64 column = tile % tiles_n * 16 + threadIdx.x % 16;                                  \
    if (row >= p.m || column >= p.n) return;                                                       \
    const T *ga = (const T *)p.a + batch * p.stride_a + row * A_ROW;                               \
    const T *gb = (const T *)p.b + batch * p.stride_b + column * B_COLUMN;                         \
    T sum = 0;                                                                                     \
    gg_i64 k = p.alpha.t == 0 ? 0 : p.k;                                                           \
    for (gg_i64 x = 0; x < k; ++x) {                                                               \
      T a, b;                                                                                      \
      gg_ldg_##t(&a, ga + x * A_STEP);                                                             \
      gg_ldg_##t(&b, gb + x * B_STEP);                                                             \
      sum = FMA(a, b, sum);                                                                        \
    }                                                                                              \
    sum = gg_mul_##t(p.alpha.t, sum);                                                              \
    if (p.beta.t != 0) {                                                                           \
      T c;                                                                                         \
      gg_ld_##t(&c, (const T *)p.c + batch * p.stride_c + row * p.ldc + column);                   \
      sum = FMA(p.beta.t, c, sum);                                                                 \
    }                                                                                              \
    gg_st_##t((T *)p.d + batch * p.stride_d + row * p.ldd + column, sum);                          \
  }

KERNEL(test_f32_nn, float, f32, fmaf, p.lda, 1, p.ldb, 1)
KERNEL(test_f32_tn, float, f32, fmaf, 1, p.lda, p.ldb, 1)
KERNEL(test_f32_nt, float, f32, fmaf, p.lda, 1, 1, p.ldb)
KERNEL(test_f64_nn, double, f64, fma, p.lda, 1, p.ldb, 1)
