/* gg_emu.h - host side of the emulated GPU: memory, launches, what they reported and counted.
 *
 * The device side is gg_emu_device.h, which emitted kernels are compiled with. A device is one
 * address space; launches on it are synchronous and may be made from one host thread at a time
 * (the caller locks); a launch itself may use several host threads.
 * Plain C11; needs POSIX (mmap, pthreads). Nothing here includes CUDA or Lua.
 */
#ifndef GG_EMU_H
#define GG_EMU_H

#include "gg_kernel.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gg_emu gg_emu;

/* When asynchronous copies land. LATE: at the last moment that the program allows (finds missing
 * waits); EARLY: at issue; RANDOM: seeded. */
typedef enum gg_emu_async { GG_EMU_LATE = 0, GG_EMU_EARLY = 1, GG_EMU_RANDOM = 2 } gg_emu_async;

typedef struct gg_emu_options {
  uint64_t
      seed; /* 0: fixed schedule (next lane, next warp); else random warps, lanes, preemption */
  int host_threads; /* >= 1; blocks run in parallel, results and reports do not depend on it */
  gg_emu_async async;
  int check; /* 1: races, uninitialised reads, waits, bounds; 0: bounds only */
  int count; /* 1: bank and sector counts per line */
  /* Limits of the emulated device, for launch errors. */
  int max_threads_per_block; /* 1024 */
  int max_shared_bytes;      /* per block, dynamic */
  int arch;                  /* compute capability x 10; 90 */
  uint64_t max_steps; /* primitives a thread may execute; beyond it its block is given up. 0: any */
  int keep_nan; /* 1: sums, products and conversions to f32 keep the bits of a NaN they are given,
                   so that it can be told where it came from; 0: they give one pattern, as a GPU
                   does */
} gg_emu_options;

/* What went wrong. ORDER FINDING (emu/report.c). Names are stable: tests and --json use them. */
typedef enum gg_emu_kind {
  GG_EMU_RACE = 1,      /* shared-memory accesses without order between them */
  GG_EMU_GLOBAL_RACE,   /* the same in global memory, across threads of the launch */
  GG_EMU_UNINITIALISED, /* shared or global bytes read that nothing wrote */
  GG_EMU_MISSING_WAIT,  /* bytes of a copy in flight touched, or any before gg_grid_wait */
  GG_EMU_OUT_OF_BOUNDS,
  GG_EMU_MISALIGNED,
  GG_EMU_DIVERGENCE, /* lanes of a warp at different collectives */
  GG_EMU_DEADLOCK,
  GG_EMU_BARRIER,       /* wrong thread count, or exit with a barrier pending */
  GG_EMU_UNFINISHED,    /* thread exits with asynchronous work uncommitted or unwaited */
  GG_EMU_ENDLESS,       /* more than max_steps primitives */
  GG_EMU_MISSING_FENCE, /* no proxy fence, wgmma fence or fence of an mbarrier's init */
  GG_EMU_EXITED,        /* a block of the cluster is used after its end, or ends in use */
  GG_EMU_DESCRIPTOR,    /* a tensor map, a matrix descriptor or coordinates that are not legal */
  GG_EMU_KIND_COUNT
} gg_emu_kind;

typedef struct gg_emu_finding {
  gg_emu_kind kind;
  int line;       /* of the kernel's source, where it was noticed */
  int other_line; /* the other access, 0 if none */
  uint64_t count; /* times it happened */
  char text[240]; /* one sentence: what, where, who; no newline */
} gg_emu_finding;

/* Accesses of one source line. Shared: wavefronts; global: 32-byte sectors. Ideal: the least that
 * these widths can cost with no conflict, or with full coalescing. */
typedef struct gg_emu_access {
  int line;
  char op[24]; /* primitive without gg_: "lds_f32x4", "cp_async_16", ... */
  int shared;  /* 1: wavefronts of shared memory; 0: global sectors. cp.async has one of each */
  uint64_t requests; /* warp-level instructions */
  uint64_t cost;
  uint64_t ideal;
} gg_emu_access;

/* Fills o with defaults: seed 0, one host thread, late, check and count on, limits of sm_90. */
void gg_emu_options_init(gg_emu_options *o);

/* NULL when memory is short. */
gg_emu *gg_emu_create(const gg_emu_options *o);
void gg_emu_destroy(gg_emu *e); /* frees its memory too; NULL is fine */
/* Options of later launches. */
void gg_emu_set_options(gg_emu *e, const gg_emu_options *o);

/* Device memory: host-addressable bytes, 256-aligned, surrounded by red zones, known to the bounds
 * check to the byte. Filled with 0xFF. name is copied, for reports. NULL when memory is short;
 * bytes = 0 gives a pointer that may not be dereferenced. Initialised-ness of global memory is not
 * tracked: 0xFF is NaN in every float type. */
void *gg_emu_alloc(gg_emu *e, size_t bytes, const char *name);
/* As alloc, but the first byte is `offset` bytes past a 256-byte boundary: for odd pointers. */
void *gg_emu_alloc_at(gg_emu *e, size_t bytes, size_t offset, const char *name);
/* As alloc_at, for gigabytes of which little is touched (offsets beyond 32 bits): pages come when
 * they are touched, and what nobody wrote reads as zero bytes instead of 0xFF. */
void *gg_emu_alloc_sparse(gg_emu *e, size_t bytes, size_t offset, const char *name);
int gg_emu_free(gg_emu *e, void *p); /* 0; -1: not an allocation of e */
/* 1 if all of [p, p + bytes) lies in one allocation. */
int gg_emu_contains(const gg_emu *e, const void *p, size_t bytes);

/* Element types and modes of tensor maps, numbered as in cuda.h. */
typedef enum gg_emu_map_type {
  GG_EMU_MAP_U8 = 0,
  GG_EMU_MAP_U16 = 1,
  GG_EMU_MAP_U32 = 2,
  GG_EMU_MAP_S32 = 3,
  GG_EMU_MAP_U64 = 4,
  GG_EMU_MAP_S64 = 5,
  GG_EMU_MAP_F16 = 6,
  GG_EMU_MAP_F32 = 7,
  GG_EMU_MAP_F64 = 8,
  GG_EMU_MAP_BF16 = 9,
  GG_EMU_MAP_F32_FTZ = 10,
  GG_EMU_MAP_TF32 = 11,
  GG_EMU_MAP_TF32_FTZ = 12
} gg_emu_map_type;

/* What cuTensorMapEncodeTiled is told (no interleave). */
typedef struct gg_emu_map {
  int type, rank;      /* 1 to 5 */
  const void *address; /* a multiple of 16 */
  uint64_t dim[5];     /* elements, innermost first */
  uint64_t stride[4];  /* bytes, of dimensions 1..: multiples of 16, below 2^40 */
  unsigned box[5];     /* elements, 1 to 256; box[0] takes a multiple of 16 bytes */
  unsigned step[5];    /* elements between those taken, 1 to 8; 0 is 1; step[0] is not used */
  int swizzle;         /* 0 none, 1 32, 2 64, 3 128 bytes, which box[0] may not exceed */
  int fill;            /* outside the tensor: 0 zeros, 1 NaN (float types) */
} gg_emu_map;

/* Encodes a map for kernels of the emulated GPU. 0; -1: cuTensorMapEncodeTiled would refuse it, the
 * reason is in `error` (may be NULL). Allocations are checked where the map is used. */
int gg_emu_tensor_map_encode(gg_tensor_map *out, const gg_emu_map *map, char error[240]);

typedef struct gg_emu_launch {
  const char *name; /* kernel, for reports */
  gg_entry entry;   /* the emulated function: void (*)(gg_args) */
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x;   /* threads; y and z are 1 */
  unsigned cluster_x; /* blocks of a cluster, along x; 0 or 1: none */
  unsigned shared_bytes;
  int programmatic; /* 1: the kernel before may still run until gg_grid_wait */
} gg_emu_launch;

/* Runs to the end. 0: ran (look at the findings); -1: the launch itself is wrong (threads, shared
 * memory, grid), described in `error` (may be NULL), nothing ran. A fault inside the kernel is a
 * finding, after which other blocks still run. */
int gg_emu_run(gg_emu *e, const gg_emu_launch *l, const gg_args *args, char error[240]);

/* Findings and counts since the last reset, sorted by line, then kind or op. Owned by e, valid
 * until the next run or reset. */
size_t gg_emu_findings(const gg_emu *e, const gg_emu_finding **out);
size_t gg_emu_accesses(const gg_emu *e, const gg_emu_access **out);
void gg_emu_reset(gg_emu *e);
const char *gg_emu_kind_name(gg_emu_kind kind); /* "race", "missing-wait", ... */

#ifdef __cplusplus
}
#endif
#endif
