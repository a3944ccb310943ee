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
#include <stdbool.h>

enum { SPEC_UNSET = INT_MIN };

typedef enum spec_family { FAMILY_NAIVE, FAMILY_SMEM, FAMILY_SIMT, FAMILY_COUNT } spec_family;
typedef enum spec_layout { LAYOUT_NN, LAYOUT_NT, LAYOUT_TN, LAYOUT_TT } spec_layout;
typedef enum fma_order { ORDER_ROW, ORDER_COLUMN, ORDER_SERPENTINE } fma_order;
typedef enum raster_along { RASTER_M, RASTER_N } raster_along;

/* ORDER FIELD. X(id, dotted name, kind, smallest, largest)
 * kinds: INT; BOOL; FAMILY, DTYPE, LAYOUT, ORDER, ALONG (names); UNROLL ("full" = 0, or steps);
 * SCALAR (true: at run time = GG_SCALAR_ANY; 0 or false = GG_SCALAR_ZERO; 1 = GG_SCALAR_ONE). */
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
  X(STAGES, "stages", INT, 1, 16)                                                                  \
  X(PADDING, "padding", INT, 0, 64)                                                                \
  X(SWIZZLE, "swizzle", INT, 0, 128)                                                               \
  X(COPY_A, "copy.a", INT, 1, 16)                                                                  \
  X(COPY_B, "copy.b", INT, 1, 16)                                                                  \
  X(UNROLL_K, "unroll.k", UNROLL, 1, 1024)                                                         \
  X(UNROLL_STAGES, "unroll.stages", BOOL, 0, 1)                                                    \
  X(FRAGMENTS, "unroll.fragments", INT, 1, 2)                                                      \
  X(ORDER, "unroll.order", ORDER, 0, 0)                                                            \
  X(RASTER_ALONG, "raster.along", ALONG, 0, 0)                                                     \
  X(RASTER_GROUP, "raster.group", INT, 1, 1024)                                                    \
  X(MIN_BLOCKS, "min_blocks", INT, 1, 32)                                                          \
  X(K_SLICES, "k_slices", INT, 1, 4)                                                               \
  X(ALPHA, "epilogue.alpha", SCALAR, 0, 0)                                                         \
  X(BETA, "epilogue.beta", SCALAR, 0, 0)                                                           \
  X(MIN_FILL, "dispatch.min_fill", INT, 0, 1000)                                                   \
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
  int call;         /* 1: first gemm or sweep of the file, and so on */
  bool sweep;       /* one point of a sweep: an illegal one is listed, not an error */
  gpu_facts gpu;
  int value[SPEC_FIELD_COUNT];
  int source_line[SPEC_FIELD_COUNT]; /* where the field stands; the call's line when not found */
} kernel_spec;

typedef struct spec_set {
  kernel_spec *specs;
  size_t count;
  /* internal: owned strings and allow lists */
  struct spec_owner *owner;
} spec_set;

/* Reads one spec file in a sandbox and appends its points to set. Everything wrong goes to d;
 * returns false if there was an error (set then holds what was good, for further checks). */
bool spec_load(const char *path, spec_set *set, diag *d);
void spec_set_free(spec_set *set);

const char *spec_field_name(spec_field f);
/* Name of a field's value as a spec spells it: 128, "simt", "full", true. Static or in scratch. */
const char *spec_value_text(spec_field f, int value, char scratch[32]);
const char *spec_family_name(int family);
const char *spec_layout_name(int layout);
const char *dtype_name(int dtype);   /* "f32" */
int dtype_from_name(const char *name); /* GG_NONE if unknown */
int dtype_bytes(int dtype);

/* Canonical text, one "field = value" a line, unset fields left out: what is hashed and dumped. */
void spec_print(const kernel_spec *s, buf *out);

/* Is a warning with this code silenced by the spec's `allow`? */
bool spec_allows(const kernel_spec *s, const spec_set *set, const char *code);

#endif
