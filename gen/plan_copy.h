/* plan_copy.h - planning of the copies from global to shared memory. */
#ifndef GEN_PLAN_COPY_H
#define GEN_PLAN_COPY_H

#include "plan_build.h"

/* Is operand 0 (A) or 1 (B) contiguous along k in global memory? */
bool plan_contiguous_k(const kernel_plan *p, int operand);

/* The most words that lanes of one shared store meet in one bank: lanes stand `lanes` side by side
 * along the rows of shared memory, `vector` rows apart, and each stores one element of its
 * `vector`. */
int plan_store_ways(int lanes, int vector, int pitch, int element);

/* Padding that those who read the rows want, unless the spec says otherwise. */
typedef struct plan_padding {
  int elements;
  char why[96];
} plan_padding;

/* Sets path, turn, copy, copies, copy_lanes, pad, pitch, bytes and align of operand 0 (A) or 1 (B).
 * shared_k_rows: shared memory holds one row along m or n for each k; else one row along k for each
 * m or n. allow_async: cp.async may be used. padding: of rows that are not turned; NULL: none, they
 * are read in order. Needs tiles, threads, swizzle. */
void plan_copy_operand(plan_builder *b, int operand, bool shared_k_rows, bool allow_async,
                       const plan_padding *padding);

/* Sets stage_bytes, both operands' copies being planned; refuses rows that are not 16 bytes apart.
 */
void plan_copy_stage(plan_builder *b);

/* What copies of single elements of A, B take, in parts of the time of a product on a unit of
 * `rate` FMAs a cycle. Each takes the issue slots of `slots` of an SM's 128 lanes; an element of A
 * serves tile.n FMAs, one of B tile.m. Needs the tile. */
double plan_single_copies(const kernel_plan *p, bool a, bool b, int slots, int rate);
/* Such slots, as measured on an H200 (docs/dispatch.md): of cp.async, and of elements that pass
 * through registers. */
enum { PLAN_SLOTS_ASYNC = 8, PLAN_SLOTS_REGISTERS = 10 };

/* Sets multiple_m, _n, _k and min_k from the copies' widths, store_vector and the variant. */
void plan_copy_multiples(plan_builder *b);

#endif
