/* generate.h - the command generate: specs -> an output folder. */
#ifndef GEN_GENERATE_H
#define GEN_GENERATE_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers pinned: the program's exit codes. */
typedef enum exit_code {
  EXIT_DONE = 0,
  EXIT_USAGE = 1,
  EXIT_SPEC = 2,   /* a spec is wrong, missing, unreadable or over a limit; nothing was written */
  EXIT_OUTPUT = 3, /* output could not be written, or a tool is missing */
  EXIT_CHECK = 4,  /* a check found a fault */
  EXIT_INTERNAL = 5
} exit_code;

typedef struct generate_options {
  const char *const *specs;
  size_t spec_count;
  const char *folder;    /* of -o; may be NULL with dump */
  const char *prefix;    /* "" for none */
  const char *templates; /* folder; NULL: embedded */
  const char *gpu;       /* replaces what the specs say; NULL: they decide */
  const char *dump;      /* a stage: print it to stdout and write nothing; NULL: generate */
  bool force, strict;
  bool quiet; /* no closing line on stdout */
} generate_options;

/* Reports on stderr; returns the command's exit code. */
exit_code generate(const generate_options *o);

/* "spec, plan, dispatch, template": for messages; is a stage known? */
extern const char generate_stages[];
bool generate_stage_known(const char *stage);

/* What a command's diagnostics mean for its exit code: 0 where there is no error. */
struct diag;
exit_code exit_code_of(const struct diag *d, bool strict);

#endif
