/* problem.h - a checked problem, and what other parts need of it. */
#ifndef GGI_PROBLEM_H
#define GGI_PROBLEM_H

#include "overlap.h"
#include "select.h"

/* Checks a caller's problem and copies it field by field over zeroed memory, with types filled in,
 * so that equal problems are equal bytes; pin is copied as a pointer. */
gg_status ggi_problem_check(const gg_problem *in, gg_problem *out);

/* m, n or batch is 0. */
bool ggi_problem_is_empty(const gg_problem *p);

/* The call of a checked problem: with the alignment it promises, or with that of elements only. */
void ggi_problem_call(const gg_problem *p, bool promised, ggi_call *call);

/* Operands in the order a, b, c, d, of a checked problem. start is left NULL. */
void ggi_problem_views(const gg_problem *p, ggi_view views[4]);

/* "f32 nt  m 64  n 64 ..." for messages. */
void ggi_problem_text(const gg_problem *p, char *text, size_t size);

#endif
