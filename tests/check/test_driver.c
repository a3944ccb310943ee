/* test_driver.c - the command around the check: exit codes, what it prints, what it leaves alone,
 * and that whatever a kernel does it cannot take the command with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "support.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *emitted;               /* naive kernels only: they compile fast */
static char full[256], narrow[256]; /* names */

static int set_up(void **state) {
  (void)state;
  emitted = make_folder();
  must("printf '%%s\\n' 'gpu \"h100-sxm\"' 'local f = { a = \"f32\", b = \"f32\", d = \"f32\", "
       "acc = \"f32\" }' 'gemm { family = \"naive\", dtype = f, layout = \"nn\" }' > '%s.lua'",
       emitted);
  must("'%s' '%s.lua' -o '%s'", GEMMGEN, emitted, emitted);
  char *path = find_kernel(emitted, "full"), *name = kernel_name(path);
  snprintf(full, sizeof full, "%s", name);
  free(path);
  free(name);
  path = find_kernel(emitted, "narrow");
  name = kernel_name(path);
  snprintf(narrow, sizeof narrow, "%s", name);
  free(path);
  free(name);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  must("rm -f '%s.lua'", emitted);
  remove_folder(emitted);
  return 0;
}

/* A copy of the emitted folder with one change in the narrow kernel. */
static char *changed_copy(const char *find, const char *with) {
  char *folder = make_folder();
  must("cp '%s'/* '%s'", emitted, folder);
  char *path = find_kernel(folder, "narrow"), *text = read_text(path);
  char *changed = replaced(text, find, with, 1);
  if (!changed) fail_msg("not in the kernel: %s", find);
  write_text(path, changed);
  free(changed);
  free(text);
  free(path);
  return folder;
}

static void expect(int code, int wanted, const char *out, const char *part) {
  if (code != wanted || !strstr(out, part)) {
    print_error("exit %d, expected %d and '%s' in:\n%s\n", code, wanted, part, out);
    fail();
  }
}

static void test_folder(void **state) {
  (void)state;
  int code;
  must("chmod -R a-w '%s'", emitted); /* as it stands, and never written to */
  char *before = shell(&code, "ls -lA --time-style=full-iso '%s'", emitted);
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, emitted);
  int listed;
  char *after = shell(&listed, "ls -lA --time-style=full-iso '%s'", emitted);
  must("chmod -R u+w '%s'", emitted);
  assert_string_equal(before, after);
  expect(code, 0, out, "  ok\n");
  expect(code, 0, out, "2 kernels checked, 0 with faults");
  assert_null(strstr(out, "FAULT"));
  free(before);
  free(out);
  free(after);
}

static void test_spec(void **state) {
  (void)state;
  int code;
  char *scratch = make_folder();
  char *out = shell(&code, "TMPDIR='%s' '%s' check '%s.lua'", scratch, GEMMGEN, emitted);
  expect(code, 0, out, "2 kernels checked, 0 with faults");
  assert_null(strstr(out, scratch));
  free(out);
  out = shell(&code, "ls '%s'", scratch);
  assert_string_equal(out, ""); /* no temporary folder is left */
  free(out);
  remove_folder(scratch);
}

/* -- JSON: a small reader that knows the grammar and nothing else --------------------------- */

static const char *json_value(const char *at);

static const char *json_blank(const char *at) {
  return at + strspn(at, " \t\r\n");
}

static const char *json_string(const char *at) {
  if (!at || *at++ != '"') return NULL;
  for (; *at && *at != '"'; at++) {
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at == '\\' && !*++at) return NULL;
  }
  return *at ? at + 1 : NULL;
}

static const char *json_members(const char *at, char end, bool named) {
  at = json_blank(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (named) {
      at = json_string(json_blank(at));
      if (!at || *(at = json_blank(at)) != ':') return NULL;
      at++;
    }
    at = json_value(at);
    if (!at) return NULL;
    at = json_blank(at);
    if (*at == end) return at + 1;
    if (*at++ != ',') return NULL;
  }
}

static const char *json_value(const char *at) {
  static const char *const words[] = {"true", "false", "null"};
  at = json_blank(at);
  if (*at == '{') return json_members(at, '}', true);
  if (*at == '[') return json_members(at, ']', false);
  if (*at == '"') return json_string(at);
  for (int i = 0; i < 3; i++)
    if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
  if (*at != '-' && !isdigit((unsigned char)*at)) return NULL;
  char *end;
  strtod(at, &end);
  return end;
}

static void assert_json(const char *text) {
  const char *end = json_value(text);
  if (!end || *json_blank(end)) fail_msg("no JSON: %.200s", text);
}

static void test_json(void **state) {
  (void)state;
  static const char *const keys[] = {
      "\"gemmgen\":", "\"ok\":true",  "\"kernels\":",    "\"worst\":",
      "\"shared\":",  "\"sectors\":", "\"findings\":[]", "\"lines\":"};
  int code;
  char *out = shell(&code, "'%s' check '%s' --json", GEMMGEN, emitted);
  char *again = shell(&code, "'%s' check '%s' --json", GEMMGEN, emitted);
  assert_int_equal(code, 0);
  assert_json(out);
  assert_string_equal(out, again);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    assert_non_null(strstr(out, keys[i]));
  free(out);
  free(again);
}

static void test_options(void **state) {
  (void)state;
  int code;
  char *out =
      shell(&code, "'%s' check '%s' --kernel %s --problem 5x6x7 --problem 16x16x4x2 --seed 3",
            GEMMGEN, emitted, narrow);
  expect(code, 0, out, "4 problems");
  expect(code, 0, out, "1 kernel checked");
  expect(code, 0, out, ": st_f32"); /* one kernel: its lines */
  free(out);
  out = shell(&code, "'%s' check '%s' --problem 5x6x7", GEMMGEN, emitted);
  expect(code, 0, out, "not run"); /* the full kernel cannot */
  expect(code, 0, out, "none of the problems fits");
  free(out);
  out = shell(&code, "'%s' check '%s' --kernel nobody", GEMMGEN, emitted);
  expect(code, 2, out, "no kernel nobody");
  free(out);
}

static void test_prefix(void **state) {
  (void)state;
  int code;
  char *folder = make_folder();
  must("'%s' '%s.lua' -o '%s' --prefix p_", GEMMGEN, emitted, folder);
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  expect(code, 0, out, "2 kernels checked, 0 with faults");
  free(out);
  remove_folder(folder);
}

static void test_stray_files(void **state) {
  (void)state;
  int code;
  char *folder = changed_copy("gg_i64", "gg_i64");
  must("cp '%s/%s.cu' '%s/backup of mine.cu' && echo nonsense > '%s/stray.cu'", folder, narrow,
       folder, folder);
  char *out = shell(&code, "'%s' check '%s///'", GEMMGEN, folder);
  expect(code, 0, out, "2 kernels checked, 0 with faults");
  free(out);
  remove_folder(folder);
}

/* A kernel that does not compile does not keep the others from being checked. */
static void test_does_not_compile(void **state) {
  (void)state;
  int code;
  char *folder = changed_copy("  const float alpha", "  nonsense;\n  const float alpha"), part[600];
  char *text, *path = find_kernel(folder, "narrow");
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  text = read_text(path);
  int line = 1;
  for (const char *at = text; at < strstr(text, "nonsense"); at++)
    line += *at == '\n';
  snprintf(part, sizeof part, "%s:%d: error: does not compile: ", path, line);
  expect(code, 4, out, part);
  expect(code, 4, out, "[compile]");
  expect(code, 4, out, "2 kernels checked, 1 with faults");
  expect(code, 4, out, "  ok\n");
  free(out);
  out = shell(&code, "'%s' check '%s' --json", GEMMGEN, folder);
  assert_json(out);
  expect(code, 4, out, "\"kind\":\"compile\"");
  free(out);
  free(text);
  free(path);
  remove_folder(folder);
}

static void test_missing_kernel(void **state) {
  (void)state;
  int code;
  char *folder = changed_copy("gg_i64", "gg_i64");
  must("rm '%s/%s.cu'", folder, narrow);
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  expect(code, 4, out, "[compile]");
  free(out);
  remove_folder(folder);
}

static void test_crash(void **state) {
  (void)state;
  int code;
  char *folder = changed_copy("  float acc = 0.0f;",
                              "  if (p.k == 1) *(volatile int *)16 = 1;\n  float acc = 0.0f;");
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  expect(code, 4, out, "crashed with signal 11");
  expect(code, 4, out, "[crash]");
  char *path = find_kernel(folder, "narrow"), *text = read_text(path), part[600];
  int line = 1;
  for (const char *at = text; at < strstr(text, "volatile int"); at++)
    line += *at == '\n';
  snprintf(part, sizeof part, "%s:%d: error: ", path, line);
  expect(code, 4, out, part);
  free(out);
  out = shell(&code, "'%s' check '%s' --json", GEMMGEN, folder);
  assert_json(out);
  expect(code, 4, out, "\"kind\":\"crash\"");
  free(out);
  free(path);
  free(text);
  remove_folder(folder);
}

/* Runs check_folder in a child, so that its output can be read. */
static char *limited(const char *folder, int timeout, int memory, int *code) {
  return shell(code, "'/proc/%ld/exe' --check '%s' %d %d", (long)getpid(), folder, timeout, memory);
}

static void test_timeout(void **state) {
  (void)state;
  int code;
  char *folder = changed_copy("  float acc = 0.0f;", "  while (p.k == 1) ;\n  float acc = 0.0f;");
  double start = seconds_now();
  char *out = limited(folder, 2, 0, &code), *path = find_kernel(folder, "narrow");
  char *text = read_text(path), part[600];
  assert_true(seconds_now() - start < 30);
  int line = 1;
  for (const char *at = text; at < strstr(text, "while (p.k == 1)"); at++)
    line += *at == '\n';
  snprintf(part, sizeof part, "%s:%d: error: was still running after 2 s", path, line);
  expect(code, 4, out, part);
  expect(code, 4, out, "[timeout]");
  expect(code, 4, out, "2 kernels checked, 1 with faults");
  free(out);
  free(path);
  free(text);
  remove_folder(folder);
}

static void test_memory(void **state) {
  (void)state;
  int code;
  char *out = limited(emitted, 60, 1, &code);
  expect(code, 4, out, "the check used more than 1 MiB");
  expect(code, 4, out, "[memory]");
  free(out);
}

static void test_tools(void **state) {
  (void)state;
  int code;
  char *out = shell(&code, "CC=no-such-compiler '%s' check '%s'", GEMMGEN, emitted);
  expect(code, 3, out, "no-such-compiler: No such file or directory");
  free(out);
  out = shell(&code, "CC='  cc   -pipe ' '%s' check '%s' --kernel %s", GEMMGEN, emitted, full);
  expect(code, 0, out, "0 with faults");
  free(out);
  /* Alone in a folder the program has no library beside it. */
  char *folder = make_folder();
  must("cp '%s' '%s/gemmgen'", GEMMGEN, folder);
  out = shell(&code, "env -u GEMMGEN_HOME '%s/gemmgen' check '%s'", folder, emitted);
  expect(code, 3, out, "set GEMMGEN_HOME");
  free(out);
  out = shell(&code, "GEMMGEN_HOME=\"$(dirname \"$(dirname '%s')\")\" '%s/gemmgen' check '%s'",
              GEMMGEN, folder, emitted);
  expect(code, 0, out, "0 with faults");
  free(out);
  remove_folder(folder);
}

static void test_bad_folders(void **state) {
  (void)state;
  int code;
  char *folder = make_folder(), path[600];
  char *out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  expect(code, 2, out, "has no gg_table.c");
  free(out);
  snprintf(path, sizeof path, "%s/gg_table.c", folder);
  write_text(path, "nonsense\n");
  out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  expect(code, 4, out, "gg_table.c:1: error:");
  free(out);
  write_text(path, "#include \"gg_kernel.h\"\n"
                   "extern const gg_kernel_table t;\n"
                   "const gg_kernel_table t = {.abi = GG_KERNEL_ABI + 1, .emulated = 1};\n");
  out = shell(&code, "'%s' check '%s'", GEMMGEN, folder);
  expect(code, 4, out, "built for another version");
  free(out);
  remove_folder(folder);
}

static void test_interrupt(void **state) {
  (void)state;
  int code;
  char *scratch = make_folder();
  char *folder = changed_copy("  float acc = 0.0f;", "  while (p.k == 1) ;\n  float acc = 0.0f;");
  char *out =
      shell(&code, "TMPDIR='%s' timeout -s INT 3 '%s' check '%s'", scratch, GEMMGEN, folder);
  assert_int_equal(code, 124);
  free(out);
  out = shell(&code, "ls '%s'", scratch);
  assert_string_equal(out, "");
  free(out);
  remove_folder(scratch);
  remove_folder(folder);
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--check") == 0) {
    check_options o;
    check_options_init(&o);
    o.folder = argv[2];
    o.timeout_seconds = atoi(argv[3]);
    o.memory_mib = atoi(argv[4]);
    return check_folder(&o);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folder),
      cmocka_unit_test(test_spec),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_stray_files),
      cmocka_unit_test(test_does_not_compile),
      cmocka_unit_test(test_missing_kernel),
      cmocka_unit_test(test_crash),
      cmocka_unit_test(test_timeout),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_tools),
      cmocka_unit_test(test_bad_folders),
      cmocka_unit_test(test_interrupt),
  };
  double start = seconds_now();
  int failed = cmocka_run_group_tests_name("check: driver", tests, set_up, tear_down);
  printf("%.1f s\n", seconds_now() - start);
  return failed;
}
