/* overlap.h - do two operands share an element, exactly. */
#ifndef GGI_OVERLAP_H
#define GGI_OVERLAP_H

#include "gg.h"
#include <stdbool.h>

/* The elements of an operand: batch matrices of `rows` runs of contiguous bytes. Distances in
 * bytes, not negative; every extent fits 62 bits (problem.c has checked). */
typedef struct ggi_view {
  const void *start;
  gg_i64 run;    /* bytes of a row, 0: the view is empty */
  gg_i64 rows;   /* per matrix */
  gg_i64 pitch;  /* between rows */
  gg_i64 batch;  /* matrices */
  gg_i64 stride; /* between matrices */
} ggi_view;

/* Exact while the search stays under 2^18 steps; beyond that true. Views of the usual kinds (equal
 * distances, matrices one after the other, columns of one wide matrix) take a handful. */
bool ggi_views_overlap(const ggi_view *x, const ggi_view *y);

/* Do two matrices of the batch share a byte? */
bool ggi_view_self_overlap(const ggi_view *x);

#endif
