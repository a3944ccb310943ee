/* sweep.h - gemmbench --sweep: what can be said of each kernel of a folder, in one CSV. */
#ifndef GG_TOOLS_SWEEP_H
#define GG_TOOLS_SWEEP_H

#include <stdbool.h>

enum { SWEEP_PATH = 4096, SWEEP_PROBLEMS = 64 };

/* "4096x4096x4096" or with a batch. */
typedef struct sweep_problem {
  double m, n, k, batch;
} sweep_problem;

typedef struct sweep_job {
  const char *folder;  /* emitted */
  const char *scratch; /* exists */
  const char *nvcc;
  const char *gemmgen; /* counts conflicts on the emulated GPU; NULL: nobody does */
  const char *times;   /* gemmbench's CSV; NULL: nothing was run */
  int jobs;            /* at once */
  sweep_problem problems[SWEEP_PROBLEMS]; /* rows where nothing was run; none: one row a kernel */
  int problem_count;
} sweep_job;

/* Prints the CSV on stdout, notes and faults on stderr. 0, 2: the folder's table cannot be read, 3:
 * a kernel does not compile, or a file or memory fails. */
int sweep_run(const sweep_job *job);

#endif
