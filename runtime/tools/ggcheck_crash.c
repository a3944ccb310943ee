/* ggcheck_crash.c - signal handler with a backtrace.
 *
 * A kernel runs on a fiber's small stack, which may be what overflowed: the handler has a stack of
 * its own. Only write() and backtrace(), which was called once before so that it loads nothing.
 */
#define _GNU_SOURCE 1 /* execinfo.h, sigaltstack */
#include "ggcheck_crash.h"

#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 48, STACK = 128 * 1024 };

static const char *volatile kernel_name;

static void put(const char *text) {
  size_t left = strlen(text);
  while (left) {
    ssize_t done = write(STDOUT_FILENO, text, left);
    if (done <= 0) return;
    text += done;
    left -= (size_t)done;
  }
}

static void put_number(uint64_t value, unsigned base) {
  char text[24];
  size_t at = sizeof text - 1;
  text[at] = 0;
  do
    text[--at] = "0123456789abcdef"[value % base];
  while ((value /= base) != 0);
  put(text + at);
}

static void on_signal(int number) {
  void *frames[FRAMES];
  const char *name = kernel_name;
  put("\nX ");
  put_number((uint64_t)number, 10);
  put(" ");
  put(name ? name : "-");
  put("\n");
  int count = backtrace(frames, FRAMES);
  for (int i = 0; i < count; i++) {
    put("B 0x");
    put_number((uint64_t)(uintptr_t)frames[i], 16);
    put("\n");
  }
  signal(number, SIG_DFL);
  raise(number);
}

void ggcheck_crash_kernel(const char *name) {
  kernel_name = name;
}

void ggcheck_crash_install(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  void *frames[1];
  backtrace(frames, 1);
  static unsigned char memory[STACK];
  stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  struct sigaction action = {.sa_handler = on_signal};
  action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
  if (sigaltstack(&stack, NULL) == 0) action.sa_flags |= SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    sigaction(numbers[i], &action, NULL);
}
