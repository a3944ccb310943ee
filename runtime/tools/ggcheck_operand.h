/* ggcheck_operand.h - one matrix, or a batch of them, in the emulated GPU's memory.
 *
 * The allocation is exact to the byte: it ends with the last element of the last row. Elements
 * between the end of a row and the leading dimension, and between matrices, hold a canary: a NaN
 * whose payload names the operand, so that one that reaches D can be told by its bits. One byte has
 * no room for a name: there it is NaN, or an unusual integer, and only D's own can be told.
 */
#ifndef GGCHECK_OPERAND_H
#define GGCHECK_OPERAND_H

#include "gg_emu.h"
#include "gg_kernel.h"
#include "ggcheck_number.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ggcheck_operand {
  char name; /* 'a' + its ggi_operand */
  gg_dtype type;
  int64_t rows, cols;   /* of one matrix as stored */
  int64_t ld, stride;   /* elements; stride 0: one matrix for the whole batch */
  int64_t matrices;     /* stored */
  unsigned char *bytes; /* first element; emulated memory */
  size_t size;          /* bytes from the first to the last element; 0: no element */
} ggcheck_operand;

/* What a canary or a poisoned element says of where it came from. */
typedef enum ggcheck_canary {
  GGCHECK_CANARY_NONE,
  GGCHECK_CANARY_GAP,    /* between rows or matrices */
  GGCHECK_CANARY_POISON, /* an element that must not be read */
  GGCHECK_CANARY_MEMORY  /* 0xFF bytes: never written */
} ggcheck_canary;

/* "A", "the residual". */
const char *ggcheck_operand_name(char name);

/* Computes size from the other fields and allocates; skew: bytes of the base past a 256-byte
 * boundary. Every element of the gaps near a row, and every element of the matrices, becomes a
 * canary. sparse: of gigabytes, few of them touched. false: out of memory or addresses. */
bool ggcheck_operand_alloc(ggcheck_operand *o, gg_emu *emu, size_t skew, bool sparse);
void ggcheck_operand_free(ggcheck_operand *o, gg_emu *emu);

void *ggcheck_operand_at(const ggcheck_operand *o, int64_t matrix, int64_t row, int64_t col);
void ggcheck_operand_poison(ggcheck_operand *o);

/* Matrix `matrix % matrices` as rows x cols doubles; transposed: cols x rows. */
void ggcheck_operand_gather(const ggcheck_operand *o, int64_t matrix, bool transposed, double *to);

/* Where the bits of a value in memory come from; *name: the operand's letter. */
ggcheck_canary ggcheck_canary_of(gg_dtype type, const void *at, char *name);

/* The first canary that is no longer there: false if all are. Gaps are looked at near their rows
 * only where they are long. */
bool ggcheck_operand_gap_written(const ggcheck_operand *o, int64_t *matrix, int64_t *row,
                                 int64_t *col);

/* A generator of random numbers, reproducible everywhere. */
typedef struct ggcheck_random {
  uint64_t state;
} ggcheck_random;
uint64_t ggcheck_random_bits(ggcheck_random *r);
double ggcheck_random_normal(ggcheck_random *r);
int ggcheck_random_below(ggcheck_random *r, int n);

#endif
