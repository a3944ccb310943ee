// bench_device.cu - what gemmbench does on the GPU besides products: random data, the clock, graphs.
// Compiled once to PTX that any later GPU takes.

#include "bench_number.cuh"

namespace {

// SplitMix64: a bijection with good avalanche; value i of a stream is mix(seed + i * odd).
__device__ unsigned long long mix(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <typename T> constexpr double lowest = -127;
template <> constexpr double lowest<unsigned char> = 0;

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

// Scales: from 1/2 to 2 units; whole: 1/2, 1 or 2.
__global__ void fill_scales(float *data, size_t count, unsigned long long seed, double unit,
                            bool whole) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned long long bits = mix(mix(seed) + i);
    double part = (double)(bits >> 20) * 0x1p-44; // 0 .. 1
    data[i] = (float)(whole ? exp2(floor(3 * part) - 1) : unit * exp2(2 * part - 1));
  }
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

extern "C" int bench_zero(void *data, size_t bytes, void *stream) {
  return cudaMemsetAsync(data, 0, bytes, (cudaStream_t)stream);
}

extern "C" int bench_fill_scales(void *data, size_t count, unsigned long long seed, double unit,
                                 bool whole, void *stream) {
  if (count == 0) return cudaSuccess;
  fill_scales<<<64, 256, 0, (cudaStream_t)stream>>>((float *)data, count, seed, unit, whole);
  return cudaGetLastError();
}

extern "C" int bench_clock(double *mhz, void *stream) {
  static unsigned long long *words = nullptr; // of the first device used
  unsigned long long values[2];
  cudaStream_t s = (cudaStream_t)stream;
  cudaError_t error = words ? cudaSuccess : cudaMalloc((void **)&words, sizeof values);
  if (error != cudaSuccess) return error;
  clock_probe<<<1, 1, 0, s>>>(words);
  error = cudaGetLastError();
  if (error == cudaSuccess)
    error = cudaMemcpyAsync(values, words, sizeof values, cudaMemcpyDeviceToHost, s);
  if (error == cudaSuccess) error = cudaStreamSynchronize(s);
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
