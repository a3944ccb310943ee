// The rest of the program that single.sh puts together: calls run() on 128 x 128 x 128 and compares.
// Without a GPU it says so and ends well.
#include <stdio.h>

static float value(int i) {
  return (float)(i * 7 % 11 - 5);
}

int main(void) {
  enum { N = 128 };
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("no device\n");
    return 0;
  }
  float *a, *b, *d;
  if (cudaMallocManaged(&a, N * N * sizeof *a) || cudaMallocManaged(&b, N * N * sizeof *b) ||
      cudaMallocManaged(&d, N * N * sizeof *d))
    return 1;
  for (int i = 0; i < N * N; ++i) {
    a[i] = value(i);
    b[i] = value(3 * i);
  }
  gg_args call = {};
  call.a = a;
  call.b = b;
  call.d = d;
  call.m = call.n = call.k = N;
  call.batch = 1;
  call.lda = call.ldb = call.ldc = call.ldd = N;
  call.alpha.f32 = 1;
  call.beta.f32 = 0;
  if (run(&call, 0) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    printf("launch failed: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < N; ++k)
        sum += a[i * N + k] * b[k * N + j];
      if (d[i * N + j] != sum) {
        printf("WRONG: D[%d,%d] = %g, expected %g\n", i, j, d[i * N + j], sum);
        return 1;
      }
    }
  printf("right\n");
  return 0;
}
