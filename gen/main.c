/* main.c - the program gemmgen: runs the command its arguments ask for. The only place with an exit
 * code of its own. */
#include "check.h"
#include "cli.h"
#include "explain.h"
#include "generate.h"
#include "version.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static exit_code run_generate(const cli_arguments *a) {
  generate_options o = {.specs = a->files,
                        .spec_count = a->file_count,
                        .folder = a->output,
                        .prefix = a->prefix ? a->prefix : "",
                        .templates = a->templates,
                        .gpu = a->gpu,
                        .dump = a->dump,
                        .force = a->force,
                        .strict = a->strict};
  return generate(&o);
}

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static exit_code run_check(const cli_arguments *a) {
  check_options o;
  check_options_init(&o);
  o.problems = a->problems;
  o.problem_count = a->problem_count;
  o.kernels = a->kernels;
  o.kernel_count = a->kernel_count;
  o.seed = a->seed;
  o.schedules = a->schedules;
  o.json = a->json;
  if (a->file_count == 1 && is_folder(a->files[0])) {
    if (a->gpu || a->templates) {
      fputs("gemmgen: --gpu and --templates go with specs, not with a folder; see --help\n",
            stderr);
      return EXIT_USAGE;
    }
    o.folder = a->files[0];
    return (exit_code)check_folder(&o);
  }
  char *folder = check_make_folder();
  if (!folder) {
    fprintf(stderr, "gemmgen: error: no temporary folder can be made: %s; set TMPDIR\n",
            strerror(errno));
    return EXIT_OUTPUT;
  }
  generate_options g = {.specs = a->files,
                        .spec_count = a->file_count,
                        .folder = folder,
                        .prefix = "",
                        .templates = a->templates,
                        .gpu = a->gpu,
                        .quiet = true};
  exit_code code = generate(&g);
  if (code == EXIT_DONE) {
    o.folder = folder;
    o.folder_is_temporary = true;
    code = (exit_code)check_folder(&o);
  }
  check_remove_folder(folder);
  free(folder);
  return code;
}

static explain_options explain_options_of(const cli_arguments *a) {
  return (explain_options){.specs = a->files,
                           .spec_count = a->file_count,
                           .gpu = a->gpu,
                           .kernel = a->kernel_count ? a->kernels[0] : NULL,
                           .problems = a->problems,
                           .problem_count = a->problem_count,
                           .html = a->html,
                           .ncu = a->ncu,
                           .sweep = a->sweep,
                           .measured = a->measured,
                           .expect = a->expect,
                           .json = a->json};
}

static exit_code run_explain(const cli_arguments *a) {
  explain_options o = explain_options_of(a);
  return explain(&o);
}

static exit_code run_list(const cli_arguments *a) {
  explain_options o = explain_options_of(a);
  return list_kernels(&o);
}

static exit_code run_gpus(const cli_arguments *a) {
  explain_options o = explain_options_of(a);
  return list_gpus(&o);
}

static exit_code run_help(const cli_arguments *a) {
  (void)a;
  fputs(cli_help, stdout);
  return EXIT_DONE;
}

static exit_code run_version(const cli_arguments *a) {
  (void)a;
  puts("gemmgen " GEMMGEN_VERSION);
  return EXIT_DONE;
}

/* ORDER COMMAND */
static exit_code (*const commands[COMMAND_COUNT])(const cli_arguments *a) = {
    run_generate, run_check, run_explain, run_list, run_gpus, run_help, run_version};

int main(int argc, char **argv) {
  cli_arguments a;
  char error[256];
  if (!cli_parse(argc, argv, &a, error)) {
    fprintf(stderr, "gemmgen: %s; see gemmgen --help\n", error);
    cli_free(&a);
    return EXIT_USAGE;
  }
  exit_code code = commands[a.command](&a);
  cli_free(&a);
  if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_DONE) {
    fprintf(stderr, "gemmgen: error: standard output cannot be written: %s\n", strerror(errno));
    code = EXIT_OUTPUT;
  }
  return (int)code;
}
