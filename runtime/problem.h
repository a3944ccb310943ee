/* problem.h - a checked problem, and what other parts need of it. */
#ifndef GGI_PROBLEM_H
#define GGI_PROBLEM_H

#include "overlap.h"
#include "select.h"

/* Everything that gg_pointers has, in its order. */
typedef enum ggi_operand {
  GGI_A,
  GGI_B,
  GGI_C,
  GGI_D,
  GGI_BIAS,
  GGI_RESIDUAL,
  GGI_SCALE_A,
  GGI_SCALE_B,
  GGI_SCALE_D,
  GGI_ABSMAX,
  GGI_OPERANDS
} ggi_operand;

/* Its field of gg_pointers: "a", "scale_d". */
const char *ggi_operand_name(ggi_operand operand);
/* Its element's type in a checked problem. */
gg_dtype ggi_operand_type(const gg_problem *p, ggi_operand operand);

/* Checks a caller's problem and copies it field by field over zeroed memory, with types filled in,
 * so that equal problems are equal bytes; pin is copied as a pointer. */
gg_status ggi_problem_check(const gg_problem *in, gg_problem *out);

/* m, n or batch is 0. */
bool ggi_problem_is_empty(const gg_problem *p);

/* The call of a checked problem: with the alignment it promises, or with that of elements only. */
void ggi_problem_call(const gg_problem *p, bool promised, ggi_call *call);

/* Of a checked problem. start is left NULL; what the problem has not, and A, B or C where their
 * scalar is stated zero, is empty. */
void ggi_problem_views(const gg_problem *p, ggi_view views[GGI_OPERANDS]);

/* "f32 x f32 -> f32, acc f32, nt, 64 x 64 x 8, ..., bias along n, relu" for messages. */
enum { GGI_PROBLEM_TEXT = 320 };
void ggi_problem_text(const gg_problem *p, char *text, size_t size);

#endif
