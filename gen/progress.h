/* progress.h - one line on stderr that says how far long work is; only on a terminal. */
#ifndef GEN_PROGRESS_H
#define GEN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

typedef struct progress {
  const char *what; /* "kernels" */
  size_t total;
  bool terminal, shown;
  struct timespec start, last;
} progress;

void progress_begin(progress *p, const char *what, size_t total);
void progress_at(progress *p, size_t done);
void progress_end(progress *p); /* wipes the line */

#endif
