/* spec.h - one kernel spec: what a user asked for, field by field, with the line of each.
 *
 * A spec is a vector of integers indexed by spec_field; a field that was left out is SPEC_UNSET and
 * is filled by the plan. Enumerations are stored by value, booleans as 0 and 1. Lists (layout) and
 * sweeps are already expanded: one kernel_spec is one point.
 */
#ifndef GEN_SPEC_H
#define GEN_SPEC_H

#include "buf.h"
#include "diag.h"
#include "gg_kernel.h"
#include "gpu.h"
#include <limits.h>
#include <stddef.h>
#include <stdbool.h>

enum { SPEC_UNSET = INT_MIN };

typedef enum spec_family {
  FAMILY_NAIVE,
  FAMILY_SMEM,
  FAMILY_SIMT,
  FAMILY_GEMV,
  FAMILY_WMMA,
  FAMILY_MMA,
  FAMILY_WGMMA,
  FAMILY_REPACK, /* no product: copies operands for the others */
  FAMILY_REDUCE, /* no product: adds parts of k up and ends the product */
  FAMILY_COUNT
} spec_family;
typedef enum spec_layout { LAYOUT_NN, LAYOUT_NT, LAYOUT_TN, LAYOUT_TT } spec_layout;
typedef enum fma_order { ORDER_ROW, ORDER_COLUMN, ORDER_SERPENTINE } fma_order;
typedef enum raster_along { RASTER_M, RASTER_N } raster_along;
/* All threads of a block copy its operands, or TMA does: for each stage one thread asks it. */
typedef enum copy_by { COPY_BY_THREADS, COPY_BY_TMA } copy_by;
/* Two computing warpgroups share each tile, or take tiles in turn. */
typedef enum schedule { SCHEDULE_COOPERATIVE, SCHEDULE_PINGPONG } schedule;

/* ORDER FIELD. X(id, dotted name, kind, smallest, largest)
 * kinds: INT; BOOL; FAMILY, DTYPE, LAYOUT, PATH, ORDER, ALONG, SCHEDULE, BIAS, ACTIVATION,
 * SCALING (names, by value); UNROLL ("full" = 0, or
 * steps); SCALAR (true: at run time = GG_SCALAR_ANY; 0 or false = GG_SCALAR_ZERO; 1 =
 * GG_SCALAR_ONE). */
#define SPEC_FIELDS(X)                                                                             \
  X(FAMILY, "family", FAMILY, 0, 0)                                                                \
  X(DTYPE_A, "dtype.a", DTYPE, 0, 0)                                                               \
  X(DTYPE_B, "dtype.b", DTYPE, 0, 0)                                                               \
  X(DTYPE_C, "dtype.c", DTYPE, 0, 0)                                                               \
  X(DTYPE_D, "dtype.d", DTYPE, 0, 0)                                                               \
  X(DTYPE_ACC, "dtype.acc", DTYPE, 0, 0)                                                           \
  X(LAYOUT, "layout", LAYOUT, 0, 0)                                                                \
  X(TILE_M, "tile.m", INT, 1, 1024)                                                                \
  X(TILE_N, "tile.n", INT, 1, 1024)                                                                \
  X(TILE_K, "tile.k", INT, 1, 1024)                                                                \
  X(THREAD_M, "tile.thread.m", INT, 1, 64)                                                         \
  X(THREAD_N, "tile.thread.n", INT, 1, 64)                                                         \
  X(LANES_M, "tile.lanes.m", INT, 1, 32)                                                           \
  X(LANES_N, "tile.lanes.n", INT, 1, 32)                                                           \
  X(WARP_M, "tile.warp.m", INT, 1, 256)                                                            \
  X(WARP_N, "tile.warp.n", INT, 1, 256)                                                            \
  X(INST_M, "tile.inst.m", INT, 1, 256)                                                            \
  X(INST_N, "tile.inst.n", INT, 1, 256)                                                            \
  X(INST_K, "tile.inst.k", INT, 1, 256)                                                            \
  X(STAGES, "stages", INT, 1, 16)                                                                  \
  X(PADDING, "padding", INT, 0, 64)                                                                \
  X(SWIZZLE, "swizzle", INT, 0, 128)                                                               \
  X(COPY_A, "copy.a", INT, 1, 16)                                                                  \
  X(COPY_B, "copy.b", INT, 1, 16)                                                                  \
  X(COPY_PATH, "copy.path", PATH, 0, 0)                                                            \
  X(UNROLL_K, "unroll.k", UNROLL, 1, 1024)                                                         \
  X(UNROLL_STAGES, "unroll.stages", BOOL, 0, 1)                                                    \
  X(FRAGMENTS, "unroll.fragments", INT, 1, 2)                                                      \
  X(ORDER, "unroll.order", ORDER, 0, 0)                                                            \
  X(RASTER_ALONG, "raster.along", ALONG, 0, 0)                                                     \
  X(RASTER_GROUP, "raster.group", INT, 1, 1024)                                                    \
  X(CLUSTER_M, "cluster.m", INT, 1, 16)                                                            \
  X(CLUSTER_N, "cluster.n", INT, 1, 16)                                                            \
  X(CLUSTER_K, "cluster.k", INT, 1, 16)                                                            \
  X(SCHEDULE, "schedule", SCHEDULE, 0, 0)                                                          \
  X(PERSISTENT, "persistent", BOOL, 0, 1)                                                          \
  X(PROGRAMMATIC, "programmatic", BOOL, 0, 1)                                                      \
  X(FAST_ACCUM, "fast_accum", BOOL, 0, 1)                                                          \
  X(MIN_BLOCKS, "min_blocks", INT, 1, 32)                                                          \
  X(K_SLICES, "k_slices", INT, 1, 4)                                                               \
  X(ALPHA, "epilogue.alpha", SCALAR, 0, 0)                                                         \
  X(BETA, "epilogue.beta", SCALAR, 0, 0)                                                           \
  X(BIAS, "epilogue.bias", BIAS, 0, 0)                                                             \
  X(ACTIVATION, "epilogue.activation", ACTIVATION, 0, 0)                                           \
  X(RESIDUAL, "epilogue.residual", BOOL, 0, 1)                                                     \
  X(SCALE_A, "epilogue.scale.a", SCALING, 0, 0)                                                    \
  X(SCALE_B, "epilogue.scale.b", SCALING, 0, 0)                                                    \
  X(SCALE_D, "epilogue.scale.d", SCALING, 0, 0)                                                    \
  X(ABSMAX, "epilogue.absmax", BOOL, 0, 1)                                                         \
  X(SPEED, "dispatch.speed", INT, 1, 10000)                                                        \
  X(OVERHEAD_K, "dispatch.overhead_k", INT, 0, 65536)                                              \
  X(EDGE, "dispatch.edge", BOOL, 0, 1)                                                             \
  X(REPACK, "dispatch.repack", BOOL, 0, 1)                                                         \
  X(SPLIT, "dispatch.split", BOOL, 0, 1)                                                           \
  X(BUDGET_LOOP_BYTES, "budget.loop_bytes", INT, 1, 1 << 24)                                       \
  X(BUDGET_BLOCK_FMAS, "budget.block_fmas", INT, 1, 1 << 20)                                       \
  X(BUDGET_ENFORCE, "budget.enforce", BOOL, 0, 1)

typedef enum spec_field {
#define X(id, name, kind, low, high) SPEC_##id,
  SPEC_FIELDS(X)
#undef X
      SPEC_FIELD_COUNT
} spec_field;

typedef struct kernel_spec {
  const char *file; /* as given on the command line; owned by the spec_set */
  int line;         /* of the call */
  int call;         /* 1: first gemm of the file, and so on; sweeps are counted apart */
  bool in_loop;     /* one line makes several calls: messages say which one */
  bool sweep;       /* one point of a sweep: an illegal one is listed, not an error */
  bool pass;        /* no file has it: a pass (repack, reduce) that another point brings along */
  bool sums; /* no file has it: the same product as another point's, its sums left as they are */
  const char *chosen; /* why the model filled what was left open; owned by the set; NULL: asked */
  unsigned allow;     /* warnings it silences: bit i is spec_warning_codes[i] */
  gpu_facts gpu;
  int value[SPEC_FIELD_COUNT];
  int source_line[SPEC_FIELD_COUNT]; /* where the field stands; the call's line when not found */
} kernel_spec;

/* All points of several files, in order. */
typedef struct spec_set {
  kernel_spec *specs;
  size_t count, capacity;
  char **files; /* owned: what kernel_spec.file points to */
  size_t file_count;
  /* Of gemms that left everything open (plan_auto): what was chosen and why, one text each. */
  const char **reports;
  size_t report_count;
  char **texts; /* owned: what reports and kernel_spec.chosen point to */
  size_t text_count;
  /* Set by the caller, or NULL: */
  const gpu_facts *gpu;               /* replaces what the specs say */
  const struct script_limits *limits; /* of the sandbox, instead of the usual ones */
} spec_set;

/* Most points that one file may ask for. */
enum { SPEC_MAX_POINTS = 4096 };

/* Reads one spec file in a sandbox and appends its points to set. Everything wrong goes to d;
 * returns false if there was an error (set then holds what was good, for further checks). */
bool spec_load(const char *path, spec_set *set, diag *d);
/* The same from text; path is what diagnostics call it. */
bool spec_load_text(const char *path, const char *text, size_t size, spec_set *set, diag *d);
void spec_set_free(spec_set *set);

/* Codes that `allow` may name: warnings of a plan. ends with NULL. ORDER WARNING (plan_warn) */
extern const char *const spec_warning_codes[];

/* Adds a diagnostic at the line of a spec's field, naming the call where it stands in a loop.
 * A warning that the spec allows is dropped. */
void spec_report(const kernel_spec *s, diag *d, diag_level level, spec_field f, const char *code,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));
/* " (3rd gemm)" where the call stands in a loop, else "". */
const char *spec_call_note(const kernel_spec *s, char scratch[48]);

const char *spec_field_name(spec_field f);
/* Name of a field's value as a spec spells it: 128, "simt", "full", true. Static or in scratch. */
const char *spec_value_text(spec_field f, int value, char scratch[32]);
const char *spec_family_name(int family);
const char *spec_layout_name(int layout);
const char *dtype_name(int dtype);     /* "f32" */
int dtype_from_name(const char *name); /* GG_NONE if unknown */
int dtype_bytes(int dtype);

typedef enum spec_kind {
  KIND_INT,
  KIND_BOOL,
  KIND_FAMILY,
  KIND_DTYPE,
  KIND_LAYOUT,
  KIND_PATH,
  KIND_ORDER,
  KIND_ALONG,
  KIND_SCHEDULE,
  KIND_BIAS,
  KIND_ACTIVATION,
  KIND_SCALING,
  KIND_UNROLL,
  KIND_SCALAR
} spec_kind;

typedef struct spec_field_info {
  const char *name; /* dotted */
  spec_kind kind;
  int low, high; /* of INT, BOOL and UNROLL */
} spec_field_info;

const spec_field_info *spec_info(spec_field f);
/* The names of an enumeration's values, in their order; NULL where a kind has none. */
const char *const *spec_kind_names(spec_kind kind, size_t *count);

/* Canonical text, one "field = value" a line, unset fields left out: what is hashed and dumped. */
void spec_print(const kernel_spec *s, buf *out);

/* Is a warning with this code silenced by the spec's `allow`? */
bool spec_allows(const kernel_spec *s, const char *code);

#endif
