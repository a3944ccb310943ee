/* model_parts.h - what the files of the model share. */
#ifndef GG_MODEL_PARTS_H
#define GG_MODEL_PARTS_H

#include "model.h"

/* One k tile of one block: what it asks of each unit of an SM. Cycles if it had the SM alone. */
typedef struct model_step {
  double math;   /* of the multiplying unit, at its rate */
  double issue;  /* of the four schedulers */
  double shared; /* of shared memory's port: fragment loads, or wgmma's reads, and the fill */
  double l2;     /* bytes of A and B from L2 */
  double latency, asked; /* of a copy; share of L2's rate that products at full rate ask for */
  double fetch;   /* from asking for a stage to its last byte, the SM fetching nothing else */
  double chain;   /* cycles that a block alone takes, whatever the units could do, */
  double first;   /* cycles of the first step's loads that no products cover */
  double barrier; /* and those in which all its warps wait for the last */
} model_step;

/* w: how p falls on the card; both NULL for tiles inside of matrices whose rows are multiples of
 * 128 bytes, which come from L2. */
model_step model_step_of(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                         const model_problem *p, const model_waves *w);
model_issue model_issue_with(const model_constants *c, const model_kernel *k, const gpu_facts *g);
model_waves model_waves_with(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                             const model_problem *p);

/* How many times the bytes of A and B's tiles L2 moves for them. */
typedef struct model_traffic {
  double a, b;
} model_traffic;
model_traffic model_traffic_of(const model_constants *c, const model_kernel *k,
                               const model_problem *p, const model_waves *w);

/* FMAs per SM and cycle that the kernel's instructions can reach. */
double model_rate(const model_kernel *k, const gpu_facts *g);
/* Warps that compute one tile. */
double model_warps(const model_kernel *k);
/* k steps of a k tile that one warp makes. */
double model_steps(const model_kernel *k);
/* Rows of wgmma's instructions in a tile. */
static inline double model_wgmma_rows(const model_kernel *k) {
  return k->swap ? k->tile_n : k->tile_m;
}
/* FMAs of one k step of one warp. */
double model_step_fmas(const model_kernel *k);

static inline bool model_on_tensor_cores(const model_kernel *k) {
  return k->family >= MODEL_WMMA;
}

enum { MODEL_WARP = 32, MODEL_SCHEDULERS = 4, MODEL_WAVEFRONT = 128 };

#endif
