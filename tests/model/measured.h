/* measured.h - what kernels took on a GPU, as gemmbench measured it, beside the kernels' numbers.
 */
#ifndef TESTS_MODEL_MEASURED_H
#define TESTS_MODEL_MEASURED_H

#include "model.h"

typedef struct measured_pair {
  model_kernel kernel;
  const gpu_facts *gpu;
  model_problem problem;
  double us;
  int group;     /* pairs of one problem, type and layout: rivals */
  bool held_out; /* of the half that no constant was fitted to */
  char name[128];
} measured_pair;

typedef struct measured {
  measured_pair *pairs;
  int count, groups;
  int least_rivals; /* groups of fewer are not ranked; 0: 3 */
  char (*group_names)[96];
} measured;

/* kernels: gemmgen --dump model; times: gemmbench --csv. Ends the program with a message where they
 * cannot be read or do not fit together. */
measured measured_load(const char *kernels, const char *times);
/* More of them. */
void measured_add(measured *m, const char *kernels, const char *times);
void measured_free(measured *m);

/* How good predictions (us, one a pair) are; held_out: -1 all, else only that half. */
typedef struct measured_score {
  int pairs, groups;   /* groups: with enough rivals */
  double median_error; /* of |prediction / time - 1| */
  double worst_decile; /* nine tenths of the errors are below */
  double spearman;     /* mean over the groups */
  double spearman_median;
  double regret_within; /* the share of groups whose first choice is within 5 % of the best */
  double regret_mean;   /* what the first choice takes beyond the best, mean */
} measured_score;

measured_score measured_score_of(const measured *m, const double *us, int held_out);

#endif
