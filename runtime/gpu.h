/* gpu.h - facts of each GPU, with unit and source. Shared by the generator and the runtime. */
#ifndef GG_GPU_H
#define GG_GPU_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gpu_facts {
  char name[32];    /* "h100-sxm" */
  int arch;         /* compute capability x 10 */
  char arch_suffix; /* 'a' where arch-specific instructions are used by default; else 0 */
  int sms;          /* streaming multiprocessors enabled */
  int boost_mhz;
  int fma_f32; /* f32 FMAs per SM and cycle, CUDA cores */
  int fma_f64; /* f64 FMAs per SM and cycle, CUDA cores */
  /* FMAs per SM and cycle of the tensor cores, dense, with an f32 (s32, f64) accumulator; 0: the
   * type has no tensor cores. f16 stands for bf16 too where there is any, f8 for e4m3 and e5m2. */
  int tensor_f16;
  int tensor_tf32;
  int tensor_f8;
  int tensor_s8;
  int tensor_f64;
  int shared_bytes_cycle; /* shared-memory bytes per SM and cycle */
  int registers_sm;       /* 32-bit registers per SM */
  int registers_thread;   /* most that one thread may have */
  int shared_sm;          /* bytes per SM usable as shared memory */
  int shared_block;       /* most bytes a block may have (opt-in) */
  int shared_reserved;    /* bytes the system takes per block */
  int threads_sm;
  int blocks_sm;
  int l2_bytes;
  int hbm_gbs;        /* device memory bandwidth, 10^9 bytes a second */
  bool has_cp_async;  /* sm_80 and later */
  bool has_tma;       /* sm_90 and later */
  bool has_wgmma;     /* sm_90 only */
  const char *source; /* where the figures are from */
} gpu_facts;

/* All known GPUs, sorted by arch then name. */
size_t gpu_count(void);
const gpu_facts *gpu_at(size_t i);
/* NULL if unknown. */
const gpu_facts *gpu_find(const char *name);

#endif
