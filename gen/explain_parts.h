/* explain_parts.h - what the files of explain share. */
#ifndef GEN_EXPLAIN_PARTS_H
#define GEN_EXPLAIN_PARTS_H

#include "explain.h"
#include "kernel_set.h"

typedef struct explain_job {
  const explain_options *o;
  diag *d;
  kernel_set set;
  buf out;
} explain_job;

/* Prints what was made and frees it; an error on stderr where memory was short. */
exit_code explain_print(buf *out);

#endif
