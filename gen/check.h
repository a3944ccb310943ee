/* check.h - `gemmgen check`: emitted kernels, compiled for the emulated GPU, run and compared.
 *
 * A driver only: it knows folders, the C compiler and child processes. What is run and what counts
 * as a fault is ggcheck's business (runtime/tools/ggcheck.h); everything about a kernel comes from
 * the folder's gg_table.c.
 */
#ifndef GEN_CHECK_H
#define GEN_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_options {
  const char *folder;          /* an emitted folder, taken as it stands; never written to */
  bool folder_is_temporary;    /* emitted for this check: its path is left out of the report */
  const char *const *problems; /* "MxNxK" or "MxNxKxBATCH": run these instead of the default set */
  size_t problem_count;
  const char *const *kernels; /* only these; none: all */
  size_t kernel_count;
  uint64_t seed;       /* of data and schedules */
  int schedules;       /* random schedules a kernel runs on; -1: ggcheck's default */
  bool json;           /* one object on stdout instead of text */
  int timeout_seconds; /* a kernel's whole check; 0: default */
  int memory_mib;      /* resident, a kernel's whole check; 0: default */
  int jobs;            /* processes at once; 0: one per core */
} check_options;

/* Fills o with defaults. */
void check_options_init(check_options *o);

/* Compiles, runs, reports on stdout; what went wrong with the driver itself goes to stderr.
 * Returns the command's exit code: 0 nothing found; 2 folder without a table, or no such kernel;
 * 3 no compiler, no library, no space; 4 a fault was found (in a kernel, its compilation, a crash,
 * a time-out); 5 internal. */
int check_folder(const check_options *o);

/* Makes an empty folder for a check of specs, in $TMPDIR or /tmp; NULL with errno set. The caller
 * frees the string. check_remove_folder removes the folder with the files in it. */
char *check_make_folder(void);
void check_remove_folder(const char *folder);

#endif
