/* emu.h - what the files of the emulator share.
 *
 * A launch is cut into worlds' work: a world runs the threads of one cluster (of one block, where
 * there are no clusters) on one host thread, as fibers. Everything a finding or a count depends on
 * is part of the world or of the block; worlds are merged in an order that does not depend on the
 * host.
 *
 *   gg_emu        memory, options, results            device.c, launch.c, report.c
 *   emu_world     fibers, scheduling, clocks          world.c, sched.c, clock.c, barrier.c
 *   emu_block     shared memory and its shadow        shared.c, copy.c
 *   emu_area      one global allocation               area.c, trace.c
 *   emu_site      one primitive of one warp's code    count.c, cost.c
 *
 * Tensor cores, TMA and clusters: emu_tensor.h.
 */
#ifndef GGI_EMU_H
#define GGI_EMU_H

#include "fiber.h"
#include "gg_emu.h"
#include "gg_emu_device.h"
#include <stdatomic.h>

#define EMU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define EMU_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
  EMU_WARP = 32,
  EMU_BARRIERS = 16,
  EMU_CELL = 16, /* bytes of a whole shadow cell */
  EMU_PARTS = 4, /* a cell splits into 4 of 4 bytes, each of these into 4 of 1 byte */
  EMU_PLANES = 3,
  EMU_MBARRIERS = 64, /* of a block */
  EMU_GROUPS = 8,     /* warpgroups of a block */
  EMU_ENGINES = EMU_MBARRIERS + EMU_GROUPS,
  EMU_CLUSTER = 16,  /* blocks of the largest cluster */
  EMU_NEAR = 128,    /* entries of the cache of allocations, by line */
  EMU_LINE_BITS = 20 /* of a source line, where it is packed with a thread */
};

typedef struct emu_world emu_world;
typedef struct emu_block emu_block;
typedef struct emu_warp emu_warp;
typedef struct emu_thread emu_thread;

/* -- Vector clocks (clock.c) -------------------------------------------------------------------
 * A clock says how far into each agent's past its owner has seen. An agent is a thread or an
 * engine: the copies that one mbarrier counts, the wgmmas of one warpgroup. A warp counts, its
 * lanes stamp their accesses with the warp's count: lane t's access with stamp s lies before
 * whoever has c[t] >= s. Clocks are immutable once shared, and counted. After the agents stand, per
 * warp, the minimum over its lanes; then, per thread, how much of its past the asynchronous proxy
 * may see. */
typedef struct emu_clock {
  int refs;
  uint32_t c[];
} emu_clock;

/* -- Shadow of shared memory (shared.c) -- */

/* Lanes of one warp that read a cell at one stamp. mask = 0: none. engine = 1: wgmma of its
 * warpgroup did, and the stamp is that engine's. */
typedef struct emu_reads {
  uint32_t stamp, mask;
  unsigned line : 31, engine : 1;
} emu_reads;

/* The last write and, in the block's arrays, the reads after it. */
typedef struct emu_cell {
  uint32_t agent, stamp; /* the write */
  int line;
  int copy_line;    /* of the asynchronous access in flight */
  uint16_t copies;  /* asynchronous writes in flight */
  uint16_t fetches; /* asynchronous reads in flight */
  uint8_t written;  /* 0: nothing wrote it; 2: an mbarrier lives there, which counts as a copy */
  uint8_t read;     /* 0: no reads since; 1: some; 2: and some in the overflow list */
  uint8_t split;    /* the next plane holds the state */
} emu_cell;

/* Cells of one size, and [cell][warp] the reads since their last write. */
typedef struct emu_plane {
  emu_cell *cell;
  emu_reads *reads;
} emu_plane;

/* Reads of one warp at two stamps without order between them: rare. */
typedef struct emu_overflow {
  const emu_cell *cell;
  uint32_t warp;
  emu_reads reads;
} emu_overflow;

/* -- Threads -- */

typedef struct emu_copy {
  uint32_t off;
  int line;
  const uint8_t *from;
  uint8_t width, bytes; /* bytes read, the rest is zero */
  uint8_t landed;
} emu_copy;

/* A first-in first-out queue of copies, cut into groups: group i ends before copy group_end[i]. */
typedef struct emu_copies {
  emu_copy *copy;
  uint32_t *group_end;
  uint32_t first, count, room;
  uint32_t first_group, groups, group_room;
} emu_copies;

typedef struct emu_bulk emu_bulk;         /* tma_store.c */
typedef struct emu_mbarrier emu_mbarrier; /* mbarrier.c */
typedef struct emu_tma emu_tma;           /* tma_load.c */
typedef struct emu_group emu_group;       /* wgmma.c */
typedef struct emu_remote emu_remote;     /* cluster.c */

struct emu_thread {
  ggi_emu_fiber fiber;
  emu_block *block;
  emu_warp *warp;
  emu_clock *base; /* what it has seen; its own entry is the warp's count */
  uint32_t agent;  /* index in the world and in clocks */
  uint32_t lane;
  uint64_t steps; /* primitives executed */
  const char *wait_op;
  int wait_line; /* 0: not waiting */
  int done;
  int grid_waited; /* global memory may be touched */
  emu_copies copies;
  emu_bulk *bulk;           /* NULL until its first bulk store */
  uint32_t visible;         /* its own past that the asynchronous proxy may see */
  uint32_t cluster_arrived; /* times at the cluster's barrier */
  uint32_t cluster_waited;
  int cluster_waiting;              /* stands at the cluster's barrier */
  uint32_t wgmma_issued;            /* instructions */
  uint32_t wgmma_groups;            /* of them, committed */
  uint32_t wgmma_waited;            /* instructions known to be done */
  int wgmma_fenced, wgmma_fenced_a; /* accumulators, registers of A */
  ggd_uint3 idx;                    /* threadIdx */
};

typedef struct emu_site emu_site;

struct emu_warp {
  uint32_t ready; /* lanes that can run, the running one included */
  uint32_t alive;
  uint32_t waiting; /* lanes at a barrier or collective */
  uint32_t at_collective;
  unsigned collective_op;
  void (*perform)(emu_world *w, emu_warp *p, uint32_t mask);
  const void *arg[EMU_WARP]; /* of the lanes at the collective */
  const char *wait_op;
  int wait_line;
  uint32_t count; /* its clock */
  uint32_t first; /* thread of lane 0 */
  uint32_t lanes; /* that exist */
  uint32_t index;
  emu_block *block;
  emu_site **sites; /* by line, see count.c */
  int site_room;
  emu_site *active;
};

/* -- Barriers (barrier.c) -- */

typedef struct emu_barrier {
  uint32_t needed, arrived;
  int line;            /* of the last arrival */
  emu_clock *arrivals; /* published by those that do not wait */
} emu_barrier;

struct emu_block {
  uint8_t *shared;
  emu_plane plane[EMU_PLANES]; /* cells of 16, 4 and 1 bytes */
  emu_overflow *overflow;
  size_t overflow_count, overflow_room;
  emu_barrier barrier[EMU_BARRIERS];
  uint32_t *waiting; /* [barrier][warp]: lanes that wait there */
  uint32_t alive;
  uint32_t rank;          /* in the cluster */
  emu_mbarrier *mbarrier; /* EMU_MBARRIERS, NULL until the first */
  uint32_t mbarriers;
  emu_group *group[EMU_GROUPS]; /* NULL until its first wgmma */
  emu_remote *remote;           /* [thread] of other blocks; NULL until the first */
  ggd_uint3 idx;                /* blockIdx */
};

/* -- Findings of one world (report.c) -- */

typedef struct emu_note {
  gg_emu_finding finding;
  uint64_t where; /* block of the first, for merging */
} emu_note;

typedef struct emu_notes {
  emu_note *note;
  size_t count, room;
  uint32_t *slot; /* open addressing; index + 1 */
  size_t slots;
} emu_notes;

/* -- Global memory (area.c, trace.c) -- */

/* What a launch did to one allocation, per 4-byte word, so kept that the order of events does not
 * matter: extremes of (thread, line), 0 for none. Arrays come when first needed. */
typedef struct emu_trace {
  _Atomic uint64_t last;  /* maximum of (thread + 1, line) */
  _Atomic uint64_t first; /* maximum of the complement */
} emu_trace;

typedef struct emu_area {
  uintptr_t start;
  size_t bytes;
  void *memory;  /* with red zones */
  size_t mapped; /* bytes of it by mmap: sparse; 0: from the heap */
  char name[32];
  size_t words;
  _Atomic(_Atomic uint32_t *) fixed; /* highest line that read it as constant */
  _Atomic(emu_trace *) read;
  _Atomic(emu_trace *) written;
  _Atomic(emu_trace *) loaded; /* by TMA: a matter of blocks, not of threads */
  _Atomic(emu_trace *) stored;
  /* The same per byte, for accesses of 1 and 2 bytes. */
  _Atomic(_Atomic uint32_t *) byte_fixed;
  _Atomic(emu_trace *) byte_read;
  _Atomic(emu_trace *) byte_written;
  _Atomic uint8_t *chunk_written; /* marks on stretches of `written` */
} emu_area;

struct emu_world {
  emu_thread *current;
  const gg_emu_launch *launch;
  const gg_args *args;
  gg_emu *device;
  gg_emu_options options;
  uint64_t step_limit;
  uint64_t random;       /* state of ggi_emu_random, of this block */
  int shuffled;          /* 0: fixed schedule */
  int alone;             /* no other world works on the launch: nothing need be atomic */
  uint64_t block_index;  /* that runs now */
  uint64_t first_thread; /* of the block, in the launch */
  uint32_t threads, warps, blocks;
  uint32_t block_threads, block_warps; /* of one block */
  uint32_t agents, agent_room;         /* threads, and engines in use; with all there can be */
  int proxied;                         /* someone fenced the proxies in this cluster */
  uint32_t live;
  int abandoned; /* the block was given up */
  int short_of_memory;
  emu_thread *thread;
  emu_warp *warp;
  emu_block *block;
  ggi_emu_fiber host;
  char *stacks;
  size_t shared_bytes, shared_room;
  ggd_uint3 block_dim, grid_dim;
  emu_clock *free_clock; /* list through c[0..1] */
  emu_clock *joined[3];  /* the last acquisition: a base, what it acquired, the outcome */
  emu_tma *tma;          /* loads in flight, NULL until the first */
  emu_barrier cluster;   /* the cluster's barrier */
  emu_clock *cluster_clock;
  uint32_t cluster_opened;
  emu_notes notes;
  emu_area *near[EMU_NEAR];
  uint64_t nowhere[4]; /* refused accesses go here */
};

struct gg_emu {
  gg_emu_options options;
  emu_area **area; /* sorted by start */
  size_t areas, area_room;
  emu_world **world; /* kept between launches of one geometry */
  int worlds;
  uint64_t launches;
  emu_notes notes;
  gg_emu_finding *finding; /* the notes, as handed out */
  size_t findings;
  gg_emu_access *access;
  size_t accesses, access_room;
};

extern __thread emu_world *ggi_emu_world __attribute__((tls_model("initial-exec")));

/* -- world.c -- */
int ggi_emu_world_create(gg_emu *e, const gg_emu_launch *l, emu_world **out);
void ggi_emu_world_destroy(emu_world *w);
void *ggi_emu_stack(const emu_world *w, const emu_thread *t, size_t *bytes);

/* -- sched.c -- */
void ggi_emu_run_cluster(emu_world *w, uint64_t index);
/* The running thread waits until someone makes it ready. */
void ggi_emu_wait(emu_world *w, const char *op, int line);
void ggi_emu_wake(emu_thread *t);
void ggi_emu_yield(emu_world *w);
uint64_t ggi_emu_random(emu_world *w);
/* Gives up the block; does not return. */
void ggi_emu_abandon(emu_world *w) __attribute__((noreturn));
void ggi_emu_endless(emu_world *w, int line) __attribute__((noreturn));

/* Every primitive passes here once, before it does anything. */
static inline void ggi_emu_step(emu_world *w, int line) {
  if (EMU_UNLIKELY(++w->current->steps > w->step_limit)) ggi_emu_endless(w, line);
  if (EMU_UNLIKELY(w->shuffled) && ggi_emu_random(w) % 16 == 0) ggi_emu_yield(w);
}

/* -- clock.c -- */
emu_clock *ggi_emu_clock_new(emu_world *w);  /* abandons the block when memory is short */
emu_clock *ggi_emu_clock_zero(emu_world *w); /* NULL: memory is short */
emu_clock *ggi_emu_clock_copy(emu_world *w, const emu_clock *of);
void ggi_emu_clock_drop(emu_world *w, emu_clock *c); /* NULL is fine */
void ggi_emu_clock_join(emu_world *w, emu_clock *c, const emu_clock *other);
void ggi_emu_clock_stamp(emu_world *w, emu_clock *c, const emu_thread *t); /* t's own past */
void ggi_emu_clock_seal(emu_world *w, emu_clock *c);                       /* computes the minima */
void ggi_emu_clock_set(emu_world *w, emu_thread *t, emu_clock *c);
/* t learns what `other` (NULL: nothing) holds. */
void ggi_emu_clock_acquire(emu_world *w, emu_thread *t, emu_clock *other);
/* The asynchronous proxy may see all that t has seen, and t's own past. */
void ggi_emu_clock_fence(emu_world *w, emu_thread *t);
uint32_t ggi_emu_clock_visible(const emu_world *w, const emu_thread *t, uint32_t agent);
void ggi_emu_clock_forget(emu_world *w); /* what clock_acquire remembers */
uint32_t ggi_emu_engine(emu_world *w);   /* a new agent */

static inline int ggi_emu_before(const emu_thread *t, uint32_t agent, uint32_t stamp) {
  return agent == t->agent || t->base->c[agent] >= stamp;
}

/* -- access.c -- */
/* 0: refused and reported. */
int ggi_emu_shared_checked(emu_world *w, unsigned off, unsigned op, int line);

/* -- barrier.c -- */
void ggi_emu_barrier_exit(emu_world *w, emu_thread *t); /* t has left alive masks already */
void ggi_emu_barrier_end(emu_world *w, emu_block *b);   /* reports what is pending */

/* -- shared.c -- */
void ggi_emu_shared_reset(emu_world *w, emu_block *b);
void ggi_emu_shared_read(emu_world *w, uint32_t off, unsigned op, int line);
void ggi_emu_shared_write(emu_world *w, uint32_t off, unsigned op, int line);
void ggi_emu_shared_copy_begin(emu_world *w, uint32_t off, unsigned op, int line);
void ggi_emu_shared_copy_end(emu_world *w, uint32_t off, unsigned width, int line);
/* The same in another block of the cluster, or by another thread than the running one. */
void ggi_emu_shared_read_as(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                            int line);
void ggi_emu_shared_write_as(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                             int line);

/* -- area.c -- */
emu_area *ggi_emu_area_find(const gg_emu *e, uintptr_t p, size_t bytes); /* NULL: in none */
/* The allocation of an access, or NULL: refused and reported. */
emu_area *ggi_emu_area_checked(emu_world *w, const void *p, unsigned bytes, unsigned align,
                               unsigned op, int line);
void ggi_emu_areas_free(gg_emu *e);
void ggi_emu_keep_sparse(void *p, size_t bytes);

/* -- trace.c -- */
int ggi_emu_trace_create(emu_area *a); /* 0, or -1: memory is short */
void ggi_emu_trace_free(emu_area *a);
void ggi_emu_global_fixed(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line);
void ggi_emu_global_read(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line);
void ggi_emu_global_loaded(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line);
void ggi_emu_global_stored(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line);
void ggi_emu_global_write(emu_world *w, emu_area *a, const void *p, unsigned bytes, int line);
void ggi_emu_global_begin(gg_emu *e);
/* Finds the launch's races. 0, or -1: memory is short. */
int ggi_emu_global_end(gg_emu *e, const gg_emu_launch *l, emu_notes *notes);

/* -- copy.c -- */
void ggi_emu_copies_exit(emu_world *w, emu_thread *t);
void ggi_emu_copies_source(emu_world *w, const void *p, unsigned bytes, unsigned op, int line);

/* -- count.c: where accesses of a line go until all lanes have made them -- */

struct emu_site {
  emu_site *next; /* another primitive of the line */
  emu_site *next_active;
  int line;
  unsigned op;
  uint32_t room;                           /* executions that fit; 0 while not active */
  uint32_t stride;                         /* of a lane in addr */
  uint32_t base;                           /* executions evaluated since the last alignment */
  uint32_t n[EMU_WARP];                    /* executions of each lane since then */
  uint64_t *addr;                          /* [lane][execution - base] */
  uint64_t *source;                        /* cp.async: bytes << 56 | global address */
  uint64_t requests[2], cost[2], ideal[2]; /* [0] global, [1] shared */
};

void ggi_emu_count_slow(emu_world *w, unsigned op, int line, uint64_t addr);
void ggi_emu_count_copy(emu_world *w, unsigned op, int line, uint64_t off, uint64_t source);
/* One access that the lanes of `mask` make together, at the warp's line. */
void ggi_emu_count_warp(emu_world *w, emu_warp *p, unsigned op, int shared,
                        const uint64_t addr[EMU_WARP], uint32_t mask, unsigned bytes, int load);
/* Evaluates what the warp's lanes have done; the next executions are aligned anew. */
void ggi_emu_count_align(emu_warp *p);
void ggi_emu_count_forget(emu_warp *p);
int ggi_emu_count_merge(gg_emu *e, emu_world *w); /* 0, or -1: memory is short */
void ggi_emu_count_free(emu_warp *p);

/* One access of the running thread; copies pass through ggi_emu_count_copy. */
static inline void ggi_emu_count(emu_world *w, unsigned op, int line, uint64_t addr) {
  emu_thread *t = w->current;
  emu_warp *p = t->warp;
  if (EMU_LIKELY((unsigned)line < (unsigned)p->site_room)) {
    emu_site *s = p->sites[line];
    if (EMU_LIKELY(s != NULL && s->op == op)) {
      uint32_t i = s->n[t->lane] - s->base;
      if (EMU_LIKELY(i < s->room)) {
        s->addr[t->lane * s->stride + i] = addr;
        s->n[t->lane]++;
        return;
      }
    }
  }
  ggi_emu_count_slow(w, op, line, addr);
}

/* The last ready lane of its warp is about to wait: its warp is aligned. */
static inline void ggi_emu_count_wait(emu_world *w) {
  emu_warp *p = w->current->warp;
  if (p->active != NULL && p->ready == 1u << w->current->lane) ggi_emu_count_align(p);
}

/* -- cost.c: pure; mask says which lanes took part -- */
typedef struct emu_cost {
  uint64_t cost, ideal;
} emu_cost;

emu_cost ggi_emu_cost_shared(uint32_t mask, const uint64_t addr[EMU_WARP], unsigned bytes,
                             int load);
emu_cost ggi_emu_cost_copy(uint32_t mask, const uint64_t addr[EMU_WARP],
                           const uint64_t source[EMU_WARP], unsigned bytes);
/* bytes[lane] differ for zero-filled copies; 0: the lane reads nothing. */
emu_cost ggi_emu_cost_global(uint32_t mask, const uint64_t addr[EMU_WARP],
                             const uint8_t bytes[EMU_WARP]);

/* -- report.c -- */
/* One more of (kind, line, other); the text is made for the first only. The second function puts
 * "gg_lds_f32 by block 3, thread 17 " before it. */
void ggi_emu_report(emu_world *w, gg_emu_kind kind, int line, int other, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void ggi_emu_report_access(emu_world *w, gg_emu_kind kind, int line, int other, unsigned op,
                           const char *format, ...) __attribute__((format(printf, 6, 7)));
/* NULL: memory is short. The caller fills the text of a new one (count 0). */
emu_note *ggi_emu_note(emu_notes *n, gg_emu_kind kind, int line, int other);
int ggi_emu_notes_merge(emu_notes *into, const emu_notes *from); /* 0, or -1 */
void ggi_emu_notes_sort(emu_notes *n);
void ggi_emu_notes_clear(emu_notes *n);
void ggi_emu_notes_free(emu_notes *n);
/* "gg_lds_f32x4" */
typedef struct emu_op_name {
  char s[48];
} emu_op_name;
emu_op_name ggi_emu_op_name(unsigned op);
/* "block 3, thread 17" */
emu_op_name ggi_emu_thread_name(const emu_world *w, uint32_t agent);
/* "thread 17"; in a cluster with its block; "TMA or wgmma" for an engine */
emu_op_name ggi_emu_agent_name(const emu_world *w, uint32_t agent);

static inline unsigned ggi_emu_op_bytes(unsigned op) {
  return op & 255;
}
static inline unsigned ggi_emu_op_does(unsigned op) {
  return op >> 16;
}

#endif
