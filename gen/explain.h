/* explain.h - the commands explain, list and gpus: text or JSON on stdout. */
#ifndef GEN_EXPLAIN_H
#define GEN_EXPLAIN_H

#include "generate.h"

typedef struct explain_options {
  const char *const *specs;
  size_t spec_count;
  const char *gpu;             /* replaces what the specs say; NULL: they decide */
  const char *kernel;          /* only this one; NULL: all */
  const char *const *problems; /* MxNxK or MxNxKxBATCH, valid */
  size_t problem_count;
  const char *html;     /* a page is written there as well; NULL: not */
  double expect;        /* per cent of the peak that is asked after; 0: not */
  const char *ncu;      /* a profile to diagnose; NULL: none */
  bool sweep;           /* one line for each point of the specs */
  const char *measured; /* with sweep: gemmbench's CSV; NULL: none */
  bool json;
} explain_options;

/* Each reports on stderr and returns the command's exit code. */
exit_code explain(const explain_options *o);      /* plans with reasons, budgets, rejections */
exit_code list_kernels(const explain_options *o); /* one line a kernel */
exit_code list_gpus(const explain_options *o);    /* the facts of each; gpu: only this one */

#endif
