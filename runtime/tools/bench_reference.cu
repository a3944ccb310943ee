// bench_reference.cu - a float64 product with bounds on its error, the epilogue's steps on both, and
// the comparison. Compiled once to PTX that any later GPU takes.
//
// Correctness first: the reference is plain and shares no code with emitted kernels.

#include "bench_number.cuh"

#include <cmath>
#include <type_traits>

namespace {

constexpr int TILE = 16;
constexpr int SCALE_BLOCK = 128; // a multiple of TILE

// Scales of one operand as they lie in memory; extent: rows of A, columns of B.
struct scales {
  const float *values;
  gg_scaling scaling;
  long long extent;
  __device__ double of(long long at, long long x) const {
    long long block = x / SCALE_BLOCK;
    if (at >= extent) return 0;
    if (scaling == GG_SCALING_TENSOR) return values[0];
    if (scaling == GG_SCALING_VECTOR) return values[at];
    if (scaling == GG_SCALING_GROUP) return values[block * extent + at];
    if (scaling == GG_SCALING_BLOCK)
      return values[block * ((extent + SCALE_BLOCK - 1) / SCALE_BLOCK) + at / SCALE_BLOCK];
    return 1;
  }
};

// How a result is held to its bound, see bench.h.
struct accuracy {
  bool exact;     // no sum rounds
  bool tensor;    // tensor cores
  double u;       // CUDA cores: unit roundoff
  double e, sums; // tensor cores: error of one sum, number of them
};

// One matrix, before the epilogue. Element (i, x) of A is a[i * a_row + x * a_col]; of B (x, j)
// alike. W holds every number of T.
template <typename T, typename W>
__global__ void reference(const T *a, const T *b, long long m, long long n, long long k,
                          long long a_row, long long a_col, long long b_row, long long b_col,
                          scales scale_a, scales scale_b, accuracy how, double *result,
                          double *bound) {
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
    double scale = scale_a.of(i, x0) * scale_b.of(j, x0);
    __syncthreads();
    for (int x = 0; x < TILE; ++x) {
      double product = (double)sa[ty][x] * (double)sb[x][tx] * scale;
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
  if (!how.exact && how.tensor)
    limit = how.sums * how.e * (2 * most_sum + most_product);
  else if (!how.exact)
    limit = 16 * how.u * sqrt((double)k * squares) + 4 * how.u * fabs(sum);
  result[i * n + j] = sum;
  bound[i * n + j] = limit;
}

// ---- Epilogue ----

// Numbers of D: bits behind the point, exponent of the smallest normal number, the ends where
// conversions saturate. Integers have 0 bits.
template <typename D> struct format {
  static constexpr int bits = 0, least = 0;
  static constexpr double low = -1e300, high = 1e300;
};
template <> struct format<double> {
  static constexpr int bits = 52, least = -1022;
  static constexpr double low = -1e300, high = 1e300;
};
template <> struct format<float> {
  static constexpr int bits = 23, least = -126;
  static constexpr double low = -1e300, high = 1e300;
};
template <> struct format<__half> {
  static constexpr int bits = 10, least = -14;
  static constexpr double low = -1e300, high = 1e300;
};
template <> struct format<__nv_bfloat16> {
  static constexpr int bits = 7, least = -126;
  static constexpr double low = -1e300, high = 1e300;
};
template <> struct format<__nv_fp8_e4m3> {
  static constexpr int bits = 3, least = -6;
  static constexpr double low = -448, high = 448;
};
template <> struct format<__nv_fp8_e5m2> {
  static constexpr int bits = 2, least = -14;
  static constexpr double low = -57344, high = 57344;
};
template <> struct format<signed char> {
  static constexpr int bits = 0, least = 0;
  static constexpr double low = -128, high = 127;
};
template <> struct format<unsigned char> {
  static constexpr int bits = 0, least = 0;
  static constexpr double low = 0, high = 255;
};
template <> struct format<int> {
  static constexpr int bits = 0, least = 0;
  static constexpr double low = -2147483648.0, high = 2147483647.0;
};

// Half the distance between D's numbers near `size`.
template <typename D> __device__ double half_ulp(double size) {
  if (format<D>::bits == 0) return 0.5;
  if (size == 0) return 0;
  int e = ilogb(size);
  return ldexp(1.0, (e < format<D>::least ? format<D>::least : e) - format<D>::bits - 1);
}

// The bias is of D's type where that is a float of 16 bits or more, else f32.
template <typename D> struct bias_type { typedef float type; };
template <> struct bias_type<double> { typedef double type; };
template <> struct bias_type<__half> { typedef __half type; };
template <> struct bias_type<__nv_bfloat16> { typedef __nv_bfloat16 type; };

// The steps of one matrix.
struct steps {
  gg_bias bias;
  gg_activation activation;
  const void *bias_values, *residual;
  const float *scale_d;
  bool scaled;    // by A's or B's scales
  bool converted; // from s32 to f32
  bool whole;     // data for which every step but smooth activations is exact
  int bits;       // of the epilogue's type
  unsigned long long *absmax; // largest |x|, and bound, as bits of double; or null
};

__device__ double activate(gg_activation activation, double x) {
  double y = 2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  switch (activation) {
  case GG_ACTIVATION_RELU:
    return x < 0 ? 0 : x;
  case GG_ACTIVATION_GELU:
    return x / 2 * erfc(-x * 0.70710678118654752440);
  case GG_ACTIVATION_SILU:
    return x / (1 + exp(-x));
  case GG_ACTIVATION_GELU_TANH:
    return x / (1 + exp(-y));
  default:
    return x;
  }
}

// Steps on result and bound; from then on the result is D's, before it is rounded unless exact.
// u: unit roundoff of the epilogue's type. A smooth activation is 1.13 times as steep as its
// argument at most, and misses by 3 u |x| (docs/epilogue.md).
template <typename D>
__global__ void finish(steps s, long long m, long long n, double *result, double *bound) {
  typedef typename bias_type<D>::type B;
  double u = ldexp(1.0, -s.bits - 1), most = 0, most_limit = 0;
  bool smooth = s.activation != GG_ACTIVATION_NONE && s.activation != GG_ACTIVATION_RELU;
  long long step = (long long)gridDim.x * blockDim.x;
  for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < m * n; at += step) {
    double x = result[at], limit = bound[at], one = s.whole ? 0 : u;
    if (s.converted || s.scaled) limit += 4 * one * (fabs(x) + limit);
    if (s.bias != GG_BIAS_NONE) {
      long long place = s.bias == GG_BIAS_N ? at % n : at / n;
      x += number<B>::to(((const B *)s.bias_values)[place]);
      limit += one * (fabs(x) + limit);
    }
    if (smooth) {
      one = u;
      limit = 1.13 * limit + 4 * u * (fabs(x) + limit) + 0x1p-126;
    }
    x = activate(s.activation, x);
    if (s.residual) {
      x += number<D>::to(((const D *)s.residual)[at]);
      limit += one * (fabs(x) + limit);
    }
    most = fmax(most, fabs(x));
    most_limit = fmax(most_limit, limit);
    if (s.scale_d) {
      x *= s.scale_d[0];
      limit = limit * s.scale_d[0] + one * (fabs(x) + limit * s.scale_d[0]);
    }
    x = fmin(fmax(x, format<D>::low), format<D>::high);
    if (limit == 0)
      x = number<D>::to(number<D>::from(x)); // exact: the nearest number or wrong
    else if (format<D>::bits < s.bits)
      limit += half_ulp<D>(fmin(fabs(x) + limit, format<D>::high));
    result[at] = x;
    bound[at] = limit;
  }
  // Bits of positive doubles order as the doubles do.
  if (s.absmax) {
    atomicMax(&s.absmax[0], (unsigned long long)__double_as_longlong(most));
    atomicMax(&s.absmax[1], (unsigned long long)__double_as_longlong(most_limit));
  }
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
  if (most > 0) atomicMax(worst, (unsigned long long)__double_as_longlong(most));
}

// ---- Host ----

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

// One word on the device for results, of the first device used.
cudaError_t scratch(unsigned long long **word) {
  static unsigned long long *made = nullptr;
  if (!made) {
    cudaError_t error = cudaMalloc((void **)&made, sizeof *made);
    if (error != cudaSuccess) return error;
  }
  *word = made;
  return cudaSuccess;
}

cudaError_t fetch(void *to, const void *from, size_t bytes, cudaStream_t stream) {
  cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

template <typename T, typename W>
int launch_reference(const bench_problem *p, accuracy how, const gg_pointers *x, double *result,
                     double *bound, cudaStream_t stream) {
  bool turn_a = p->order_a == GG_ORDER_T, turn_b = p->order_b == GG_ORDER_T;
  long long a_row = turn_a ? 1 : p->k, a_col = turn_a ? p->m : 1;
  long long b_row = turn_b ? 1 : p->n, b_col = turn_b ? p->k : 1;
  long long blocks = ((p->m + TILE - 1) / TILE) * ((p->n + TILE - 1) / TILE);
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  scales sa = {(const float *)x->scale_a, p->steps.scaling_a, p->m};
  scales sb = {(const float *)x->scale_b, p->steps.scaling_b, p->n};
  reference<T, W><<<(unsigned)blocks, dim3(TILE, TILE), 0, stream>>>(
      (const T *)x->a, (const T *)x->b, p->m, p->n, p->k, a_row, a_col, b_row, b_col, sa, sb, how,
      result, bound);
  return cudaGetLastError();
}

template <typename T> struct wide { typedef float type; };
template <> struct wide<double> { typedef double type; };
template <> struct wide<int> { typedef double type; };

int launch_steps(const bench_problem *p, bool whole, const gg_pointers *x, double *result,
                 double *bound, void *absmax, cudaStream_t stream) {
  const bench_steps *of = &p->steps;
  bool integer = p->type == GG_S8 || p->type == GG_U8;
  steps s = {};
  s.bias = of->bias;
  s.activation = of->activation;
  s.bias_values = x->bias;
  s.residual = of->residual ? x->residual : nullptr;
  s.scale_d = of->scaling_d ? (const float *)x->scale_d : nullptr;
  s.scaled = of->scaling_a || of->scaling_b;
  s.converted = integer && bench_epilogue(p) != GG_S32;
  s.whole = whole;
  s.bits = bench_epilogue(p) == GG_F64 ? 52 : 23;
  s.absmax = of->absmax ? (unsigned long long *)absmax : nullptr;
  return with_type(bench_type_d(p), [=](auto *t) {
    finish<typename std::remove_pointer<decltype(t)>::type>
        <<<2048, 256, 0, stream>>>(s, p->m, p->n, result, bound);
    return (int)cudaGetLastError();
  });
}

} // namespace

extern "C" int bench_reference(const bench_problem *p, int arch, bool whole,
                               const gg_pointers *matrix, double *result, double *bound,
                               void *absmax, void *stream) {
  accuracy how = accuracy_of(p, arch, whole);
  cudaStream_t s = (cudaStream_t)stream;
  int code = with_type(p->type, [=](auto *t) {
    typedef typename std::remove_pointer<decltype(t)>::type T;
    return launch_reference<T, typename wide<T>::type>(p, how, matrix, result, bound, s);
  });
  return code == 0 ? launch_steps(p, whole, matrix, result, bound, absmax, s) : code;
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

extern "C" int bench_absmax(const void *got, const void *reference, double *worst, void *stream) {
  double expected[2]; // the largest magnitude and its bound
  float value;
  cudaStream_t s = (cudaStream_t)stream;
  cudaError_t error = fetch(expected, reference, sizeof expected, s);
  if (error == cudaSuccess) error = fetch(&value, got, sizeof value, s);
  if (error != cudaSuccess) return error;
  double off = std::fabs((double)value - expected[0]);
  double bound = expected[1] + 0x1p-23 * expected[0]; // f32
  *worst = off == 0 ? 0 : off <= bound ? off / bound : INFINITY;
  return cudaSuccess;
}
