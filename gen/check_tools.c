/* check_tools.c - the compiler and the libraries that a check needs, and commands made of them. */
#define _XOPEN_SOURCE 700
#include "check_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What libraries that were built with sanitizers ask of a link. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__)
static const char *const sanitizers = "-fsanitize=address,undefined";
#else
static const char *const sanitizers = NULL;
#endif

/* Everything after the compiler's own words. -O0 compiles a fully unrolled kernel four times faster
 * than -O1 and runs it as fast, since the emulated GPU's checks take most of the time; fmaf is then
 * an instruction only under its builtin name. The bits are the same either way. -fno-pie keeps
 * addresses what addr2line expects. */
static const char *const compile_flags[] = {"-x",
                                            "c",
                                            "-std=gnu11",
                                            "-O0",
                                            "-g1",
                                            "-w",
                                            "-Wno-psabi",
                                            "-fno-pie",
                                            "-ffp-contract=off",
                                            "-Dfmaf=__builtin_fmaf",
                                            "-Dfma=__builtin_fma",
                                            "-DGEMMGEN_EMULATE"};

/* Without it fmaf is a call into libm: the same bits, slower. */
static const char *fma_flag(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) return "-mfma";
#endif
  return NULL;
}

static bool readable(const char *folder, const char *name) {
  char *path = check_path(folder, name);
  bool found = path && access(path, R_OK) == 0;
  free(path);
  return found;
}

/* Is home the root of an installation or of a build? */
static bool try_home(check_run *c, const char *home) {
  c->include = check_path(home, "include/gemmgen");
  c->library = check_path(home, "lib/gemmgen");
  if (c->include && c->library && readable(c->include, "gg_emu_device.h") &&
      readable(c->library, "libggcheck.a"))
    return true;
  free(c->include);
  free(c->library);
  c->include = c->library = NULL;
  return false;
}

int check_find_home(check_run *c) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length > 0) {
    path[length] = 0;
    for (int i = 0; i < 2 && strrchr(path, '/'); i++) /* bin/gemmgen */
      *strrchr(path, '/') = 0;
    if (try_home(c, path)) return 0;
  }
  const char *home = getenv("GEMMGEN_HOME");
  if (home && *home && try_home(c, home)) return 0;
  return check_fail(CHECK_TOOL,
                    "the emulated GPU's library is not beside this program (../include/gemmgen, "
                    "../lib/gemmgen)%s; set GEMMGEN_HOME to where gemmgen is installed",
                    home && *home ? " nor in GEMMGEN_HOME" : "");
}

int check_find_compiler(check_run *c) {
  const char *text = getenv("CC");
  if (!text || !text[strspn(text, " \t")]) text = "cc";
  c->compiler = calloc(strlen(text) / 2 + 2, sizeof *c->compiler);
  while (c->compiler && *(text += strspn(text, " \t"))) {
    size_t length = strcspn(text, " \t");
    char *word = strndup(text, length);
    if (!word) return check_fail(CHECK_INTERNAL, "out of memory");
    c->compiler[c->compiler_words++] = word;
    text += length;
  }
  return c->compiler ? 0 : check_fail(CHECK_INTERNAL, "out of memory");
}

void check_add(check_command *a, const char *word) {
  if (word && a->count < CHECK_ARGUMENTS - 1) a->argv[a->count++] = word;
}

static void add_compiler(const check_run *c, check_command *a) {
  for (size_t i = 0; i < c->compiler_words; i++)
    check_add(a, c->compiler[i]);
}

void check_add_compile(const check_run *c, check_command *a, bool kernel) {
  add_compiler(c, a);
  for (size_t i = 0; i < sizeof compile_flags / sizeof *compile_flags; i++)
    check_add(a, compile_flags[i]);
  check_add(a, fma_flag());
  check_add(a, "-I");
  check_add(a, c->include);
  if (kernel) {
    check_add(a, "-include");
    check_add(a, "gg_emu_device.h");
  }
}

void check_add_link(const check_run *c, check_command *a, const char *output) {
  add_compiler(c, a);
  check_add(a, sanitizers);
  check_add(a, "-no-pie");
  check_add(a, "-o");
  check_add(a, output);
}

int check_run_one(check_run *c, const check_command *a, process *p) {
  *p = (process){.argv = a->argv, .timeout_seconds = CHECK_TOOL_SECONDS};
  c->signal = process_run(p, 1, 1, NULL, NULL);
  if (c->signal) return CHECK_FAULT;
  if (p->end == PROCESS_MISSING)
    return check_fail(CHECK_TOOL, "%s: %s; install a C compiler or set CC", a->argv[0],
                      strerror(p->code));
  return 0;
}

bool check_succeeded(const process *p) {
  return p->end == PROCESS_EXITED && p->code == 0;
}

int check_compile_one(check_run *c, const char *source, const char *object, process *p) {
  check_command a = {.count = 0};
  check_add_compile(c, &a, false);
  check_add(&a, "-c");
  check_add(&a, source);
  check_add(&a, "-o");
  check_add(&a, object);
  return check_run_one(c, &a, p);
}

int check_write(const char *path, const buf *text) {
  FILE *f = fopen(path, "w");
  if (!f || text->failed) return check_fail(CHECK_TOOL, "%s: %s", path, strerror(errno));
  bool written = fwrite(text->data, 1, text->size, f) == text->size;
  if (fclose(f) != 0 || !written) return check_fail(CHECK_TOOL, "%s: %s", path, strerror(errno));
  return 0;
}
