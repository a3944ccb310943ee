/* emu_tensor.h - what tensor cores, TMA and clusters add to emu.h.
 *
 *   collective.c    lanes of a warp meet; shuffles and reductions
 *   matrix.c        ldmatrix, stmatrix
 *   tensor.c        number formats: pure; tensor_sum.c how tensor cores add: pure
 *   mma.c, wmma.c   fragments of mma.sync and wmma; wmma_count.c what wmma's accesses cost
 *   mbarrier.c      mbarriers
 *   tensor_map.c    the emulator's tensor maps: encoding, boxes
 *   tma_load.c      bulk and tensor loads
 *   tma_store.c     bulk and tensor stores, reductions
 *   wgmma.c         asynchronous products; wgmma_product.c what one computes, descriptor.c where
 * its operands lie cluster.c       cluster barrier, shared memory of other blocks
 */
#ifndef GGI_EMU_TENSOR_H
#define GGI_EMU_TENSOR_H

#include "emu.h"
#include <string.h>

/* -- collective.c -- */

/* What the lanes in `mask` do together; p->arg[lane] is what each deposited. */
typedef void emu_perform(emu_world *w, emu_warp *p, uint32_t mask);
/* The running lane deposits arg and returns when all of its warp have come and `perform` is done.
 */
void ggi_emu_collective(emu_world *w, const void *arg, emu_perform *perform, unsigned op,
                        const char *name, int line);
void ggi_emu_collective_exit(emu_world *w, emu_warp *p);
/* Lanes that the operation needs are missing: reported once. */
void ggi_emu_whole_warp(emu_world *w, const emu_warp *p, uint32_t mask, const char *name);

/* -- barrier.c -- */
/* Lane about to wait for others of its warp: notes where, reports divergence. */
void ggi_emu_meet(emu_world *w, const char *op, int line);
/* Threads in `masks` (by warp) join their pasts with `extra` and become ready. */
void ggi_emu_join(emu_world *w, const uint32_t *masks, uint32_t first_warp, uint32_t warps,
                  const emu_clock *extra);

/* -- shared.c: the asynchronous proxy, 16 bytes at a time at multiples of 16 -- */
void ggi_emu_async_write_begin(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                               int line);
void ggi_emu_async_write_end(emu_world *w, emu_block *b, uint32_t off, uint32_t agent,
                             uint32_t stamp, int line);
/* first = 0: checks only, for another thread that takes part. */
void ggi_emu_async_read_begin(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, unsigned op,
                              int line, int first);
/* The reader is t, or with engine = 1 the engine of the warpgroup whose first thread t is, at
 * `stamp`. */
void ggi_emu_async_read_end(emu_world *w, emu_block *b, emu_thread *t, uint32_t off, int line,
                            int engine, uint32_t stamp);
void ggi_emu_shared_mbarrier(emu_world *w, uint32_t off, unsigned op, int line, int alive);
/* Any stretch of bytes. 0: refused and reported. */
int ggi_emu_shared_range(emu_world *w, unsigned off, unsigned bytes, unsigned align, unsigned op,
                         int line);

/* -- tensor.c -- */

static inline float ggi_emu_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static inline uint32_t ggi_emu_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

typedef enum emu_format {
  EMU_BF16,
  EMU_F16,
  EMU_TF32,
  EMU_E4M3,
  EMU_E5M2,
  EMU_S8,
  EMU_U8
} emu_format;
enum { EMU_K_MOST = 32 };

int ggi_emu_format_bytes(emu_format f);
/* The elements of one 32-bit word, lowest first. */
void ggi_emu_unpack(emu_format f, unsigned word, float out[4]);
int ggi_emu_keeps_nan(void);       /* of the running launch: gg_emu_options.keep_nan */
unsigned ggi_emu_to_f16(float x);  /* to nearest even; NaN 0x7fff */
unsigned ggi_emu_to_bf16(float x); /* the same */
float ggi_emu_from_f16(unsigned h);

/* -- tensor_sum.c -- */

/* How the tensor cores of one instruction add: K products and the accumulator at once. */
typedef struct emu_sum {
  int least_a, least_b; /* exponent of the operands' subnormals */
  int fraction;         /* bits kept of each term below the largest exponent */
  int kept;             /* fraction bits of the result: 23 f32, 13 fp8 sums of wgmma, 10 f16 */
} emu_sum;

/* c[m][n] += sum over k of a[m][k] b[k][n]; n in multiples of 8, k <= EMU_K_MOST. */
void ggi_emu_sum(const emu_sum *s, float *c, int ldc, const float *a, int lda, const float *b,
                 int ldb, int m, int n, int k);

/* The same of whole numbers of 8 bits; c holds 32-bit integers as such, which wrap. */
void ggi_emu_sum_integers(float *c, int ldc, const float *a, int lda, const float *b, int ldb,
                          int m, int n, int k);

/* -- wmma_count.c -- */

/* A matrix that wmma loads or stores. */
typedef struct emu_wmma {
  int m, n;                 /* of the shape */
  int role;                 /* 0 A, 1 B, 2 C or D */
  int rows, columns, bytes; /* of an element */
  int column;               /* 1: it lies by columns */
  unsigned ld;
  uint64_t start[EMU_WARP]; /* address, by lane */
} emu_wmma;

void ggi_emu_wmma_count(emu_world *w, emu_warp *p, uint32_t mask, const emu_wmma *m, int shared,
                        int stores);

/* -- mbarrier.c -- */

struct emu_mbarrier {
  uint32_t off;
  int alive;
  uint32_t count, pending, phase; /* phase: completed ones */
  int64_t bytes;                  /* expected and not yet there */
  uint32_t engine, stamp;         /* signs the writes of the copies it counts */
  emu_clock *arrived, *last;      /* of this phase; the last base joined into it */
  emu_clock *complete;            /* of the last complete phase */
  uint32_t agent, init_stamp;     /* who initialised it */
  int line, fenced;
  uint32_t fenced_at; /* cluster barriers its initialiser had arrived at */
  uint32_t *waiting;  /* [warp] lanes */
};

/* The mbarrier at `off` of b, as the running thread uses it; NULL: none, reported. `remote`: by
 * another block or the asynchronous proxy. */
emu_mbarrier *ggi_emu_mbarrier(emu_world *w, emu_block *b, uint32_t off, int remote, unsigned op,
                               int line);
emu_mbarrier *ggi_emu_mbarrier_find(emu_block *b, uint32_t off);
void ggi_emu_mbarrier_landed(emu_world *w, emu_mbarrier *m, uint32_t bytes);
emu_op_name ggi_emu_mbarrier_missing(const emu_thread *t);
void ggi_emu_mbarriers_end(emu_world *w, emu_block *b);
void ggi_emu_mbarriers_free(emu_block *b);

/* -- tensor_map.c -- */

typedef struct emu_map {
  uint64_t magic;
  uint64_t address;
  uint64_t dim[5];
  uint64_t stride[4]; /* bytes, of dimensions 1.. */
  uint16_t box[5];
  uint8_t step[5]; /* elements between those taken */
  uint8_t type, rank, swizzle, fill, bytes /* of an element */;
} emu_map;

/* One row of up to 16 bytes of a box. */
typedef struct emu_piece {
  uint32_t off;       /* in shared memory, after swizzling */
  uint32_t size;      /* bytes there: 16 */
  uint8_t *global;    /* of byte `from` */
  uint32_t from, end; /* bytes of it that lie inside the tensor */
} emu_piece;

typedef void emu_each_piece(void *context, const emu_piece *p);

const emu_map *ggi_emu_map_of(emu_world *w, const void *map, int rank, unsigned op, int line);
uint32_t ggi_emu_box_bytes(const emu_map *m);
void ggi_emu_box_each(const emu_map *m, uint32_t off, const int *at, emu_each_piece *each,
                      void *context);
uint32_t ggi_emu_swizzle(uint32_t off, int mode); /* 0 none, 1 32, 2 64, 3 128 bytes */
/* 0: refused and reported. */
int ggi_emu_box_ok(emu_world *w, const emu_map *m, const int *at, int store, unsigned op, int line);
float ggi_emu_map_read(const emu_map *m, const uint8_t *p);

/* -- tma_load.c -- */
void ggi_emu_tma_perhaps(emu_world *w); /* random: a load may land */
int ggi_emu_tma_progress(emu_world *w); /* one load lands; 0: none in flight */
void ggi_emu_tma_block_exit(emu_world *w, const emu_block *b);
void ggi_emu_tma_end(emu_world *w);
void ggi_emu_tma_free(emu_world *w);

/* -- tma_store.c -- */
void ggi_emu_bulk_exit(emu_world *w, emu_thread *t);
void ggi_emu_bulk_end(emu_thread *t);
void ggi_emu_bulk_free(emu_thread *t);

/* -- descriptor.c -- */

/* One matrix operand in shared memory: mn x k elements. */
typedef struct emu_operand {
  uint64_t descriptor;
  emu_format format;
  int mn, k, bytes;
  int mn_major;
} emu_operand;

/* Byte of element (mn, k), swizzled. */
uint32_t ggi_emu_operand_at(const emu_operand *o, int mn, int k);
/* Each 16 bytes that hold elements; each is called with their first byte. */
void ggi_emu_operand_each(const emu_operand *o, void (*each)(void *context, uint32_t off),
                          void *context);
/* out[mn][k] or, with k_rows, out[k][mn]. */
void ggi_emu_operand_load(const emu_operand *o, const uint8_t *shared, size_t room, float *out,
                          int k_rows);
const char *ggi_emu_operand_wrong(const emu_operand *o, size_t shared_bytes); /* NULL: fine */

/* -- wgmma_product.c -- */

enum { EMU_PRODUCT_ROWS = 64, EMU_PRODUCT_LANES = 128 };
enum { EMU_ACC_F32, EMU_ACC_F16, EMU_ACC_S32 };

typedef struct emu_product {
  uint64_t da, db;
  unsigned spec; /* GGD_WG, and the accumulators in bits 28.. */
  int scale;
  unsigned (*a)[4]; /* registers of A, by thread; NULL: in shared memory */
} emu_product;

int ggi_emu_product_n(unsigned spec);
int ggi_emu_product_acc(unsigned spec);
emu_operand ggi_emu_product_a(const emu_product *o);
emu_operand ggi_emu_product_b(const emu_product *o);
/* c[64][n] (integers as such) += A B; a and b: room for 64 x 32 and 32 x 256 values. */
void ggi_emu_product(const emu_product *o, const uint8_t *shared, size_t room, float *c, float *a,
                     float *b);

/* -- wgmma.c -- */
uint32_t ggi_emu_group_engine(const emu_block *b, uint32_t group);
void ggi_emu_wgmma_exit(emu_world *w, emu_thread *t);
void ggi_emu_wgmma_end(emu_world *w, emu_block *b);
void ggi_emu_wgmma_free(emu_block *b);

/* -- cluster.c -- */
void ggi_emu_cluster_exit(emu_world *w); /* a thread left */
void ggi_emu_cluster_end(emu_world *w);
/* The block of a rank whose shared memory is used; NULL: none or gone, reported. */
emu_block *ggi_emu_cluster_block(emu_world *w, unsigned rank, unsigned op, int line);
/* The running thread uses b's shared memory now: b may not end before it knows of that. */
void ggi_emu_cluster_used(emu_world *w, emu_block *b, int line);
void ggi_emu_cluster_block_exit(emu_world *w, emu_block *b);
void ggi_emu_cluster_free(emu_block *b);

#endif
