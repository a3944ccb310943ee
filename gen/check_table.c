/* check_table.c - which kernels a folder has: its gg_table.c, compiled and asked.
 *
 * The table is linked alone, its kernels left undefined, with a program that prints its rows. That
 * needs no library, and no knowledge of how the table is written but its type.
 */
#define _XOPEN_SOURCE 700
#include "check_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folder's table is the user's file: what is wrong with it is a fault. */
static int table_wrong(const check_run *c, const process *p, const char *why) {
  printf("%s/gg_table.c:1: error: %s [table]\n", c->folder, why);
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

/* Preprocesses the table and finds its symbol. */
static int find_symbol(check_run *c, const char *table) {
  check_command a = {.count = 0};
  process p;
  check_add_compile(c, &a, false);
  check_add(&a, "-E");
  check_add(&a, "-P");
  check_add(&a, table);
  int code = check_run_one(c, &a, &p);
  if (!code && check_succeeded(&p) && p.out.data) c->table_symbol = find_table_symbol(p.out.data);
  if (!code && !c->table_symbol)
    code = table_wrong(c, &p, "it defines no gg_kernel_table, or the compiler cannot read it");
  process_free(&p);
  return code;
}

/* The program that prints the rows: "name<tab>symbol<tab>file". */
static int write_list(const check_run *c, const char *path) {
  buf text = {0};
  buf_printf(&text,
             "#include \"gg_kernel.h\"\n"
             "int printf(const char *format, ...);\n"
             "extern const gg_kernel_table %s;\n"
             "int main(void) {\n"
             "  const gg_kernel_table *t = &%s;\n"
             "  if (t->abi != GG_KERNEL_ABI || t->args_size != (int)sizeof(gg_args) ||\n"
             "      t->row_size != (int)sizeof(gg_kernel)) {\n"
             "    printf(\"it was built for another version of the library\");\n"
             "    return 1;\n"
             "  }\n"
             "  for (int i = 0; i < t->count; i++)\n"
             "    printf(\"%%s\\t%%s\\t%%s\\n\", t->kernels[i].name, t->kernels[i].symbol, "
             "t->kernels[i].file);\n"
             "  return 0;\n"
             "}\n",
             c->table_symbol, c->table_symbol);
  int code = check_write(path, &text);
  buf_free(&text);
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

static int list_rows(check_run *c, const char *program) {
  check_command a = {.count = 0};
  process p;
  check_add(&a, program);
  int code = check_run_one(c, &a, &p);
  if (!code && !check_succeeded(&p))
    code = table_wrong(c, &p, p.out.data ? p.out.data : "its rows cannot be read");
  else if (!code && p.out.data && !parse_rows(c, p.out.data))
    code = check_fail(CHECK_INTERNAL, "the table's rows cannot be listed");
  process_free(&p);
  return code;
}

static int link_list(check_run *c, const char *program, const char *table, const char *list) {
  check_command a = {.count = 0};
  process p;
  check_add_link(c, &a, program);
  check_add(&a, "-Wl,--unresolved-symbols=ignore-all");
  check_add(&a, table);
  check_add(&a, list);
  int code = check_run_one(c, &a, &p);
  if (!code && !check_succeeded(&p)) code = table_wrong(c, &p, "it cannot be linked");
  process_free(&p);
  return code;
}

/* Compiles one of the two sources. */
static int compile(check_run *c, const char *source, const char *object) {
  process p;
  int code = check_compile_one(c, source, object, &p);
  if (!code && !check_succeeded(&p)) code = table_wrong(c, &p, "it does not compile");
  process_free(&p);
  return code;
}

int check_read_table(check_run *c) {
  char *source = check_path(c->folder, "gg_table.c"), *shim = check_path(c->work, "list.c");
  char *table = check_path(c->work, "gg_table.o"), *list = check_path(c->work, "list.o");
  char *program = check_path(c->work, "list");
  int code = CHECK_INTERNAL;
  if (source && shim && table && list && program) {
    code = find_symbol(c, source);
    if (!code) code = write_list(c, shim);
    if (!code) code = compile(c, source, table);
    if (!code) code = compile(c, shim, list);
    if (!code) code = link_list(c, program, table, list);
    if (!code) code = list_rows(c, program);
  }
  char *const paths[] = {source, shim, table, list, program};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    free(paths[i]);
  return code;
}
