/* cli.c - the words of the command line, as a table of options.
 *
 * Invariant: an option is accepted where, and only where, it has an effect.
 */
#include "cli.h"
#include "generate.h"
#include "gpu_fields.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_help[] =
    "usage: gemmgen SPEC... -o DIR       generate kernels and their dispatch table\n"
    "       gemmgen check SPEC...|DIR    run kernels on the emulated GPU and compare\n"
    "       gemmgen explain SPEC...      the numbers behind every choice\n"
    "       gemmgen list SPEC...         names and parameters\n"
    "       gemmgen gpus                 the GPUs it knows\n"
    "  -o DIR             folder to write; files changed by hand are kept\n"
    "  --force            overwrite and remove files changed by hand\n"
    "  --strict           warnings count as errors\n"
    "  --prefix P         begin the names of kernels, table and CMake targets with P\n"
    "  --templates DIR    read templates from DIR instead of the built-in ones\n"
    "  --dump STAGE       print spec, plan, model, dispatch or template\n"
    "  --gpu NAME         plan for this GPU instead of the spec's\n"
    "  --problem MxNxK[xBATCH]   check, explain: this problem (repeatable)\n"
    "  --kernel NAME      check, explain: only this kernel (check: repeatable)\n"
    "  --expect P%        explain: what P per cent of the peak needs\n"
    "  --html FILE, --ncu CSV    explain: as a page; beside a profile's figures\n"
    "  --sweep [--measured CSV]  explain: a line for each point, beside its time\n"
    "  --seed N, --schedules N   check: seed; random schedules of a kernel (5)\n"
    "  --json             check, explain, list, gpus: JSON on stdout\n"
    "  --help, --version; a spec named like a command is given as ./check\n"
    "example: gemmgen specs/h100_f32.lua -o out && gemmgen check out\n"
    "exit codes: 0 done  1 usage  2 a spec is wrong, missing or over a limit\n"
    "  3 output or a tool failed  4 a check found a fault  5 internal error\n";

enum { VALUE_NONE, VALUE_TEXT };

#define ON(command) (1u << COMMAND_##command)
static const unsigned on_specs = ON(GENERATE) | ON(CHECK) | ON(EXPLAIN) | ON(LIST);

typedef struct parser {
  cli_arguments *a;
  char *error;
} parser;

static bool fail(const parser *p, const char *format, const char *word) {
  snprintf(p->error, 256, format, word);
  return false;
}

/* -- Values --------------------------------------------------------------------------------- */

bool cli_problem(const char *text, int64_t size[4]) {
  size[3] = 1;
  for (int i = 0; i < 4; ++i) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || value > INT32_MAX) return false;
    size[i] = value;
    if (*end == '\0') return i >= 2;
    if (*end != 'x') return false;
    text = end + 1;
  }
  return false;
}

static bool add_word(const char ***words, size_t *count, const char *word) {
  const char **grown = realloc(*words, (*count + 1) * sizeof *grown);
  if (!grown) return false;
  *words = grown;
  grown[(*count)++] = word;
  return true;
}

static bool set_kernel(const parser *p, const char *value) {
  if (p->a->command == COMMAND_EXPLAIN && p->a->kernel_count)
    return fail(p, "%s is given twice; explain takes one", "--kernel");
  return add_word(&p->a->kernels, &p->a->kernel_count, value) || fail(p, "memory is short%s", "");
}

static bool set_problem(const parser *p, const char *value) {
  int64_t size[4];
  if (!cli_problem(value, size))
    return fail(p, "--problem: '%.60s' is not of the form MxNxK or MxNxKxBATCH", value);
  return add_word(&p->a->problems, &p->a->problem_count, value) || fail(p, "memory is short%s", "");
}

static bool set_seed(const parser *p, const char *value) {
  char *end;
  errno = 0;
  unsigned long long seed = strtoull(value, &end, 10);
  if (errno || *value < '0' || *value > '9' || *end)
    return fail(p, "--seed: '%.60s' is not a number from 0 to 2^64 - 1", value);
  p->a->seed = seed;
  return true;
}

static bool set_schedules(const parser *p, const char *value) {
  char *end;
  errno = 0;
  unsigned long count = strtoul(value, &end, 10);
  if (errno || *value < '0' || *value > '9' || *end || count > 1000000)
    return fail(p, "--schedules: '%.60s' is not a number from 0 to 1000000", value);
  p->a->schedules = (int)count;
  return true;
}

static bool set_expect(const parser *p, const char *value) {
  char *end;
  double percent = strtod(value, &end);
  if (*end == '%') ++end;
  if (*value < '0' || *value > '9' || *end || !(percent > 0 && percent <= 100))
    return fail(p, "--expect: '%.60s' is not a per cent of the peak above 0 and up to 100", value);
  p->a->expect = percent;
  return true;
}

static bool set_prefix(const parser *p, const char *value) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  bool digit = *value >= '0' && *value <= '9';
  if (!*value || digit || value[strspn(value, letters)] || strlen(value) > 40)
    return fail(p,
                "--prefix: '%.60s' cannot begin a C name; use up to 40 letters, digits and '_', no "
                "digit first",
                value);
  p->a->prefix = value;
  return true;
}

static bool set_dump(const parser *p, const char *value) {
  if (!generate_stage_known(value)) {
    snprintf(p->error, 256, "--dump: unknown stage '%.60s'; known: %s", value, generate_stages);
    return false;
  }
  p->a->dump = value;
  return true;
}

static bool set_gpu(const parser *p, const char *value) {
  p->a->gpu = value;
  if (gpu_find(value)) return true;
  buf text = {0};
  gpu_suggest(value, &text);
  snprintf(p->error, 256, "--gpu: unknown GPU '%.40s'; %s", value, text.failed ? "" : text.data);
  buf_free(&text);
  return false;
}

static bool set_output(const parser *p, const char *value) {
  if (p->a->output) return fail(p, "%s is given twice", "-o");
  if (!*value) return fail(p, "%s: the folder's name is empty", "-o");
  p->a->output = value;
  return true;
}

#define SETTER(member, type, result)                                                               \
  static bool set_##member(const parser *p, const char *value) {                                   \
    (void)value;                                                                                   \
    p->a->member = result;                                                                         \
    return true;                                                                                   \
  }
SETTER(templates, text, value)
SETTER(html, text, value)
SETTER(measured, text, value)
SETTER(ncu, text, value)
SETTER(sweep, flag, true)
SETTER(json, flag, true)
SETTER(force, flag, true)
SETTER(strict, flag, true)

/* -- Options -------------------------------------------------------------------------------- */

static const struct option {
  const char *name;
  int value;
  unsigned commands;
  bool (*set)(const parser *p, const char *value);
} options[] = {
    {"-o", VALUE_TEXT, ON(GENERATE), set_output},
    {"--force", VALUE_NONE, ON(GENERATE), set_force},
    {"--strict", VALUE_NONE, ON(GENERATE), set_strict},
    {"--prefix", VALUE_TEXT, ON(GENERATE), set_prefix},
    {"--templates", VALUE_TEXT, ON(GENERATE) | ON(CHECK), set_templates},
    {"--dump", VALUE_TEXT, ON(GENERATE), set_dump},
    {"--gpu", VALUE_TEXT, ON(GENERATE) | ON(CHECK) | ON(EXPLAIN) | ON(LIST) | ON(GPUS), set_gpu},
    {"--problem", VALUE_TEXT, ON(CHECK) | ON(EXPLAIN), set_problem},
    {"--kernel", VALUE_TEXT, ON(CHECK) | ON(EXPLAIN), set_kernel},
    {"--expect", VALUE_TEXT, ON(EXPLAIN), set_expect},
    {"--html", VALUE_TEXT, ON(EXPLAIN), set_html},
    {"--ncu", VALUE_TEXT, ON(EXPLAIN), set_ncu},
    {"--sweep", VALUE_NONE, ON(EXPLAIN), set_sweep},
    {"--measured", VALUE_TEXT, ON(EXPLAIN), set_measured},
    {"--seed", VALUE_TEXT, ON(CHECK), set_seed},
    {"--schedules", VALUE_TEXT, ON(CHECK), set_schedules},
    {"--json", VALUE_NONE, ON(CHECK) | ON(EXPLAIN) | ON(LIST) | ON(GPUS), set_json},
};

/* ORDER COMMAND */
static const char *const command_names[] = {"generate", "check", "explain", "list", "gpus"};

static const struct option *find_option(const char *word, size_t size) {
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i)
    if (strlen(options[i].name) == size && strncmp(options[i].name, word, size) == 0)
      return &options[i];
  return NULL;
}

/* One option at argv[*i]; *used gets the commands it is for. */
static bool read_option(parser *p, int argc, char **argv, int *i, unsigned *commands,
                        const char **name) {
  const char *word = argv[*i];
  const char *equals = strchr(word, '=');
  size_t size = equals ? (size_t)(equals - word) : strlen(word);
  const struct option *o = find_option(word, size);
  const char *value = equals ? equals + 1 : NULL;
  if (!o && strncmp(word, "-o", 2) == 0) { /* -oDIR, the one short option */
    o = &options[0];
    value = word + 2;
  }
  if (!o) return fail(p, "unknown option '%.60s'", word);
  *commands = o->commands;
  *name = o->name;
  if (o->value == VALUE_NONE)
    return value ? fail(p, "%s takes no value", o->name) : o->set(p, NULL);
  if (!value && *i + 1 < argc) value = argv[++*i];
  return value ? o->set(p, value) : fail(p, "%s needs a value", o->name);
}

static bool check_whole(const parser *p) {
  const cli_arguments *a = p->a;
  bool takes_specs = (1u << a->command & on_specs) != 0;
  if (takes_specs && !a->file_count) return fail(p, "no spec is given%s", "");
  if (!takes_specs && a->file_count)
    return fail(p, "'%.60s': this command takes no files", a->files[0]);
  if (a->measured && !a->sweep) return fail(p, "%s goes with --sweep", "--measured");
  if (a->ncu && (a->sweep || a->html || a->json || a->problem_count > 1))
    return fail(p, "%s takes one --problem, and neither --sweep, --html nor --json", "--ncu");
  if (a->sweep && (a->kernel_count || a->expect > 0 || a->problem_count > 1))
    return fail(p, "%s takes one --problem, and neither --kernel nor --expect", "--sweep");
  if (a->command == COMMAND_GENERATE && !a->output && !a->dump)
    return fail(p, "%s DIR is missing", "-o");
  return true;
}

bool cli_parse(int argc, char **argv, cli_arguments *a, char error[256]) {
  *a = (cli_arguments){.command = COMMAND_GENERATE, .schedules = -1};
  parser p = {a, error};
  struct {
    unsigned commands;
    const char *name;
  } given[64];
  size_t given_count = 0;
  bool first = true, options_end = false;
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    if (!options_end && strcmp(word, "--") == 0) {
      options_end = true;
    } else if (!options_end && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
      a->command = COMMAND_HELP;
      return true;
    } else if (!options_end && strcmp(word, "--version") == 0) {
      a->command = COMMAND_VERSION;
      return true;
    } else if (!options_end && word[0] == '-' && word[1]) {
      if (given_count == sizeof given / sizeof *given)
        return fail(&p, "more than 64 options%s", "");
      if (!read_option(&p, argc, argv, &i, &given[given_count].commands, &given[given_count].name))
        return false;
      ++given_count;
    } else {
      bool is_command = false;
      for (int c = 1;
           first && !options_end && c < (int)(sizeof command_names / sizeof *command_names); ++c)
        if (strcmp(word, command_names[c]) == 0) {
          a->command = (cli_command)c;
          is_command = true;
        }
      first = false;
      if (!is_command && !add_word(&a->files, &a->file_count, word))
        return fail(&p, "memory is short%s", "");
    }
  }
  for (size_t i = 0; i < given_count; ++i)
    if (!(given[i].commands >> a->command & 1)) {
      snprintf(error, 256, "%s does not go with %s", given[i].name, command_names[a->command]);
      return false;
    }
  return check_whole(&p);
}

void cli_free(cli_arguments *a) {
  free(a->files);
  free(a->problems);
  free(a->kernels);
}
