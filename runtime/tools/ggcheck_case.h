/* ggcheck_case.h - one run of a kernel, as numbers; and which runs a row gets. */
#ifndef GGCHECK_CASE_H
#define GGCHECK_CASE_H

#include "problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ggcheck_fill {
  GGCHECK_NORMAL,  /* standard normal, rounded to the element's type: held to the bound */
  GGCHECK_INTEGER, /* small integers, every intermediate value exact: held to equality */
  GGCHECK_SPECIAL  /* normal with a few NaN and infinities: held to IEEE, the rest to the bound */
} ggcheck_fill;

typedef struct ggcheck_case {
  int64_t m, n, k, batch;
  double alpha, beta;
  ggcheck_fill fill;
  /* Beyond the least legal leading dimension and batch stride, in units of the operand's alignment.
   * A pitch that is odd in that unit is the hardest legal one. Scales are always dense. */
  int64_t gap[GGI_OPERANDS];
  int64_t stride_gap[GGI_OPERANDS];
  bool skew[GGI_OPERANDS];   /* base pointer one unit past a 256-byte boundary, else on it */
  bool shared[GGI_OPERANDS]; /* batch stride 0, of a, b, c, bias and residual */
  bool in_place;             /* C is D */
  bool residual_in_place;    /* the residual is D */
  double absmax_before;
  bool poison_ab; /* A and B are NaN throughout and must not be read: alpha is 0 */
  bool poison_c;  /* C likewise: beta is 0. Otherwise C is null where beta is 0 */
  /* Leading dimensions, or batch strides, so long that the last row, or matrix, lies beyond 2^31
   * elements: memory is sparse. Skipped where the system does not give the addresses. */
  bool wide_ld, wide_stride;
  bool measure;  /* count conflicts and sectors here */
  int schedules; /* random schedules after the fixed one, bits compared */
} ggcheck_case;

typedef struct ggcheck_cases {
  ggcheck_case *items;
  size_t count, capacity;
  bool failed; /* out of memory */
} ggcheck_cases;

/* Does the row take this size (its multiples, its least k)? Sizes with a zero extent are the
 * launcher's to answer and legal for every row. */
bool ggcheck_size_legal(const gg_kernel *row, int64_t m, int64_t n, int64_t k);

/* Stages of the row's ring, guessed from its shared memory (the table does not say): at least 1. */
int ggcheck_stages_guess(const gg_kernel *row);

/* The default set; `schedules` random schedules on one small problem of it. */
void ggcheck_default_cases(const gg_kernel *row, int schedules, ggcheck_cases *out);
/* One size a user asked for, on normal and on integer data. */
void ggcheck_size_cases(const gg_kernel *row, int64_t m, int64_t n, int64_t k, int64_t batch,
                        int schedules, ggcheck_cases *out);
void ggcheck_cases_free(ggcheck_cases *cases);

/* "65x64x9 batch 3 alpha 1.25 beta 0, C in place": says how to see it again. */
void ggcheck_case_text(const gg_kernel *row, const ggcheck_case *c, char *text, size_t size);

#endif
