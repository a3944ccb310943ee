/* support.h - what the tests of `gemmgen check` share: shell commands, files, emitted folders. */
#ifndef TESTS_CHECK_SUPPORT_H
#define TESTS_CHECK_SUPPORT_H

#include <stdbool.h>

/* Runs a command line; its stdout and stderr in one string that the caller frees, its exit code in
 * *code (128 + signal if it was killed). Fails the test where no shell can be started. */
char *shell(int *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, failing the test unless the code is 0. The output is dropped. */
void must(const char *format, ...) __attribute__((format(printf, 1, 2)));

char *read_text(const char *path); /* caller frees; fails the test if it cannot be read */
void write_text(const char *path, const char *text);

/* A fresh folder under $TMPDIR; removed by remove_folder. The caller frees the string. */
char *make_folder(void);
void remove_folder(char *path); /* frees it too */

/* Path of the one emitted kernel in `folder` whose name contains all of `words` (separated by
 * blanks); fails the test unless there is exactly one. Caller frees. */
char *find_kernel(const char *folder, const char *words);
/* "x/y.cu" -> "y", caller frees. */
char *kernel_name(const char *path);

/* Text of line `number` (from 1), caller frees; "" beyond the end. */
char *line_of(const char *text, int number);
/* The n-th occurrence (from 1; 0: all; -1: the last) of `find` replaced; NULL if there is none.
 * Caller frees. */
char *replaced(const char *text, const char *find, const char *with, int n);

double seconds_now(void);

#endif
