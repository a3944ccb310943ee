// bench_number.cuh - numbers as element types store them, for the device parts of gemmbench.
#ifndef BENCH_NUMBER_CUH
#define BENCH_NUMBER_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "bench.h"

namespace {

// tf32 is f32 in memory; a type of its own tells it from f32 where numbers are made.
struct tf32 {
  float value;
};

// Numbers as a type stores them, and back. Nearest even; fp8 and integers stay at their largest.
template <typename T> struct number {
  __device__ static T from(double x) { return (T)x; }
  __device__ static double to(T x) { return (double)x; }
};
template <> struct number<tf32> {
  __device__ static tf32 from(double x) {
    unsigned bits = __float_as_uint((float)x);
    return {__uint_as_float((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000u)};
  }
  __device__ static double to(tf32 x) { return x.value; }
};
template <> struct number<__half> {
  __device__ static __half from(double x) { return __double2half(x); }
  __device__ static double to(__half x) { return __half2float(x); }
};
template <> struct number<__nv_bfloat16> {
  __device__ static __nv_bfloat16 from(double x) { return __double2bfloat16(x); }
  __device__ static double to(__nv_bfloat16 x) { return __bfloat162float(x); }
};
template <> struct number<__nv_fp8_e4m3> {
  __device__ static __nv_fp8_e4m3 from(double x) { return __nv_fp8_e4m3(x); }
  __device__ static double to(__nv_fp8_e4m3 x) { return (float)x; }
};
template <> struct number<__nv_fp8_e5m2> {
  __device__ static __nv_fp8_e5m2 from(double x) { return __nv_fp8_e5m2(x); }
  __device__ static double to(__nv_fp8_e5m2 x) { return (float)x; }
};

template <> struct number<signed char> {
  __device__ static signed char from(double x) {
    return (signed char)fmin(fmax(rint(x), -128.0), 127.0);
  }
  __device__ static double to(signed char x) { return x; }
};
template <> struct number<unsigned char> {
  __device__ static unsigned char from(double x) {
    return (unsigned char)fmin(fmax(rint(x), 0.0), 255.0);
  }
  __device__ static double to(unsigned char x) { return x; }
};
template <> struct number<int> {
  __device__ static int from(double x) {
    return (int)fmin(fmax(rint(x), -2147483648.0), 2147483647.0);
  }
  __device__ static double to(int x) { return x; }
};

template <typename T> constexpr bool is_integer = false;
template <> constexpr bool is_integer<signed char> = true;
template <> constexpr bool is_integer<unsigned char> = true;
template <> constexpr bool is_integer<int> = true;

// A pointer to each type, so that one call picks the template.
template <typename F> int with_type(gg_dtype type, F f) {
  switch (type) {
  case GG_F64:
    return f((double *)nullptr);
  case GG_F32:
    return f((float *)nullptr);
  case GG_TF32:
    return f((tf32 *)nullptr);
  case GG_F16:
    return f((__half *)nullptr);
  case GG_BF16:
    return f((__nv_bfloat16 *)nullptr);
  case GG_E4M3:
    return f((__nv_fp8_e4m3 *)nullptr);
  case GG_E5M2:
    return f((__nv_fp8_e5m2 *)nullptr);
  case GG_S8:
    return f((signed char *)nullptr);
  case GG_U8:
    return f((unsigned char *)nullptr);
  case GG_S32:
    return f((int *)nullptr);
  default:
    return cudaErrorInvalidValue;
  }
}

} // namespace

#endif
