// bench_device.cu - what gemmbench does on the GPU itself: random data, a float64 reference with
// error bounds, comparison, the clock, graphs. Compiled once to PTX that any later GPU takes.
//
// Correctness first: the reference is plain and shares no code with emitted kernels.

#include <cmath>
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

// Box-Muller on two uniform numbers from one 64-bit word.
template <typename T> __global__ void fill(T *data, size_t count, unsigned long long seed) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned long long bits = mix(mix(seed) + i);
    float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f;
    float v = (float)((bits >> 8) & 0xffffff) * 0x1p-24f;
    float radius = sqrtf(-2 * logf(u)) * cospif(2 * v);
    // The lower bits, so that f64 data have no zeros at their end.
    data[i] = (T)radius + (T)((double)(bits & 0xff) * 0x1p-36);
  }
}

// One matrix. Element (i, x) of A is a[i * a_row + x * a_col]; of B (x, j) alike.
template <typename T>
__global__ void reference(const T *a, const T *b, long long m, long long n, long long k,
                          long long a_row, long long a_col, long long b_row, long long b_col,
                          double u, double *result, double *bound) {
  __shared__ T sa[TILE][TILE + 1], sb[TILE][TILE + 1];
  long long tiles_n = (n + TILE - 1) / TILE;
  long long i0 = blockIdx.x / tiles_n * TILE, j0 = blockIdx.x % tiles_n * TILE;
  int tx = threadIdx.x, ty = threadIdx.y;
  long long i = i0 + ty, j = j0 + tx;
  double sum = 0, squares = 0;
  for (long long x0 = 0; x0 < k; x0 += TILE) {
    // The thread that is fastest walks along what is contiguous.
    long long ai = i0 + (a_col == 1 ? ty : tx), ax = x0 + (a_col == 1 ? tx : ty);
    long long bx = x0 + (b_col == 1 ? ty : tx), bj = j0 + (b_col == 1 ? tx : ty);
    sa[ai - i0][ax - x0] = ai < m && ax < k ? a[ai * a_row + ax * a_col] : T(0);
    sb[bx - x0][bj - j0] = bx < k && bj < n ? b[bx * b_row + bj * b_col] : T(0);
    __syncthreads();
    for (int x = 0; x < TILE; ++x) {
      double product = (double)sa[ty][x] * (double)sb[x][tx];
      sum += product;
      squares = fma(product, product, squares);
    }
    __syncthreads();
  }
  if (i < m && j < n) {
    result[i * n + j] = sum;
    bound[i * n + j] = 16 * u * sqrt((double)k * squares) + 4 * u * fabs(sum);
  }
}

template <typename T>
__global__ void compare(const T *d, const double *result, const double *bound, size_t count,
                        unsigned long long *worst) {
  double most = 0;
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    double error = fabs((double)d[i] - result[i]);
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

double unit_roundoff(gg_dtype type) {
  return type == GG_F64 ? 0x1p-53 : 0x1p-24;
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
                          void *stream) {
  if (type == GG_F64)
    fill<double><<<2048, 256, 0, (cudaStream_t)stream>>>((double *)data, count, seed);
  else
    fill<float><<<2048, 256, 0, (cudaStream_t)stream>>>((float *)data, count, seed);
  return cudaGetLastError();
}

extern "C" int bench_poison(void *data, size_t bytes, void *stream) {
  return cudaMemsetAsync(data, 0xff, bytes, (cudaStream_t)stream);
}

extern "C" int bench_reference(const bench_problem *p, const void *a, const void *b, double *result,
                               double *bound, void *stream) {
  long long a_row = p->order_a == GG_ORDER_T ? 1 : p->k,
            a_col = p->order_a == GG_ORDER_T ? p->m : 1;
  long long b_row = p->order_b == GG_ORDER_T ? 1 : p->n,
            b_col = p->order_b == GG_ORDER_T ? p->k : 1;
  long long blocks = ((p->m + TILE - 1) / TILE) * ((p->n + TILE - 1) / TILE);
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  dim3 threads(TILE, TILE);
  double u = unit_roundoff(p->type);
  if (p->type == GG_F64)
    reference<double><<<(unsigned)blocks, threads, 0, (cudaStream_t)stream>>>(
        (const double *)a, (const double *)b, p->m, p->n, p->k, a_row, a_col, b_row, b_col, u,
        result, bound);
  else
    reference<float><<<(unsigned)blocks, threads, 0, (cudaStream_t)stream>>>(
        (const float *)a, (const float *)b, p->m, p->n, p->k, a_row, a_col, b_row, b_col, u, result,
        bound);
  return cudaGetLastError();
}

extern "C" int bench_compare(const void *d, gg_dtype type, const double *result,
                             const double *bound, size_t count, double *worst, void *stream) {
  cudaStream_t s = (cudaStream_t)stream;
  unsigned long long *word;
  cudaError_t error = scratch(&word);
  if (error == cudaSuccess) error = cudaMemsetAsync(word, 0, sizeof *word, s);
  if (error != cudaSuccess) return error;
  if (type == GG_F64)
    compare<double><<<2048, 256, 0, s>>>((const double *)d, result, bound, count, word);
  else
    compare<float><<<2048, 256, 0, s>>>((const float *)d, result, bound, count, word);
  error = cudaGetLastError();
  return error == cudaSuccess ? fetch(worst, word, sizeof *worst, s) : error;
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
