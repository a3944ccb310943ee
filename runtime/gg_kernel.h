/* gg_kernel.h - the contract between emitted kernels, their table and whoever launches them.
 *
 * An emitted kernel is device code only and has one signature:
 *   void NAME(const __grid_constant__ gg_args p)
 * A table row (gg_kernel) says everything a launch needs. Emitted tables (gg_table.c) include this
 * header and nothing else. Valid C11 and C++17; includes nothing.
 *
 * D[m,n] = alpha * A[m,k] * B[k,n] + beta * C[m,n]; leading dimensions in elements.
 */
#ifndef GG_KERNEL_H
#define GG_KERNEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Layout version of gg_args, gg_kernel and gg_kernel_table. A table of another version is refused.
 */
#define GG_KERNEL_ABI 1

/* Element types, ORDER DTYPE (gen/spec.c, runtime/dtype.c). tf32 is f32 in memory. Numbers are
 * pinned: a saved table stays readable. */
typedef enum gg_dtype {
  GG_NONE = 0,
  GG_F64 = 1,
  GG_F32 = 2,
  GG_TF32 = 3,
  GG_F16 = 4,
  GG_BF16 = 5,
  GG_E4M3 = 6,
  GG_E5M2 = 7,
  GG_S8 = 8,
  GG_U8 = 9,
  GG_S32 = 10
} gg_dtype;

/* Storage order of A and B. N: as written (A is m x k row-major, B is k x n row-major).
 * T: stored transposed (A is k x m row-major, B is n x k row-major). */
typedef enum gg_order { GG_ORDER_N = 0, GG_ORDER_T = 1 } gg_order;

/* What is known of a scalar before the call. For a kernel: what is compiled in (ANY: read at run
 * time, zero and one included). For a problem: what the caller promises. */
typedef enum gg_scalar_class {
  GG_SCALAR_ANY = 0,
  GG_SCALAR_ZERO = 1,
  GG_SCALAR_ONE = 2
} gg_scalar_class;

/* The text between the two marker lines also stands in section 1 of every emitted file
 * (templates/contract.lua); a test holds them equal. */
/* gg_args: begin */
#ifdef __cplusplus
#define GG_ALIGNAS(n) alignas(n)
#else
#define GG_ALIGNAS(n) _Alignas(n)
#endif

typedef long long gg_i64;

// A scalar, read in the accumulator's type.
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
  const void *residual; // m x n, or null
  const void *scale_a;  // scales of A, B and D, or null
  const void *scale_b;
  const void *scale_d;
  void *absmax; // one value, max |D|, or null
  gg_i64 ld_residual;
  gg_i64 stride_residual;
  gg_i64 stride_bias;
  void *workspace;     // of the size the row states, or null
  gg_tensor_map map_a; // filled where the row has a recipe
  gg_tensor_map map_b;
  gg_tensor_map map_c;
  gg_tensor_map map_d;
} gg_args;
/* gg_args: end */

/* How an entry is called: nvcc's host stub, a loaded module's function or the emulated function,
 * cast to one type. */
typedef void (*gg_entry)(void);

/* One emitted kernel. */
typedef struct gg_kernel {
  const char *name;   /* = file without .cu = symbol without prefix */
  const char *symbol; /* with prefix: the name of the device function */
  const char *file;   /* source, relative to the folder of the table */
  gg_entry entry;
  const char *family; /* "naive", "smem", "simt" */

  int arch;         /* compute capability x 10: 90 */
  char arch_suffix; /* 'a': runs on exactly this arch; 0: this and later ones (PTX is carried) */

  gg_dtype type_a, type_b, type_c, type_d, type_acc;
  gg_order order_a, order_b;
  gg_scalar_class alpha, beta;

  int tile_m, tile_n, tile_k; /* elements of D a block computes; k a stage holds */
  int k_slices;               /* parts of each k tile, summed inside the block; 1: none */
  int threads;                /* block is threads x 1 x 1 */
  int cluster_m, cluster_n;   /* blocks; 1 x 1: no cluster */
  int shared_bytes;           /* dynamic shared memory */
  int blocks_per_sm;          /* the plan's residency, for choosing */

  /* Bytes that each operand's base pointer, leading dimension and batch stride must be a multiple
   * of, in the order a, b, c, d. c counts only where C is read. */
  int align[4];
  /* m, n and k must be multiples of these (1: any), k at least min_k. */
  int multiple_m, multiple_n, multiple_k, min_k;
  /* Choose only where the tiles of the call are at least this many per cent of the device's SMs and
   * lie at least half inside D. 0: no such wish. Wishes are dropped when no row is left. */
  int min_fill_percent;

  /* Grid: ceil(m / tile_m) * ceil(n / tile_n) * batch blocks along x. One launch takes at most
   * 2^31 - 1 of them; a larger batch is launched in parts. */
} gg_kernel;

/* One emitted folder. Rows stand in the order of preference. DIR/gg_table.c defines one, under the
 * name gg_table (with --prefix p_: p_gg_table; compiled for the emulated GPU: ..._emu). */
typedef struct gg_kernel_table {
  int abi;       /* GG_KERNEL_ABI */
  int args_size; /* sizeof(gg_args) */
  int row_size;  /* sizeof(gg_kernel) */
  int emulated;  /* 1: entries run on the emulated GPU only; 0: on CUDA only */
  int count;
  const gg_kernel *kernels;
  const char *generator; /* "gemmgen 0.1.0" */
} gg_kernel_table;

#ifdef __cplusplus
}
#endif
#endif
