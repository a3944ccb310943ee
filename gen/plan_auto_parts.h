/* plan_auto_parts.h - what the files of plan_auto share: candidates on the suite. */
#ifndef GEN_PLAN_AUTO_PARTS_H
#define GEN_PLAN_AUTO_PARTS_H

#include "plan_auto.h"
#include "plan_model.h"

/* The problems that a choice has to serve (plan_auto_grid.c). */
enum { AUTO_PROBLEMS = 32, AUTO_MOST_ROWS = 10 };
extern const model_problem auto_suite[AUTO_PROBLEMS];

typedef struct auto_candidate {
  kernel_spec spec;
  char name[128];               /* of its full kernel */
  double us[AUTO_PROBLEMS];     /* predicted, small tiles with a handicap; INFINITY: not served */
  double own_us[AUTO_PROBLEMS]; /* the same where device memory takes no time */
} auto_candidate;

typedef struct auto_search {
  const kernel_spec *open;
  auto_candidate *list;
  size_t count, capacity;
  size_t refused; /* by the planner */
  bool memory;    /* was short */
} auto_search;

/* Plans and predicts a point, and keeps it if it is legal and new. Its index; -1: it is not kept.
 */
long auto_try(auto_search *s, const kernel_spec *spec);

/* The family that serves the open gemm's types best on its GPU; -1: none does, and fault says why.
 */
int auto_family(const kernel_spec *open, plan_fault *fault);

/* All block tiles of a family with all thread tiles or walks; the planner chooses the rest. */
void auto_grid(auto_search *s, int family);
/* Variants of one candidate in what is decided last: stages, then widths of copies. */
void auto_refine(auto_search *s, size_t candidate);

/* dispatch.speed and dispatch.overhead_k of the kept rows, by which the library ranks them
 * (plan_auto_rank.c). best: the least us of each problem. How far beyond the best kept row that
 * takes a problem, mean of the logarithm; -1: nothing is set, the planner's stay. */
double auto_rank(kernel_spec *specs, const auto_candidate *const *rows, int count,
                 const double best[AUTO_PROBLEMS]);

#endif
