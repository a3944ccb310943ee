/* bench_cublas.c - the baseline: cuBLASLt, its default heuristic.
 *
 * cuBLASLt is column-major: D transposed is computed as B transposed times A transposed, which the
 * row-major operands are as they stand. Its fp8 takes one pair of orders only, which is our nt.
 */
#include "bench.h"
#include "dtype.h"

#if defined(GEMMBENCH_CUBLAS)
#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE = 64 << 20 };

struct bench_cublas {
  gg_device *device;
  cublasLtHandle_t handle;
  void *workspace;
  cublasLtMatmulDesc_t call;
  cublasLtMatrixLayout_t a, b, d; /* cuBLASLt's A is our B */
  cublasLtMatmulAlgo_t algorithm;
  gg_dtype acc;
};

static const cudaDataType_t data_types[] = {
    [GG_F64] = CUDA_R_64F,      [GG_F32] = CUDA_R_32F,   [GG_TF32] = CUDA_R_32F,
    [GG_F16] = CUDA_R_16F,      [GG_BF16] = CUDA_R_16BF, [GG_E4M3] = CUDA_R_8F_E4M3,
    [GG_E5M2] = CUDA_R_8F_E5M2, [GG_S8] = CUDA_R_8I,     [GG_U8] = CUDA_R_8U,
    [GG_S32] = CUDA_R_32I,
};

static cublasComputeType_t compute_type(gg_dtype type) {
  switch (ggi_dtype_accumulator(type)) {
  case GG_F64:
    return CUBLAS_COMPUTE_64F;
  case GG_S32:
    return CUBLAS_COMPUTE_32I;
  default:
    return type == GG_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  }
}

static void drop_plan(bench_cublas *lib) {
  if (lib->call) cublasLtMatmulDescDestroy(lib->call);
  if (lib->a) cublasLtMatrixLayoutDestroy(lib->a);
  if (lib->b) cublasLtMatrixLayoutDestroy(lib->b);
  if (lib->d) cublasLtMatrixLayoutDestroy(lib->d);
  lib->call = NULL;
  lib->a = lib->b = lib->d = NULL;
}

const char *bench_cublas_open(gg_device *device, bench_cublas **lib) {
  bench_cublas *made = calloc(1, sizeof *made);
  if (!made) return "no memory";
  made->device = device;
  cublasStatus_t status = cublasLtCreate(&made->handle);
  if (status != CUBLAS_STATUS_SUCCESS) {
    free(made);
    return cublasLtGetStatusString(status);
  }
  if (gg_device_alloc(device, WORKSPACE, &made->workspace) != GG_OK) {
    bench_cublas_close(made);
    return gg_error_detail();
  }
  *lib = made;
  return NULL;
}

void bench_cublas_close(bench_cublas *lib) {
  if (!lib) return;
  drop_plan(lib);
  cublasLtDestroy(lib->handle);
  (void)gg_device_free(lib->device, lib->workspace);
  free(lib);
}

static cublasStatus_t layout(cublasLtMatrixLayout_t *made, cudaDataType_t type, gg_i64 rows,
                             gg_i64 columns, const bench_problem *p) {
  cublasStatus_t s =
      cublasLtMatrixLayoutCreate(made, type, (uint64_t)rows, (uint64_t)columns, rows);
  int32_t batch = (int32_t)p->batch;
  int64_t stride = rows * columns;
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatrixLayoutSetAttribute(*made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                         sizeof batch);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatrixLayoutSetAttribute(*made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                         &stride, sizeof stride);
  return s;
}

static cublasStatus_t describe(bench_cublas *lib, const bench_problem *p) {
  bool turn_a = p->order_a == GG_ORDER_T, turn_b = p->order_b == GG_ORDER_T;
  cudaDataType_t type = data_types[p->type], type_d = data_types[bench_type_d(p->type)];
  cublasOperation_t op_a = turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t op_b = turn_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasStatus_t s =
      cublasLtMatmulDescCreate(&lib->call, compute_type(p->type), data_types[lib->acc]);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatmulDescSetAttribute(lib->call, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatmulDescSetAttribute(lib->call, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b);
  int8_t fast = (int8_t)p->fast_accum;
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatmulDescSetAttribute(lib->call, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                       sizeof fast);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = layout(&lib->a, type, turn_b ? p->k : p->n, turn_b ? p->n : p->k, p);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = layout(&lib->b, type, turn_a ? p->m : p->k, turn_a ? p->k : p->m, p);
  if (s == CUBLAS_STATUS_SUCCESS) s = layout(&lib->d, type_d, p->n, p->m, p);
  return s;
}

static cublasStatus_t choose(bench_cublas *lib) {
  cublasLtMatmulPreference_t wish;
  cublasStatus_t s = cublasLtMatmulPreferenceCreate(&wish);
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  uint64_t bytes = WORKSPACE;
  s = cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                           sizeof bytes);
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatmulAlgoGetHeuristic(lib->handle, lib->call, lib->a, lib->b, lib->d, lib->d, wish,
                                       1, &found, &count);
  cublasLtMatmulPreferenceDestroy(wish);
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  if (count == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  lib->algorithm = found.algo;
  return CUBLAS_STATUS_SUCCESS;
}

const char *bench_cublas_plan(bench_cublas *lib, const bench_problem *p) {
  drop_plan(lib);
  lib->acc = ggi_dtype_accumulator(p->type);
  cublasStatus_t s = describe(lib, p);
  if (s == CUBLAS_STATUS_SUCCESS) s = choose(lib);
  bool fp8 = p->type == GG_E4M3 || p->type == GG_E5M2;
  if (s != CUBLAS_STATUS_SUCCESS && fp8) return "takes fp8 in layout nt only, and no two e5m2";
  return s == CUBLAS_STATUS_SUCCESS ? NULL : cublasLtGetStatusString(s);
}

const char *bench_cublas_run(void *self, const bench_data *data, int set, void *stream) {
  bench_cublas *lib = self;
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const int one_whole = 1, zero_whole = 0;
  const void *one = &one32, *zero = &zero32;
  if (lib->acc == GG_F64) one = &one64, zero = &zero64;
  if (lib->acc == GG_S32) one = &one_whole, zero = &zero_whole;
  cublasStatus_t s =
      cublasLtMatmul(lib->handle, lib->call, one, data->b[set], lib->a, data->a[set], lib->b, zero,
                     data->d[set], lib->d, data->d[set], lib->d, &lib->algorithm, lib->workspace,
                     WORKSPACE, (cudaStream_t)stream);
  return s == CUBLAS_STATUS_SUCCESS ? NULL : cublasLtGetStatusString(s);
}

#else

const char *bench_cublas_open(gg_device *device, bench_cublas **lib) {
  (void)device;
  (void)lib;
  return "gemmbench was built where there was no cuBLASLt";
}

const char *bench_cublas_plan(bench_cublas *lib, const bench_problem *p) {
  (void)lib;
  (void)p;
  return "no cuBLASLt";
}

const char *bench_cublas_run(void *self, const bench_data *data, int set, void *stream) {
  (void)self;
  (void)data;
  (void)set;
  (void)stream;
  return "no cuBLASLt";
}

void bench_cublas_close(bench_cublas *lib) {
  (void)lib;
}

#endif
