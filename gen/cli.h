/* cli.h - arguments -> what is asked for. Knows words only; opens no file. */
#ifndef GEN_CLI_H
#define GEN_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ORDER COMMAND (cli.c, main.c) */
typedef enum cli_command {
  COMMAND_GENERATE,
  COMMAND_CHECK,
  COMMAND_EXPLAIN,
  COMMAND_LIST,
  COMMAND_GPUS,
  COMMAND_HELP,
  COMMAND_VERSION,
  COMMAND_COUNT
} cli_command;

typedef struct cli_arguments {
  cli_command command;
  const char **files; /* SPEC... or DIR; owned, the strings are argv's */
  size_t file_count;
  const char **problems; /* owned like files; each has the form MxNxK or MxNxKxBATCH */
  size_t problem_count;
  const char **kernels; /* owned like files; explain takes one */
  size_t kernel_count;
  const char *output, *prefix, *templates, *dump, *gpu, *html, *measured,
      *ncu; /* NULL: not given */
  uint64_t seed;
  int schedules; /* -1: not given */
  double expect; /* per cent; 0: not given */
  bool json, force, strict, sweep;
} cli_arguments;

/* false: the words are wrong; error says why in one line. */
bool cli_parse(int argc, char **argv, cli_arguments *a, char error[256]);
void cli_free(cli_arguments *a);

/* "4096x4096x64" or with a batch; sizes 0 .. 2^31 - 1, batch 1 where it is left out. */
bool cli_problem(const char *text, int64_t size[4]);

extern const char cli_help[];

#endif
