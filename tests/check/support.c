/* support.c - see support.h. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static char *shell_words(int *code, const char *format, va_list arguments) {
  char command[8192];
  int length = vsnprintf(command, sizeof command - 8, format, arguments);
  assert_in_range(length, 1, sizeof command - 9);
  strcat(command, " 2>&1");
  fflush(stdout);
  FILE *f = popen(command, "r");
  assert_non_null(f);
  size_t size = 0, room = 1 << 16;
  char *out = malloc(room);
  assert_non_null(out);
  for (size_t got; (got = fread(out + size, 1, room - size - 1, f)) > 0;) {
    size += got;
    if (room - size < 2) {
      out = realloc(out, room *= 2);
      assert_non_null(out);
    }
  }
  out[size] = 0;
  int status = pclose(f);
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

char *shell(int *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *out = shell_words(code, format, arguments);
  va_end(arguments);
  return out;
}

void must(const char *format, ...) {
  int code;
  va_list arguments;
  va_start(arguments, format);
  char *out = shell_words(&code, format, arguments);
  va_end(arguments);
  if (code) print_error("%s\n%s\n", format, out);
  free(out);
  assert_int_equal(code, 0);
}

char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("cannot read %s", path);
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  char *text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, f), size);
  text[size] = 0;
  fclose(f);
  return text;
}

void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) fail_msg("cannot write %s", path);
  assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
  assert_int_equal(fclose(f), 0);
}

char *make_folder(void) {
  const char *base = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/gemmgen-test-XXXXXX", base && *base ? base : "/tmp");
  assert_non_null(mkdtemp(path));
  return strdup(path);
}

void remove_folder(char *path) {
  if (path) must("chmod -R u+w '%s' && rm -rf '%s'", path, path);
  free(path);
}

static bool has_all(const char *name, const char *words) {
  while (*words) {
    size_t length = strcspn(words, " ");
    char word[64];
    assert_in_range(length, 1, sizeof word - 1);
    memcpy(word, words, length);
    word[length] = 0;
    if (!strstr(name, word)) return false;
    words += length + (words[length] == ' ');
  }
  return true;
}

char *find_kernel(const char *folder, const char *words) {
  DIR *d = opendir(folder);
  char *found = NULL;
  if (!d) fail_msg("cannot open %s", folder);
  for (const struct dirent *e; (e = readdir(d));) {
    size_t length = strlen(e->d_name);
    if (length < 4 || strcmp(e->d_name + length - 3, ".cu") != 0 || !has_all(e->d_name, words))
      continue;
    if (found) fail_msg("'%s' is the name of several kernels in %s", words, folder);
    found = malloc(strlen(folder) + length + 2);
    assert_non_null(found);
    sprintf(found, "%s/%s", folder, e->d_name);
  }
  closedir(d);
  if (!found) fail_msg("no kernel '%s' in %s", words, folder);
  return found;
}

char *kernel_name(const char *path) {
  const char *slash = strrchr(path, '/');
  char *name = strdup(slash ? slash + 1 : path);
  assert_non_null(name);
  name[strlen(name) - 3] = 0;
  return name;
}

char *line_of(const char *text, int number) {
  while (--number > 0 && *text) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return strndup(text, strcspn(text, "\n"));
}

char *replaced(const char *text, const char *find, const char *with, int n) {
  size_t count = 0, last = 0;
  for (const char *at = text; (at = strstr(at, find)); at += strlen(find))
    last = ++count;
  if (!count || (n > 0 && (size_t)n > count)) return NULL;
  char *out = malloc(strlen(text) + count * strlen(with) + 1), *to = out;
  assert_non_null(out);
  size_t seen = 0;
  for (const char *at; (at = strstr(text, find)); text = at + strlen(find)) {
    seen++;
    bool mine = n == 0 || (n > 0 && seen == (size_t)n) || (n < 0 && seen == last);
    const char *put = mine ? with : find;
    memcpy(to, text, (size_t)(at - text));
    to += at - text;
    memcpy(to, put, strlen(put));
    to += strlen(put);
  }
  strcpy(to, text);
  return out;
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
