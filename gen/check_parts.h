/* check_parts.h - what the files behind check.h share: one check on its way. */
#ifndef GEN_CHECK_PARTS_H
#define GEN_CHECK_PARTS_H

#include "buf.h"
#include "check.h"
#include "process.h"

/* What happened to one kernel. */
typedef struct check_kernel {
  char *name, *symbol, *file; /* of the table's row */
  int row;                    /* in the table */
  bool chosen;                /* by --kernel */
  bool compiled;
  /* Findings of the driver's own, as JSON objects and as lines of text; empty: none. */
  buf fault_json, fault_text;
  /* What ggcheck wrote: the line of the kernel, findings, counts, JSON. */
  buf line, findings, counts, json;
  bool checked; /* ggcheck ran to its end */
  bool faulty;
} check_kernel;

typedef struct check_run {
  const check_options *options;
  char *folder;    /* without trailing slashes */
  char *work;      /* temporary folder for objects; removed at the end */
  char *include;   /* folder of gg_emu_device.h */
  char *library;   /* folder of libggcheck.a */
  char **compiler; /* words of $CC, NULL-terminated */
  size_t compiler_words;
  char *table_symbol;
  check_kernel *kernels;
  size_t count;
  double compile_seconds, run_seconds;
  int signal; /* the user's interrupt, 0: none */
} check_run;

enum { CHECK_ARGUMENTS = 96, CHECK_TOOL_SECONDS = 120 };

/* A command line under way. */
typedef struct check_command {
  const char *argv[CHECK_ARGUMENTS];
  size_t count;
} check_command;

/* -- check_tools.c: functions that return an int return 0 or an exit code, after a line on stderr
 */

int check_find_home(check_run *c);
int check_find_compiler(check_run *c);

void check_add(check_command *a, const char *word); /* NULL: nothing */
/* The compiler and its flags. kernel: with the emulated GPU's device header. */
void check_add_compile(const check_run *c, check_command *a, bool kernel);
/* The compiler as a linker, without objects and libraries. */
void check_add_link(const check_run *c, check_command *a, const char *output);
/* Runs it; fails only where it could not be run. p holds its end and its output. */
int check_run_one(check_run *c, const check_command *a, process *p);
int check_compile_one(check_run *c, const char *source, const char *object, process *p);
bool check_succeeded(const process *p);
int check_write(const char *path, const buf *text);

/* -- check_table.c */

/* Compiles the table and lists its rows into c->kernels. */
int check_read_table(check_run *c);

/* -- check_build.c */

/* Compiles the chosen kernels; what does not compile becomes a fault of its kernel. */
int check_compile(check_run *c);
/* Links the check program. */
int check_link(check_run *c);
/* The line of `file` that the first of the addresses (hex, in text, one a line) lies in, by
 * addr2line on the check program; 0: unknown. */
int check_line_of(const check_run *c, const char *file, const char *addresses);

/* -- check_report.c */

/* Runs the check program on every chosen kernel that compiled. */
int check_execute(check_run *c);
/* A finding of the driver's own. line 0: unknown. */
void check_fault(check_kernel *k, const char *kind, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The report on stdout. Returns how many kernels have faults. */
size_t check_report(const check_run *c);

/* -- check.c */

/* "A/B" in new memory; NULL: out of memory. */
char *check_path(const char *folder, const char *name);
/* Prints "gemmgen: check: ..." on stderr and returns code. */
int check_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A progress line while stderr is a terminal. */
process_progress *check_progress(const char *what);

enum { CHECK_DONE = 0, CHECK_INPUT = 2, CHECK_TOOL = 3, CHECK_FAULT = 4, CHECK_INTERNAL = 5 };

#endif
