/* check_build.c - kernels to objects, objects to the check program.
 *
 * A kernel that does not compile, or that is not asked for, is stood in for by a weak symbol that
 * ggcheck knows, so that the others are checked nevertheless.
 */
#define _XOPEN_SOURCE 700
#include "check_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPILE_SECONDS = 300 };

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
  check_command *commands = calloc(c->count, sizeof *commands);
  char **paths = calloc(2 * c->count, sizeof *paths);
  size_t *who = calloc(c->count, sizeof *who), count = 0;
  int code = jobs && commands && paths && who ? 0 : check_fail(CHECK_INTERNAL, "out of memory");
  for (size_t i = 0; i < c->count && !code; i++) {
    check_kernel *k = &c->kernels[i];
    if (!k->chosen) continue;
    check_command *a = &commands[count];
    paths[2 * count] = check_path(c->folder, k->file);
    paths[2 * count + 1] = object_path(c, k);
    check_add_compile(c, a, true);
    check_add(a, "-c");
    check_add(a, paths[2 * count]);
    check_add(a, "-o");
    check_add(a, paths[2 * count + 1]);
    jobs[count] = (process){.argv = a->argv, .timeout_seconds = COMPILE_SECONDS};
    who[count++] = i;
  }
  if (!code)
    c->signal = process_run(jobs, count, c->options->jobs, check_progress("compiling"), NULL);
  for (size_t i = 0; i < count; i++) {
    check_kernel *k = &c->kernels[who[i]];
    k->compiled = check_succeeded(&jobs[i]);
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

/* The check program's main, and what stands for kernels that are not there. */
static int write_main(const check_run *c, const char *path) {
  buf text = {0};
  buf_printf(&text,
             "#include \"gg_kernel.h\"\n"
             "extern const gg_kernel_table %s;\n"
             "int ggcheck_main(const gg_kernel_table *table, gg_entry missing, int argc, char "
             "**argv);\n"
             "static void missing(void) {}\n"
             "int main(int argc, char **argv) {\n"
             "  return ggcheck_main(&%s, missing, argc, argv);\n"
             "}\n",
             c->table_symbol, c->table_symbol);
  for (size_t i = 0; i < c->count; i++)
    buf_printf(&text, "void %s_emu(void) __attribute__((weak, alias(\"missing\")));\n",
               c->kernels[i].symbol);
  int code = check_write(path, &text);
  buf_free(&text);
  return code;
}

/* Links objects: undefined symbols of the table are its fault, anything else the tools'. */
static int link_program(check_run *c, const char *output, char *const *objects, size_t count) {
  static const char *const libraries[] = {"-lggcheck", "-lgemmgen", "-lgemmgen_emu", "-lm",
                                          "-pthread"};
  check_command a = {.count = 0};
  size_t words = 0;
  process p;
  check_add_link(c, &a, output);
  const char **argv = calloc(a.count + count + 16, sizeof *argv);
  if (!argv) return check_fail(CHECK_INTERNAL, "out of memory");
  for (size_t i = 0; i < a.count; i++)
    argv[words++] = a.argv[i];
  for (size_t i = 0; i < count; i++)
    argv[words++] = objects[i];
  argv[words++] = "-L";
  argv[words++] = c->library;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    argv[words++] = libraries[i];
  p = (process){.argv = argv, .timeout_seconds = CHECK_TOOL_SECONDS};
  c->signal = process_run(&p, 1, 1, NULL, NULL);
  int code = c->signal ? CHECK_FAULT : 0;
  if (!code && !check_succeeded(&p)) {
    fwrite(p.err.data ? p.err.data : "", 1, p.err.size, stderr);
    if (p.err.data && strstr(p.err.data, "gg_table.o")) {
      printf("%s/gg_table.c:1: error: it names what no kernel defines [table]\n", c->folder);
      code = CHECK_FAULT;
    } else
      code = check_fail(CHECK_TOOL, "%s cannot link the check program", argv[0]);
  }
  process_free(&p);
  free(argv);
  return code;
}

static int make_main(check_run *c, const char *object) {
  char *source = check_path(c->work, "main.c");
  process p = {0};
  int code = source ? write_main(c, source) : CHECK_INTERNAL;
  if (!code) code = check_compile_one(c, source, object, &p);
  if (!code && !check_succeeded(&p)) {
    printf("%s/gg_table.c:1: error: a symbol of its rows is no C name [table]\n", c->folder);
    code = CHECK_FAULT;
  }
  process_free(&p);
  free(source);
  return code;
}

int check_link(check_run *c) {
  char **objects = calloc(c->count + 2, sizeof *objects);
  size_t count = 0;
  char *program = check_path(c->work, "check");
  int code = CHECK_INTERNAL;
  if (objects && program) {
    objects[count++] = check_path(c->work, "main.o");
    objects[count++] = check_path(c->work, "gg_table.o");
    for (size_t i = 0; i < c->count; i++)
      if (c->kernels[i].compiled) objects[count++] = object_path(c, &c->kernels[i]);
    code = objects[0] ? make_main(c, objects[0]) : CHECK_INTERNAL;
    if (!code) code = link_program(c, program, objects, count);
  }
  for (size_t i = 0; i < count; i++)
    free(objects[i]);
  free(objects);
  free(program);
  return code;
}

int check_line_of(const check_run *c, const char *file, const char *addresses) {
  char *program = check_path(c->work, "check");
  const char *argv[CHECK_ARGUMENTS] = {"addr2line", "-i", "-e", program};
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
  process p = {.argv = argv, .timeout_seconds = CHECK_TOOL_SECONDS};
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
