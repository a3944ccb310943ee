/* ggcheck_report.h - what was found in one kernel, collected and printed. */
#ifndef GGCHECK_REPORT_H
#define GGCHECK_REPORT_H

#include "gg_emu.h"
#include "gg_kernel.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Kinds of ggcheck's own; the emulated GPU's come under gg_emu_kind_name. Names are stable. */
#define GGCHECK_WRONG_VALUE "wrong-value" /* outside the bound, or not what IEEE says */
#define GGCHECK_FORBIDDEN                                                                          \
  "forbidden-read"                     /* a value of C where beta is 0, of A or B where alpha is */
#define GGCHECK_GAP_READ    "gap-read" /* a value from between the rows of A, B or C reached D */
#define GGCHECK_NOT_WRITTEN "not-written"   /* an element of D that was left alone */
#define GGCHECK_GAP_WRITTEN "gap-written"   /* bytes of D's allocation that are no elements */
#define GGCHECK_INPUT       "input-written" /* A, B or C changed */
#define GGCHECK_BITS        "bits-differ"   /* the result depends on the schedule */
#define GGCHECK_LAUNCH      "launch"        /* the launch itself was refused */

enum { GGCHECK_FINDINGS_MAX = 20 };

typedef struct ggcheck_finding {
  const char *kind;
  int line, other_line; /* 0: unknown */
  uint64_t count;
  int problems; /* in how many it occurred */
  int last_problem;
  char text[400];
  char problem[200]; /* the first one */
} ggcheck_finding;

typedef struct ggcheck_report {
  const gg_kernel *row;
  int problems, launches;
  int failed_problems;
  double worst; /* largest error as a fraction of its bound */
  ggcheck_finding findings[GGCHECK_FINDINGS_MAX];
  int finding_count;
  int more;                /* findings beyond the array */
  gg_emu_access *accesses; /* of the measured problem; owned */
  size_t access_count;
  const char *stopped; /* why not all problems ran, or NULL */
  bool memory;         /* host memory ran out: the report is not complete */
} ggcheck_report;

void ggcheck_report_free(ggcheck_report *r);

/* Adds a finding, or counts it on one of the same kind and lines. problem: index of the case. */
void ggcheck_report_add(ggcheck_report *r, const char *kind, int line, int other_line,
                        uint64_t count, int problem, const char *problem_text, const char *text);
/* Takes over the emulated GPU's findings since its last reset. Returns how many. */
int ggcheck_report_take(ggcheck_report *r, const gg_emu *emu, int problem,
                        const char *problem_text);
/* Copies the counts per line; false: out of memory. */
bool ggcheck_report_measure(ggcheck_report *r, const gg_emu *emu);
/* The line of the first global store in the measured problem, 0 if unknown. */
int ggcheck_report_store_line(const ggcheck_report *r);

bool ggcheck_report_ok(const ggcheck_report *r);

/* One line; name_width: of the longest name printed. tag stands before every line. */
void ggcheck_print_kernel(const ggcheck_report *r, int name_width, const char *tag, FILE *to);
/* file.cu:line: error: text, one finding a line. */
void ggcheck_print_findings(const ggcheck_report *r, const char *tag, FILE *to);
/* Cost against ideal, one source line a line. */
void ggcheck_print_lines(const ggcheck_report *r, const char *tag, FILE *to);
/* One JSON object on one line. */
void ggcheck_print_json(const ggcheck_report *r, const char *tag, FILE *to);

#endif
