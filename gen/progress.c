/* progress.c - shows nothing in the first half second, then ten times a second at most. */
#include "progress.h"
#include <stdio.h>
#include <unistd.h>

static double since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void progress_begin(progress *p, const char *what, size_t total) {
  *p = (progress){.what = what, .total = total, .terminal = isatty(STDERR_FILENO)};
  clock_gettime(CLOCK_MONOTONIC, &p->start);
  p->last = p->start;
}

void progress_at(progress *p, size_t done) {
  if (!p->terminal || since(&p->start) < 0.5 || since(&p->last) < 0.1) return;
  clock_gettime(CLOCK_MONOTONIC, &p->last);
  fprintf(stderr, "\r%zu of %zu %s", done, p->total, p->what);
  fflush(stderr);
  p->shown = true;
}

void progress_end(progress *p) {
  if (p->shown) fputs("\r\033[K", stderr);
  p->shown = false;
}
