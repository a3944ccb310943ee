/* Prints how many kernels are linked, and multiplies with each order of B that they know. */
#include <gg.h>

#include <stdio.h>

extern const gg_kernel_table gg_table_emu;

enum { M = 5, N = 7, K = 3 };

static int check(gg_status status, const char *what) {
  if (status != GG_OK)
    fprintf(stderr, "%s: %s: %s\n", what, gg_status_text(status), gg_error_detail());
  return status == GG_OK;
}

/* 1: D is right; 0: it is not; -1: the library refused. */
static int multiply(gg_context *context, gg_device *device, gg_order order_b) {
  float a[M * K], b[K * N], d[M * N];
  for (int i = 0; i < M * K; ++i)
    a[i] = (float)(i % 5);
  for (int i = 0; i < K * N; ++i)
    b[i] = (float)(i % 7);

  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.order_b = order_b;
  p.m = M;
  p.n = N;
  p.k = K;
  gg_problem_pack(&p);

  void *da, *db, *dd;
  if (!check(gg_device_alloc(device, sizeof a, &da), "alloc") ||
      !check(gg_device_alloc(device, sizeof b, &db), "alloc") ||
      !check(gg_device_alloc(device, sizeof d, &dd), "alloc") ||
      !check(gg_device_upload(device, da, a, sizeof a), "upload") ||
      !check(gg_device_upload(device, db, b, sizeof b), "upload"))
    return -1;
  gg_pointers at = {0};
  at.a = da;
  at.b = db;
  at.d = dd;
  if (!check(gg_gemm(context, &p, &at, gg_scalar_f32(1), gg_scalar_f32(0), NULL, 0, NULL),
             "gemm") ||
      !check(gg_device_synchronise(device), "synchronise") ||
      !check(gg_device_download(device, d, dd, sizeof d), "download"))
    return -1;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += a[m * K + k] * (order_b ? b[n * K + k] : b[k * N + n]);
      if (d[m * N + n] != sum) return 0;
    }
  return 1;
}

int main(void) {
  const gg_kernel_table *tables[] = {&gg_table_emu};
  gg_device *device;
  gg_context *context;
  if (!check(gg_device_emulated(NULL, &device), "device") ||
      !check(gg_context_create(tables, 1, &context), "context"))
    return 1;
  int transposed = 0;
  for (int i = 0; i < gg_table_emu.count; ++i)
    transposed |= gg_table_emu.kernels[i].order_b == GG_ORDER_T;
  int good = multiply(context, device, GG_ORDER_N) == 1;
  if (transposed) good &= multiply(context, device, GG_ORDER_T) == 1;
  gg_context_destroy(context);
  gg_device_destroy(device);
  printf("%s, kernels for B as written%s\n", good ? "right" : "WRONG",
         transposed ? " and transposed" : "");
  return good ? 0 : 1;
}
