/* gg_emu_device.h - device side of the emulated GPU: the primitives of docs/primitives.md.
 *
 * An emitted kernel is compiled for the emulated GPU with
 *   cc -x c -std=gnu11 -O1 -ftree-slp-vectorize -mfma -ffp-contract=off -Wno-unknown-pragmas
 *      -Wno-psabi -DGEMMGEN_EMULATE -include gg_emu_device.h -c k.cu
 * and linked with gemmgen_emu and libm. -mfma is for x86-64 processors that have FMA: without it
 * fmaf is a library call, slower and equal to the bit. Vectors of fmaf leave less work to gcc's
 * register allocator: a fully unrolled kernel of 2200 lines takes gcc 12 about 0.4 s with
 * -ftree-slp-vectorize and 1.3 s without; clang 14 takes 0.5 s either way.
 *
 * Each primitive is a macro that adds its source line to a small inline function. The function asks
 * the library for a checked address and moves the values itself: addresses of a kernel's scalars
 * never reach an opaque call, so they stay in registers. A refused access reads 0xFF bytes (NaN)
 * and writes to nowhere.
 *
 * Valid C11 and C++11 for gcc and clang. Includes nothing, and defines none of gg_kernel.h's names.
 */
#ifndef GG_EMU_DEVICE_H
#define GG_EMU_DEVICE_H

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)

#ifdef __cplusplus
#define GGD_NOTHROW noexcept
extern "C" {
#else
#define GGD_NOTHROW
#endif

typedef struct ggd_uint3 {
  unsigned x, y, z;
} ggd_uint3;

/* Which primitive: what it does, its form, bytes per lane. ORDER OP (emu/report.c). */
#define GGD_OP(does, form, bytes)                                                                  \
  ((unsigned)(does) << 16 | (unsigned)(form) << 8 | (unsigned)(bytes))

typedef enum ggd_does {
  GGD_LDS,
  GGD_STS,
  GGD_LDG,
  GGD_LD,
  GGD_ST,
  GGD_CP_ASYNC,
  GGD_CP_ASYNC_ZFILL,
  GGD_LDMATRIX,
  GGD_STMATRIX,
  GGD_LD_CLUSTER,
  GGD_ST_CLUSTER,
  GGD_RED_MAX,
  GGD_TMA_LOAD,
  GGD_BULK_LOAD,
  GGD_TMA_STORE,
  GGD_TMA_REDUCE_ADD,
  GGD_BULK_STORE,
  GGD_MBAR,
  GGD_WGMMA,
  GGD_WMMA_LOAD,
  GGD_WMMA_STORE
} ggd_does;

typedef enum ggd_form {
  GGD_F32,
  GGD_F32X2,
  GGD_F32X4,
  GGD_F64,
  GGD_F64X2,
  GGD_4,
  GGD_8,
  GGD_16,
  GGD_U8,
  GGD_U16,
  GGD_U32,
  GGD_U32X2,
  GGD_U32X4,
  GGD_X1,
  GGD_X2,
  GGD_X4,
  GGD_X1_TRANS,
  GGD_X2_TRANS,
  GGD_X4_TRANS,
  GGD_1D,
  GGD_2D,
  GGD_3D,
  GGD_4D,
  GGD_5D,
  GGD_PLAIN
} ggd_form;

/* Operand types of wgmma (emu/wgmma.c) and wmma (emu/wmma.c). */
typedef enum ggd_type {
  GGD_T_BF16,
  GGD_T_F16,
  GGD_T_TF32,
  GGD_T_E4M3,
  GGD_T_E5M2,
  GGD_T_S8,
  GGD_T_U8,
  GGD_T_E4M3_E5M2,
  GGD_T_E5M2_E4M3,
  GGD_T_S8_U8,
  GGD_T_U8_S8
} ggd_type;

typedef unsigned long long ggd_u64;

/* Constant during a thread's life. */
const ggd_uint3 *gg_emu_thread_idx(void) __attribute__((const));
const ggd_uint3 *gg_emu_block_idx(void) __attribute__((const));
const ggd_uint3 *gg_emu_block_dim(void) __attribute__((const));
const ggd_uint3 *gg_emu_grid_dim(void) __attribute__((const));
#define threadIdx (*gg_emu_thread_idx())
#define blockIdx  (*gg_emu_block_idx())
#define blockDim  (*gg_emu_block_dim())
#define gridDim   (*gg_emu_grid_dim())

/* Each returns where to read or write now; the address holds until the next call. */
const void *gg_emu_lds(unsigned off, unsigned op, int line);
void *gg_emu_sts(unsigned off, unsigned op, int line);
const void *gg_emu_ldg(const void *p, unsigned op, int line);
const void *gg_emu_ld(const void *p, unsigned op, int line);
void *gg_emu_st(void *p, unsigned op, int line);

/* `bytes` of the op's width are read, the rest is zero. */
void gg_emu_cp_async(unsigned off, const void *p, int bytes, unsigned op, int line);
void gg_emu_cp_async_commit(int line);
void gg_emu_cp_async_wait(int groups, int line);

void gg_emu_syncthreads(int line);
void gg_emu_syncwarp(int line);
void gg_emu_grid_wait(int line);
void gg_emu_grid_release(int line);
void gg_emu_bar_sync(int id, int threads, int line);
void gg_emu_bar_arrive(int id, int threads, int line);

unsigned gg_emu_cvt_bf16x2(float lo, float hi) __attribute__((const));
unsigned gg_emu_cvt_f16x2(float lo, float hi) __attribute__((const));
unsigned gg_emu_cvt_e4m3(float x) __attribute__((const));
unsigned gg_emu_cvt_e5m2(float x) __attribute__((const));
unsigned gg_emu_cvt_tf32(float x) __attribute__((const));
int gg_emu_cvt_integer(float x, int least, int most) __attribute__((const));
float gg_emu_unpack(unsigned x, int format) __attribute__((const));
float gg_emu_nan(float x) __attribute__((const));
unsigned gg_emu_prmt(unsigned a, unsigned b, unsigned selector) __attribute__((const));

float fmaf(float, float, float) GGD_NOTHROW;
double fma(double, double, double) GGD_NOTHROW;

#ifdef __cplusplus
}
#endif

#define GGD_INLINE static inline __attribute__((always_inline, unused))

/* -- Loads and stores ------------------------------------------------------------------------- */

/* One, two or four values of type T from where `source` says. */
#define GGD_LOAD_1(name, T, where, source)                                                         \
  GGD_INLINE void name(T *x0, where, int line) {                                                   \
    const T *at = (const T *)source;                                                               \
    *x0 = at[0];                                                                                   \
  }
#define GGD_LOAD_2(name, T, where, source)                                                         \
  GGD_INLINE void name(T *x0, T *x1, where, int line) {                                            \
    const T *at = (const T *)source;                                                               \
    *x0 = at[0];                                                                                   \
    *x1 = at[1];                                                                                   \
  }
#define GGD_LOAD_4(name, T, where, source)                                                         \
  GGD_INLINE void name(T *x0, T *x1, T *x2, T *x3, where, int line) {                              \
    const T *at = (const T *)source;                                                               \
    *x0 = at[0];                                                                                   \
    *x1 = at[1];                                                                                   \
    *x2 = at[2];                                                                                   \
    *x3 = at[3];                                                                                   \
  }
#define GGD_STORE_1(name, T, where, target)                                                        \
  GGD_INLINE void name(where, T x0, int line) {                                                    \
    T *at = (T *)target;                                                                           \
    at[0] = x0;                                                                                    \
  }
#define GGD_STORE_2(name, T, where, target)                                                        \
  GGD_INLINE void name(where, T x0, T x1, int line) {                                              \
    T *at = (T *)target;                                                                           \
    at[0] = x0;                                                                                    \
    at[1] = x1;                                                                                    \
  }
#define GGD_STORE_4(name, T, where, target)                                                        \
  GGD_INLINE void name(where, T x0, T x1, T x2, T x3, int line) {                                  \
    T *at = (T *)target;                                                                           \
    at[0] = x0;                                                                                    \
    at[1] = x1;                                                                                    \
    at[2] = x2;                                                                                    \
    at[3] = x3;                                                                                    \
  }

/* The five accesses of one form: n values of T. */
#define GGD_FORM(form, FORM, T, n, bytes)                                                          \
  GGD_LOAD_##n(ggd_lds_##form, T, unsigned off,                                                    \
               gg_emu_lds(off, GGD_OP(GGD_LDS, FORM, bytes),                                       \
                          line)) GGD_LOAD_##n(ggd_ldg_##form, T, const T *p,                       \
                                              gg_emu_ldg(p, GGD_OP(GGD_LDG, FORM, bytes), line))   \
      GGD_LOAD_##n(ggd_ld_##form, T, const T *p, gg_emu_ld(p, GGD_OP(GGD_LD, FORM, bytes), line))  \
          GGD_STORE_##n(ggd_sts_##form, T, unsigned off,                                           \
                        gg_emu_sts(off, GGD_OP(GGD_STS, FORM, bytes), line))                       \
              GGD_STORE_##n(ggd_st_##form, T, T *p,                                                \
                            gg_emu_st(p, GGD_OP(GGD_ST, FORM, bytes), line))

GGD_FORM(f32, GGD_F32, float, 1, 4)
GGD_FORM(f32x2, GGD_F32X2, float, 2, 8)
GGD_FORM(f32x4, GGD_F32X4, float, 4, 16)
GGD_FORM(f64, GGD_F64, double, 1, 8)
GGD_FORM(f64x2, GGD_F64X2, double, 2, 16)
GGD_FORM(u8, GGD_U8, unsigned char, 1, 1)
GGD_FORM(u16, GGD_U16, unsigned short, 1, 2)
GGD_FORM(u32, GGD_U32, unsigned, 1, 4)
GGD_FORM(u32x2, GGD_U32X2, unsigned, 2, 8)
GGD_FORM(u32x4, GGD_U32X4, unsigned, 4, 16)

#define gg_lds_f32(x0, off)               ggd_lds_f32(x0, off, __LINE__)
#define gg_lds_f32x2(x0, x1, off)         ggd_lds_f32x2(x0, x1, off, __LINE__)
#define gg_lds_f32x4(x0, x1, x2, x3, off) ggd_lds_f32x4(x0, x1, x2, x3, off, __LINE__)
#define gg_lds_f64(x0, off)               ggd_lds_f64(x0, off, __LINE__)
#define gg_lds_f64x2(x0, x1, off)         ggd_lds_f64x2(x0, x1, off, __LINE__)

#define gg_sts_f32(off, x0)               ggd_sts_f32(off, x0, __LINE__)
#define gg_sts_f32x2(off, x0, x1)         ggd_sts_f32x2(off, x0, x1, __LINE__)
#define gg_sts_f32x4(off, x0, x1, x2, x3) ggd_sts_f32x4(off, x0, x1, x2, x3, __LINE__)
#define gg_sts_f64(off, x0)               ggd_sts_f64(off, x0, __LINE__)
#define gg_sts_f64x2(off, x0, x1)         ggd_sts_f64x2(off, x0, x1, __LINE__)

#define gg_ldg_f32(x0, p)               ggd_ldg_f32(x0, p, __LINE__)
#define gg_ldg_f32x2(x0, x1, p)         ggd_ldg_f32x2(x0, x1, p, __LINE__)
#define gg_ldg_f32x4(x0, x1, x2, x3, p) ggd_ldg_f32x4(x0, x1, x2, x3, p, __LINE__)
#define gg_ldg_f64(x0, p)               ggd_ldg_f64(x0, p, __LINE__)
#define gg_ldg_f64x2(x0, x1, p)         ggd_ldg_f64x2(x0, x1, p, __LINE__)

#define gg_ld_f32(x0, p)               ggd_ld_f32(x0, p, __LINE__)
#define gg_ld_f32x2(x0, x1, p)         ggd_ld_f32x2(x0, x1, p, __LINE__)
#define gg_ld_f32x4(x0, x1, x2, x3, p) ggd_ld_f32x4(x0, x1, x2, x3, p, __LINE__)
#define gg_ld_f64(x0, p)               ggd_ld_f64(x0, p, __LINE__)
#define gg_ld_f64x2(x0, x1, p)         ggd_ld_f64x2(x0, x1, p, __LINE__)

#define gg_st_f32(p, x0)               ggd_st_f32(p, x0, __LINE__)
#define gg_st_f32x2(p, x0, x1)         ggd_st_f32x2(p, x0, x1, __LINE__)
#define gg_st_f32x4(p, x0, x1, x2, x3) ggd_st_f32x4(p, x0, x1, x2, x3, __LINE__)
#define gg_st_f64(p, x0)               ggd_st_f64(p, x0, __LINE__)
#define gg_st_f64x2(p, x0, x1)         ggd_st_f64x2(p, x0, x1, __LINE__)

#define gg_lds_u8(x0, off)                ggd_lds_u8(x0, off, __LINE__)
#define gg_lds_u16(x0, off)               ggd_lds_u16(x0, off, __LINE__)
#define gg_lds_u32(x0, off)               ggd_lds_u32(x0, off, __LINE__)
#define gg_lds_u32x2(x0, x1, off)         ggd_lds_u32x2(x0, x1, off, __LINE__)
#define gg_lds_u32x4(x0, x1, x2, x3, off) ggd_lds_u32x4(x0, x1, x2, x3, off, __LINE__)

#define gg_sts_u8(off, x0)                ggd_sts_u8(off, x0, __LINE__)
#define gg_sts_u16(off, x0)               ggd_sts_u16(off, x0, __LINE__)
#define gg_sts_u32(off, x0)               ggd_sts_u32(off, x0, __LINE__)
#define gg_sts_u32x2(off, x0, x1)         ggd_sts_u32x2(off, x0, x1, __LINE__)
#define gg_sts_u32x4(off, x0, x1, x2, x3) ggd_sts_u32x4(off, x0, x1, x2, x3, __LINE__)

#define gg_ldg_u8(x0, p)                ggd_ldg_u8(x0, p, __LINE__)
#define gg_ldg_u16(x0, p)               ggd_ldg_u16(x0, p, __LINE__)
#define gg_ldg_u32(x0, p)               ggd_ldg_u32(x0, p, __LINE__)
#define gg_ldg_u32x2(x0, x1, p)         ggd_ldg_u32x2(x0, x1, p, __LINE__)
#define gg_ldg_u32x4(x0, x1, x2, x3, p) ggd_ldg_u32x4(x0, x1, x2, x3, p, __LINE__)

#define gg_ld_u8(x0, p)                ggd_ld_u8(x0, p, __LINE__)
#define gg_ld_u16(x0, p)               ggd_ld_u16(x0, p, __LINE__)
#define gg_ld_u32(x0, p)               ggd_ld_u32(x0, p, __LINE__)
#define gg_ld_u32x2(x0, x1, p)         ggd_ld_u32x2(x0, x1, p, __LINE__)
#define gg_ld_u32x4(x0, x1, x2, x3, p) ggd_ld_u32x4(x0, x1, x2, x3, p, __LINE__)

#define gg_st_u8(p, x0)                ggd_st_u8(p, x0, __LINE__)
#define gg_st_u16(p, x0)               ggd_st_u16(p, x0, __LINE__)
#define gg_st_u32(p, x0)               ggd_st_u32(p, x0, __LINE__)
#define gg_st_u32x2(p, x0, x1)         ggd_st_u32x2(p, x0, x1, __LINE__)
#define gg_st_u32x4(p, x0, x1, x2, x3) ggd_st_u32x4(p, x0, x1, x2, x3, __LINE__)

/* -- Asynchronous copies ---------------------------------------------------------------------- */

#define gg_cp_async_4(off, p) gg_emu_cp_async(off, p, 4, GGD_OP(GGD_CP_ASYNC, GGD_4, 4), __LINE__)
#define gg_cp_async_8(off, p) gg_emu_cp_async(off, p, 8, GGD_OP(GGD_CP_ASYNC, GGD_8, 8), __LINE__)
#define gg_cp_async_16(off, p)                                                                     \
  gg_emu_cp_async(off, p, 16, GGD_OP(GGD_CP_ASYNC, GGD_16, 16), __LINE__)

#define gg_cp_async_zfill_4(off, p, bytes)                                                         \
  gg_emu_cp_async(off, p, bytes, GGD_OP(GGD_CP_ASYNC_ZFILL, GGD_4, 4), __LINE__)
#define gg_cp_async_zfill_8(off, p, bytes)                                                         \
  gg_emu_cp_async(off, p, bytes, GGD_OP(GGD_CP_ASYNC_ZFILL, GGD_8, 8), __LINE__)
#define gg_cp_async_zfill_16(off, p, bytes)                                                        \
  gg_emu_cp_async(off, p, bytes, GGD_OP(GGD_CP_ASYNC_ZFILL, GGD_16, 16), __LINE__)

#define gg_cp_async_commit() gg_emu_cp_async_commit(__LINE__)
#define gg_cp_async_wait_0() gg_emu_cp_async_wait(0, __LINE__)
#define gg_cp_async_wait_1() gg_emu_cp_async_wait(1, __LINE__)
#define gg_cp_async_wait_2() gg_emu_cp_async_wait(2, __LINE__)
#define gg_cp_async_wait_3() gg_emu_cp_async_wait(3, __LINE__)
#define gg_cp_async_wait_4() gg_emu_cp_async_wait(4, __LINE__)
#define gg_cp_async_wait_5() gg_emu_cp_async_wait(5, __LINE__)
#define gg_cp_async_wait_6() gg_emu_cp_async_wait(6, __LINE__)
#define gg_cp_async_wait_7() gg_emu_cp_async_wait(7, __LINE__)

/* -- Barriers --------------------------------------------------------------------------------- */

#define gg_syncthreads()           gg_emu_syncthreads(__LINE__)
#define gg_syncwarp()              gg_emu_syncwarp(__LINE__)
#define gg_grid_wait()             gg_emu_grid_wait(__LINE__)
#define gg_grid_release()          gg_emu_grid_release(__LINE__)
#define gg_bar_sync(id, threads)   gg_emu_bar_sync(id, threads, __LINE__)
#define gg_bar_arrive(id, threads) gg_emu_bar_arrive(id, threads, __LINE__)

GGD_INLINE unsigned gg_as_u32(float x) {
  union {
    float f;
    unsigned u;
  } v;
  v.f = x;
  return v.u;
}
GGD_INLINE float gg_as_f32(unsigned x) {
  union {
    float f;
    unsigned u;
  } v;
  v.u = x;
  return v.f;
}
/* Arithmetic in f32 gives one NaN on a GPU: see gg_emu_options.keep_nan. */
GGD_INLINE float ggd_one_nan(float x) {
  return x == x ? x : gg_emu_nan(x);
}

/* -- Arithmetic that never fuses, whatever -ffp-contract says ---------------------------------- */

#if defined(__x86_64__)
#define GGD_ROUNDED(x) __asm__("" : "+x"(x))
#elif defined(__aarch64__)
#define GGD_ROUNDED(x) __asm__("" : "+w"(x))
#else
#define GGD_ROUNDED(x) __asm__("" : "+m"(x))
#endif

#define GGD_ROUND(name, T, op, finish)                                                             \
  GGD_INLINE T name(T a, T b) {                                                                    \
    T r = a op b;                                                                                  \
    GGD_ROUNDED(r);                                                                                \
    return finish(r);                                                                              \
  }
GGD_ROUND(gg_mul_f32, float, *, ggd_one_nan)
GGD_ROUND(gg_add_f32, float, +, ggd_one_nan)
GGD_ROUND(gg_mul_f64, double, *, )
GGD_ROUND(gg_add_f64, double, +, )

/* A NaN gives way to a number; -0 lies below +0. */
GGD_INLINE float gg_min_f32(float a, float b) {
  if (a == b) return gg_as_f32(gg_as_u32(a) | gg_as_u32(b));
  return ggd_one_nan(a != a || b < a ? b : a);
}
GGD_INLINE float gg_max_f32(float a, float b) {
  if (a == b) return gg_as_f32(gg_as_u32(a) & gg_as_u32(b));
  return ggd_one_nan(a != a || b > a ? b : a);
}
GGD_INLINE unsigned gg_max_u32(unsigned a, unsigned b) {
  return a > b ? a : b;
}
/* Whole numbers wrap. */
GGD_INLINE int gg_mul_s32(int a, int b) {
  return (int)((unsigned)a * (unsigned)b);
}
GGD_INLINE int gg_add_s32(int a, int b) {
  return (int)((unsigned)a + (unsigned)b);
}
GGD_INLINE int gg_mad_s32(int a, int b, int c) {
  return (int)((unsigned)a * (unsigned)b + (unsigned)c);
}
GGD_INLINE float gg_div_f32(float a, float b) {
  return ggd_one_nan(a / b);
}

GGD_INLINE float gg_abs_f32(float x) {
  return gg_as_f32(gg_as_u32(x) & 0x7fffffffu);
}
GGD_INLINE ggd_u64 gg_as_u64(double x) {
  union {
    double f;
    ggd_u64 u;
  } v;
  v.f = x;
  return v.u;
}
GGD_INLINE double gg_as_f64(ggd_u64 x) {
  union {
    double f;
    ggd_u64 u;
  } v;
  v.u = x;
  return v.f;
}
GGD_INLINE double gg_abs_f64(double x) {
  return gg_as_f64(gg_as_u64(x) & ~0ull >> 1);
}
GGD_INLINE double gg_min_f64(double a, double b) {
  if (a == b) return gg_as_f64(gg_as_u64(a) | gg_as_u64(b));
  return a != a || b < a ? b : a;
}
GGD_INLINE double gg_max_f64(double a, double b) {
  if (a == b) return gg_as_f64(gg_as_u64(a) & gg_as_u64(b));
  return a != a || b > a ? b : a;
}

/* -- Conversions ------------------------------------------------------------------------------ */

#define gg_cvt_bf16x2(lo, hi)   gg_emu_cvt_bf16x2(lo, hi)
#define gg_cvt_f16x2(lo, hi)    gg_emu_cvt_f16x2(lo, hi)
#define gg_cvt_bf16(x)          ((unsigned short)gg_emu_cvt_bf16x2(x, 0.0f))
#define gg_cvt_f16(x)           ((unsigned short)gg_emu_cvt_f16x2(x, 0.0f))
#define gg_cvt_e4m3x2(lo, hi)   ((unsigned short)(gg_emu_cvt_e4m3(lo) | gg_emu_cvt_e4m3(hi) << 8))
#define gg_cvt_e5m2x2(lo, hi)   ((unsigned short)(gg_emu_cvt_e5m2(lo) | gg_emu_cvt_e5m2(hi) << 8))
#define gg_cvt_e4m3(x)          ((unsigned char)gg_emu_cvt_e4m3(x))
#define gg_cvt_e5m2(x)          ((unsigned char)gg_emu_cvt_e5m2(x))
#define gg_cvt_tf32(x)          gg_emu_cvt_tf32(x)
#define gg_cvt_s8(x)            gg_emu_cvt_integer(x, -128, 127)
#define gg_cvt_u8(x)            gg_emu_cvt_integer(x, 0, 255)
#define gg_cvt_s32(x)           gg_emu_cvt_integer(x, -2147483647 - 1, 2147483647)
#define gg_f32_from_s32(x)      ((float)(int)(x))
#define gg_f32_from_f64(x)      ((float)(double)(x))
#define gg_f32_from_bf16(bits)  gg_as_f32((unsigned)(bits) << 16)
#define gg_f32_from_f16(bits)   gg_emu_unpack(bits, GGD_T_F16)
#define gg_f32_from_e4m3(bits)  gg_emu_unpack(bits, GGD_T_E4M3)
#define gg_f32_from_e5m2(bits)  gg_emu_unpack(bits, GGD_T_E5M2)
#define gg_prmt(a, b, selector) gg_emu_prmt(a, b, selector)

#include "gg_emu_device_tensor.h"

#endif
