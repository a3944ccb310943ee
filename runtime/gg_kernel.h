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
#define GG_KERNEL_ABI 5

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

/* The epilogue, each step once, after the last k, in this order. x is of the epilogue's type: f64
 * where the accumulator is; s32 where it and D are, without any step but alpha and beta; else f32.
 *   x = accumulator * scale_a * scale_b     TENSOR, VECTOR; GROUP and BLOCK scale each 128 of k
 *   x = alpha * x + beta * C
 *   x = x + bias
 *   x = activation(x)
 *   x = x + residual
 *   absmax = max(absmax, |x|)
 *   x = x * scale_d
 *   D = x, rounded to nearest even; e4m3, e5m2 and integers saturate
 * Numbers of the three enumerations are pinned. */

/* A value for each column of D (N) or for each row (M). Its type is D's for f64, f32, f16 and bf16,
 * else f32. */
typedef enum gg_bias { GG_BIAS_NONE = 0, GG_BIAS_N = 1, GG_BIAS_M = 2 } gg_bias;

/* GELU: x/2 (1 + erf(x / sqrt 2)); GELU_TANH: its approximation by tanh; SILU: x / (1 + exp -x).
 * NaN stays NaN; of -infinity each makes 0. */
typedef enum gg_activation {
  GG_ACTIVATION_NONE = 0,
  GG_ACTIVATION_RELU = 1,
  GG_ACTIVATION_GELU = 2,
  GG_ACTIVATION_SILU = 3,
  GG_ACTIVATION_GELU_TANH = 4
} gg_activation;

/* Scales are f32, dense, the batch's matrices one after the other, also where A or B is shared
 * (TENSOR: one for all). With kb = k / 128 rounded up:
 * TENSOR: one value.  VECTOR: one for each row of A, column of B.
 * GROUP: one for each row of A (column of B) and 128 of k: kb x m (kb x n), m (n) contiguous.
 * BLOCK: one for each 128 x 128 block: kb x (m / 128 rounded up), likewise for B. */
typedef enum gg_scaling {
  GG_SCALING_NONE = 0,
  GG_SCALING_TENSOR = 1,
  GG_SCALING_VECTOR = 2,
  GG_SCALING_GROUP = 3,
  GG_SCALING_BLOCK = 4
} gg_scaling;

/* The text between the two marker lines also stands in section 1 of every emitted file
 * (templates/contract.lua); a test holds them equal. */
/* gg_args: begin */
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
/* gg_args: end */

/* How an entry is called: nvcc's host stub, a loaded module's function or the emulated function,
 * cast to one type. */
typedef void (*gg_entry)(void);

/* How the launcher makes the tensor map of an operand, map_a to map_d of gg_args.
 *
 * The map has rank 3. Dimension 0 runs along the axis that is contiguous as stored (A: k, or m
 * where it is stored transposed; B: n, or k; C and D: n), dimension 1 along the other, dimension 2
 * along the batch: a batch of 1, or a stride of 0, gives it the extent 1, so a kernel multiplies
 * its batch coordinate by (stride != 0). Extents are the operand's own: reads beyond them are zero,
 * writes are dropped. Elements are of the row's type, tf32 as f32. Not interleaved. A map is left
 * zero, and must not be touched, where its operand is not read: A and B where k or alpha is 0, C
 * where beta is 0.
 *
 * A row does not apply to calls whose sizes a map cannot hold: bases, pitches and batch strides
 * that are no multiples of 16 bytes, extents from 2^31 on, distances from 2^40 bytes on; and rows
 * of D that are no multiple of 16 bytes, since a store writes all of the 16 in which they end. */
typedef struct gg_map_recipe {
  int used;      /* 0: the kernel has no such map, all else is 0 */
  int box_inner; /* elements that one copy takes along dimension 0, at most 256; their bytes are a
                    multiple of 16, and with a swizzle at most its bytes */
  int box_outer; /* along dimension 1, at most 256; along the batch it is 1 */
  int swizzle;   /* bytes: 0 (none), 32, 64 or 128 */
  int promotion; /* bytes that a miss brings into L2: 0 (32, a sector), 64, 128 or 256 */
} gg_map_recipe;

/* What a kernel does. Numbers are pinned. */
typedef enum gg_kind {
  GG_KIND_GEMM = 0,   /* a product, as at the head of this file */
  GG_KIND_REPACK = 1, /* copies a matrix for a product that cannot take it as it lies */
  GG_KIND_REDUCE = 2  /* ends a product whose k was cut */
} gg_kind;

/* A REPACK row copies the bits of a matrix into memory whose rows start at multiples of 16 bytes.
 * Of gg_args it looks at
 *   a, lda, stride_a   the source, m rows of n elements as stored, any element-aligned address
 *   d, ldd, stride_d   the copy: base, pitch and stride are multiples of align[3] bytes
 *   m, n, batch
 * order_a N: the copy is m x n; T: turned, n x m. In each row of the copy what lies between its
 * last element and the next multiple of 16 bytes becomes zero. Of its types only the bytes of an
 * element count (u8, f16, f32), and C and B are as A. Its grid is that of any row: tiles of tile_m
 * x tile_n elements of the source. */

/* A REDUCE row adds up the sums of parts of k, in their order, and takes the epilogue's steps. Of
 * gg_args it looks at what a GEMM row of batch 1 looks at, but for A and B:
 *   b, ldb, stride_b   the parts, each m x n of type_acc, stride_b apart; where alpha is 0 they are
 *                      not read
 *   k                  how many there are
 * Its types of A and B are that of the parts, its orders N. */

/* One emitted kernel. */
typedef struct gg_kernel {
  const char *name;   /* = file without .cu = symbol without prefix */
  const char *symbol; /* with prefix: the name of the device function */
  const char *file;   /* source, relative to the folder of the table */
  gg_entry entry;
  const char *family; /* one of "naive", "smem", "simt", "gemv", "wmma", "mma", "wgmma", "repack",
                         "reduce" */
  gg_kind kind;

  int arch;         /* compute capability x 10: 90 */
  char arch_suffix; /* 'a': runs on exactly this arch; 0: this and later ones (PTX is carried) */

  gg_dtype type_a, type_b, type_c, type_d, type_acc;
  /* fp8 on tensor cores, whose sums keep about 14 bits. promote_k: so many elements of k are summed
   * there before the sum is added in type_acc; 0: it is type_acc throughout, or fast_accum. */
  int promote_k;
  int fast_accum; /* 1: all of k is summed there; only for calls that allow it */
  gg_order order_a, order_b;
  gg_scalar_class alpha, beta;
  gg_bias bias;
  gg_activation activation;
  gg_scaling scaling_a, scaling_b, scaling_d; /* scaling_d: NONE or TENSOR */
  int residual, absmax;                       /* 1: has that step */

  int tile_m, tile_n, tile_k; /* elements of D a block computes; k a stage holds */
  int k_slices;               /* parts of each k tile, summed inside the block; 1: none */
  int threads;                /* block is threads x 1 x 1 */
  int cluster_m, cluster_n;   /* blocks, at most 16; 1 x 1: no cluster */
  int cluster_k;     /* blocks of a cluster that share one tile, each a part of k; 1: none */
  int shared_bytes;  /* dynamic shared memory */
  int blocks_per_sm; /* the plan's residency, for choosing */

  /* Bytes that each operand's base pointer, leading dimension and batch stride must be a multiple
   * of, in the order a, b, c, d. c counts only where C is read; d is asked of the residual as well.
   * Bias and scales need the alignment of their elements. */
  int align[4];
  /* m, n and k must be multiples of these (1: any), k at least min_k. */
  int multiple_m, multiple_n, multiple_k, min_k;
  /* What the choice among rows that apply rests on: the least of
   *   (k * s + cluster_k * overhead_k * o) / speed * (1 - w + w / q), w = wave_loss_percent / 100,
   *   q = m * n * batch * cluster_k / (SMs * t * tile_m * tile_n), t = ceil(blocks / SMs)
   * blocks: those of the grid before persistence, padding included (below); t: how many the SM with
   * most of them computes, beside each other or in turn; q: the share of the SMs' time that goes
   * into elements of D. The first of them pays overhead_k, each further one a part:
   *   o = (1 + further_percent / 100 * (t - 1)) / t
   * An SM holds b = blocks_per_sm of them at once, which share its rate and together reach speed.
   * In the last round it holds c = t - b * (ceil(t / b) - 1), which reach the part
   * f = min(1, c * alone_percent / 100) of it:
   *   s = (t - c + c / f) / t */
  int speed;             /* with all SMs busy, per mille of the fastest kernel of these types */
  int wave_loss_percent; /* 100: time of idle SMs is lost; less: their power helps the others */
  int overhead_k;        /* what a tile costs besides its k, in elements of k */
  int further_percent;   /* of overhead_k that each further tile on an SM costs */
  int alone_percent;     /* of speed that one block on an SM reaches, instead of blocks_per_sm */
  /* 10^9 FLOP/s of one SM that speed 1000 stands for on the plan's GPU; 0: unknown. It turns the
   * expression above, e, into nanoseconds, 2000 * m * n * batch * e / (SMs * sm_gflops), so that
   * the time of REPACK and REDUCE rows can be added:
   *   overhead_ns + (bytes read + bytes written) / copy_gbs
   * with partial_percent of the tiles' whole bytes where that is more. A GEMM row with copy_gbs is
   * bound by memory as well: with f the time of A, B and D, each once (B for each tile along m
   * where tile_n is 1), at copy_gbs, its time is (e^4 + f^4)^(1/4). 500 ns
   * are added where it is not launched early (`programmatic`). */
  int sm_gflops;
  int copy_gbs;        /* 10^9 bytes a second, read and written; 0: not known, or in speed */
  int memory_gbs;      /* bandwidth of device memory of the plan's GPU; on a device that reports
                          another, copy_gbs counts in proportion; 0: unknown */
  int overhead_ns;     /* REPACK, REDUCE: from the launch before to the first byte; else 0 */
  int partial_percent; /* REPACK: of a full tile's time that any tile takes; else 0 */

  gg_map_recipe maps[4]; /* of a, b, c, d */

  /* Grid, along x. A cluster of cluster_m x cluster_n blocks, neighbours along x, computes as many
   * neighbouring tiles, so the tiles are padded to whole clusters:
   *   clusters = ceil(ceil(m / tile_m) / cluster_m) * ceil(ceil(n / tile_n) / cluster_n) * batch
   * With cluster_k > 1 a cluster has cluster_m * cluster_n * cluster_k blocks, those of one tile
   * beside each other.
   * persistent 0: as many blocks, one for each tile and part of k.
   * persistent 1: the blocks walk over the tiles. With r = the clusters that the device runs at
   * once there are ceil(clusters / ceil(clusters / r)) clusters: no more rounds than r of them
   * would need, and no more clusters than that takes. One launch has at most 2^31 - 1 tiles,
   * padding included; a larger batch is launched in parts. */
  int persistent;
  /* 1: the kernel may be launched while the one before it in the stream ends
   * (cudaLaunchAttributeProgrammaticStreamSerialization). It touches no memory before
   * griddepcontrol.wait, which waits for the end of all that stands before it, and lets a kernel
   * behind it that is launched in the same way come early. Launched without, it runs as any. */
  int programmatic;
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
