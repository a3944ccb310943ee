/* wmma.c - wmma.load, wmma.mma, wmma.store: matrices of a warp whose fragments nobody may look
 * into.
 *
 * The emulator's own layout: a fragment holds its matrix in the order of its layout (row or col),
 * lane l the l-th 32nd of it, of col the next one, packed. A product reads fragments by the layouts
 * that it names, so loading with another one gives wrong values, as on the device. Sums are those
 * of mma.sync, but tf32 takes two steps of 4 along k: ptxas writes HMMA.1684 for it, HMMA.1688 for
 * mma.sync.
 */
#include "emu_tensor.h"
#include <math.h>
#include <string.h>

enum { SIDE_MOST = 32 };

/* spec: GGD_WMMA of gg_emu_device_tensor.h */
static int shape_of(unsigned spec) {
  return (int)(spec & 15);
}
static int type_of(unsigned spec) {
  return (int)(spec >> 4 & 15);
}
static int role_of(unsigned spec) { /* 0 A, 1 B, 2 C or D */
  return (int)(spec >> 8 & 3);
}
static int is_column(unsigned spec) {
  return (int)(spec >> 10 & 1);
}

typedef struct sides {
  int m, n, k;
} sides;

static sides sides_of(unsigned spec) {
  static const sides all[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8}, {8, 8, 4}};
  return all[shape_of(spec)];
}

/* Bytes of an element in memory; C and D: type is 0 f32, 1 f16, 2 s32. The last shape has f64. */
static int bytes_of(unsigned spec) {
  if (shape_of(spec) == 4) return 8;
  if (role_of(spec) == 2) return type_of(spec) == 1 ? 2 : 4;
  return ggi_emu_format_bytes((emu_format)type_of(spec));
}

static void matrix_of(unsigned spec, int *major, int *minor) {
  sides s = sides_of(spec);
  int rows = role_of(spec) == 1 ? s.k : s.m, columns = role_of(spec) == 0 ? s.k : s.n;
  *major = is_column(spec) ? columns : rows;
  *minor = is_column(spec) ? rows : columns;
}

/* The 32nd of the matrix that a lane holds. C and D are held by rows always. */
static int part_of_lane(unsigned spec, int lane) {
  return role_of(spec) < 2 && is_column(spec) ? (lane + 1) % EMU_WARP : lane;
}

/* -- Loads and stores -- */

typedef struct memory_arg {
  void *registers;
  const void *p; /* NULL: shared memory at off */
  unsigned off, ld;
} memory_arg;

/* Checks one lane's access to one piece; where its bytes are, or NULL. */
static uint8_t *piece(emu_world *w, emu_warp *p, emu_thread *t, const memory_arg *a, size_t byte,
                      unsigned bytes, int stores) {
  unsigned op = GGD_OP(stores ? GGD_WMMA_STORE : GGD_WMMA_LOAD, GGD_PLAIN, bytes);
  int line = p->wait_line;
  if (a->p == NULL) {
    uint32_t off = a->off + (uint32_t)byte;
    if (!ggi_emu_shared_checked(w, off, op, line)) return NULL;
    if (w->options.check && stores) ggi_emu_shared_write_as(w, t->block, t, off, op, line);
    if (w->options.check && !stores) ggi_emu_shared_read_as(w, t->block, t, off, op, line);
    return t->block->shared + off;
  }
  uint8_t *at = (uint8_t *)(uintptr_t)a->p + byte;
  emu_area *area = ggi_emu_area_checked(w, at, bytes, bytes, op, line);
  if (area == NULL) return NULL;
  if (w->options.check && stores) ggi_emu_global_write(w, area, at, bytes, line);
  if (w->options.check && !stores) ggi_emu_global_read(w, area, at, bytes, line);
  return at;
}

static const char *name_of(int stores) {
  return stores ? "gg_wmma_store" : "gg_wmma_load";
}

/* All lanes must name the same matrix. */
static void check_alike(emu_world *w, const emu_warp *p, uint32_t mask, int stores) {
  const memory_arg *first = p->arg[__builtin_ctz(mask)];
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const memory_arg *a = p->arg[__builtin_ctz(m)];
    if (a->p == first->p && a->off == first->off && a->ld == first->ld) continue;
    ggi_emu_report(
        w, GG_EMU_DESCRIPTOR, p->wait_line, 0,
        "%s by %s with another address or leading dimension than other lanes of its warp",
        name_of(stores), ggi_emu_thread_name(w, p->first + (uint32_t)__builtin_ctz(m)).s);
    return;
  }
}

static void count(emu_world *w, emu_warp *p, uint32_t mask, int stores) {
  unsigned spec = p->collective_op;
  const memory_arg *first = p->arg[__builtin_ctz(mask)];
  sides s = sides_of(spec);
  emu_wmma m = {s.m,
                s.n,
                role_of(spec),
                role_of(spec) == 1 ? s.k : s.m,
                role_of(spec) == 0 ? s.k : s.n,
                bytes_of(spec),
                is_column(spec),
                first->ld,
                {0}};
  for (uint32_t l = mask; l != 0; l &= l - 1) {
    const memory_arg *a = p->arg[__builtin_ctz(l)];
    m.start[__builtin_ctz(l)] = a->p != NULL ? (uint64_t)(uintptr_t)a->p : a->off;
  }
  ggi_emu_wmma_count(w, p, mask, &m, first->p == NULL, stores);
}

static void move(emu_world *w, emu_warp *p, uint32_t mask, int stores) {
  unsigned spec = p->collective_op;
  int major, minor, size = bytes_of(spec);
  ggi_emu_whole_warp(w, p, mask, name_of(stores));
  check_alike(w, p, mask, stores);
  if (w->options.count) count(w, p, mask, stores);
  /* C and D lie in registers row by row, whatever their layout in memory. */
  int scattered = role_of(spec) == 2 && is_column(spec);
  matrix_of(scattered ? spec & ~(1u << 10) : spec, &major, &minor);
  int count = major * minor / EMU_WARP, run = count * size;
  int step = scattered ? size : run < 16 ? run : 16;
  emu_thread *caller = w->current;
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const memory_arg *a = p->arg[lane];
    emu_thread *t = w->current = &w->thread[p->first + (uint32_t)lane];
    for (int b = 0; b < run; b += step) {
      size_t e = (size_t)(part_of_lane(spec, lane) * count + b / size), outer = e / (size_t)minor;
      size_t inner = e % (size_t)minor;
      size_t byte = (scattered ? inner * a->ld + outer : outer * a->ld + inner) * (size_t)size;
      uint8_t *at = piece(w, p, t, a, byte, (unsigned)step, stores);
      uint8_t *registers = (uint8_t *)a->registers + b;
      if (at == NULL)
        memset(registers, 0xff, stores ? 0 : (size_t)step);
      else if (stores)
        memcpy(at, registers, (size_t)step);
      else
        memcpy(registers, at, (size_t)step);
    }
  }
  w->current = caller;
}

static void load(emu_world *w, emu_warp *p, uint32_t mask) {
  move(w, p, mask, 0);
}
static void store(emu_world *w, emu_warp *p, uint32_t mask) {
  move(w, p, mask, 1);
}

/* Bytes of a fragment in each lane; f16 fragments of A and B have each element twice. */
static unsigned lane_bytes(unsigned spec) {
  int major, minor;
  if (role_of(spec) < 2 && shape_of(spec) != 4 && type_of(spec) == EMU_F16) return 32;
  matrix_of(spec, &major, &minor);
  return (unsigned)(major * minor / EMU_WARP * bytes_of(spec));
}

/* ptxas loads 16-bit types, and bytes that lie along k, from shared memory by ldmatrix. */
static int is_ldmatrix(const memory_arg *a, unsigned spec, int stores) {
  int bytes = bytes_of(spec), is_operand = role_of(spec) < 2;
  return a->p == NULL && !stores && is_operand &&
         (bytes == 2 || (bytes == 1 && is_column(spec) == role_of(spec)));
}

/* PTX asks that rows begin at multiples of the lane's part of the fragment; of the leading
 * dimension the programming guide asks less; ldmatrix asks for 16 bytes. */
static void access_memory(const memory_arg *a, unsigned spec, int stores, int line) {
  emu_world *w = ggi_emu_world;
  unsigned bytes = (unsigned)bytes_of(spec);
  ggi_emu_step(w, line);
  uintptr_t at = a->p != NULL ? (uintptr_t)a->p : a->off;
  unsigned start = lane_bytes(spec);
  if (start < 16 && is_ldmatrix(a, spec, stores)) start = 16;
  unsigned apart = start < 16 ? start : 16;
  if (at % start != 0 || a->ld * bytes % apart != 0) {
    ggi_emu_report(w, GG_EMU_MISALIGNED, line, 0,
                   "%s by %s: the address must be a multiple of %u bytes, the leading dimension of "
                   "%u",
                   name_of(stores), ggi_emu_thread_name(w, w->current->agent).s, start, apart);
  }
  ggi_emu_collective(w, a, stores ? store : load, spec, name_of(stores), line);
}

void gg_emu_wmma_load(void *r, const void *p, unsigned off, unsigned ld, unsigned spec, int line) {
  memory_arg a = {r, p, off, ld};
  access_memory(&a, spec, 0, line);
}

void gg_emu_wmma_store(const void *p, unsigned off, const void *r, unsigned ld, unsigned spec,
                       int line) {
  memory_arg a = {(void *)(uintptr_t)r, p, off, ld};
  access_memory(&a, spec, 1, line);
}

/* -- Products: D += A B -- */

typedef struct product_arg {
  void *d;
  const void *a, *b;
} product_arg;

static int column_of(unsigned spec, int role) {
  return (int)(spec >> (10 + role) & 1);
}

/* The lane that holds it of A or B: part_of_lane, turned round. */
static int lane_of_part(int column, int part) {
  return column ? (part + EMU_WARP - 1) % EMU_WARP : part;
}

/* A walk over the elements of A or B in the order of its layout. */
typedef struct walk {
  int column, minor, count; /* elements of a line of memory, of a lane's part */
  int outer, inner;
} walk;

static walk walk_of(unsigned spec, int role) {
  int major, minor, column = column_of(spec, role);
  matrix_of((spec & 0xff) | (unsigned)role << 8 | (unsigned)column << 10, &major, &minor);
  return (walk){column, minor, major * minor / EMU_WARP, 0, 0};
}

/* Where the next element stands. */
static void walk_on(walk *at, int *row, int *column) {
  *row = at->column ? at->inner : at->outer;
  *column = at->column ? at->outer : at->inner;
  if (++at->inner == at->minor) {
    at->inner = 0;
    at->outer++;
  }
}

/* matrix[row][column] of A or B. */
static void gather(const emu_warp *p, uint32_t mask, int role, float out[SIDE_MOST][SIDE_MOST]) {
  unsigned spec = p->collective_op;
  emu_format format = (emu_format)type_of(spec);
  int each = 4 / ggi_emu_format_bytes(format), row, column;
  walk at = walk_of(spec, role);
  for (int part = 0; part < EMU_WARP; part++) {
    int lane = lane_of_part(at.column, part);
    const product_arg *arg = (mask >> lane & 1) != 0 ? p->arg[lane] : NULL;
    for (int i = 0; i < at.count; i += each) {
      float x[4] = {0};
      if (arg != NULL)
        ggi_emu_unpack(format, ((const unsigned *)(role == 0 ? arg->a : arg->b))[i / each], x);
      for (int e = 0; e < each; e++) {
        walk_on(&at, &row, &column);
        out[row][column] = x[e];
      }
    }
  }
}

/* D is kept row by row, 8 elements a lane: values, integers as such, or halves, packed. */
static void take_sums(const emu_warp *p, uint32_t mask, int half, float c[256]) {
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const unsigned *d = ((const product_arg *)p->arg[lane])->d;
    if (!half) memcpy(&c[lane * 8], d, 8 * sizeof *c);
    for (int i = 0; i < 8 && half; i++)
      c[lane * 8 + i] = ggi_emu_from_f16(d[i / 2] >> i % 2 * 16 & 0xffff);
  }
}

static void give_sums(const emu_warp *p, uint32_t mask, int half, const float c[256]) {
  for (int lane = 0; lane < EMU_WARP; lane++) {
    if ((mask >> lane & 1) == 0) continue;
    const float *from = &c[lane * 8];
    unsigned *d = ((const product_arg *)p->arg[lane])->d;
    if (!half) memcpy(d, from, 8 * sizeof *c);
    for (int i = 0; i < 4 && half; i++)
      d[i] = ggi_emu_to_f16(from[2 * i]) | ggi_emu_to_f16(from[2 * i + 1]) << 16;
  }
}

static void product(emu_world *w, emu_warp *p, uint32_t mask) {
  static const emu_sum sums[] = {
      {-126, -126, 25, 23}, {-14, -14, 25, 23}, {-126, -126, 25, 23}, {-14, -14, 25, 10}};
  unsigned spec = p->collective_op;
  float a[SIDE_MOST][SIDE_MOST], b[SIDE_MOST][SIDE_MOST], c[256] = {0};
  sides s = sides_of(spec);
  int half = (spec >> 12 & 3) == 1, integers = (spec >> 12 & 3) == 2;
  int step = type_of(spec) == EMU_TF32 ? 4 : s.k;
  ggi_emu_whole_warp(w, p, mask, "gg_wmma_mma");
  gather(p, mask, 0, a);
  gather(p, mask, 1, b);
  take_sums(p, mask, half, c);
  if (integers) ggi_emu_sum_integers(c, s.n, a[0], SIDE_MOST, b[0], SIDE_MOST, s.m, s.n, s.k);
  for (int k = 0; k < s.k && !integers; k += step)
    ggi_emu_sum(&sums[half ? 3 : type_of(spec)], c, s.n, &a[0][k], SIDE_MOST, b[k], SIDE_MOST, s.m,
                s.n, step);
  give_sums(p, mask, half, c);
}

/* One fma after the other, in the order of k, as mma.sync. */
static void product_f64(emu_world *w, emu_warp *p, uint32_t mask) {
  double ab[2][8][8] = {{{0}}}; /* A by rows, B by columns */
  unsigned spec = p->collective_op;
  ggi_emu_whole_warp(w, p, mask, "gg_wmma_mma");
  for (int role = 0; role < 2; role++) {
    walk at = walk_of(spec, role);
    for (int part = 0; part < EMU_WARP; part++) {
      int row, column, lane = lane_of_part(at.column, part);
      walk_on(&at, &row, &column);
      if ((mask >> lane & 1) == 0) continue;
      const product_arg *arg = p->arg[lane];
      double x = *(const double *)(role == 0 ? arg->a : arg->b);
      ab[role][role == 0 ? row : column][role == 0 ? column : row] = x;
    }
  }
  for (int e = 0; e < 64; e++) {
    if ((mask >> e / 2 & 1) == 0) continue;
    double *d = &((double *)((const product_arg *)p->arg[e / 2])->d)[e % 2];
    for (int k = 0; k < 4; k++)
      *d = fma(ab[0][e / 8][k], ab[1][e % 8][k], *d);
  }
}

static void run(void *d, const void *a, const void *b, emu_perform *perform, unsigned spec,
                int line) {
  emu_world *w = ggi_emu_world;
  product_arg arg = {d, a, b};
  ggi_emu_step(w, line);
  ggi_emu_collective(w, &arg, perform, spec, "gg_wmma_mma", line);
}

void gg_emu_wmma_mma(void *d, const unsigned *a, const unsigned *b, unsigned spec, int line) {
  run(d, a, b, product, spec, line);
}

void gg_emu_wmma_f64(double *d, const double *a, const double *b, unsigned spec, int line) {
  run(d, a, b, product_f64, spec, line);
}
