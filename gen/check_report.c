/* check_report.c - runs the check program, one process a kernel, and prints what they say.
 *
 * ggcheck's records (runtime/tools/ggcheck.c) are lines with a letter before them; they are sorted
 * by letter, not understood. What ggcheck could not say itself - a crash, a time-out - is added
 * here in the same form.
 */
#include "check_parts.h"
#include "version.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default set takes seconds; a problem of the user's may be of any size. */
enum { TIMEOUT_DEFAULT_SET = 120, TIMEOUT_PROBLEM = 3600, MEMORY_MIB = 8192, WORDS_MAX = 160 };

void check_fault(check_kernel *k, const char *kind, int line, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  k->faulty = true;
  buf_printf(&k->fault_text, "%s:%d: error: %s [%s]\n", k->file, line > 0 ? line : 1, text, kind);
  if (k->fault_json.size) buf_puts(&k->fault_json, ",");
  buf_printf(&k->fault_json,
             "{\"kind\":\"%s\",\"line\":%d,\"other_line\":0,\"count\":1,\"problems\":0,"
             "\"problem\":\"\",\"text\":",
             kind, line);
  buf_json_string(&k->fault_json, text);
  buf_puts(&k->fault_json, "}");
}

static const char *signal_name(int number) {
  switch (number) {
  case SIGSEGV:
    return "SIGSEGV, an access to memory that is not mapped";
  case SIGBUS:
    return "SIGBUS, an access to memory that is not there";
  case SIGFPE:
    return "SIGFPE, an integer division by zero";
  case SIGILL:
    return "SIGILL, an illegal instruction";
  case SIGABRT:
    return "SIGABRT, an assertion";
  case SIGKILL:
    return "SIGKILL, from outside";
  default:
    return "a signal";
  }
}

/* Sorts the records of one process. addresses: of a crash. */
static void read_records(check_kernel *k, const char *text, buf *addresses) {
  while (*text) {
    const char *end = text + strcspn(text, "\n");
    size_t length = (size_t)(end - text) + (*end == '\n');
    if (length > 2 && text[1] == ' ') {
      buf *to = text[0] == 'K'   ? &k->line
                : text[0] == 'F' ? &k->findings
                : text[0] == 'L' ? &k->counts
                : text[0] == 'J' ? &k->json
                : text[0] == 'B' ? addresses
                                 : NULL;
      if (to) buf_add(to, text + 2, length - 2);
      if (text[0] == 'E') check_fault(k, "check", 0, "%.*s", (int)(end - text - 2), text + 2);
    }
    text += length;
  }
}

/* ": " and what stderr says of an error, or its first line that says anything; "" if it is empty.
 */
static const char *last_words(const buf *err, char *words, size_t size) {
  const char *at = err->data ? err->data : "", *error = strstr(at, "ERROR: ");
  at = error ? error : at + strspn(at, "=\n");
  snprintf(words, size, "%s%.*s", *at ? ": " : "", (int)strcspn(at, "\n"), at);
  return words;
}

/* What a process's end says of its kernel. */
static void judge(const check_run *c, check_kernel *k, const process *p) {
  buf addresses = {0};
  char words[200];
  if (p->out.data) read_records(k, p->out.data, &addresses);
  k->checked = p->end == PROCESS_EXITED && k->line.size && k->json.size;
  int line = !k->checked && addresses.data ? check_line_of(c, k->file, addresses.data) : 0;
  if (p->end == PROCESS_EXITED && p->code == 4)
    k->faulty = true;
  else if (p->end == PROCESS_TIMEOUT)
    check_fault(k, "timeout", line, "was still running after %d s; is there an endless loop?",
                p->timeout_seconds);
  else if (p->end == PROCESS_MEMORY)
    check_fault(k, "memory", line, "the check used more than %d MiB", p->memory_mib);
  else if (p->end == PROCESS_SIGNAL)
    check_fault(k, "crash", line, "crashed with signal %d (%s)", p->code, signal_name(p->code));
  else if (!k->checked || p->code != 0)
    check_fault(k, "check", 0, "the check program ended with code %d%s", p->code,
                last_words(&p->err, words, sizeof words));
  buf_free(&addresses);
}

/* Words all kernels' command lines share, behind room for the first: "--row N". */
static size_t common_words(const check_run *c, const char **argv, char numbers[2][32]) {
  const check_options *o = c->options;
  size_t at = 3;
  argv[at++] = "--records";
  argv[at++] = "--seed";
  snprintf(numbers[0], 32, "%" PRIu64, o->seed);
  argv[at++] = numbers[0];
  if (o->schedules >= 0) {
    argv[at++] = "--schedules";
    snprintf(numbers[1], 32, "%d", o->schedules);
    argv[at++] = numbers[1];
  }
  if (o->kernel_count == 1) argv[at++] = "--lines";
  for (size_t i = 0; i < o->problem_count && at < WORDS_MAX - 3; i++) {
    argv[at++] = "--problem";
    argv[at++] = o->problems[i];
  }
  argv[at] = NULL;
  return at + 1;
}

int check_execute(check_run *c) {
  int timeout = c->options->problem_count ? TIMEOUT_PROBLEM : TIMEOUT_DEFAULT_SET;
  const char *common[WORDS_MAX];
  char numbers[2][32];
  size_t words = common_words(c, common, numbers), count = 0;
  process *jobs = calloc(c->count, sizeof *jobs);
  const char **argvs = calloc(c->count * words, sizeof *argvs);
  char(*rows)[16] = calloc(c->count, sizeof *rows);
  size_t *who = calloc(c->count, sizeof *who);
  char *program = check_path(c->work, "check");
  if (jobs && argvs && rows && who && program) {
    for (size_t i = 0; i < c->count; i++) {
      if (!c->kernels[i].compiled) continue;
      const char **argv = argvs + count * words;
      memcpy(argv + 3, common + 3, (words - 3) * sizeof *argv);
      snprintf(rows[count], sizeof rows[count], "%d", c->kernels[i].row);
      argv[0] = program;
      argv[1] = "--row";
      argv[2] = rows[count];
      jobs[count].argv = argv;
      jobs[count].timeout_seconds =
          c->options->timeout_seconds > 0 ? c->options->timeout_seconds : timeout;
      jobs[count].memory_mib = c->options->memory_mib > 0 ? c->options->memory_mib : MEMORY_MIB;
      who[count++] = i;
    }
    c->signal = process_run(jobs, count, c->options->jobs, check_progress("checking"), NULL);
  }
  int code = program && who && rows && argvs && jobs ? 0 : CHECK_INTERNAL;
  for (size_t i = 0; i < count; i++) {
    if (!c->signal) judge(c, &c->kernels[who[i]], &jobs[i]);
    c->run_seconds += jobs[i].processor;
    process_free(&jobs[i]);
  }
  free(jobs);
  free(argvs);
  free(rows);
  free(who);
  free(program);
  return code;
}

/* Every line of text behind the folder's name, so that it can be opened from where we are. */
static void print_placed(const check_run *c, const buf *text) {
  for (const char *at = text->data; at && *at;) {
    size_t length = strcspn(at, "\n");
    if (!c->options->folder_is_temporary) printf("%s/", c->folder);
    printf("%.*s\n", (int)length, at);
    at += length + (at[length] == '\n');
  }
}

static void print_text(const check_run *c, size_t chosen, size_t faulty) {
  size_t width = 0;
  for (size_t i = 0; i < c->count; i++)
    if (c->kernels[i].chosen && strlen(c->kernels[i].name) > width)
      width = strlen(c->kernels[i].name);
  for (size_t i = 0; i < c->count; i++) {
    const check_kernel *k = &c->kernels[i];
    if (k->line.size)
      fputs(k->line.data, stdout);
    else if (k->chosen)
      printf("%-*s  FAULT\n", (int)width, k->name);
  }
  for (size_t i = 0; i < c->count; i++) {
    print_placed(c, &c->kernels[i].findings);
    print_placed(c, &c->kernels[i].fault_text);
    print_placed(c, &c->kernels[i].counts);
  }
  printf("%zu kernel%s checked, %zu with faults (compiling %.2f s, running %.2f s of processor "
         "time)\n",
         chosen, chosen == 1 ? "" : "s", faulty, c->compile_seconds, c->run_seconds);
}

static void print_json(const check_run *c, size_t faulty) {
  buf out = {0};
  buf_printf(&out,
             "{\"gemmgen\":\"%s\",\"command\":\"check\",\"seed\":%" PRIu64
             ",\"ok\":%s,\"faulty\":%zu,\"kernels\":[",
             GEMMGEN_VERSION, c->options->seed, faulty ? "false" : "true", faulty);
  bool first = true;
  for (size_t i = 0; i < c->count; i++) {
    const check_kernel *k = &c->kernels[i];
    if (!k->chosen) continue;
    buf_puts(&out, first ? "\n" : ",\n");
    first = false;
    if (k->checked) {
      buf_add(&out, k->json.data, k->json.size - 1);
      continue;
    }
    buf_puts(&out, "{\"name\":");
    buf_json_string(&out, k->name);
    buf_puts(&out, ",\"file\":");
    buf_json_string(&out, k->file);
    buf_puts(&out, ",\"family\":\"\",\"ok\":false,\"problems\":0,\"launches\":0,\"worst\":0,"
                   "\"shared\":{\"cost\":0,\"ideal\":0},\"sectors\":{\"cost\":0,\"ideal\":0},"
                   "\"findings\":[");
    if (k->fault_json.size) buf_add(&out, k->fault_json.data, k->fault_json.size);
    buf_puts(&out, "],\"more_findings\":0,\"lines\":[]}");
  }
  buf_puts(&out, "\n]}\n");
  if (out.data) fputs(out.data, stdout);
  buf_free(&out);
}

size_t check_report(const check_run *c) {
  size_t chosen = 0, faulty = 0;
  for (size_t i = 0; i < c->count; i++) {
    chosen += c->kernels[i].chosen;
    faulty += c->kernels[i].chosen && c->kernels[i].faulty;
  }
  if (c->options->json)
    print_json(c, faulty);
  else
    print_text(c, chosen, faulty);
  fflush(stdout);
  return faulty;
}
