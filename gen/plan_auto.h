/* plan_auto.h - gemms that leave everything open: the model fills them.
 *
 * A gemm that names neither family nor tile, stages, loop, walk or dispatch figures is replaced by
 * a few points: of a grid of candidates, planned and predicted on a suite of problems, those that
 * together stay near the best candidate of every problem. Pure: the same spec gives the same
 * points.
 */
#ifndef GEN_PLAN_AUTO_H
#define GEN_PLAN_AUTO_H

#include "spec.h"

/* Is it a field that a gemm must leave out for the model to fill it? */
bool plan_auto_fills(spec_field f);

/* Replaces every open gemm of the set. What was chosen, and why, goes to set->reports; a gemm that
 * no family serves is an error. Returns false, without touching the set, when memory is short. */
bool plan_auto_expand(spec_set *set, diag *d);

#endif
