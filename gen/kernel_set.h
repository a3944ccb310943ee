/* kernel_set.h - specs -> points -> plans: the kernels that a command is about. */
#ifndef GEN_KERNEL_SET_H
#define GEN_KERNEL_SET_H

#include "plan.h"

/* One kernel, and the points that ask for it: at least one; the plan is the first one's. */
typedef struct kernel {
  kernel_plan plan;
  const kernel_spec **specs;
  size_t spec_count, spec_capacity;
} kernel;

/* A combination of a sweep that cannot become a kernel. */
typedef struct rejection {
  const kernel_spec *spec;
  plan_fault fault;
} rejection;

typedef struct kernel_set {
  spec_set specs;
  kernel *kernels; /* names are unique; in the order of the specs */
  size_t count, capacity;
  kernel_spec **passes; /* of passes over operands, which no file has */
  size_t pass_count, pass_capacity;
  rejection *rejections;
  size_t rejected, rejection_capacity;
  size_t swept; /* points that came from sweeps */
} kernel_set;

/* Loads all files and plans every point in every variant. gpu: replaces what the specs say; NULL:
 * they decide. Everything wrong goes to d, warnings too; false if there was an error. */
bool kernel_set_load(kernel_set *k, const char *const *paths, size_t count, const char *gpu,
                     diag *d);
void kernel_set_free(kernel_set *k);

/* What follows the last '/'. */
const char *base_name(const char *path);

/* Index of a kernel's name, -1 if there is none. Linear: for single questions. */
long kernel_set_find(const kernel_set *k, const char *name);

#endif
