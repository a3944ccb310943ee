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
  double fetch;  /* from asking for a stage to its last byte, the SM fetching nothing else */
  double chain;  /* cycles that a block alone takes, whatever the units could do */
} model_step;

/* p: NULL for rows of any multiple of 128 bytes. */
model_step model_step_of(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                         const model_problem *p);
model_issue model_issue_with(const model_constants *c, const model_kernel *k, const gpu_facts *g);
model_waves model_waves_with(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                             const model_problem *p);

/* How many times the bytes of A and B the lines are that hold them. */
typedef struct model_crooked {
  double a, b;
} model_crooked;
model_crooked model_crooked_of(const model_constants *c, const model_kernel *k,
                               const model_problem *p);

/* FMAs per SM and cycle that the kernel's instructions can reach. */
double model_rate(const model_kernel *k, const gpu_facts *g);
/* Warps that compute one tile. */
double model_warps(const model_kernel *k);
/* k steps of a k tile that one warp makes. */
double model_steps(const model_kernel *k);
/* FMAs of one k step of one warp. */
double model_step_fmas(const model_kernel *k);

static inline bool model_on_tensor_cores(const model_kernel *k) {
  return k->family >= MODEL_WMMA;
}

enum { MODEL_WARP = 32, MODEL_SCHEDULERS = 4, MODEL_WAVEFRONT = 128 };

#endif
