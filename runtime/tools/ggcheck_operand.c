/* ggcheck_operand.c - a matrix in the emulated GPU's memory: exact size, canaries in its gaps.
 *
 * Invariant: outside [bytes, bytes + size) nothing of the operand exists, so that the emulated
 * GPU's red zones start right behind the last element.
 */
#include "ggcheck_operand.h"
#include "dtype.h"
#include "problem.h"

#include <math.h>
#include <string.h>

/* Of a gap that is longer, only this much at either end is filled and looked at: the 64-bit cases
 * have gaps of gigabytes, which must stay untouched to cost no memory. */
enum { GAP_ENDS = 256 };

/* Quiet NaNs with a payload. kind: 1 gap, 2 poison; y: operand.
 *   f64 7ff8'0000'0000'xy5a, f32, tf32 and s32 7fc0'xy5a with x the kind;
 *   f16 7e00, bf16 7fc0 with the payload x << 4 | y << 1 | 1;
 *   e4m3 7f, e5m2 7e: all alike; s8 and u8 from 0x94 to 0x9b. */
static const char LAST_NAMED = 'h'; /* in the payloads of two bytes */

static uint64_t canary_bits(gg_dtype type, int kind, char name) {
  uint64_t x = (uint64_t)kind, y = (uint64_t)(name - 'a');
  uint64_t payload = x << 12 | y << 8 | 0x5a, small = x << 4 | y << 1 | 1;
  switch (type) {
  case GG_F64:
    return UINT64_C(0x7ff8000000000000) | payload;
  case GG_F16:
    return 0x7e00 | small;
  case GG_BF16:
    return 0x7fc0 | small;
  case GG_E4M3:
    return 0x7f;
  case GG_E5M2:
    return 0x7e;
  case GG_S8:
  case GG_U8:
    return 0x90 | x << 2 | (y & 3);
  case GG_NONE:
  case GG_F32:
  case GG_TF32:
  case GG_S32:
    break;
  }
  return UINT64_C(0x7fc00000) | payload;
}

const char *ggcheck_operand_name(char name) {
  static const char *const names[] = {
      "A",          "B",          "C",         "D",     "the bias", "the residual",
      "A's scales", "B's scales", "D's scale", "absmax"};
  size_t at = (size_t)(name - 'a');
  return at < sizeof names / sizeof names[0] ? names[at] : "?";
}

/* Little-endian, as every GPU is. */
static uint64_t bits_of(gg_dtype type, const void *at) {
  uint64_t bits = 0;
  memcpy(&bits, at, (size_t)ggi_dtype_bytes(type));
  return bits;
}

static void put_bits(gg_dtype type, void *at, uint64_t bits) {
  memcpy(at, &bits, (size_t)ggi_dtype_bytes(type));
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
  const char *name = ggi_operand_name((ggi_operand)(o->name - 'a'));
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
  int width_bits = 8 * ggi_dtype_bytes(type);
  if (width_bits == 8) {
    *name = 'd';
    return bits == canary_bits(type, 1, 'd') ? GGCHECK_CANARY_GAP : GGCHECK_CANARY_NONE;
  }
  if (bits == UINT64_MAX >> (64 - width_bits)) return GGCHECK_CANARY_MEMORY;
  uint64_t sign = ggcheck_is_integer(type) ? 0 : UINT64_C(1) << (width_bits - 1);
  for (int kind = 1; kind <= 2; kind++)
    for (char operand = 'a'; operand <= LAST_NAMED; operand++)
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
