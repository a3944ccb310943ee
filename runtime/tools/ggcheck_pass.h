/* ggcheck_pass.h - checks a REPACK row: that the copy has the source's bits, and nothing else. */
#ifndef GGCHECK_PASS_H
#define GGCHECK_PASS_H

#include "ggcheck_run.h"

/* The row on its own set of shapes and addresses, or, where size_count is not 0, on these sizes (m
 * n k batch; k does not matter). schedules: random ones of one shape. false: out of memory, noted
 * in the report. */
bool ggcheck_passes(ggcheck_session *s, const gg_kernel *row, const int64_t (*sizes)[4],
                    int size_count, int schedules, ggcheck_report *report);

#endif
