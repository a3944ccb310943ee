/* process.h - child processes: several at once, with limits, their output captured. */
#ifndef GEN_PROCESS_H
#define GEN_PROCESS_H

#include "buf.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum process_end {
  PROCESS_PENDING, /* not run: an earlier failure or an interrupt came first */
  PROCESS_EXITED,  /* code: exit code */
  PROCESS_SIGNAL,  /* code: signal */
  PROCESS_TIMEOUT, /* ran past its time */
  PROCESS_MEMORY,  /* held more than its memory */
  PROCESS_MISSING  /* could not be started; code: errno */
} process_end;

typedef struct process {
  const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
  int timeout_seconds;     /* 0: none. At the limit SIGALRM, a second later SIGKILL */
  int memory_mib;          /* resident memory of the process itself, sampled; 0: none */
  /* What came of it. */
  process_end end;
  int code;
  double seconds;   /* by the clock */
  double processor; /* seconds of processor time, its children's included */
  buf out, err;     /* stdout and stderr; freed by process_free */
} process;

/* Called whenever one has ended, and now and then. */
typedef void process_progress(void *data, size_t ended, size_t count);

/* Runs all, `jobs` at a time (0: one per core), each in a process group of its own with stdin from
 * /dev/null, and waits. SIGINT, SIGTERM and SIGHUP end the children and then this call. Returns the
 * signal that did, else 0. progress may be NULL. */
int process_run(process *list, size_t count, int jobs, process_progress *progress, void *data);
void process_free(process *p);

int process_cores(void);

#endif
