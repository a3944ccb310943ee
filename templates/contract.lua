-- contract.lua - the text of gg_args, as it stands between the marker lines of runtime/gg_kernel.h.
-- A test holds the two equal.

return { args = [[
#ifdef __cplusplus
#define GG_ALIGNAS(n) alignas(n)
#else
#define GG_ALIGNAS(n) _Alignas(n)
#endif

typedef long long gg_i64;
typedef unsigned long long gg_u64;

// A scalar, read in the epilogue's type.
typedef union gg_scalar {
  double f64;
  float f32;
  int s32;
} gg_scalar;

// A TMA descriptor, opaque.
typedef struct gg_tensor_map {
  GG_ALIGNAS(64) unsigned char opaque[128];
} gg_tensor_map;

// The one argument of every kernel. Sizes, leading dimensions and strides in elements.
typedef struct gg_args {
  const void *a;   // A[m,k], read only
  const void *b;   // B[k,n], read only
  const void *c;   // C[m,n], read where beta is not zero; may equal d
  void *d;         // D[m,n], written
  gg_i64 m, n, k;  // the problem, one batch
  gg_i64 batch;    // matrices in this launch
  gg_i64 lda, ldb; // between rows as stored
  gg_i64 ldc, ldd;
  gg_i64 stride_a; // between batches; 0: shared by all
  gg_i64 stride_b;
  gg_i64 stride_c;
  gg_i64 stride_d;
  gg_scalar alpha;
  gg_scalar beta;
  const void *bias;     // per row or column of D, or null
  const void *residual; // m x n of D's type, or null
  const void *scale_a;  // f32 scales of A, B and D, or null
  const void *scale_b;
  const void *scale_d;
  void *absmax; // one f32, raised to max |x| before scale_d, or null
  gg_i64 ld_residual;
  gg_i64 stride_residual;
  gg_i64 stride_bias;
  void *workspace;     // of the size the row states, or null
  gg_tensor_map map_a; // filled where the row has a recipe
  gg_tensor_map map_b;
  gg_tensor_map map_c;
  gg_tensor_map map_d;
} gg_args;
]] }
