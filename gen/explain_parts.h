/* explain_parts.h - what the files of explain share. */
#ifndef GEN_EXPLAIN_PARTS_H
#define GEN_EXPLAIN_PARTS_H

#include "explain.h"
#include "kernel_set.h"
#include "ncu.h"

typedef struct explain_job {
  const explain_options *o;
  diag *d;
  kernel_set set;
  kernel_set base;     /* with --gpu: the same specs on the cards that they name; else empty */
  ncu_profile profile; /* with --ncu */
  buf out;
} explain_job;

bool explain_wanted(const explain_job *j, const kernel *k);
/* The whole of explain --json. */
void explain_json(explain_job *j);
/* Warnings that need a problem go to the job's diagnostics. */
void explain_warn(explain_job *j);
/* "specs": [{ "file": ..., "line": ... }]: what stands between the brackets. */
void explain_requests_json(const kernel *k, buf *out);

/* Prints what was made and frees it; an error on stderr where memory was short. */
exit_code explain_print(buf *out);

#endif
