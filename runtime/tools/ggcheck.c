/* ggcheck.c - arguments of a check program, its kernels one after the other, its report.
 *
 * The report is for people by default. With --records every line starts with a letter, so that a
 * driver can run one process per kernel and put the report together:
 *   K kernel line   F finding   L counts of a source line   J the kernel as one JSON object
 *   X, B  see ggcheck_crash.h   E the check itself failed
 */
#include "ggcheck.h"
#include "dtype.h"
#include "ggcheck_case.h"
#include "ggcheck_crash.h"
#include "ggcheck_operand.h"
#include "ggcheck_pass.h"
#include "ggcheck_report.h"
#include "ggcheck_run.h"
#include "tensor_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAULT = 4, SIZES_MAX = 64, SCHEDULES_DEFAULT = 5, FAILED_PROBLEMS_MAX = 12 };

typedef struct settings {
  int64_t sizes[SIZES_MAX][4]; /* m n k batch */
  int size_count;
  const char *kernel;
  int row; /* -1: all */
  uint64_t seed;
  int schedules;
  bool records, lines, help;
  gg_entry missing;
} settings;

static const char usage[] =
    "usage: PROGRAM [OPTION]...\n"
    "Runs emitted kernels on the emulated GPU and compares them with a reference.\n"
    "  --problem MxNxK[xBATCH]  run this size instead of the default set; repeatable\n"
    "  --kernel NAME            only this kernel\n"
    "  --row N                  only row N of the table, from 0\n"
    "  --seed N                 of data and schedules; default 0\n"
    "  --schedules N            random schedules; default 5\n"
    "  --lines                  conflicts and sectors per source line\n"
    "  --records                tagged lines, for a driver\n"
    "Exit code: 0 no fault, 1 wrong arguments, 4 faults\n";

static bool number(const char *text, uint64_t most, uint64_t *value) {
  char *end;
  errno = 0;
  unsigned long long parsed = strtoull(text, &end, 10);
  if (end == text || *end || errno || text[0] == '-' || parsed > most) return false;
  *value = parsed;
  return true;
}

/* "64x65x8" or "64x65x8x3". */
static bool size_from(const char *text, int64_t out[4]) {
  out[3] = 1;
  for (int i = 0; i < 4; i++) {
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9') return false;
    long long value = strtoll(text, &end, 10);
    if (errno || value > INT32_MAX) return false;
    out[i] = value;
    if (!*end) return i >= 2;
    if (*end != 'x') return false;
    text = end + 1;
  }
  return false;
}

static bool option_value(settings *s, const char *option, const char *value) {
  uint64_t parsed;
  if (!value) return false;
  if (strcmp(option, "--problem") == 0)
    return s->size_count < SIZES_MAX && size_from(value, s->sizes[s->size_count++]);
  if (strcmp(option, "--kernel") == 0) {
    s->kernel = value;
    return true;
  }
  if (strcmp(option, "--seed") == 0) return number(value, UINT64_MAX, &s->seed);
  if (strcmp(option, "--schedules") == 0 && number(value, 1000000, &parsed)) {
    s->schedules = (int)parsed;
    return true;
  }
  if (strcmp(option, "--row") == 0 && number(value, INT32_MAX, &parsed)) {
    s->row = (int)parsed;
    return true;
  }
  return false;
}

static bool settings_read(settings *s, int argc, char **argv) {
  *s = (settings){.row = -1, .schedules = SCHEDULES_DEFAULT};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--records") == 0)
      s->records = true;
    else if (strcmp(argv[i], "--lines") == 0)
      s->lines = true;
    else if (strcmp(argv[i], "--help") == 0)
      s->help = true;
    else if (option_value(s, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
      i++;
    else {
      fprintf(stderr, "%s: bad argument '%s'\n%s", argv[0], argv[i], usage);
      return false;
    }
  }
  return true;
}

static const char *table_fault(const gg_kernel_table *t) {
  if (t->abi != GG_KERNEL_ABI || t->args_size != (int)sizeof(gg_args) ||
      t->row_size != (int)sizeof(gg_kernel))
    return "the table was built for another version of the library";
  if (!t->emulated) return "the table was not built for the emulated GPU";
  return NULL;
}

static bool row_known(const gg_kernel *row) {
  return ggcheck_type_known(row->type_a) && ggcheck_type_known(row->type_b) &&
         ggcheck_type_known(row->type_c) && ggcheck_type_known(row->type_d) &&
         ggcheck_type_known(row->type_acc) && row->tile_m > 0 && row->tile_n > 0 &&
         row->cluster_m > 0 && row->cluster_n > 0 && row->cluster_k > 0;
}

static void cases_for(const settings *s, const gg_kernel *row, ggcheck_cases *cases) {
  if (!s->size_count) ggcheck_default_cases(row, s->schedules, cases);
  for (int i = 0; i < s->size_count; i++) {
    const int64_t *size = s->sizes[i];
    if (ggcheck_size_legal(row, size[0], size[1], size[2]))
      ggcheck_size_cases(row, size[0], size[1], size[2], size[3], s->schedules, cases);
  }
}

/* n of the calls that selection gives to a row: its multiple, and whole 16 bytes of D where D is
 * written through a tensor map. */
static int least_n(const gg_kernel *row) {
  int multiple = row->multiple_n > 1 ? row->multiple_n : 1;
  int unit = row->maps[3].used ? GGI_MAP_ALIGN / ggi_dtype_bytes(row->type_d) : 1;
  int n = multiple;
  while (unit > 1 && n % unit != 0)
    n += multiple;
  return n;
}

static void check_pass(const settings *s, const gg_kernel *row, ggcheck_report *report) {
  ggcheck_session session;
  if (!ggcheck_session_open(&session, s->seed)) {
    report->memory = true;
    return;
  }
  (void)ggcheck_passes(&session, row, s->sizes, s->size_count, s->schedules, report);
  ggcheck_session_close(&session);
}

static void check_row(const settings *s, const gg_kernel *row, ggcheck_report *report) {
  ggcheck_session session;
  ggcheck_cases cases = {0};
  char text[300];
  *report = (ggcheck_report){.row = row};
  if (!row->entry || row->entry == s->missing) {
    snprintf(text, sizeof text, "the file does not define %s", row->symbol);
    ggcheck_report_add(report, "undefined", 0, 0, 1, 0, row->name, text);
    return;
  }
  if (!row_known(row)) {
    ggcheck_report_add(report, "unsupported", 0, 0, 1, 0, row->name,
                       "this row's types or tile are not known to the check");
    return;
  }
  if (row->kind == GG_KIND_REPACK) {
    check_pass(s, row, report);
    return;
  }
  gg_kernel fitted = *row;
  fitted.multiple_n = least_n(row);
  cases_for(s, &fitted, &cases);
  if (!cases.count) report->stopped = "none of the problems fits this kernel's multiples";
  if (cases.failed || !ggcheck_session_open(&session, s->seed)) {
    report->memory = true;
    ggcheck_cases_free(&cases);
    return;
  }
  for (size_t i = 0; i < cases.count; i++) {
    if (report->failed_problems >= FAILED_PROBLEMS_MAX) {
      report->stopped = "stopped after 12 problems with faults";
      break;
    }
    if (!ggcheck_run(&session, row, &cases.items[i], (int)i, report)) break;
  }
  ggcheck_session_close(&session);
  ggcheck_cases_free(&cases);
}

static void print_row(const settings *s, const ggcheck_report *report, int width) {
  const char *const tags[] = {"K ", "F ", "L ", "J "};
  const char *const none[] = {"", "", "", ""};
  const char *const *tag = s->records ? tags : none;
  ggcheck_print_kernel(report, width, tag[0], stdout);
  ggcheck_print_findings(report, tag[1], stdout);
  if (s->lines) ggcheck_print_lines(report, tag[2], stdout);
  if (s->records) ggcheck_print_json(report, tag[3], stdout);
  fflush(stdout);
}

int ggcheck_main(const gg_kernel_table *table, gg_entry missing, int argc, char **argv) {
  settings s;
  int width = 0, kernels = 0, faults = 0;
  if (!settings_read(&s, argc, argv)) return EXIT_FAILURE;
  s.missing = missing;
  if (s.help) {
    fputs(usage, stdout);
    return EXIT_SUCCESS;
  }
  const char *fault = table_fault(table);
  if (fault) {
    printf("%s%s\n", s.records ? "E " : "", fault);
    return EXIT_FAILURE;
  }
  for (int i = 0; i < table->count; i++) {
    int length = (int)strlen(table->kernels[i].name);
    width = length > width ? length : width;
  }
  ggcheck_crash_install();
  for (int i = 0; i < table->count; i++) {
    const gg_kernel *row = &table->kernels[i];
    ggcheck_report report;
    if ((s.row >= 0 && s.row != i) || (s.kernel && strcmp(s.kernel, row->name) != 0)) continue;
    ggcheck_crash_kernel(row->name);
    check_row(&s, row, &report);
    ggcheck_crash_kernel(NULL);
    print_row(&s, &report, width);
    kernels++;
    faults += !ggcheck_report_ok(&report);
    ggcheck_report_free(&report);
  }
  if (!kernels) {
    printf("%sno such kernel\n", s.records ? "E " : "");
    return EXIT_FAILURE;
  }
  if (!s.records) printf("%d kernel%s, %d with faults\n", kernels, kernels == 1 ? "" : "s", faults);
  return faults ? EXIT_FAULT : EXIT_SUCCESS;
}
