/* ggcheck_operand.c - a matrix in the emulated GPU's memory: exact size, canaries in its gaps.
 *
 * Invariant: outside [bytes, bytes + size) nothing of the operand exists, so that the emulated
 * GPU's red zones start right behind the last element.
 */
#include "ggcheck_operand.h"
#include "dtype.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Of a gap that is longer, only this much at either end is filled and looked at: the 64-bit cases
 * have gaps of gigabytes, which must stay untouched to cost no memory. */
enum { GAP_ENDS = 256 };

/* Quiet NaNs with a payload: 7fc0'xyzz and 7ff8'0000'0000'xyzz. x: 1 gap, 2 poison; y: operand. */
static uint64_t canary_bits(gg_dtype type, int kind, char name) {
  uint64_t payload = (uint64_t)kind << 12 | (uint64_t)(name - 'a') << 8 | 0x5a;
  return type == GG_F64 ? UINT64_C(0x7ff8000000000000) | payload : UINT64_C(0x7fc00000) | payload;
}

static uint64_t bits_of(gg_dtype type, const void *at) {
  uint64_t wide;
  uint32_t narrow;
  if (type == GG_F64) {
    memcpy(&wide, at, sizeof wide);
    return wide;
  }
  memcpy(&narrow, at, sizeof narrow);
  return narrow;
}

static void put_bits(gg_dtype type, void *at, uint64_t bits) {
  uint32_t narrow = (uint32_t)bits;
  if (type == GG_F64)
    memcpy(at, &bits, sizeof bits);
  else
    memcpy(at, &narrow, sizeof narrow);
}

bool ggcheck_type_known(gg_dtype type) {
  return type == GG_F32 || type == GG_F64;
}

double ggcheck_roundoff(gg_dtype type) {
  return type == GG_F64 ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
}

double ggcheck_tiny(gg_dtype type) {
  return type == GG_F64 ? 0x1p-1074 : 0x1p-149;
}

double ggcheck_load(gg_dtype type, const void *at) {
  double wide;
  float narrow;
  if (type == GG_F64) {
    memcpy(&wide, at, sizeof wide);
    return wide;
  }
  memcpy(&narrow, at, sizeof narrow);
  return (double)narrow;
}

void ggcheck_store(gg_dtype type, void *at, double value) {
  float narrow = (float)value;
  if (type == GG_F64)
    memcpy(at, &value, sizeof value);
  else
    memcpy(at, &narrow, sizeof narrow);
}

static size_t width(const ggcheck_operand *o) {
  return (size_t)ggi_dtype_bytes(o->type);
}

void *ggcheck_operand_at(const ggcheck_operand *o, int64_t matrix, int64_t row, int64_t col) {
  return o->bytes + (size_t)(matrix * o->stride + row * o->ld + col) * width(o);
}

/* Elements of the gap behind a row: up to the next row, or up to the next matrix. */
static int64_t gap_behind(const ggcheck_operand *o, int64_t matrix, int64_t row) {
  if (row + 1 < o->rows) return o->ld - o->cols;
  if (matrix + 1 < o->matrices) return o->stride - (o->rows - 1) * o->ld - o->cols;
  return 0;
}

bool ggcheck_operand_alloc(ggcheck_operand *o, gg_emu *emu, size_t skew, bool sparse) {
  char name[2] = {o->name, 0};
  bool empty = o->rows <= 0 || o->cols <= 0 || o->matrices <= 0;
  o->size = 0;
  if (!empty) {
    int64_t last = (o->matrices - 1) * o->stride + (o->rows - 1) * o->ld + o->cols;
    o->size = (size_t)last * width(o);
  }
  o->bytes = sparse ? gg_emu_alloc_sparse(emu, o->size, skew, name)
                    : gg_emu_alloc_at(emu, o->size, skew, name);
  if (!o->bytes) return false;
  uint64_t bits = canary_bits(o->type, 1, o->name);
  for (int64_t matrix = 0; !empty && matrix < o->matrices; matrix++)
    for (int64_t row = 0; row < o->rows; row++) {
      int64_t gap = gap_behind(o, matrix, row);
      for (int64_t col = 0; col < o->cols + gap; col++) {
        if (col == o->cols + GAP_ENDS && gap > 2 * GAP_ENDS) col = o->cols + gap - GAP_ENDS;
        put_bits(o->type, ggcheck_operand_at(o, matrix, row, col), bits);
      }
    }
  return true;
}

void ggcheck_operand_free(ggcheck_operand *o, gg_emu *emu) {
  if (o->bytes) gg_emu_free(emu, o->bytes);
  o->bytes = NULL;
}

void ggcheck_operand_poison(ggcheck_operand *o) {
  uint64_t bits = canary_bits(o->type, 2, o->name);
  for (int64_t matrix = 0; matrix < o->matrices; matrix++)
    for (int64_t row = 0; row < o->rows; row++)
      for (int64_t col = 0; col < o->cols; col++)
        put_bits(o->type, ggcheck_operand_at(o, matrix, row, col), bits);
}

void ggcheck_operand_gather(const ggcheck_operand *o, int64_t matrix, bool transposed, double *to) {
  int64_t from = o->matrices > 1 ? matrix : 0;
  for (int64_t row = 0; row < o->rows; row++)
    for (int64_t col = 0; col < o->cols; col++) {
      double value = ggcheck_load(o->type, ggcheck_operand_at(o, from, row, col));
      if (transposed)
        to[col * o->rows + row] = value;
      else
        to[row * o->cols + col] = value;
    }
}

ggcheck_canary ggcheck_canary_of(gg_dtype type, const void *at, char *name) {
  uint64_t bits = bits_of(type, at);
  uint64_t sign = type == GG_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
  if (bits == (type == GG_F64 ? UINT64_MAX : UINT32_MAX)) return GGCHECK_CANARY_MEMORY;
  for (int kind = 1; kind <= 2; kind++)
    for (char operand = 'a'; operand <= 'd'; operand++)
      if ((bits & ~sign) == canary_bits(type, kind, operand)) {
        *name = operand;
        return kind == 1 ? GGCHECK_CANARY_GAP : GGCHECK_CANARY_POISON;
      }
  return GGCHECK_CANARY_NONE;
}

bool ggcheck_operand_gap_written(const ggcheck_operand *o, int64_t *matrix, int64_t *row,
                                 int64_t *col) {
  uint64_t bits = canary_bits(o->type, 1, o->name);
  for (int64_t b = 0; o->size && b < o->matrices; b++)
    for (int64_t i = 0; i < o->rows; i++) {
      int64_t gap = gap_behind(o, b, i);
      for (int64_t j = o->cols; j < o->cols + gap; j++) {
        if (j == o->cols + GAP_ENDS && gap > 2 * GAP_ENDS) j = o->cols + gap - GAP_ENDS;
        if (bits_of(o->type, ggcheck_operand_at(o, b, i, j)) != bits) {
          *matrix = b;
          *row = i;
          *col = j;
          return true;
        }
      }
    }
  return false;
}

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
uint64_t ggcheck_random_bits(ggcheck_random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

int ggcheck_random_below(ggcheck_random *r, int n) {
  return (int)(ggcheck_random_bits(r) >> 33) % n;
}

/* Marsaglia's polar method, one of the pair. */
double ggcheck_random_normal(ggcheck_random *r) {
  for (;;) {
    double x = (double)(ggcheck_random_bits(r) >> 11) * 0x1p-52 - 1;
    double y = (double)(ggcheck_random_bits(r) >> 11) * 0x1p-52 - 1;
    double s = x * x + y * y;
    if (s > 0 && s < 1) return x * sqrt(-2 * log(s) / s);
  }
}
