/* gpu.h - facts of each GPU, with unit and source. Shared by the generator and the runtime. */
#ifndef GG_GPU_H
#define GG_GPU_H

#include <stdbool.h>
#include <stddef.h>

/* What multiplies: a type and the unit that takes it. ORDER UNIT (gpu.c) */
typedef enum gpu_unit {
  GPU_CORE_F32,    /* CUDA cores */
  GPU_CORE_F64,    /* CUDA cores */
  GPU_TENSOR_F16,  /* f16 and, from sm_80 on, bf16 */
  GPU_TENSOR_TF32, /* f32 in memory */
  GPU_TENSOR_F8,   /* e4m3 and e5m2 */
  GPU_TENSOR_S8,   /* s8 and u8 */
  GPU_TENSOR_F64,
  GPU_UNIT_COUNT
} gpu_unit;

/* A figure measured by this project on a card, beside what its papers say. */
typedef struct gpu_measure {
  const char *name; /* "copy_gbs"; NULL ends a list */
  double value;
  const char *unit;
  const char *text; /* what was measured, and how */
} gpu_measure;

/* Where the facts of one card come from that do not come from its usual papers. */
typedef struct gpu_exception {
  const char *fact; /* "l2_bytes"; NULL ends a list */
  const char *source;
} gpu_exception;

/* 0 in a fact marked "0: unknown" means that no source for it was found. */
typedef struct gpu_facts {
  char name[32];      /* "h100-sxm" */
  const char *device; /* what a driver's name of the card contains; NULL: not known */
  int arch;           /* compute capability x 10 */
  char arch_suffix;   /* 'a' where arch-specific instructions are used by default; else 0 */
  int sms;            /* streaming multiprocessors enabled */
  int boost_mhz;
  int tensor_mhz; /* at which the papers state tensor-core peaks; 0: boost_mhz */
  int fma_f32;    /* f32 FMAs per SM and cycle, CUDA cores */
  int fma_f64;    /* f64 FMAs per SM and cycle, CUDA cores; 0: unknown */
  /* FMAs per SM and cycle of the tensor cores, dense, with an f32 (s32, f64) accumulator; 0: the
   * type has no tensor cores. f16 stands for bf16 too where there is any, f8 for e4m3 and e5m2. */
  int tensor_f16;
  int tensor_tf32;
  int tensor_f8;
  int tensor_s8;
  int tensor_f64;
  int mma_sync_percent;   /* of the tensor rates that mma.sync reaches; 0: unknown */
  int shared_bytes_cycle; /* shared-memory bytes per SM and cycle */
  int registers_sm;       /* 32-bit registers per SM */
  int registers_thread;   /* most that one thread may have */
  int shared_sm;          /* bytes per SM usable as shared memory */
  int shared_block;       /* most bytes a block may have (opt-in) */
  int shared_reserved;    /* bytes the system takes per block */
  int threads_sm;
  int blocks_sm;
  int l2_bytes;                    /* 0: unknown */
  int l2_bytes_cycle;              /* L2 to all SMs, bytes a cycle; 0: unknown */
  int hbm_gbs;                     /* device memory bandwidth, 10^9 bytes a second */
  int hbm_latency;                 /* cycles from a load to its value, unloaded; 0: unknown */
  int l2_latency;                  /* cycles; 0: unknown */
  int shared_latency;              /* cycles; 0: unknown */
  int memory_gb;                   /* 10^9 bytes; 0: unknown */
  int watts;                       /* board power limit; 0: unknown */
  bool has_cp_async;               /* sm_80 and later */
  bool has_tma;                    /* sm_90 and later */
  bool has_wgmma;                  /* sm_90 only */
  const char *paper;               /* architecture whitepaper or tuning guide */
  const char *source;              /* of the card's own facts */
  const gpu_exception *exceptions; /* NULL: none */
  const gpu_measure *measured;     /* NULL: none */
} gpu_facts;

/* All known GPUs, sorted by arch then name. */
size_t gpu_count(void);
const gpu_facts *gpu_at(size_t i);
/* NULL if unknown. */
const gpu_facts *gpu_find(const char *name);
/* Facts of the card that a driver calls "NVIDIA H100 PCIe"; else of any card of that arch; NULL. */
const gpu_facts *gpu_of_device(const char *device_name, int arch);

/* FMAs per SM and cycle; 0: there is no such unit, or its rate is unknown. */
int gpu_rate(const gpu_facts *g, gpu_unit unit);
/* MHz at which the papers state the unit's peak. */
int gpu_clock(const gpu_facts *g, gpu_unit unit);
/* Dense peak, 10^12 operations a second: 2 x rate x SMs x clock. */
double gpu_peak(const gpu_facts *g, gpu_unit unit);
bool gpu_unit_is_tensor(gpu_unit unit);
const char *gpu_unit_name(gpu_unit unit); /* "tensor f16" */

/* A measured figure by name; 0 where there is none. */
double gpu_measured(const gpu_facts *g, const char *name);

/* The Programming Guide's tables, which hold for a compute capability. */
extern const char gpu_guide[];

#endif
