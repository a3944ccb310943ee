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
static __device__ __forceinline__ void gg_red_max_u32(unsigned *p, unsigned x) { atomicMax(p, x); }
static __device__ __forceinline__ unsigned gg_as_u32(float x) { return __float_as_uint(x); }
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

// Copies of REPACK rows, f32. TO: the place of element (row, column) of the source in the copy; LAST:
// is it the last of a row of the copy, which AT it is in, so that zeros fill up 16 bytes?
#define COPY(NAME, TO, LAST, AT)                                                                   \
  LINKAGE __global__ void NAME(const __grid_constant__ gg_args p) {                                \
    const gg_i64 tiles_n = (p.n + 15) / 16, tiles = (p.m + 15) / 16 * tiles_n;                     \
    const gg_i64 batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;                            \
    const gg_i64 row = tile / tiles_n * 16 + threadIdx.x / 16;                                     \
    const gg_i64 column = tile % tiles_n * 16 + threadIdx.x % 16;                                  \
    if (row >= p.m || column >= p.n) return;                                                       \
    float x;                                                                                       \
    gg_ldg_f32(&x, (const float *)p.a + batch * p.stride_a + row * p.lda + column);                \
    float *to = (float *)p.d + batch * p.stride_d + (TO);                                          \
    gg_st_f32(to, x);                                                                              \
    for (gg_i64 i = (AT) + 1; (LAST) && i % 4 != 0; ++i) {                                         \
      to = to + 1;                                                                                 \
      gg_st_f32(to, 0.0f);                                                                         \
    }                                                                                              \
  }

COPY(test_copy_f32, row * p.ldd + column, column == p.n - 1, column)
COPY(test_turn_f32, column * p.ldd + row, row == p.m - 1, row)

// A reduction of parts of k, f32: alpha and beta.
LINKAGE __global__ void test_reduce_f32(const __grid_constant__ gg_args p) {
  const gg_i64 tiles_n = (p.n + 15) / 16;
  const gg_i64 row = blockIdx.x / tiles_n * 16 + threadIdx.x / 16;
  const gg_i64 column = blockIdx.x % tiles_n * 16 + threadIdx.x % 16;
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (gg_i64 part = 0; p.alpha.f32 != 0 && part < p.k; ++part) {
    float x;
    gg_ldg_f32(&x, (const float *)p.b + part * p.stride_b + row * p.ldb + column);
    sum += x;
  }
  sum = gg_mul_f32(p.alpha.f32, sum);
  if (p.beta.f32 != 0) {
    float c;
    gg_ld_f32(&c, (const float *)p.c + row * p.ldc + column);
    sum = fmaf(p.beta.f32, c, sum);
  }
  gg_st_f32((float *)p.d + row * p.ldd + column, sum);
}

// Every step of the epilogue but activations with an exponential: f32, nn, beta 0 or not.
//   SCALE_A, SCALE_B: how the scale of 128 elements of k, or of all, is found
//   BIAS: row or column
#define STEPS(NAME, SCALE_A, SCALE_B, BIAS)                                                        \
  LINKAGE __global__ void NAME(const __grid_constant__ gg_args p) {                                \
    const gg_i64 tiles_n = (p.n + 15) / 16, tiles = (p.m + 15) / 16 * tiles_n;                     \
    const gg_i64 batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;                            \
    const gg_i64 row = tile / tiles_n * 16 + threadIdx.x / 16;                                     \
    const gg_i64 column = tile % tiles_n * 16 + threadIdx.x % 16;                                  \
    if (row >= p.m || column >= p.n) return;                                                       \
    const gg_i64 kb = (p.k + 127) / 128, mb = (p.m + 127) / 128;                                   \
    const float *ga = (const float *)p.a + batch * p.stride_a + row * p.lda;                       \
    const float *gb = (const float *)p.b + batch * p.stride_b + column;                            \
    float sum = 0, value;                                                                          \
    for (gg_i64 g = 0; g < kb; ++g) {                                                              \
      float part = 0, sa, sb;                                                                      \
      for (gg_i64 x = 128 * g; p.alpha.f32 != 0 && x < p.k && x < 128 * g + 128; ++x) {            \
        float a, b;                                                                                \
        gg_ldg_f32(&a, ga + x);                                                                    \
        gg_ldg_f32(&b, gb + x * p.ldb);                                                            \
        part = fmaf(a, b, part);                                                                   \
      }                                                                                            \
      gg_ldg_f32(&sa, (const float *)p.scale_a + (SCALE_A));                                       \
      gg_ldg_f32(&sb, (const float *)p.scale_b + (SCALE_B));                                       \
      sum = fmaf(gg_mul_f32(sa, sb), part, sum);                                                   \
    }                                                                                              \
    sum = gg_mul_f32(p.alpha.f32, sum);                                                            \
    if (p.beta.f32 != 0) {                                                                         \
      gg_ld_f32(&value, (const float *)p.c + batch * p.stride_c + row * p.ldc + column);           \
      sum = fmaf(p.beta.f32, value, sum);                                                          \
    }                                                                                              \
    gg_ldg_f32(&value, (const float *)p.bias + batch * p.stride_bias + (BIAS));                    \
    sum = fmaf(1.0f, sum, value);                                                                  \
    sum = sum < 0 ? 0 : sum;                                                                       \
    gg_ld_f32(&value, (const float *)p.residual + batch * p.stride_residual +                      \
                          row * p.ld_residual + column);                                           \
    sum = fmaf(1.0f, sum, value);                                                                  \
    gg_red_max_u32((unsigned *)p.absmax, gg_as_u32(sum < 0 ? -sum : sum));                         \
    gg_ldg_f32(&value, (const float *)p.scale_d);                                                  \
    gg_st_f32((float *)p.d + batch * p.stride_d + row * p.ldd + column, gg_mul_f32(sum, value));   \
    (void)mb;                                                                                      \
  }

STEPS(test_f32_vector_group_n, batch * p.m + row, (batch * kb + g) * p.n + column, column)
STEPS(test_f32_block_tensor_m, (batch * kb + g) * mb + row / 128, 0, row)
