/* ggcheck_run.h - runs one case of one kernel and reports what was wrong with it. */
#ifndef GGCHECK_RUN_H
#define GGCHECK_RUN_H

#include "device.h"
#include "ggcheck_case.h"
#include "ggcheck_report.h"

/* Where cases run. */
typedef struct ggcheck_session {
  gg_device *device; /* emulated; owned */
  gg_emu *emu;       /* behind it */
  gg_emu_options options;
  uint64_t seed; /* of data and schedules */
} ggcheck_session;

/* false: out of memory. */
bool ggcheck_session_open(ggcheck_session *s, uint64_t seed);
void ggcheck_session_close(ggcheck_session *s);

/* index: of the case, it seeds the data. false: out of memory, noted in the report. */
bool ggcheck_run(ggcheck_session *s, const gg_kernel *row, const ggcheck_case *c, int index,
                 ggcheck_report *report);

#endif
