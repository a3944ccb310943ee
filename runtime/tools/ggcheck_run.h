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

typedef enum ggcheck_outcome {
  GGCHECK_LAUNCH_GOOD,
  GGCHECK_LAUNCH_FOUND,  /* the emulated GPU found something */
  GGCHECK_LAUNCH_REFUSED /* there was no launch */
} ggcheck_outcome;

/* How to launch, and what to call it in the report. */
typedef struct ggcheck_launch_options {
  uint64_t seed; /* 0: the fixed schedule */
  gg_emu_async async;
  bool count;         /* conflicts and sectors */
  uint64_t max_steps; /* of a thread: beyond them the kernel does not end */
  int resident;       /* clusters at once of a persistent kernel */
  int problem;        /* index */
  const char *text;
} ggcheck_launch_options;

/* Launches and takes over what the emulated GPU found. */
ggcheck_outcome ggcheck_launch(ggcheck_session *s, const gg_kernel *row, const gg_args *args,
                               const ggcheck_launch_options *o, ggcheck_report *report);

/* index: of the case, it seeds the data. false: out of memory, noted in the report. */
bool ggcheck_run(ggcheck_session *s, const gg_kernel *row, const ggcheck_case *c, int index,
                 ggcheck_report *report);

#endif
