// bench_device.cu - what gemmbench does on the GPU itself: random data, a float64 reference with
// error bounds, comparison, the clock, graphs. Compiled once to PTX that any later GPU takes.
//
// Correctness first: the reference is plain and shares no code with emitted kernels.

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "bench.h"

namespace {

constexpr int TILE = 16;

// SplitMix64: a bijection with good avalanche; value i of a stream is mix(seed + i * odd).
__device__ unsigned long long mix(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

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

template <typename T> constexpr bool is_integer = false;
template <> constexpr bool is_integer<signed char> = true;
template <> constexpr bool is_integer<unsigned char> = true;
template <> constexpr bool is_integer<int> = true;
template <typename T> constexpr double lowest = -127;
template <> constexpr double lowest<unsigned char> = 0;

// Half the distance between D's numbers near `size`; 0 where D is as wide as the accumulator.
template <typename T> constexpr int fraction_bits = -1;
template <> constexpr int fraction_bits<__half> = 10;
template <> constexpr int fraction_bits<__nv_bfloat16> = 7;
template <typename T> __device__ double half_ulp(double size) {
  if (fraction_bits<T> < 0 || size == 0) return 0;
  int least = fraction_bits<T> == 10 ? -14 : -126;
  int e = ilogb(size);
  return ldexp(1.0, (e < least ? least : e) - fraction_bits<T> - 1);
}

// Box-Muller on two uniform numbers from one 64-bit word.
template <typename T>
__global__ void fill(T *data, size_t count, unsigned long long seed, bool whole) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned long long bits = mix(mix(seed) + i);
    float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f;
    float v = (float)((bits >> 8) & 0xffffff) * 0x1p-24f;
    // The lower bits, so that f64 data have no zeros at their end.
    double x = (double)(sqrtf(-2 * logf(u)) * cospif(2 * v)) + (double)(bits & 0xff) * 0x1p-36;
    if (is_integer<T>) x = fmin(fmax(rint(32 * x), lowest<T>), 127.0);
    if (whole) x = (double)(bits >> 20) * 0x1p-44 * 3; // 0 .. 3
    if (whole) x = floor(x) - 1;
    data[i] = number<T>::from(whole && x < lowest<T> ? 0 : x);
  }
}

// How a result is held to its bound, see bench.h.
struct accuracy {
  bool exact;     // the bound is 0
  bool tensor;    // tensor cores
  double u;       // CUDA cores: unit roundoff
  double e, sums; // tensor cores: error of one sum, number of them
};

// One matrix. Element (i, x) of A is a[i * a_row + x * a_col]; of B (x, j) alike. W holds every
// number of T.
template <typename T, typename D, typename W>
__global__ void reference(const T *a, const T *b, long long m, long long n, long long k,
                          long long a_row, long long a_col, long long b_row, long long b_col,
                          accuracy how, double *result, double *bound) {
  __shared__ W sa[TILE][TILE + 1], sb[TILE][TILE + 1];
  long long tiles_n = (n + TILE - 1) / TILE;
  long long i0 = blockIdx.x / tiles_n * TILE, j0 = blockIdx.x % tiles_n * TILE;
  int tx = threadIdx.x, ty = threadIdx.y;
  long long i = i0 + ty, j = j0 + tx;
  double sum = 0, squares = 0, most_sum = 0, most_product = 0;
  for (long long x0 = 0; x0 < k; x0 += TILE) {
    // The thread that is fastest walks along what is contiguous.
    long long ai = i0 + (a_col == 1 ? ty : tx), ax = x0 + (a_col == 1 ? tx : ty);
    long long bx = x0 + (b_col == 1 ? ty : tx), bj = j0 + (b_col == 1 ? tx : ty);
    sa[ai - i0][ax - x0] =
        ai < m && ax < k ? (W)number<T>::to(a[ai * a_row + ax * a_col]) : W(0);
    sb[bx - x0][bj - j0] =
        bx < k && bj < n ? (W)number<T>::to(b[bx * b_row + bj * b_col]) : W(0);
    __syncthreads();
    for (int x = 0; x < TILE; ++x) {
      double product = (double)sa[ty][x] * (double)sb[x][tx];
      sum += product;
      if (how.tensor) {
        most_sum = fmax(most_sum, fabs(sum));
        most_product = fmax(most_product, fabs(product));
      } else {
        squares = fma(product, product, squares);
      }
    }
    __syncthreads();
  }
  if (i >= m || j >= n) return;
  double limit = 0;
  if (how.exact) {
    sum = number<D>::to(number<D>::from(sum));
  } else if (how.tensor) {
    limit = how.sums * how.e * (2 * most_sum + most_product);
    limit += half_ulp<D>(fabs(sum) + limit);
  } else {
    limit = 16 * how.u * sqrt((double)k * squares) + 4 * how.u * fabs(sum);
  }
  result[i * n + j] = sum;
  bound[i * n + j] = limit;
}

template <typename D>
__global__ void compare(const D *d, const double *result, const double *bound, size_t count,
                        unsigned long long *worst) {
  double most = 0;
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    double error = fabs(number<D>::to(d[i]) - result[i]);
    double part = error == 0 ? 0 : error / bound[i];
    if (!(part <= most)) most = isnan(part) ? INFINITY : part;
  }
  // Bits of positive doubles order as the doubles do.
  if (most > 0) atomicMax(worst, (unsigned long long)__double_as_longlong(most));
}

__global__ void clock_probe(unsigned long long *out) {
  unsigned long long t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  long long c0 = clock64();
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
  } while (t1 - t0 < 500000);
  out[0] = (unsigned long long)(clock64() - c0);
  out[1] = t1 - t0;
}

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

accuracy accuracy_of(const bench_problem *p, int arch, bool whole) {
  bool fp8 = p->type == GG_E4M3 || p->type == GG_E5M2;
  int bits = fp8 ? 13 : arch >= 90 ? 25 : arch >= 80 ? 24 : 23;
  int width = fp8 ? 16 : p->type == GG_TF32 ? 4 : 8;
  double cut = std::ldexp(1.0, -bits);
  accuracy how = {};
  how.exact = whole || p->type == GG_S8 || p->type == GG_U8;
  how.tensor = p->type != GG_F64 && p->type != GG_F32;
  how.u = p->type == GG_F64 ? 0x1p-53 : 0x1p-24;
  how.e = std::fmax(cut, 0x1p-23) + (width + 1) * cut;
  how.sums = (double)((p->k + width - 1) / width + 64);
  return how;
}

// Two words on the device for results, of the first device used.
cudaError_t scratch(unsigned long long **words) {
  static unsigned long long *made = nullptr;
  if (!made) {
    cudaError_t error = cudaMalloc((void **)&made, 2 * sizeof *made);
    if (error != cudaSuccess) return error;
  }
  *words = made;
  return cudaSuccess;
}

cudaError_t fetch(void *to, const void *from, size_t bytes, cudaStream_t stream) {
  cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

} // namespace

extern "C" int bench_use_device(int ordinal) {
  return cudaSetDevice(ordinal);
}

extern "C" int bench_fill(void *data, gg_dtype type, size_t count, unsigned long long seed,
                          bool whole, void *stream) {
  return with_type(type, [=](auto *t) {
    fill<<<2048, 256, 0, (cudaStream_t)stream>>>((decltype(t))data, count, seed, whole);
    return (int)cudaGetLastError();
  });
}

extern "C" int bench_poison(void *data, size_t bytes, void *stream) {
  return cudaMemsetAsync(data, 0xff, bytes, (cudaStream_t)stream);
}

namespace {

template <typename T, typename D, typename W>
int launch_reference(const bench_problem *p, accuracy how, const void *a, const void *b,
                     double *result, double *bound, void *stream) {
  long long a_row = p->order_a == GG_ORDER_T ? 1 : p->k,
            a_col = p->order_a == GG_ORDER_T ? p->m : 1;
  long long b_row = p->order_b == GG_ORDER_T ? 1 : p->n,
            b_col = p->order_b == GG_ORDER_T ? p->k : 1;
  long long blocks = ((p->m + TILE - 1) / TILE) * ((p->n + TILE - 1) / TILE);
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  reference<T, D, W><<<(unsigned)blocks, dim3(TILE, TILE), 0, (cudaStream_t)stream>>>(
      (const T *)a, (const T *)b, p->m, p->n, p->k, a_row, a_col, b_row, b_col, how, result, bound);
  return cudaGetLastError();
}

} // namespace

extern "C" int bench_reference(const bench_problem *p, int arch, bool whole, const void *a,
                               const void *b, double *result, double *bound, void *stream) {
  accuracy how = accuracy_of(p, arch, whole);
  switch (p->type) {
  case GG_F64:
    return launch_reference<double, double, double>(p, how, a, b, result, bound, stream);
  case GG_F32:
    return launch_reference<float, float, float>(p, how, a, b, result, bound, stream);
  case GG_TF32:
    return launch_reference<tf32, float, float>(p, how, a, b, result, bound, stream);
  case GG_F16:
    return launch_reference<__half, __half, float>(p, how, a, b, result, bound, stream);
  case GG_BF16:
    return launch_reference<__nv_bfloat16, __nv_bfloat16, float>(p, how, a, b, result, bound,
                                                                 stream);
  case GG_E4M3:
    return launch_reference<__nv_fp8_e4m3, __nv_bfloat16, float>(p, how, a, b, result, bound,
                                                                 stream);
  case GG_E5M2:
    return launch_reference<__nv_fp8_e5m2, __nv_bfloat16, float>(p, how, a, b, result, bound,
                                                                 stream);
  case GG_S8:
    return launch_reference<signed char, int, float>(p, how, a, b, result, bound, stream);
  case GG_U8:
    return launch_reference<unsigned char, int, float>(p, how, a, b, result, bound, stream);
  default:
    return cudaErrorInvalidValue;
  }
}

extern "C" int bench_compare(const void *d, gg_dtype type_d, const double *result,
                             const double *bound, size_t count, double *worst, void *stream) {
  cudaStream_t s = (cudaStream_t)stream;
  unsigned long long *word;
  cudaError_t error = scratch(&word);
  if (error == cudaSuccess) error = cudaMemsetAsync(word, 0, sizeof *word, s);
  if (error != cudaSuccess) return error;
  int code = with_type(type_d, [=](auto *t) {
    compare<<<2048, 256, 0, s>>>((decltype(t))(void *)d, result, bound, count, word);
    return (int)cudaGetLastError();
  });
  return code == 0 ? fetch(worst, word, sizeof *worst, s) : code;
}

extern "C" int bench_clock(double *mhz, void *stream) {
  unsigned long long *words, values[2];
  cudaError_t error = scratch(&words);
  if (error != cudaSuccess) return error;
  clock_probe<<<1, 1, 0, (cudaStream_t)stream>>>(words);
  error = cudaGetLastError();
  if (error == cudaSuccess) error = fetch(values, words, sizeof values, (cudaStream_t)stream);
  if (error == cudaSuccess) *mhz = 1e3 * (double)values[0] / (double)values[1];
  return error;
}

extern "C" int bench_capture_begin(void *stream) {
  return cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal);
}

extern "C" int bench_capture_end(void *stream, void **graph) {
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaError_t error = cudaStreamEndCapture((cudaStream_t)stream, &captured);
  if (error == cudaSuccess) error = cudaGraphInstantiate(&made, captured, 0);
  if (captured) cudaGraphDestroy(captured);
  if (error == cudaSuccess) *graph = made;
  return error;
}

extern "C" int bench_replay(void *graph, void *stream) {
  return cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream);
}

extern "C" void bench_graph_free(void *graph) {
  if (graph) cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

extern "C" const char *bench_error(int code) {
  return cudaGetErrorString((cudaError_t)code);
}
