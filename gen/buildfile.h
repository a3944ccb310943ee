/* buildfile.h - the CMakeLists.txt of an emitted folder. */
#ifndef GEN_BUILDFILE_H
#define GEN_BUILDFILE_H

#include "kernel_set.h"

/* One archive, lib<prefix>gemmgen_kernels.a, of one object library per architecture and the table.
 * command: what the header cites. names: kernels in the order in which they are listed. */
void buildfile_print(const kernel_plan *const *plans, size_t count, const char *command,
                     const char *prefix, buf *out);

#endif
