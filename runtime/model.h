/* model.h - what a kernel costs, from first principles: pure functions of a kernel's numbers, a
 * GPU's facts and a problem. Shared by the generator and the runtime; allocates nothing, prints
 * nothing.
 *
 * D[m,n] = alpha * A[m,k] * B[k,n] + beta * C[m,n]; leading dimensions in elements.
 *
 * Units: bytes, elements, FLOP (an FMA is two), cycles of an SM, seconds where a name says so. A
 * k tile is tile_k of k, which a stage of the ring holds; a k step is one element of k on CUDA
 * cores, inst_k on tensor cores.
 */
#ifndef GG_MODEL_H
#define GG_MODEL_H

#include "gpu.h"

typedef enum model_family {
  MODEL_NAIVE,
  MODEL_SMEM,
  MODEL_SIMT,
  MODEL_WMMA,
  MODEL_MMA,
  MODEL_WGMMA
} model_family;

typedef enum model_path { MODEL_DIRECT, MODEL_ASYNC, MODEL_STAGED, MODEL_TMA } model_path;

/* ORDER MODEL. X(member, what it is). All are int; a number that the family has not is 0, but
 * counts of which there is always one are 1. */
#define MODEL_FIELDS(X)                                                                            \
  X(family, "model_family")                                                                        \
  X(unit, "gpu_unit that multiplies")                                                              \
  X(element, "bytes of one element of A and B")                                                    \
  X(element_d, "bytes of one element of C and D")                                                  \
  X(tile_m, "rows of D a block computes")                                                          \
  X(tile_n, "columns of D a block computes")                                                       \
  X(tile_k, "k a stage holds")                                                                     \
  X(thread_m, "rows of D a thread computes (CUDA cores)")                                          \
  X(thread_n, "columns of D a thread computes (CUDA cores)")                                       \
  X(lanes_m, "lanes of a warp along m (CUDA cores)")                                               \
  X(lanes_n, "lanes of a warp along n (CUDA cores)")                                               \
  X(warp_m, "rows of D a warp computes (wmma, mma)")                                               \
  X(warp_n, "columns of D a warp computes (wmma, mma)")                                            \
  X(inst_m, "rows of one tensor-core instruction")                                                 \
  X(inst_n, "columns of one tensor-core instruction")                                              \
  X(inst_k, "k of one tensor-core instruction")                                                    \
  X(swap, "D^T is computed, with the columns of D as rows of the instructions (wgmma)")            \
  X(groups, "computing warpgroups (wgmma)")                                                        \
  X(k_slices, "warp groups that share a k tile")                                                   \
  X(threads, "of a block")                                                                         \
  X(persistent, "blocks take tile after tile")                                                     \
  X(programmatic, "it may start while the kernel before it ends")                                  \
  X(pingpong, "warpgroups take tiles in turn")                                                     \
  X(cluster_m, "blocks of a cluster that share tiles of B")                                        \
  X(cluster_n, "blocks of a cluster that share tiles of A")                                        \
  X(cluster_k, "blocks that share one tile, each a part of k")                                     \
  X(stages, "of the ring")                                                                         \
  X(path_a, "model_path of A")                                                                     \
  X(path_b, "model_path of B")                                                                     \
  X(along_k_a, "A is contiguous along k in global memory")                                         \
  X(along_k_b, "B is contiguous along k in global memory")                                         \
  X(turn_a, "A is transposed on its way")                                                          \
  X(turn_b, "B is transposed on its way")                                                          \
  X(copy_a, "bytes that one copy of A moves")                                                      \
  X(copy_b, "bytes that one copy of B moves")                                                      \
  X(copies_a, "copies a thread makes of an A tile")                                                \
  X(copies_b, "copies a thread makes of a B tile")                                                 \
  X(pitch_a, "bytes between shared rows of A")                                                     \
  X(pitch_b, "bytes between shared rows of B")                                                     \
  X(swizzle, "chunks of 16 bytes are XORed instead")                                               \
  X(fill_a, "wavefronts that writing a k tile of A takes")                                         \
  X(fill_b, "wavefronts that writing a k tile of B takes")                                         \
  X(load_a, "bytes a lane gets of one fragment load of A (wmma, mma)")                             \
  X(load_b, "bytes a lane gets of one fragment load of B (wmma, mma)")                             \
  X(meet_a, "lanes of a fragment load of A that meet in a bank (mma)")                             \
  X(meet_b, "lanes of a fragment load of B that meet in a bank (mma)")                             \
  X(vector, "elements of one fragment load (CUDA cores)")                                          \
  X(fragments, "sets of operand registers")                                                        \
  X(unroll_k, "k steps written out")                                                               \
  X(unroll_stages, "the ring is written out")                                                      \
  X(stage_bytes, "of one stage")                                                                   \
  X(shared_bytes, "dynamic shared memory of a block")                                              \
  X(registers, "of a thread")                                                                      \
  X(blocks_sm, "resident on an SM")                                                                \
  X(loop_bytes, "code of the main loop")                                                           \
  X(raster_n, "tiles that follow each other lie along n")                                          \
  X(raster_group, "side of a raster group, in tiles")                                              \
  X(reads_c, "beta is not compiled in as zero")                                                    \
  X(guarded, "edges are guarded")                                                                  \
  X(promote_k, "k after which sums move to full precision")                                        \
  X(scale_loads, "loads of scales that a warp makes for each promote_k of k")

typedef struct model_kernel {
#define X(member, text) int member;
  MODEL_FIELDS(X)
#undef X
} model_kernel;

typedef struct model_problem {
  double m, n, k, batch;
} model_problem;

/* -- 1. Arithmetic intensity ------------------------------------------------------------------ */

/* Operands straight from global memory: do a block's threads share the k of each output (family
 * gemv)? */
bool model_shares_k(const model_kernel *k);

/* 2 m n k batch. */
double model_flop(const model_problem *p);
/* A and B, each once; with_d: D written once as well. Bytes. */
double model_compulsory_bytes(const model_problem *p, double element, double element_d,
                              bool with_d);
/* FLOP for each element of A and B that a block of m x n moves: 2 m n / (m + n), whatever k. */
double model_tile_intensity(double m, double n);
/* FLOP/B from which on the unit, not device memory, is the limit: peak / bandwidth. 0: no unit. */
double model_ridge(const gpu_facts *g, gpu_unit unit);

/* -- 2. Shared memory to registers ------------------------------------------------------------ */

/* Bytes of one k step's operands for each of its FMAs, (m + n) element / (m n), times FMAs a cycle:
 * what a tile of m x n outputs asks of shared memory at full rate, in bytes a cycle and SM. */
double model_feed(double m, double n, double element, double rate);

typedef struct model_shared {
  double thread_m, thread_n; /* the tile that the simple sum counts; a warp's on tensor cores */
  double warp_m, warp_n;     /* what a warp computes */
  double per_thread;         /* bytes a cycle, every thread's operands counted: the textbook sum */
  double per_warp;           /* the same, with what lanes of a warp have in common counted once */
  double served;             /* bytes a cycle that wavefronts of 128 bytes occupy at full rate */
  double fill;               /* bytes a cycle that writing the ring takes at full rate */
  double available;          /* bytes a cycle of an SM */
  double share; /* (served + fill) / available: at 1 and above shared memory is the limit */
} model_shared;

model_shared model_shared_of(const model_kernel *k, const gpu_facts *g);

/* Wavefronts (cycles of shared memory) of one warp's fragment loads in one k step. */
double model_fragment_waves(const model_kernel *k);

/* Of one k tile of a block, all its warps. */
typedef struct model_wavefronts {
  double loads; /* fragment loads; naive: none; wgmma: what the instruction reads */
  double fill;  /* writing the stage */
} model_wavefronts;

model_wavefronts model_wavefronts_of(const model_kernel *k);

/* -- 3. Registers and residency -----------------------------------------------------------------
 */

typedef enum model_limit { LIMIT_BLOCKS, LIMIT_THREADS, LIMIT_SHARED, LIMIT_REGISTERS } model_limit;

typedef struct model_residency {
  double accumulators, fragments,
      other; /* registers of a thread; other: the rest of the estimate */
  int by_registers, by_shared, by_threads, by_blocks; /* blocks an SM holds by each */
  int blocks;                                         /* the least of them */
  model_limit limit;
  int warps;          /* on an SM */
  double occupancy;   /* warps over the most an SM holds */
  double independent; /* FMAs or MMAs in flight a warp: why few warps are enough */
} model_residency;

model_residency model_residency_of(const model_kernel *k, const gpu_facts *g);

/* -- 4. Shared memory's capacity ----------------------------------------------------------------
 */

typedef struct model_capacity {
  double stage, ring, other, total; /* bytes; other: staging of D, barriers */
  int stages_fit;                   /* beside `other`, one block an SM */
  int blocks;                       /* that fit */
  double share;                     /* of the SM's capacity, all its blocks */
} model_capacity;

model_capacity model_capacity_of(const model_kernel *k, const gpu_facts *g);

/* -- 5. Latency -----------------------------------------------------------------------------------
 */

/* From one k tile of a block to the next, in cycles: the largest of `own`, (fetch + held) / ahead +
 * group, and turned. */
typedef struct model_ring {
  double latency;  /* of a copy, */
  double asked;    /* which grows with the share of L2's rate that is asked for (queue) */
  double fetch;    /* both, and the bytes of a stage at L2's rate to an SM */
  double held;     /* of a k tile's time, what passes besides while its stage is fetched */
  double ahead;    /* k tiles that this is spread over */
  double group;    /* a warpgroup's wait at each (wgmma) */
  double own;      /* a warp's or warpgroup's own products, loads, sums */
  double promoted; /* of own: adding short sums up, */
  double waits;    /* and waiting for them */
  double turned;   /* by warps that turn an operand on its way */
  double barrier;  /* beside the period: all warps wait for the last, */
  double first;    /* and load the first operands, which no products cover */
  double period;
} model_ring;

typedef struct model_latency {
  double in_flight;     /* bytes an SM has on their way, all blocks */
  double needed;        /* latency x bandwidth / SMs */
  double latency;       /* cycles assumed for a loaded device memory */
  double compute;       /* cycles to compute a stage, all blocks of the SM computing */
  double fetch;         /* cycles to fetch a stage: latency + bytes / an SM's share of bandwidth */
  double stages_needed; /* 1 + fetch / compute, rounded up: one is computed while these arrive */
  model_ring ring;      /* but of family naive */
} model_latency;

model_latency model_latency_of(const model_kernel *k, const gpu_facts *g);

/* -- 6. Issue slots
 * --------------------------------------------------------------------------------- */

/* Warp instructions of one k tile of a block. */
typedef struct model_issue {
  double math, loads, copies, stores, other;
  double slots; /* that they take: wide shared loads take more than one */
  double bound; /* math's share of the slots: no more of the peak than this */
} model_issue;

model_issue model_issue_of(const model_kernel *k, const gpu_facts *g);

/* -- 7. Waves and traffic
 * --------------------------------------------------------------------------- */

typedef struct model_waves {
  double tiles_m, tiles_n, tiles; /* whole clusters of them; tiles: of all batches */
  double outside_m, outside_n;    /* the share of a tile's rows, of its columns, outside D */
  double slots;                   /* blocks that the GPU runs at once */
  double waves;                   /* blocks / slots */
  double rounds;                  /* waves, rounded up */
  double filled;                  /* waves / rounds: the share of the places that work */
  double inside;                  /* the share of the tiles' area inside D */
  double side_m, side_n;          /* tiles that run together, as the raster lays them */
  double l2_bytes;                /* A and B from L2 into SMs */
  double hbm_bytes;               /* A, B, C and D from and to device memory */
  double compulsory;              /* the least of that */
  double split_bytes;             /* partial sums exchanged where k is split */
} model_waves;

model_waves model_waves_of(const model_kernel *k, const gpu_facts *g, const model_problem *p);

/* -- 8. Prediction
 * ------------------------------------------------------------------------------------ */

/* What can be the limit. ORDER BOUND (model_predict.c) */
typedef enum model_bound {
  BOUND_MATH,    /* the multiplying unit */
  BOUND_ISSUE,   /* issue slots */
  BOUND_SHARED,  /* shared memory's port */
  BOUND_L2,      /* L2 to the SMs */
  BOUND_HBM,     /* device memory */
  BOUND_LATENCY, /* a block's own chain: fetch, barrier, product */
  BOUND_COUNT
} model_bound;

const char *model_bound_name(model_bound b);

typedef struct model_prediction {
  double seconds;
  double tflops;
  double peak_share;         /* of the unit's stated peak */
  double alone[BOUND_COUNT]; /* seconds, were this the only limit */
  model_bound binding, runner_up;
  double launch; /* seconds of it before the first and after the last tile */
  bool early;    /* it starts while the kernel before it ends */
  double mhz;    /* clock, after power */
} model_prediction;

/* Under a microsecond. The kernel must take the problem; sizes of 0 give the launch alone. */
model_prediction model_predict(const model_kernel *k, const gpu_facts *g, const model_problem *p);

/* -- Constants
 * ------------------------------------------------------------------------------------------ */

/* What no paper states: fitted to measurements by tests/model (docs/model.md). ORDER CONSTANT.
 * X(member, unit, what it is) */
#define MODEL_CONSTANTS(X)                                                                         \
  X(launch_us, "us", "a launch inside a CUDA graph, from the previous kernel's end")               \
  X(early_us, "us", "less of it where a kernel starts while the one before ends")                  \
  X(start_cycles, "cycles", "from a block's start to its first fetch")                             \
  X(map_cycles, "cycles", "more of it where a block fetches through tensor maps")                  \
  X(latency_cycles, "cycles", "from a copy to its first byte, other SMs copying as well")          \
  X(tma_cycles, "cycles", "the same through a tensor map")                                         \
  X(far_cycles, "cycles", "more of a copy's latency where all bytes come from device memory")      \
  X(queue, "1", "more of a copy's latency, as a part of it, where L2 is asked for all it gives")   \
  X(outside, "1", "rows of L2 traffic that a tensor map's row outside of its matrix counts as")    \
  X(load_cycles, "cycles", "from a load that L2 answers to its value (family naive)")              \
  X(lds_slots, "slots", "issue slots that each 4 bytes a lane of a shared load take beside one")   \
  X(copy_slots, "slots", "issue slots of an asynchronous copy with its addresses")                 \
  X(staged_slots, "slots", "issue slots of a copy through registers, beside its shared stores")    \
  X(fill_slots, "slots", "issue slots that each 128 bytes written to the ring keep from products") \
  X(crooked, "1", "times the traffic of rows that are no multiple of 128 bytes")                   \
  X(stage_slots, "slots", "issue slots a warp spends on each k tile: loop, addresses, barrier")    \
  X(turn_slots, "slots", "issue slots a warp spends on each turn of a loop over k steps")          \
  X(barrier_cycles, "cycles", "that all warps of a block stand still at the barrier of a k tile")  \
  X(first_share, "1",                                                                              \
    "of the first step's loads that show behind a barrier (one set of fragments)")                 \
  X(shared_latency, "cycles", "from a shared load to its use")                                     \
  X(ldg_waves, "wavefronts", "of a global load in family naive, beside its lines")                 \
  X(line_waves, "wavefronts", "of each 128-byte line that such a load touches")                    \
  X(math_share, "1", "of its issue slots that an FMA fed by shared loads gets done")               \
  X(tensor_share, "1", "of the tensor cores' peak that a loop without loads reaches")              \
  X(mma_share, "1", "of mma.sync's peak that a loop without loads reaches")                        \
  X(dmma_share, "1", "of the peak of f64 on tensor cores")                                         \
  X(wmma_share, "1", "the same through wmma, whose fragments the compiler loads")                  \
  X(fill_share, "1", "of the port's time that writing the ring takes from wgmma's reads")          \
  X(turn_cycles, "cycles", "of a warp for each copy that it turns on the way (wgmma)")             \
  X(promote_cycles, "cycles",                                                                      \
    "that a warpgroup waits for 64 rows of short sums before it adds them")                        \
  X(group_wait, "cycles", "that a warpgroup waits at each k tile (wgmma)")                         \
  X(sm_l2_bytes, "B/cycle", "L2 to one SM")                                                        \
  X(all_l2_bytes, "B/cycle/SM", "L2 to all SMs together")                                          \
  X(hbm_share, "1", "of the stated bandwidth that reading reaches")                                \
  X(stream_share, "1", "the same where blocks read whole rows (family gemv)")                      \
  X(write_share, "1", "of the stated bandwidth that writing reaches")                              \
  X(l2_share, "1", "of L2 that keeps operands for later waves")                                    \
  X(store_bytes, "B/cycle", "D from one SM")                                                       \
  X(guarded_bytes, "B/cycle", "the same where wgmma's stores are guarded, not a tensor map's")     \
  X(tail_cycles, "cycles", "after a block's last product, beside the stores")                      \
  X(epilogue_shown, "1", "of the stores that a persistent block does not hide")                    \
  X(cluster_cycles, "cycles", "to add up the parts of k of a cluster, beside the bytes")           \
  X(cluster_start, "cycles", "until the blocks of a cluster have met, before the first fetch")     \
  X(cluster_bytes, "B/cycle", "of partial sums from one SM of a cluster to another")               \
  X(overlap, "1", "exponent of the norm over an SM's units: large, the worst alone counts")        \
  X(overlap_blocks, "1", "the same over a block's chain and what all blocks of an SM ask")         \
  X(overlap_memory, "1", "the same over the SMs, L2 and device memory")                            \
  X(code_share, "1", "of its speed that a loop loses for each 32 KB beyond the first")             \
  X(idle_watts, "W", "of the card beside what the next five name")                                 \
  X(fma_pj, "pJ", "an f16 FMA of the tensor cores")                                                \
  X(tf32_pj, "pJ", "the same in tf32")                                                             \
  X(f8_pj, "pJ", "the same in fp8")                                                                \
  X(s8_pj, "pJ", "the same in 8-bit integers")                                                     \
  X(mma_pj, "pJ", "more by mma.sync, whose operands pass through registers")                       \
  X(dmma_pj, "pJ", "an f64 FMA of the tensor cores")                                               \
  X(shared_pj, "pJ/B", "reading shared memory for tensor cores")                                   \
  X(l2_pj, "pJ/B", "L2 to an SM")                                                                  \
  X(hbm_pj, "pJ/B", "device memory")                                                               \
  X(wave_blur, "1", "of a last round's idle places that uneven blocks fill")

typedef struct model_constants {
#define X(member, unit, text) double member;
  MODEL_CONSTANTS(X)
#undef X
} model_constants;

/* The fitted ones. */
extern const model_constants model_fitted;
/* FMAs per cycle of an SM with so many blocks on it, over a long k: as its units allow, or as the
 * blocks' own chains of fetches and barriers do. */
double model_sm_rate(const model_kernel *k, const gpu_facts *g, int blocks);
/* With other constants: for fitting. */
model_prediction model_predict_with(const model_constants *c, const model_kernel *k,
                                    const gpu_facts *g, const model_problem *p);

#endif
