/* bench_cublas.c - the baseline: cuBLASLt, its default heuristic.
 *
 * cuBLASLt is column-major: D transposed is computed as B transposed times A transposed, which the
 * row-major operands are as they stand; a bias along its rows is ours along n. Its fp8 takes one
 * pair of orders only, which is our nt.
 *
 * Steps: bias along n, relu, and gelu by tanh (its only gelu) are its epilogues. A residual is its
 * C with beta = 1, the same thing where no activation stands between. Scales of fp8 tensors are
 * device pointers, and so are those of rows and columns; scales of other tensors are multiplied
 * into alpha on the host, which saves it a load.
 */
#include "bench.h"
#include "dtype.h"
#include "epilogue.h"

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
  cublasLtMatrixLayout_t a, b, c, d; /* cuBLASLt's A is our B */
  cublasLtMatmulAlgo_t algorithm;
  gg_dtype scalars;
  bench_steps steps;
  bool fp8, fp8_d; /* operands, D */
  float
      alpha[2]; /* product of the scales of tensors that are no fp8; of the data and the last set */
};

static const cudaDataType_t data_types[] = {
    [GG_F64] = CUDA_R_64F,      [GG_F32] = CUDA_R_32F,   [GG_TF32] = CUDA_R_32F,
    [GG_F16] = CUDA_R_16F,      [GG_BF16] = CUDA_R_16BF, [GG_E4M3] = CUDA_R_8F_E4M3,
    [GG_E5M2] = CUDA_R_8F_E5M2, [GG_S8] = CUDA_R_8I,     [GG_U8] = CUDA_R_8U,
    [GG_S32] = CUDA_R_32I,
};

static bool is_fp8(gg_dtype type) {
  return type == GG_E4M3 || type == GG_E5M2;
}

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
  if (lib->c) cublasLtMatrixLayoutDestroy(lib->c);
  if (lib->d) cublasLtMatrixLayoutDestroy(lib->d);
  lib->call = NULL;
  lib->a = lib->b = lib->c = lib->d = NULL;
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

/* Sets an attribute of the call unless something failed before. */
static void set(bench_cublas *lib, cublasStatus_t *s, cublasLtMatmulDescAttributes_t name,
                const void *value, size_t bytes) {
  if (*s == CUBLAS_STATUS_SUCCESS)
    *s = cublasLtMatmulDescSetAttribute(lib->call, name, value, bytes);
}

/* Steps that it has not, or not at this place; NULL: it has all. */
static const char *missing(const bench_problem *p) {
  const bench_steps *s = &p->steps;
  bool fp8_d = is_fp8(bench_type_d(p));
  if (s->bias == GG_BIAS_M) return "has no bias along m";
  if (s->activation == GG_ACTIVATION_GELU || s->activation == GG_ACTIVATION_SILU)
    return "has relu and gelu_tanh only";
  if (s->residual && s->activation) return "adds a residual before the activation only";
  if (s->residual && fp8_d) return "adds no residual of fp8";
  if (s->scaling_a > GG_SCALING_VECTOR || s->scaling_b > GG_SCALING_VECTOR)
    return "is not asked for scales of 128 of k here";
  if (s->scaling_a == GG_SCALING_VECTOR || s->scaling_b == GG_SCALING_VECTOR) {
    if (!is_fp8(p->type)) return "has scales of rows and columns for fp8 only";
    if (s->scaling_a != s->scaling_b) return "has scales of rows and columns for both or none";
#if CUBLAS_VERSION < 120900
    return "has no scales of rows and columns in this version";
#endif
  }
  if (s->scaling_d && !fp8_d && (s->bias || s->activation || s->residual))
    return "scales D for fp8 only";
  if (s->absmax && !fp8_d) return "has absmax for fp8 only";
  return NULL;
}

static cublasLtEpilogue_t epilogue_of(const bench_steps *s) {
  if (s->activation == GG_ACTIVATION_RELU)
    return s->bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (s->activation == GG_ACTIVATION_GELU_TANH)
    return s->bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return s->bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/* What does not depend on pointers. */
static void describe_steps(bench_cublas *lib, const bench_problem *p, cublasStatus_t *s) {
  const bench_steps *steps = &p->steps;
  cublasLtEpilogue_t epilogue = epilogue_of(steps);
  set(lib, s, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (steps->bias) {
    cudaDataType_t type = data_types[ggi_bias_type(bench_type_d(p))];
    int64_t stride = p->n;
    set(lib, s, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type);
    if (p->batch > 1) set(lib, s, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &stride, sizeof stride);
  }
#if CUBLAS_VERSION >= 120900
  if (steps->scaling_a == GG_SCALING_VECTOR) {
    int32_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    set(lib, s, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &mode, sizeof mode);
    set(lib, s, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &mode, sizeof mode);
  }
#endif
}

/* Bias, scales and absmax of a set. Its A is our B. */
static void point(bench_cublas *lib, const gg_pointers *x, cublasStatus_t *s) {
  const bench_steps *steps = &lib->steps;
  const struct {
    bool there;
    cublasLtMatmulDescAttributes_t name;
    const void *value;
  } pointers[] = {
      {steps->bias != 0, CUBLASLT_MATMUL_DESC_BIAS_POINTER, x->bias},
      {lib->fp8 && steps->scaling_b, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, x->scale_b},
      {lib->fp8 && steps->scaling_a, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, x->scale_a},
      {lib->fp8_d && steps->scaling_d, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, x->scale_d},
      {steps->absmax != 0, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, x->absmax}};
  for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; ++i)
    if (pointers[i].there) set(lib, s, pointers[i].name, &pointers[i].value, sizeof(void *));
}

static cublasStatus_t describe(bench_cublas *lib, const bench_problem *p) {
  bool turn_a = p->order_a == GG_ORDER_T, turn_b = p->order_b == GG_ORDER_T;
  cudaDataType_t type = data_types[p->type], type_d = data_types[bench_type_d(p)];
  cublasOperation_t op_a = turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t op_b = turn_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasStatus_t s =
      cublasLtMatmulDescCreate(&lib->call, compute_type(p->type), data_types[lib->scalars]);
  int8_t fast = (int8_t)p->fast_accum;
  set(lib, &s, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a);
  set(lib, &s, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b);
  set(lib, &s, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
  describe_steps(lib, p, &s);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = layout(&lib->a, type, turn_b ? p->k : p->n, turn_b ? p->n : p->k, p);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = layout(&lib->b, type, turn_a ? p->m : p->k, turn_a ? p->k : p->m, p);
  if (s == CUBLAS_STATUS_SUCCESS) s = layout(&lib->d, type_d, p->n, p->m, p);
  /* Beside D of fp8 its C is bf16; here it is not read. */
  if (s == CUBLAS_STATUS_SUCCESS)
    s = layout(&lib->c, lib->fp8_d ? CUDA_R_16BF : type_d, p->n, p->m, p);
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
    s = cublasLtMatmulAlgoGetHeuristic(lib->handle, lib->call, lib->a, lib->b, lib->c, lib->d, wish,
                                       1, &found, &count);
  cublasLtMatmulPreferenceDestroy(wish);
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  if (count == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  lib->algorithm = found.algo;
  return CUBLAS_STATUS_SUCCESS;
}

/* Scales of tensors that cuBLASLt does not take: their product, of either kind of data. */
static gg_status fold_scales(bench_cublas *lib, const bench_data *data) {
  const bench_steps *s = &lib->steps;
  const bool folded[3] = {!lib->fp8 && s->scaling_a, !lib->fp8 && s->scaling_b,
                          !lib->fp8_d && s->scaling_d};
  for (int which = 0; which < 2; ++which) {
    lib->alpha[which] = 1;
    for (int o = 0; o < 3; ++o) {
      float value = 1;
      if (!folded[o]) continue;
      gg_status status =
          gg_device_download(lib->device, &value, data->scale[which][o], sizeof value);
      if (status != GG_OK) return status;
      lib->alpha[which] *= value;
    }
  }
  return GG_OK;
}

const char *bench_cublas_plan(bench_cublas *lib, const bench_problem *p, const bench_data *data) {
  drop_plan(lib);
  lib->scalars = bench_epilogue(p);
  lib->steps = p->steps;
  lib->fp8 = is_fp8(p->type);
  lib->fp8_d = is_fp8(bench_type_d(p));
  const char *why = missing(p);
  if (why) return why;
  if (gg_device_synchronise(lib->device) != GG_OK || fold_scales(lib, data) != GG_OK)
    return gg_error_detail();
  cublasStatus_t s = describe(lib, p);
  gg_pointers pointers = bench_pointers(data, 0);
  point(lib, &pointers, &s); /* the choice looks at which there are */
  if (s == CUBLAS_STATUS_SUCCESS) s = choose(lib);
  bool taken = p->order_a == GG_ORDER_N && p->order_b == GG_ORDER_T && p->type == GG_E4M3;
  if (s != CUBLAS_STATUS_SUCCESS && lib->fp8 && !taken)
    return "takes fp8 in layout nt only, and no two e5m2";
  return s == CUBLAS_STATUS_SUCCESS ? NULL : cublasLtGetStatusString(s);
}

const char *bench_cublas_run(void *self, const bench_data *data, int at, void *stream) {
  bench_cublas *lib = self;
  const gg_pointers x = bench_pointers(data, at);
  const float alpha32 = lib->alpha[at == data->sets], beta32 = lib->steps.residual ? 1 : 0;
  const double alpha64 = (double)alpha32, beta64 = (double)beta32;
  const int alpha_whole = 1, beta_whole = 0;
  const void *alpha = &alpha32, *beta = &beta32;
  if (lib->scalars == GG_F64) alpha = &alpha64, beta = &beta64;
  if (lib->scalars == GG_S32) alpha = &alpha_whole, beta = &beta_whole;
  cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
  point(lib, &x, &s);
  if (s == CUBLAS_STATUS_SUCCESS)
    s = cublasLtMatmul(lib->handle, lib->call, alpha, x.b, lib->a, x.a, lib->b, beta,
                       x.residual ? x.residual : x.d, lib->c, x.d, lib->d, &lib->algorithm,
                       lib->workspace, WORKSPACE, (cudaStream_t)stream);
  return s == CUBLAS_STATUS_SUCCESS ? NULL : cublasLtGetStatusString(s);
}

#else

const char *bench_cublas_open(gg_device *device, bench_cublas **lib) {
  (void)device;
  (void)lib;
  return "gemmbench was built where there was no cuBLASLt";
}

const char *bench_cublas_plan(bench_cublas *lib, const bench_problem *p, const bench_data *data) {
  (void)lib;
  (void)p;
  (void)data;
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
