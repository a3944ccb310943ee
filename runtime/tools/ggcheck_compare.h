/* ggcheck_compare.h - D in the emulated GPU's memory against a reference. */
#ifndef GGCHECK_COMPARE_H
#define GGCHECK_COMPARE_H

#include "ggcheck_operand.h"
#include "ggcheck_reference.h"
#include "ggcheck_report.h"

/* What was wrong with one case's D, summed over its batch. */
typedef struct ggcheck_difference {
  int64_t elements;                 /* looked at */
  int64_t wrong, unwritten;         /* of them */
  int64_t top, bottom, left, right; /* box around both, inclusive */
  int64_t matrix, row, col;         /* the first */
  double got, expected, bound;      /* there */
  unsigned char bits[8];            /* there */
  double worst;                     /* error as a fraction of the bound, right elements included */
} ggcheck_difference;

/* Compares one matrix of D and adds to diff, which starts as {0}. */
void ggcheck_compare(const ggcheck_operand *d, int64_t matrix, const ggcheck_reference *r,
                     ggcheck_difference *diff);

/* absmax after a run, of what it was before, against all matrices of the reference. Returns how
 * many findings (0: none). */
int ggcheck_compare_absmax(double got, double before, const ggcheck_reference *r, int problem,
                           const char *problem_text, ggcheck_report *report);

/* Turns a difference into findings. Returns how many (0: none). */
int ggcheck_compare_report(const ggcheck_difference *diff, gg_dtype type, int problem,
                           const char *problem_text, ggcheck_report *report);

#endif
