/* check_build.c - finds compiler and libraries, turns a folder into a check program.
 *
 * Everything about the folder comes from its table: gg_table.c is compiled and linked alone first,
 * with the kernels left undefined, and asked for its rows. Kernels that do not compile stay
 * undefined in the final program as well, so that the others are checked nevertheless.
 */
#define _XOPEN_SOURCE 700
#include "check_parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, COMPILE_SECONDS = 300, TOOL_SECONDS = 120 };

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

/* A command line: the compiler's words first. */
typedef struct command {
  const char *argv[ARGUMENTS_MAX];
  size_t count;
} command;

static void add(command *a, const char *word) {
  if (word && a->count < ARGUMENTS_MAX - 1) a->argv[a->count++] = word;
}

static void add_compiler(const check_run *c, command *a) {
  for (size_t i = 0; i < c->compiler_words; i++)
    add(a, c->compiler[i]);
}

static void add_compile(const check_run *c, command *a, bool kernel) {
  add_compiler(c, a);
  for (size_t i = 0; i < sizeof compile_flags / sizeof *compile_flags; i++)
    add(a, compile_flags[i]);
  add(a, fma_flag());
  add(a, "-I");
  add(a, c->include);
  if (kernel) {
    add(a, "-include");
    add(a, "gg_emu_device.h");
  }
}

/* Runs one command of ours. The process holds its output. */
static int run_one(check_run *c, const command *a, process *p) {
  *p = (process){.argv = a->argv, .timeout_seconds = TOOL_SECONDS};
  c->signal = process_run(p, 1, 1, NULL, NULL);
  if (c->signal) return CHECK_FAULT;
  if (p->end == PROCESS_MISSING)
    return check_fail(CHECK_TOOL, "%s: %s; install a C compiler or set CC", a->argv[0],
                      strerror(p->code));
  return 0;
}

static bool succeeded(const process *p) {
  return p->end == PROCESS_EXITED && p->code == 0;
}

/* The folder's table is the user's file: what is wrong with it is a fault. */
static int table_wrong(const check_run *c, const process *p) {
  printf("%s/gg_table.c:1: error: the table cannot be used: see the compiler's words [table]\n",
         c->options->folder);
  fflush(stdout);
  fwrite(p->err.data ? p->err.data : "", 1, p->err.size, stderr);
  return CHECK_FAULT;
}

/* The identifier in "gg_kernel_table NAME =" of the preprocessed table. */
static char *find_table_symbol(const char *text) {
  static const char type[] = "gg_kernel_table";
  for (const char *at = text; (at = strstr(at, type));) {
    at += sizeof type - 1;
    const char *name = at + strspn(at, " \t\n"), *end = name;
    while (isalnum((unsigned char)*end) || *end == '_')
      end++;
    if (end > name && end[strspn(end, " \t\n")] == '=') return strndup(name, (size_t)(end - name));
  }
  return NULL;
}

static int write_main(check_run *c, const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) return check_fail(CHECK_TOOL, "%s: %s", path, strerror(errno));
  fprintf(f,
          "#include \"gg_kernel.h\"\n"
          "extern const gg_kernel_table %s;\n"
          "int ggcheck_main(const gg_kernel_table *table, int argc, char **argv);\n"
          "int main(int argc, char **argv) {\n"
          "  return ggcheck_main(&%s, argc, argv);\n"
          "}\n",
          c->table_symbol, c->table_symbol);
  bool written = !ferror(f);
  if (fclose(f) != 0 || !written) return check_fail(CHECK_TOOL, "%s: %s", path, strerror(errno));
  return 0;
}

/* Links objects of the work folder; undefined kernels become null. */
static int link_program(check_run *c, const char *output, char *const *objects, size_t count) {
  size_t words = c->compiler_words + count + 24, at = 0;
  const char **argv = calloc(words, sizeof *argv);
  static const char *const tail[] = {"-lggcheck", "-lgemmgen", "-lgemmgen_emu", "-lm", "-pthread"};
  process p;
  if (!argv) return check_fail(CHECK_INTERNAL, "out of memory");
  for (size_t i = 0; i < c->compiler_words; i++)
    argv[at++] = c->compiler[i];
  argv[at++] = "-no-pie";
  argv[at++] = "-Wl,--unresolved-symbols=ignore-all";
  argv[at++] = "-o";
  argv[at++] = output;
  for (size_t i = 0; i < count; i++)
    argv[at++] = objects[i];
  argv[at++] = "-L";
  argv[at++] = c->library;
  for (size_t i = 0; i < sizeof tail / sizeof *tail; i++)
    argv[at++] = tail[i];
  p = (process){.argv = argv, .timeout_seconds = TOOL_SECONDS};
  c->signal = process_run(&p, 1, 1, NULL, NULL);
  int code = 0;
  if (c->signal)
    code = CHECK_FAULT;
  else if (!succeeded(&p)) {
    fwrite(p.err.data ? p.err.data : "", 1, p.err.size, stderr);
    code = check_fail(CHECK_TOOL, "%s cannot link the check program", argv[0]);
  }
  process_free(&p);
  free(argv);
  return code;
}

/* One line "name<tab>symbol<tab>file" a kernel. */
static bool parse_rows(check_run *c, const char *text) {
  size_t lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++)
    lines++;
  c->kernels = calloc(lines ? lines : 1, sizeof *c->kernels);
  if (!c->kernels) return false;
  for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
    const char *symbol = memchr(text, '\t', (size_t)(end - text));
    const char *file = symbol ? memchr(symbol + 1, '\t', (size_t)(end - symbol - 1)) : NULL;
    if (!file) return false;
    check_kernel *k = &c->kernels[c->count];
    k->row = (int)c->count++;
    k->name = strndup(text, (size_t)(symbol - text));
    k->symbol = strndup(symbol + 1, (size_t)(file - symbol - 1));
    k->file = strndup(file + 1, (size_t)(end - file - 1));
    if (!k->name || !k->symbol || !k->file) return false;
  }
  return true;
}

/* Preprocesses the table and finds its symbol. */
static int find_symbol(check_run *c, const char *table) {
  command a = {.count = 0};
  process p;
  add_compile(c, &a, false);
  add(&a, "-E");
  add(&a, "-P");
  add(&a, table);
  int code = run_one(c, &a, &p);
  if (!code && succeeded(&p) && p.out.data) c->table_symbol = find_table_symbol(p.out.data);
  if (!code && !c->table_symbol) code = table_wrong(c, &p);
  process_free(&p);
  return code;
}

static int compile_one(check_run *c, const char *source, const char *object) {
  command a = {.count = 0};
  process p;
  add_compile(c, &a, false);
  add(&a, "-c");
  add(&a, source);
  add(&a, "-o");
  add(&a, object);
  int code = run_one(c, &a, &p);
  if (!code && !succeeded(&p)) code = table_wrong(c, &p);
  process_free(&p);
  return code;
}

/* Asks a program that holds the table only. */
static int list_rows(check_run *c, const char *program) {
  command a = {.count = 0};
  process p;
  add(&a, program);
  add(&a, "--list");
  int code = run_one(c, &a, &p);
  if (!code && !succeeded(&p)) {
    printf("%s/gg_table.c:1: error: %s [table]\n", c->options->folder,
           p.out.data ? p.out.data : "the table cannot be read");
    code = CHECK_FAULT;
  } else if (!code && p.out.data && !parse_rows(c, p.out.data))
    code = check_fail(CHECK_INTERNAL, "the table's rows cannot be listed");
  process_free(&p);
  return code;
}

int check_read_table(check_run *c) {
  char *source = check_path(c->folder, "gg_table.c"), *shim = check_path(c->work, "main.c");
  char *objects[2] = {check_path(c->work, "gg_table.o"), check_path(c->work, "main.o")};
  char *program = check_path(c->work, "list");
  int code = CHECK_INTERNAL;
  if (source && shim && objects[0] && objects[1] && program) {
    code = find_symbol(c, source);
    if (!code) code = write_main(c, shim);
    if (!code) code = compile_one(c, source, objects[0]);
    if (!code) code = compile_one(c, shim, objects[1]);
    if (!code) code = link_program(c, program, objects, 2);
    if (!code) code = list_rows(c, program);
  }
  free(source);
  free(shim);
  free(objects[0]);
  free(objects[1]);
  free(program);
  return code;
}

static char *object_path(const check_run *c, const check_kernel *k) {
  char name[32];
  snprintf(name, sizeof name, "k%d.o", k->row);
  return check_path(c->work, name);
}

/* The compiler's errors, "PATH:line:column: error: text", as faults of their kernel. */
static void compile_faults(check_kernel *k, const process *p) {
  int found = 0;
  const char *text = p->err.data ? p->err.data : "";
  for (const char *line = text; *line && found < 5;) {
    const char *end = line + strcspn(line, "\n"), *error = strstr(line, "error: ");
    const char *place = strstr(line, k->file);
    if (error && error < end && place && place < error) {
      int number = atoi(place + strlen(k->file) + 1);
      error += strlen("error: ");
      check_fault(k, "compile", number, "does not compile: %.*s", (int)(end - error), error);
      found++;
    }
    line = *end ? end + 1 : end;
  }
  if (found) return;
  if (p->end == PROCESS_TIMEOUT)
    check_fault(k, "compile", 0, "the compiler did not finish in %d s", COMPILE_SECONDS);
  else
    check_fault(k, "compile", 0, "does not compile: %.*s", (int)strcspn(text, "\n"), text);
}

int check_compile(check_run *c) {
  process *jobs = calloc(c->count, sizeof *jobs);
  command *commands = calloc(c->count, sizeof *commands);
  char **paths = calloc(2 * c->count, sizeof *paths);
  size_t *who = calloc(c->count, sizeof *who), count = 0;
  int code = jobs && commands && paths && who ? 0 : check_fail(CHECK_INTERNAL, "out of memory");
  for (size_t i = 0; i < c->count && !code; i++) {
    check_kernel *k = &c->kernels[i];
    if (!k->chosen) continue;
    command *a = &commands[count];
    paths[2 * count] = check_path(c->folder, k->file);
    paths[2 * count + 1] = object_path(c, k);
    add_compile(c, a, true);
    add(a, "-c");
    add(a, paths[2 * count]);
    add(a, "-o");
    add(a, paths[2 * count + 1]);
    jobs[count] = (process){.argv = a->argv, .timeout_seconds = COMPILE_SECONDS};
    who[count++] = i;
  }
  if (!code)
    c->signal = process_run(jobs, count, c->options->jobs, check_progress("compiling"), NULL);
  for (size_t i = 0; i < count; i++) {
    check_kernel *k = &c->kernels[who[i]];
    k->compiled = succeeded(&jobs[i]);
    c->compile_seconds += jobs[i].processor;
    if (jobs[i].end == PROCESS_MISSING && !code)
      code = check_fail(CHECK_TOOL, "%s: %s", c->compiler[0], strerror(jobs[i].code));
    else if (!k->compiled)
      compile_faults(k, &jobs[i]);
    process_free(&jobs[i]);
  }
  for (size_t i = 0; paths && i < 2 * count; i++)
    free(paths[i]);
  free(jobs);
  free(commands);
  free(paths);
  free(who);
  return code;
}

int check_link(check_run *c) {
  char **objects = calloc(c->count + 2, sizeof *objects);
  size_t count = 0;
  char *program = check_path(c->work, "check");
  int code = CHECK_INTERNAL;
  if (objects && program) {
    objects[count++] = check_path(c->work, "gg_table.o");
    objects[count++] = check_path(c->work, "main.o");
    for (size_t i = 0; i < c->count; i++)
      if (c->kernels[i].compiled) objects[count++] = object_path(c, &c->kernels[i]);
    code = link_program(c, program, objects, count);
  }
  for (size_t i = 0; i < count; i++)
    free(objects[i]);
  free(objects);
  free(program);
  return code;
}

int check_line_of(const check_run *c, const char *file, const char *addresses) {
  char *program = check_path(c->work, "check");
  const char *argv[ARGUMENTS_MAX] = {"addr2line", "-i", "-e", program};
  char copies[48][32];
  size_t count = 0;
  int line = 0;
  for (const char *at = addresses; *at && count < 48; at += strcspn(at, "\n"), at += *at == '\n') {
    /* A return address lies behind its call. The third frame is where the signal struck. */
    unsigned long long address = strtoull(at, NULL, 16);
    snprintf(copies[count], sizeof copies[count], "0x%llx", address - (count != 2 && address));
    argv[4 + count] = copies[count];
    count++;
  }
  process p = {.argv = argv, .timeout_seconds = TOOL_SECONDS};
  if (program && count) process_run(&p, 1, 1, NULL, NULL);
  for (const char *at = p.out.data; at && *at && !line;) {
    const char *end = at + strcspn(at, "\n"), *colon = end;
    while (colon > at && *colon != ':')
      colon--;
    size_t length = strlen(file);
    if (colon - at >= (long)length && strncmp(colon - length, file, length) == 0)
      line = atoi(colon + 1);
    at = *end ? end + 1 : end;
  }
  process_free(&p);
  free(program);
  return line;
}
