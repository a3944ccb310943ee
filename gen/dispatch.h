/* dispatch.h - plans -> rows of the dispatch table, in the order of preference. */
#ifndef GEN_DISPATCH_H
#define GEN_DISPATCH_H

#include "plan.h"

/* Sorts plans (pointers) into the order the table lists them. */
void dispatch_sort(const kernel_plan **plans, size_t count);

/* Proves that every call a spec promises (its types, layouts, scalar classes; any size >= 1 and any
 * element-aligned pointer) has a row without demands. Adds an error per hole. */
bool dispatch_prove(const kernel_plan *const *plans, size_t count, diag *d);

/* gg_table.c. prefix may be "". */
void dispatch_table(const kernel_plan *const *plans, size_t count, const char *prefix, buf *out);
/* Text for --dump dispatch: one row a line with its conditions. */
void dispatch_print(const kernel_plan *const *plans, size_t count, buf *out);

#endif
