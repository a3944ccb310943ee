/* ggcheck.h - runs the kernels of an emulated table on small problems and compares them.
 *
 * Every row is run on problems that cover full tiles, every edge its demands allow, the scalar
 * cases, leading dimensions, pointers, batches and special values, and once more under random
 * schedules. A fault is: a finding of the emulated GPU, a value outside the derived bound, a byte
 * written outside D's elements, an input changed, bits that depend on the schedule.
 *
 * D[m,n] = alpha * A[m,k] * B[k,n] + beta * C[m,n]; leading dimensions in elements.
 */
#ifndef GGCHECK_H
#define GGCHECK_H

#include "gg_kernel.h"

/* main of a check program: reads its arguments (--help lists them), writes the report to stdout.
 * missing: the entry that stands for a kernel which is not linked; NULL: none does.
 * Returns 0: no fault; 1: wrong arguments or a table that cannot be checked; 4: faults. */
int ggcheck_main(const gg_kernel_table *table, gg_entry missing, int argc, char **argv);

#endif
