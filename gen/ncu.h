/* ncu.h - a profile of Nsight Compute as CSV: figures by kernel. */
#ifndef GEN_NCU_H
#define GEN_NCU_H

#include "buf.h"
#include "diag.h"

/* What is read of a profile. ORDER FIGURE (ncu.c) */
typedef enum ncu_figure {
  NCU_SECONDS,
  NCU_COMPUTE,   /* %, of the SMs' peak throughput */
  NCU_MEMORY,    /* %, of the memory units' */
  NCU_DRAM,      /* %, of device memory's */
  NCU_SM_BUSY,   /* %, of cycles in which the busiest pipe of an SM worked */
  NCU_TENSOR,    /* %, of cycles in which the tensor cores worked */
  NCU_OCCUPANCY, /* %, achieved */
  NCU_DRAM_READ, /* bytes */
  NCU_DRAM_WRITTEN,
  NCU_REGISTERS,  /* a thread */
  NCU_LOCAL,      /* instructions on local memory: spills */
  NCU_CONFLICTS,  /* extra wavefronts of shared memory */
  NCU_WAVEFRONTS, /* of shared memory, conflicts included */
  NCU_L2_HITS,    /* % */
  /* Cycles that a warp waits for each instruction it issues, by what it waits for. */
  NCU_STALL_LONG,  /* global or local memory */
  NCU_STALL_SHORT, /* shared memory */
  NCU_STALL_MIO,   /* the queue to shared memory is full */
  NCU_STALL_LG,    /* the queue to global memory is full */
  NCU_STALL_BARRIER,
  NCU_STALL_WAIT, /* a fixed latency */
  NCU_STALL_MATH, /* the multiplying pipe is busy */
  NCU_STALL_NO_INSTRUCTION,
  NCU_STALL_NOT_SELECTED,
  NCU_STALL_SLEEPING,
  NCU_STALL_OTHER,
  NCU_FIGURE_COUNT
} ncu_figure;

typedef struct ncu_kernel {
  char name[160];
  double value[NCU_FIGURE_COUNT];
  bool known[NCU_FIGURE_COUNT];
} ncu_kernel;

typedef struct ncu_profile {
  ncu_kernel *kernels;
  size_t count;
} ncu_profile;

/* Reads `ncu --csv` (one row a metric) or `ncu --csv --page raw` (one row a launch). Several
 * launches of a kernel: the last. false: errors in d. */
bool ncu_load(ncu_profile *p, const char *path, diag *d);
void ncu_free(ncu_profile *p);
/* The kernel of this name (its own, without arguments); NULL: not profiled. */
const ncu_kernel *ncu_find(const ncu_profile *p, const char *name);

#endif
