/* plan.h - kernel_plan: every number of one kernel, each with the reason it has that value.
 *
 * plan_make is a pure function of a spec point, the GPU's facts (part of the spec) and the variant.
 * Templates read a plan, they decide nothing. Fields are listed once, below; print, JSON, hash and
 * the view that templates get all walk that list.
 */
#ifndef GEN_PLAN_H
#define GEN_PLAN_H

#include "buf.h"
#include "diag.h"
#include "spec.h"

/* Each spec point becomes up to three kernels of the same tile.
 * FULL: no guards, wide copies; the call must be a multiple of the tile and aligned.
 * EDGE: wide copies; any size whose contiguous extents are multiples of the copy.
 * NARROW: copies of one element; any size, any element-aligned pointer. */
typedef enum plan_variant {
  VARIANT_FULL,
  VARIANT_EDGE,
  VARIANT_NARROW,
  VARIANT_COUNT
} plan_variant;

/* How an operand gets from global to shared memory. */
typedef enum copy_path {
  PATH_NONE,   /* read straight from global memory (naive) */
  PATH_ASYNC,  /* cp.async */
  PATH_STAGED, /* global load into registers, shared store */
  PATH_TMA     /* tensor memory accelerator */
} copy_path;

/* How fragments of family mma get from shared memory to registers. */
typedef enum fragment_load {
  LOAD_LDS,        /* element by element */
  LOAD_LDMATRIX,   /* rows along k */
  LOAD_TRANS,      /* rows along m or n, 16-bit elements turned on the way */
  LOAD_TRANS_BYTES /* the same for 8-bit elements: turned in pairs, then sorted */
} fragment_load;

/* ORDER PLAN. X(member, unit or enumeration, what it is) */
#define PLAN_FIELDS(X)                                                                             \
  X(family, "family", "kernel family")                                                             \
  X(variant, "variant", "full, edge or narrow")                                                    \
  X(arch, "", "compute capability x 10")                                                           \
  X(arch_suffix, "char", "a: runs on exactly this architecture")                                   \
  X(type_a, "dtype", "element of A")                                                               \
  X(type_b, "dtype", "element of B")                                                               \
  X(type_c, "dtype", "element of C")                                                               \
  X(type_d, "dtype", "element of D")                                                               \
  X(type_acc, "dtype", "accumulator")                                                              \
  X(element, "bytes", "one element of A and B")                                                    \
  X(element_d, "bytes", "one element of C and D")                                                  \
  X(layout, "layout", "storage of A and B")                                                        \
  X(tile_m, "elements", "rows of D a block computes")                                              \
  X(tile_n, "elements", "columns of D a block computes")                                           \
  X(tile_k, "elements", "k a stage holds")                                                         \
  X(thread_m, "elements", "rows of D a thread computes")                                           \
  X(thread_n, "elements", "columns of D a thread computes")                                        \
  X(lanes_m, "lanes", "lanes of a warp along m")                                                   \
  X(lanes_n, "lanes", "lanes of a warp along n")                                                   \
  X(warp_m, "elements", "rows of D a warp computes")                                               \
  X(warp_n, "elements", "columns of D a warp computes")                                            \
  X(inst_m, "elements", "rows of one tensor-core instruction")                                     \
  X(inst_n, "elements", "columns of one tensor-core instruction")                                  \
  X(inst_k, "elements", "k of one tensor-core instruction")                                        \
  X(step_k, "elements", "k whose fragments are loaded at once")                                    \
  X(warps_m, "warps", "warps of a k slice along m")                                                \
  X(warps_n, "warps", "warps of a k slice along n")                                                \
  X(k_slices, "groups", "warp groups that share a block's k tile")                                 \
  X(groups, "warpgroups", "that compute; one more copies")                                         \
  X(swap, "bool", "the tensor cores compute D transposed: B is their first operand")               \
  X(from_registers, "bool", "the first operand reaches the tensor cores through registers")        \
  X(group_m, "elements", "rows of D a warpgroup computes at once")                                 \
  X(group_n, "elements", "columns of D a warpgroup computes at once")                              \
  X(producer_registers, "registers", "a thread of the copying warpgroup")                          \
  X(consumer_registers, "registers", "a thread of a computing warpgroup")                          \
  X(schedule, "schedule", "how computing warpgroups share tiles")                                  \
  X(persistent, "bool", "blocks take tile after tile")                                             \
  X(programmatic, "bool", "launched while the kernel before ends")                                 \
  X(cluster_m, "blocks", "of a cluster along m, sharing tiles of B")                               \
  X(cluster_n, "blocks", "of a cluster along n, sharing tiles of A")                               \
  X(cluster_k, "blocks", "of a cluster that share one tile, each a part of k")                     \
  X(promote_k, "elements", "k after which sums move to accumulators of full precision")            \
  X(fast_accum, "bool", "sums of fp8 stay in the tensor core, which keeps about 14 bits")          \
  X(threads, "threads", "a block")                                                                 \
  X(min_blocks, "blocks/SM", "asked of the compiler")                                              \
  X(stages, "stages", "ring in shared memory")                                                     \
  X(path_a, "path", "how A reaches shared memory")                                                 \
  X(path_b, "path", "how B reaches shared memory")                                                 \
  X(path_d, "path", "how D leaves shared memory")                                                  \
  X(turn_a, "bool", "A is transposed on its way")                                                  \
  X(turn_b, "bool", "B is transposed on its way")                                                  \
  X(copy_a, "bytes", "one thread moves at once of A")                                              \
  X(copy_b, "bytes", "one thread moves at once of B")                                              \
  X(copies_a, "copies", "a thread makes of an A tile")                                             \
  X(copies_b, "copies", "a thread makes of a B tile")                                              \
  X(box_width, "elements", "along the contiguous axis in one TMA copy of A or B")                  \
  X(box_a, "rows", "of one TMA copy of A")                                                         \
  X(box_b, "rows", "of one TMA copy of B")                                                         \
  X(part_a, "bytes", "of an A tile that a block copies, to all blocks of its cluster's row")       \
  X(part_b, "bytes", "of a B tile that a block copies, to all blocks of its cluster's column")     \
  X(copy_lanes_a, "threads", "along the contiguous axis of A in one round of copies")              \
  X(copy_lanes_b, "threads", "along the contiguous axis of B in one round of copies")              \
  X(pad_a, "elements", "added to each shared row of A")                                            \
  X(pad_b, "elements", "added to each shared row of B")                                            \
  X(promotion, "bytes", "that a miss of a TMA load brings into L2")                                \
  X(promotion_d, "bytes", "of L2 that D's tensor map names")                                       \
  X(swizzle, "bool", "XOR of 16-byte chunks instead of padding")                                   \
  X(load_a, "load", "how fragments of A are read")                                                 \
  X(load_b, "load", "how fragments of B are read")                                                 \
  X(flip_a, "row bits", "that are combined with the numbers of A's chunks")                        \
  X(flip_b, "row bits", "that are combined with the numbers of B's chunks")                        \
  X(pitch_a, "elements", "between shared rows of A")                                               \
  X(pitch_b, "elements", "between shared rows of B")                                               \
  X(bytes_a, "bytes", "A's part of a stage")                                                       \
  X(bytes_b, "bytes", "B's part of a stage")                                                       \
  X(stage_bytes, "bytes", "one stage")                                                             \
  X(reduce_bytes, "bytes", "shared memory to sum k slices; reuses the ring")                       \
  X(part_n, "elements", "columns of its tile that a block of a cluster finishes")                  \
  X(panel, "elements", "columns of D in one TMA store")                                            \
  X(panel_m, "elements", "rows of D in one TMA store")                                             \
  X(panel_swizzle, "bytes", "over which a panel's 16-byte chunks are swizzled")                    \
  X(panel_bytes, "bytes", "one panel of a warpgroup")                                              \
  X(chunk, "panels", "that are staged and stored together")                                        \
  X(chunks, "chunks", "of D staged in shared memory by each warpgroup")                            \
  X(partial_bytes, "bytes", "sums that the blocks of a cluster exchange; reuses the ring")         \
  X(pitch_d, "elements", "between staged rows of D")                                               \
  X(pitch_sums, "elements", "between staged rows of sums")                                         \
  X(d_rows, "rows", "of D that a warp stages at once")                                             \
  X(d_reuses, "bool", "D is staged in a stage of the ring that is free then")                      \
  X(d_bytes, "bytes", "staging of D")                                                              \
  X(barrier_bytes, "bytes", "mbarriers")                                                           \
  X(shared_bytes, "bytes", "dynamic shared memory")                                                \
  X(vector, "elements", "one shared load of a fragment")                                           \
  X(store_vector, "elements", "one store of D")                                                    \
  X(epilogue_rows, "rows", "of a thread tile whose C and residual are in flight at once")          \
  X(sum_vector, "elements", "of D that a lane finishes at once where C or more steps come in")     \
  X(store_batch, "stores", "of staged D that a lane makes together")                               \
  X(sum_batch, "stores", "a lane finishes together: their C and residual are in flight at once")   \
  X(fragments, "sets", "of operand registers")                                                     \
  X(order, "order", "order of the FMAs of a k step")                                               \
  X(unroll_k, "steps", "k steps written out")                                                      \
  X(unroll_stages, "bool", "ring written out")                                                     \
  X(fragment_gap, "FMAs", "between two fragment loads")                                            \
  X(copy_gap, "FMAs", "between two copies")                                                        \
  X(raster_along, "along", "tiles that follow each other")                                         \
  X(raster_group, "tiles", "side of a raster group")                                               \
  X(alpha, "scalar", "alpha: any, zero or one")                                                    \
  X(beta, "scalar", "beta: any, zero or one")                                                      \
  X(type_epilogue, "dtype", "in which the epilogue computes; scalars are of it")                   \
  X(bias, "bias", "a value for each column (n) or row (m) of D")                                   \
  X(activation, "activation", "after the bias")                                                    \
  X(residual, "bool", "a matrix of D's size is added after the activation")                        \
  X(scale_a, "scaling", "of A")                                                                    \
  X(scale_b, "scaling", "of B")                                                                    \
  X(scale_d, "scaling", "of D, before it is rounded")                                              \
  X(absmax, "bool", "the largest magnitude before scale_d is delivered")                           \
  X(align_a, "bytes", "asked of A: base, leading dimension, stride")                               \
  X(align_b, "bytes", "asked of B")                                                                \
  X(align_c, "bytes", "asked of C")                                                                \
  X(align_d, "bytes", "asked of D")                                                                \
  X(multiple_m, "elements", "m must be a multiple")                                                \
  X(multiple_n, "elements", "n must be a multiple")                                                \
  X(multiple_k, "elements", "k must be a multiple")                                                \
  X(min_k, "elements", "k must be at least")                                                       \
  X(speed, "per mille", "of the fastest kernel of these types, all SMs busy")                      \
  X(wave_loss, "percent", "of an idle SM's share of the time that is lost")                        \
  X(overhead_k, "elements", "of k that a tile costs besides its own")                              \
  X(further, "percent", "of overhead_k that each further tile on an SM takes")                     \
  X(alone, "percent", "of speed that one block on an SM reaches, instead of blocks_sm")            \
  X(repack, "bool", "passes over operands that it cannot take stand beside it")                    \
  X(split, "bool", "a kernel of raw sums and a pass that adds parts of k up stand beside it")      \
  X(sm_gflops, "GFLOP/s", "of one SM that speed 1000 stands for")                                  \
  X(copy_gbs, "GB/s", "read and written, at most")                                                 \
  X(overhead_ns, "ns", "that a pass costs besides its bytes")                                      \
  X(partial_percent, "percent", "of a full tile's time that any tile of a pass takes")             \
  X(blocks_sm, "blocks/SM", "that fit")                                                            \
  X(registers, "registers", "a thread, estimate")                                                  \
  X(register_limit, "registers", "a thread may have")                                              \
  X(loop_fmas, "FMAs", "in the main loop's longest basic block")                                   \
  X(loop_bytes, "bytes", "main loop, estimate")                                                    \
  X(code_bytes, "bytes", "whole kernel, estimate")                                                 \
  X(compile_seconds, "s", "nvcc, budget")

typedef enum plan_field {
#define X(member, unit, text) PLAN_##member,
  PLAN_FIELDS(X)
#undef X
      PLAN_FIELD_COUNT
} plan_field;

typedef struct kernel_plan {
#define X(member, unit, text) int member;
  PLAN_FIELDS(X)
#undef X
  char name[128];              /* of the kernel: file and symbol, without prefix */
  char *why[PLAN_FIELD_COUNT]; /* reason of each value; NULL for a field the family has not */
  char **rejected;             /* candidates the planner turned down, one sentence each */
  size_t rejected_count;
  const kernel_spec *spec;
} kernel_plan;

/* Why a spec point cannot become a kernel. */
typedef struct plan_fault {
  spec_field field;
  const char *code; /* static */
  char text[320];   /* "96 is not a multiple of 64 (...); use 64 or 128" */
} plan_fault;

typedef enum plan_result {
  PLAN_OK,
  PLAN_ILLEGAL, /* fault says why */
  PLAN_SAME,    /* this variant would be another variant's twin: not a kernel of its own */
  PLAN_MEMORY
} plan_result;

/* The passes over an operand (FAMILY_REPACK): row by row, short rows, turned. */
typedef enum plan_pass { PASS_ROWS, PASS_SLIM, PASS_TURNED, PASS_COUNT } plan_pass;

/* One of them as a spec: over elements of `type`'s size, on the GPU and in the name of `asker`.
 * false: there is none for such elements. */
bool plan_pass_spec(const kernel_spec *asker, int type, plan_pass pass, kernel_spec *out);

/* The pass that adds up parts of k and takes the epilogue's steps of p, a plan of asker
 * (FAMILY_REDUCE). */
void plan_reduce_spec(const kernel_spec *asker, const kernel_plan *p, kernel_spec *out);
/* The kernel that computes such parts: asker's, with its sums as D. false: p is one already. */
bool plan_sums_spec(const kernel_spec *asker, const kernel_plan *p, kernel_spec *out);

/* Does it multiply nothing, but serve kernels that do? */
static inline bool plan_is_pass(const kernel_plan *p) {
  return p->family == FAMILY_REPACK || p->family == FAMILY_REDUCE;
}

plan_result plan_make(const kernel_spec *s, plan_variant variant, kernel_plan *out,
                      plan_fault *fault);
void plan_free(kernel_plan *p);

/* Warnings about a legal plan (budgets, conflicts), placed at the spec's lines. */
void plan_warn(const kernel_plan *p, diag *d);

/* "name = value unit  # reason", one field a line, then the rejected candidates. */
void plan_print(const kernel_plan *p, buf *out);
/* One JSON object: name, fields (numbers and names), reasons. */
void plan_json(const kernel_plan *p, buf *out);
/* Hex SHA-256 of the canonical spec and plan (no reasons, no measurements, no figures of a card).
 */
void plan_hash(const kernel_plan *p, char out[65]);
const char *plan_value_text(const kernel_plan *p, plan_field f, char scratch[32]);
int plan_value(const kernel_plan *p, plan_field f);
/* Says how fast a card is or what stands beside the kernel: no line of the kernel depends on it, so
 * that cards of one architecture share kernels. */
bool plan_is_outside(plan_field f);
const char *plan_field_name(plan_field f);
const char *plan_field_unit(plan_field f);
const char *plan_field_text(plan_field f);

#endif
