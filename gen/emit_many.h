/* emit_many.h - emits many kernels, on as many threads as pay off. */
#ifndef GEN_EMIT_MANY_H
#define GEN_EMIT_MANY_H

#include "emit.h"

typedef struct emit_task {
  const kernel_plan *plan;
  const char *specs; /* as emit_kernel takes it */
  buf *out;
} emit_task;

/* Fills each task's out. Which thread emits which kernel leaves no trace in the texts. templates: a
 * folder, or NULL for the embedded ones. false: errors in d, those of the first faulty task. */
bool emit_many(const emit_task *tasks, size_t count, const char *templates, const char *command,
               const char *prefix, diag *d);

#endif
