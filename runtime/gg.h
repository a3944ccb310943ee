/* gg.h - the runtime library of gemmgen: plans and runs matrix products with emitted kernels.
 *
 * D[m,n] = alpha * A[m,k] * B[k,n] + beta * C[m,n]; leading dimensions in elements.
 *
 * The order of work:
 *   gg_device_cuda or gg_device_emulated      where to run
 *   gg_context_create(tables)                 with which kernels: the gg_table of emitted folders
 *   gg_problem_init, fields, gg_plan_create   what to compute: chosen once
 *   gg_run(plan, pointers, ...)               run many times
 * gg_gemm does the last two in one call and keeps the plans.
 *
 * Conventions. Matrices are row-major unless an order says otherwise. Sizes, leading dimensions and
 * strides are 64-bit numbers of elements; workspace and alignment are bytes. Every function that
 * can fail returns a gg_status, 0 for success, and delivers its result through its last pointer;
 * on failure it leaves that result alone and gg_error_detail() says in one sentence what was wrong.
 * Pointers to matrices are device pointers of the problem's device. The library allocates no device
 * memory but in gg_device_alloc and uses no default stream.
 *
 * Threads. Any function may be called from any thread at any time, except that an object must not
 * be destroyed while another call uses it. Destroy plans and contexts before their devices.
 */
#ifndef GG_H
#define GG_H

#include "gg_kernel.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GG_API __attribute__((visibility("default")))
#else
#define GG_API
#endif

/* Status numbers are pinned: a number never changes its meaning and is never used again. */
#define GG_STATUS_LIST(X)                                                                          \
  X(GG_OK, 0, "success")                                                                           \
  X(GG_ERR_ARGUMENT, 1, "an argument is NULL or has a value that it cannot have")                  \
  X(GG_ERR_MEMORY, 2, "host memory is short")                                                      \
  X(GG_ERR_TABLE, 3, "a kernel table was built for another version of this library")               \
  X(GG_ERR_SIZE, 4, "m, n, k or batch is negative")                                                \
  X(GG_ERR_LD, 5, "a leading dimension is smaller than a row")                                     \
  X(GG_ERR_STRIDE, 6, "a batch stride is negative, or makes matrices of D share elements")         \
  X(GG_ERR_TYPE, 7, "an element type is missing or unknown")                                       \
  X(GG_ERR_NULL, 8, "a pointer is NULL where data is needed")                                      \
  X(GG_ERR_ALIGNMENT, 9, "a pointer is not aligned as it must be")                                 \
  X(GG_ERR_OVERLAP, 10, "D or absmax shares an element with another operand")                      \
  X(GG_ERR_SCALAR, 11, "alpha or beta is outside the class stated in the problem")                 \
  X(GG_ERR_NO_KERNEL, 12, "no kernel of the tables can do this problem")                           \
  X(GG_ERR_PIN, 13, "the pinned kernel is unknown or cannot do this problem")                      \
  X(GG_ERR_WORKSPACE, 14, "the workspace is smaller than the plan needs")                          \
  X(GG_ERR_UNSUPPORTED, 15, "this version of the library cannot do that yet")                      \
  X(GG_ERR_NO_BACKEND, 16, "the library was built without CUDA")                                   \
  X(GG_ERR_NO_DEVICE, 17, "there is no such device")                                               \
  X(GG_ERR_DEVICE_MEMORY, 18, "device memory is short")                                            \
  X(GG_ERR_DEVICE, 19, "the device reported an error")                                             \
  X(GG_ERR_LIMIT, 20, "the problem is too large for 64-bit offsets or one launch")                 \
  X(GG_ERR_ARCH, 21, "the kernels for this problem were built for other devices")                  \
  X(GG_ERR_BACKEND, 22, "the tables hold no kernel for this kind of device")                       \
  X(GG_ERR_FAULT, 23, "the emulated GPU found a fault in the kernel")

typedef enum gg_status {
#define GG_STATUS_ENUM(name, number, text) name = number,
  GG_STATUS_LIST(GG_STATUS_ENUM)
#undef GG_STATUS_ENUM
} gg_status;

/* The fixed text of a status, without a final stop; never NULL, also for an unknown number. */
GG_API const char *gg_status_text(gg_status status);

/* The name of a status as in this header ("GG_ERR_LD"), for logs. Never NULL. */
GG_API const char *gg_status_name(gg_status status);

/* What was wrong in the last call of this thread that failed: field, value, reason and remedy in
 * one line. Owned by the library, valid until the thread's next failing call; "" before any
 * failure. Successful calls leave it alone. */
GG_API const char *gg_error_detail(void);

/* ---- Devices ----------------------------------------------------------------------------------
 */

/* A place to run: a CUDA device or an emulated one. Owned by the caller. */
typedef struct gg_device gg_device;

typedef struct gg_device_info {
  char name[64];
  int emulated;         /* 1: emulated GPU */
  int arch;             /* compute capability x 10: 90 */
  int sms;              /* streaming multiprocessors, read from the device */
  int shared_block;     /* most bytes of dynamic shared memory a block may have */
  int threads_block;    /* most threads of a block */
  int clock_mhz;        /* highest clock the device reports; 0: unknown */
  int l2_bytes;         /* 0: unknown */
  gg_i64 blocks_launch; /* most blocks of one launch along x */
  int memory_gbs;       /* bandwidth of device memory, 10^9 bytes a second, from its clock and the
                           width of its bus; 0: unknown */
} gg_device_info;

/* The emulated GPU's settings. gg_emulated_options_init fills in those of an H100. */
typedef struct gg_emulated_options {
  size_t size;          /* sizeof(gg_emulated_options), set by init */
  int arch;             /* compute capability x 10 to pass for; default 90 */
  int sms;              /* default 132 */
  int shared_block;     /* bytes; default 232448 */
  int host_threads;     /* threads of this machine to run blocks on; default 1 */
  int check;            /* 1 (default): races, uninitialised reads, waits and bounds; 0: bounds */
  uint64_t seed;        /* 0 (default): fixed schedule; else a random schedule */
  gg_i64 blocks_launch; /* default 2^31 - 1; smaller values split batches earlier */
} gg_emulated_options;

/* Called by gg_emulated_options_init. */
GG_API void gg_emulated_options_init_sized(gg_emulated_options *options, size_t size);

static inline void gg_emulated_options_init(gg_emulated_options *options) {
  gg_emulated_options_init_sized(options, sizeof(gg_emulated_options));
}

/* A CUDA device by its ordinal in the CUDA runtime. The device's primary context is used; nothing
 * is allocated on it. GG_ERR_NO_BACKEND in a library without CUDA, GG_ERR_NO_DEVICE where the
 * driver or the device is missing. */
GG_API gg_status gg_device_cuda(int ordinal, gg_device **device);

/* An emulated GPU with an address space of its own: only memory from gg_device_alloc of the same
 * device may be passed to it. Launches run on the calling thread, one at a time, and are complete
 * when gg_run returns; a fault that it finds in a kernel is GG_ERR_FAULT. options may be NULL. */
GG_API gg_status gg_device_emulated(const gg_emulated_options *options, gg_device **device);

/* Frees the handle; for an emulated device its memory as well. NULL is fine. */
GG_API void gg_device_destroy(gg_device *device);

GG_API gg_status gg_device_get_info(const gg_device *device, gg_device_info *info);

/* Device memory, aligned to 256 bytes, not initialised. bytes = 0 gives a pointer that must not be
 * followed. A convenience: on CUDA any other allocation will do as well. */
GG_API gg_status gg_device_alloc(gg_device *device, size_t bytes, void **memory);
GG_API gg_status gg_device_free(gg_device *device, void *memory);

/* Copies between host and device. These two block until the bytes are there and, on CUDA, wait for
 * nothing that was put on other streams: synchronise first. */
GG_API gg_status gg_device_upload(gg_device *device, void *to, const void *from, size_t bytes);
GG_API gg_status gg_device_download(gg_device *device, void *to, const void *from, size_t bytes);

/* Waits for all work of the device. */
GG_API gg_status gg_device_synchronise(gg_device *device);

/* ---- Contexts ---------------------------------------------------------------------------------
 */

/* The kernels to choose from, and the plans that gg_gemm keeps. Owned by the caller. */
typedef struct gg_context gg_context;

/* tables: count pointers to the gg_table of emitted folders, in order of preference; the array is
 * copied, the tables must outlive the context. A table of another ABI is GG_ERR_TABLE. Tables for
 * CUDA and for the emulated GPU may stand side by side; a problem's device decides which of them
 * count. */
GG_API gg_status gg_context_create(const gg_kernel_table *const *tables, size_t count,
                                   gg_context **context);

/* Frees the context and the plans that gg_gemm kept. NULL is fine. */
GG_API void gg_context_destroy(gg_context *context);

/* ---- Problems ---------------------------------------------------------------------------------
 */

/* One call, described without its pointers. Fill it with gg_problem_init, then set what differs.
 *
 * Leading dimensions count elements between rows as stored: A is stored m x k (N) or k x m (T), B
 * k x n (N) or n x k (T), C and D m x n. Strides count elements between the matrices of a batch;
 * stride 0 shares one matrix of A, B or C by the whole batch. With batch <= 1 strides do not
 * matter.
 */
typedef struct gg_problem {
  size_t size;       /* sizeof(gg_problem) of the caller, set by gg_problem_init */
  gg_device *device; /* where to run; not owned */

  gg_dtype type_a, type_b;
  gg_dtype type_c; /* GG_NONE: as type_d; in C and D tf32 is f32 */
  gg_dtype type_d;
  /* Accumulator: f64, f32, f16 or s32. GG_NONE: f64 for f64, s32 for s8 and u8, else f32. The
   * epilogue, and so alpha and beta, is f64 where the accumulator is; s32 where it and D are and
   * none of the steps below is asked; else f32. */
  gg_dtype type_acc;

  gg_order order_a, order_b; /* N: as written; T: stored transposed */
  gg_order order_c, order_d; /* T is GG_ERR_UNSUPPORTED */

  gg_i64 m, n, k; /* 0 allowed. m = 0 or n = 0: nothing to do. k = 0: D = beta * C */
  gg_i64 batch;   /* matrices; default 1; 0: nothing to do */

  gg_i64 lda, ldb, ldc, ldd;                     /* at least the length of a stored row */
  gg_i64 stride_a, stride_b, stride_c, stride_d; /* >= 0 */

  /* What every call will pass: any (default), zero or one. A narrower promise opens kernels that
   * compiled the value in. */
  gg_scalar_class alpha, beta;

  /* Bytes that the pointers of calls will be multiples of; powers of two, at least the element's
   * size, default 16. A call that falls short takes a slower kernel and is not an error. */
  int align_a, align_b, align_c, align_d, align_residual;

  /* Steps of the epilogue; gg_kernel.h, at gg_bias, has their order, formulas and types. Each is
   * off as initialised. Batches: scales of VECTOR, GROUP and BLOCK are one matrix's after the
   * other's, also where the matrix itself is shared; TENSOR scales and absmax are one value for
   * all. */
  gg_bias bias; /* N: a value per column of D, M: per row */
  gg_activation activation;
  gg_scaling scaling_a, scaling_b;
  gg_scaling scaling_d;                /* NONE or TENSOR */
  int residual;                        /* 1: add an m x n matrix of D's type, row-major */
  int absmax;                          /* 1: deliver max |D| as it is before scale_d */
  gg_i64 ld_residual;                  /* at least n */
  gg_i64 stride_residual, stride_bias; /* between matrices, >= 0; 0: shared by the whole batch */

  int fast_accum;    /* 1: kernels whose sums of fp8 keep about 14 bits will do as well */
  int deterministic; /* 1: the same bits on every run of this device; today all kernels are */

  /* The name of the kernel to use (gg_kernel.name or .symbol), or NULL to choose. Copied by
   * gg_plan_create. A pinned plan uses no other kernel: a call that falls short of the alignment it
   * asks is then GG_ERR_ALIGNMENT. */
  const char *pin;
} gg_problem;

/* Called by gg_problem_init. */
GG_API void gg_problem_init_sized(gg_problem *problem, size_t size, gg_dtype type);

/* Defaults, with `type` for A, B, C and D: batch 1, orders N, scalars any, alignment 16, sizes 0.
 */
static inline void gg_problem_init(gg_problem *problem, gg_dtype type) {
  gg_problem_init_sized(problem, sizeof(gg_problem), type);
}

/* Sets leading dimensions and strides for densely stored matrices, from sizes and orders; for the
 * bias from its direction. */
GG_API void gg_problem_pack(gg_problem *problem);

/* ---- Plans ------------------------------------------------------------------------------------
 */

/* A problem with its kernels chosen and loaded. Immutable, so that threads may share it. */
typedef struct gg_plan gg_plan;

/* Checks the problem, chooses kernels, loads them on the problem's device and sets their
 * shared-memory limit, so that gg_run may be captured in a CUDA graph before any kernel ran.
 * Not to be called while a stream captures. The problem is copied; context and device must outlive
 * the plan. A problem with nothing to compute (m, n or batch 0) needs no kernel. */
GG_API gg_status gg_plan_create(gg_context *context, const gg_problem *problem, gg_plan **plan);

GG_API void gg_plan_destroy(gg_plan *plan); /* NULL is fine */

/* Bytes of device memory that gg_run can use as workspace, 256-byte aligned. 0: none. It holds
 * copies of A and B, for kernels that cannot take them as they lie (their address, pitch or order),
 * or the sums of parts of k, where tiles alone would leave SMs idle; and covers every call of the
 * plan: pointers that keep their promise of alignment may need less, or nothing. */
GG_API size_t gg_plan_workspace(const gg_plan *plan);

/* The kernel for pointers as promised and calls with workspace, or "" if there is nothing to
 * compute. Owned by the table. gg_explain tells of copies before it, and of calls without. */
GG_API const char *gg_plan_kernel(const gg_plan *plan);
/* The kernel for pointers aligned to their element only, or "" if there is none. */
GG_API const char *gg_plan_kernel_unaligned(const gg_plan *plan);

/* The device pointers of one call. Start from `= {0}`. What belongs to a step that the problem has
 * not is not looked at; what belongs to one that it has must be there, also where k or alpha is 0.
 * Bias, scales and absmax need the alignment of their elements only. */
typedef struct gg_pointers {
  const void *a, *b; /* not read, may be NULL, where k = 0 or alpha = 0 */
  const void *c;     /* not read, may be NULL, where beta = 0 */
  void *d;
  const void *bias;     /* of D's type where that is f64, f32, f16 or bf16, else f32 */
  const void *residual; /* of D's type */
  const void *scale_a, *scale_b, *scale_d; /* f32 */
  /* One f32, which the kernel raises to the largest magnitude: the caller sets it to 0 before, or
   * leaves it to gather the maximum over several calls. Of no meaning where D has a NaN. */
  void *absmax;
} gg_pointers;

static inline gg_scalar gg_scalar_f64(double value) {
  gg_scalar s;
  s.f64 = value;
  return s;
}
static inline gg_scalar gg_scalar_f32(float value) {
  gg_scalar s;
  s.f64 = 0;
  s.f32 = value;
  return s;
}
static inline gg_scalar gg_scalar_s32(int value) {
  gg_scalar s;
  s.f64 = 0;
  s.s32 = value;
  return s;
}

/* Runs a plan: launches on `stream` (a cudaStream_t; ignored by the emulated device) and returns.
 * Allocates nothing, waits for nothing, may be captured. Scalars are in the epilogue's type
 * (gg_problem.type_acc).
 *
 * workspace: gg_plan_workspace bytes that no other run in flight uses and that share none with an
 * operand. NULL restricts the call to kernels that take A and B as they lie and all of k; where
 * there is none, and where fewer bytes are given than the call needs, it is GG_ERR_WORKSPACE.
 *
 * D may be exactly C or exactly the residual (same pointer, type, leading dimension and stride).
 * Any other element that D or absmax shares with another operand is GG_ERR_OVERLAP, and nothing is
 * launched. Views that interleave without sharing are legal and recognised; the test is exact
 * except that views whose rows and batches nest in more than 2^18 combinations of unequal distances
 * count as overlapping.
 */
GG_API gg_status gg_run(const gg_plan *plan, const gg_pointers *pointers, gg_scalar alpha,
                        gg_scalar beta, void *workspace, size_t workspace_bytes, void *stream);

/* Plans, or finds the plan of an equal problem, and runs it. The context keeps the latest plans, a
 * few hundred. The first call of a problem loads kernels and so must not be captured. */
GG_API gg_status gg_gemm(gg_context *context, const gg_problem *problem,
                         const gg_pointers *pointers, gg_scalar alpha, gg_scalar beta,
                         void *workspace, size_t workspace_bytes, void *stream);

/* Writes which kernel a plan of this problem takes, which others were not and why, as lines of
 * text. size: bytes at `text`; what does not fit is cut, the text always ends in 0 if size > 0.
 * length (may be NULL): bytes of the whole text without the final 0. text may be NULL with size 0.
 * A problem that no kernel can do is explained as well and is GG_OK; a wrong problem is not. */
GG_API gg_status gg_explain(gg_context *context, const gg_problem *problem, char *text, size_t size,
                            size_t *length);

#ifdef __cplusplus
}
#endif
#endif
