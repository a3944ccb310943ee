/* plan_mma.h - what the parts of family mma's planner share: plan_mma.c (tiles), plan_mma_types.c
 * (instruction, sums), plan_mma_shared.c (shared memory: rows, copies, staging of D),
 * plan_mma_tma.c (the same where TMA copies),
 * plan_mma_cost.c (registers, residency, what the library should expect). */
#ifndef GEN_PLAN_MMA_H
#define GEN_PLAN_MMA_H

#include "plan_copy.h"

enum { MBARRIERS = 16 /* bytes: a full and an empty one of each stage */ };

/* A tile under trial: what decides whether a thread's registers and a block's shared memory hold
 * it. */
typedef struct mma_tile {
  int m, n, k;        /* of the block */
  int warp_m, warp_n; /* of a warp */
  int fragments;      /* sets of them that a warp holds */
} mma_tile;

/* Refuses types that mma.sync does not take; sets the instruction and how sums are kept. */
void plan_mma_types(plan_builder *b);

int plan_mma_threads(const mma_tile *t);
/* Bytes of one stage, rows not padded. */
int plan_mma_stage_bytes(const kernel_plan *p, const mma_tile *t);
/* Least stages that overlap copies with products: 3 with cp.async, else 2. */
int plan_mma_least_stages(const plan_builder *b);

/* Registers by what they hold. Needs the instruction. */
typedef struct mma_registers {
  int accumulators, fragments, staged, other, total;
} mma_registers;

mma_registers plan_mma_registers(const plan_builder *b, const mma_tile *t, int fragments);

/* Are copies of this variant made of single elements, too narrow for cp.async, that pass through
 * registers? */
bool plan_mma_gathers(const plan_builder *b);

/* Does TMA bring A and B? */
bool plan_mma_by_tma(const plan_builder *b);
/* If so: refuses a GPU and fields that do not go with it. */
void plan_mma_check_tma(plan_builder *b);
/* The boxes in which A and B lie, how fragments are read being known; refuses tiles and types that
 * its swizzle does not serve. Needs the tiles. */
void plan_mma_tma(plan_builder *b);
/* multiple_m, _n, _k and min_k. */
void plan_mma_tma_multiples(plan_builder *b);
/* Shared memory, in bytes, that each of so many blocks on an SM has. */
int plan_mma_share(const plan_builder *b, int blocks);
/* Stages that a ring has where the spec leaves them out and shared memory holds them. */
int plan_mma_usual_stages(const plan_builder *b);

/* How fragments are read, where rows lie, who copies what. Needs the tiles. */
void plan_mma_shared(plan_builder *b);
/* Part of shared memory through which D leaves. Needs stage_bytes and the vectors. */
void plan_mma_staging(plan_builder *b);

/* Stages and residency: they share the SM's shared memory. */
void plan_mma_residency(plan_builder *b);
/* What the library should expect, and the budgets. */
void plan_mma_cost(plan_builder *b);

/* Lanes of a fragment load that meet in a bank: wavefronts for each 128 bytes. Needs the whole
 * plan. */
int plan_mma_read_ways(const kernel_plan *p, int operand);

#endif
