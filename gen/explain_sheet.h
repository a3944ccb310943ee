/* explain_sheet.h - the sums of one kernel, and of one kernel for one problem, as text. */
#ifndef GEN_EXPLAIN_SHEET_H
#define GEN_EXPLAIN_SHEET_H

#include "plan_model.h"

typedef struct sheet {
  const kernel_plan *plan;
  const gpu_facts *gpu;
  model_kernel model;
  gpu_unit unit;
} sheet;

/* Borrows the plan. */
sheet sheet_of(const kernel_plan *p);

/* Sections 1 to 6: what holds for every problem. */
void sheet_print(const sheet *s, buf *out);

/* What a kernel makes of a problem of the form MxNxK or MxNxKxBATCH. */
typedef struct sheet_fit {
  const char *text; /* the problem */
  model_problem size;
  model_waves waves;
  model_prediction prediction;
  const char *lacks; /* why the kernel does not take it; NULL: it does, if aligned */
} sheet_fit;

sheet_fit sheet_fit_of(const sheet *s, const char *problem);
/* Sections 7 and 8. */
void sheet_print_fit(const sheet *s, const sheet_fit *f, buf *out);
/* What one changed number would cost: each candidate planned anew and predicted. */
void sheet_print_choices(const sheet *s, const sheet_fit *f, buf *out);
/* What `percent` of the unit's peak needs, and which of it the kernel has for the problem. */
void sheet_print_expect(const sheet *s, const sheet_fit *f, double percent, buf *out);
/* The same kernel on another card, side by side. f: NULL for no problem. */
void sheet_print_moves(const sheet *from, const sheet *to, const char *problem, buf *out);

/* "64 KiB", "12.5 us". */
const char *sheet_bytes(double bytes, char scratch[32]);
const char *sheet_seconds(double seconds, char scratch[32]);

#endif
