/* check.c - `gemmgen check` from a folder to an exit code.
 *
 * Invariant: the folder is only read. Objects and the check program live in a temporary folder that
 * is removed on every way out, an interrupt included.
 */
#define _XOPEN_SOURCE 700
#include "check_parts.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void check_options_init(check_options *o) {
  *o = (check_options){.schedules = -1};
}

char *check_path(const char *folder, const char *name) {
  size_t a = strlen(folder), b = strlen(name);
  char *path = malloc(a + b + 2);
  if (!path) return NULL;
  memcpy(path, folder, a);
  path[a] = '/';
  memcpy(path + a + 1, name, b + 1);
  return path;
}

int check_fail(int code, const char *format, ...) {
  va_list arguments;
  fputs("gemmgen: check: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return code;
}

static const char *progress_what;

static void show_progress(void *data, size_t ended, size_t count) {
  (void)data;
  if (ended < count)
    fprintf(stderr, "\r%s %zu/%zu ", progress_what, ended, count);
  else
    fputs("\r\033[K", stderr);
}

process_progress *check_progress(const char *what) {
  progress_what = what;
  return isatty(STDERR_FILENO) ? show_progress : NULL;
}

char *check_make_folder(void) {
  const char *base = getenv("TMPDIR");
  char *path = check_path(base && *base ? base : "/tmp", "gemmgen-check-XXXXXX");
  if (path && !mkdtemp(path)) {
    int reason = errno;
    free(path);
    errno = reason;
    return NULL;
  }
  return path;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)status, (void)kind, (void)where;
  remove(path);
  return 0;
}

void check_remove_folder(const char *folder) {
  nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void free_kernel(check_kernel *k) {
  free(k->name);
  free(k->symbol);
  free(k->file);
  buf *const bufs[] = {&k->fault_json, &k->fault_text, &k->line,
                       &k->findings,   &k->counts,     &k->json};
  for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
    buf_free(bufs[i]);
}

static void free_run(check_run *c) {
  if (c->work) check_remove_folder(c->work);
  for (size_t i = 0; i < c->count; i++)
    free_kernel(&c->kernels[i]);
  for (size_t i = 0; i < c->compiler_words; i++)
    free(c->compiler[i]);
  free(c->compiler);
  free(c->kernels);
  free(c->folder);
  free(c->work);
  free(c->include);
  free(c->library);
  free(c->table_symbol);
}

/* The folder without trailing slashes; it must hold a table. */
static int open_folder(check_run *c) {
  struct stat status;
  c->folder = strdup(c->options->folder);
  if (!c->folder) return check_fail(CHECK_INTERNAL, "out of memory");
  for (size_t end = strlen(c->folder); end > 1 && c->folder[end - 1] == '/'; end--)
    c->folder[end - 1] = 0;
  char *table = check_path(c->folder, "gg_table.c");
  int found = table ? stat(table, &status) : -1;
  free(table);
  if (found != 0)
    return check_fail(CHECK_INPUT,
                      "%s has no gg_table.c; give a folder that `gemmgen SPEC... -o DIR` wrote",
                      c->options->folder);
  c->work = check_make_folder();
  if (!c->work)
    return check_fail(CHECK_TOOL, "no temporary folder: %s; set TMPDIR", strerror(errno));
  return 0;
}

static int choose(check_run *c) {
  const check_options *o = c->options;
  if (!c->count) return check_fail(CHECK_INPUT, "the table of %s is empty", o->folder);
  for (size_t i = 0; i < c->count; i++)
    c->kernels[i].chosen = o->kernel_count == 0;
  for (size_t n = 0; n < o->kernel_count; n++) {
    bool found = false;
    for (size_t i = 0; i < c->count; i++) {
      check_kernel *k = &c->kernels[i];
      if (strcmp(o->kernels[n], k->name) != 0 && strcmp(o->kernels[n], k->symbol) != 0) continue;
      k->chosen = found = true;
    }
    if (!found)
      return check_fail(CHECK_INPUT, "no kernel %s in %s; `gemmgen list` prints the names",
                        o->kernels[n], o->folder);
  }
  return 0;
}

int check_folder(const check_options *options) {
  static int (*const steps[])(check_run *) = {
      open_folder, check_find_home, check_find_compiler, check_read_table,
      choose,      check_compile,   check_link,          check_execute};
  check_run c = {.options = options};
  int code = CHECK_DONE;
  setenv("LC_ALL", "C", 1); /* compilers' messages are read */
  for (size_t i = 0; i < sizeof steps / sizeof *steps && !code && !c.signal; i++)
    code = steps[i](&c);
  if (!code && !c.signal && check_report(&c)) code = CHECK_FAULT;
  int signal_number = c.signal;
  free_run(&c);
  if (signal_number && options->folder_is_temporary) check_remove_folder(options->folder);
  if (signal_number) { /* everything is cleaned up: end as the signal would have */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
  return code;
}
