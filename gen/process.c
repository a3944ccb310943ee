/* process.c - a pool of child processes behind one poll() loop.
 *
 * Invariant: when process_run returns, no child of it is alive, on whichever way: each has a
 * process group of its own, which is killed as a whole (a compiler driver has children too).
 */
#define _DEFAULT_SOURCE 1 /* wait4 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TICK_MS = 20, GRACE_SECONDS = 1, JOBS_MAX = 256, OUTPUT_MAX = 64 << 20 };

/* A child that runs. */
typedef struct child {
  process *p;
  pid_t pid;
  int out, err;         /* pipe ends, -1 once closed */
  double start, killed; /* seconds; killed: when SIGALRM was sent, 0 if not */
} child;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  interrupted = number;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int process_cores(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (int)count;
}

void process_free(process *p) {
  buf_free(&p->out);
  buf_free(&p->err);
}

static bool make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return false;
  for (int i = 0; i < 2; i++)
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return true;
}

/* Returns 0 or an errno. */
static int spawn(child *c, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  int result = posix_spawn_file_actions_init(&actions);
  if (result) return result;
  result = posix_spawnattr_init(&attributes);
  if (!result) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF));
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    result = posix_spawnp(&c->pid, c->p->argv[0], &actions, &attributes,
                          (char *const *)(const void *)c->p->argv, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return result;
}

static bool start(child *c, process *p) {
  int out[2], err[2];
  *c = (child){.p = p, .out = -1, .err = -1, .start = now()};
  int failed = make_pipe(out) ? 0 : errno;
  if (!failed && !make_pipe(err)) {
    failed = errno;
    close(out[0]);
    close(out[1]);
  }
  if (!failed) {
    failed = spawn(c, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    c->out = out[0];
    c->err = err[0];
    if (failed) {
      close(out[0]);
      close(err[0]);
    }
  }
  p->end = failed ? PROCESS_MISSING : PROCESS_PENDING;
  p->code = failed;
  return !failed;
}

/* Takes what the pipe holds; closes it at its end. */
static void drain(int *fd, buf *to) {
  char bytes[16384];
  while (*fd >= 0) {
    ssize_t got = read(*fd, bytes, sizeof bytes);
    if (got > 0 && to->size < OUTPUT_MAX)
      buf_add(to, bytes, (size_t)got);
    else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      close(*fd);
      *fd = -1;
    } else if (got < 0)
      return;
  }
}

/* Resident memory in MiB, 0 where /proc does not say. */
static long resident_mib(pid_t pid) {
  char path[64];
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  if (fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
  fclose(f);
  return pages / ((1 << 20) / sysconf(_SC_PAGESIZE));
}

static void enforce(child *c) {
  double time = now();
  process *p = c->p;
  if (c->killed > 0) {
    if (time - c->killed > GRACE_SECONDS) kill(-c->pid, SIGKILL);
    return;
  }
  if (p->timeout_seconds && time - c->start > p->timeout_seconds)
    p->end = PROCESS_TIMEOUT;
  else if (p->memory_mib && resident_mib(c->pid) > p->memory_mib)
    p->end = PROCESS_MEMORY;
  else
    return;
  c->killed = time;
  kill(-c->pid, SIGALRM);
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* true: the child has ended and is accounted for. */
static bool reap(child *c) {
  int status;
  struct rusage used;
  pid_t got = wait4(c->pid, &status, WNOHANG, &used);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  kill(-c->pid, SIGKILL); /* what it may have left behind holds the pipes */
  drain(&c->out, &c->p->out);
  drain(&c->err, &c->p->err);
  if (c->out >= 0) close(c->out);
  if (c->err >= 0) close(c->err);
  c->p->seconds = now() - c->start;
  if (got > 0) c->p->processor = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  if (c->p->end != PROCESS_PENDING) /* a limit ended it */
    return true;
  c->p->end = WIFSIGNALED(status) ? PROCESS_SIGNAL : PROCESS_EXITED;
  c->p->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

static void wait_for_output(child *children, size_t running) {
  struct pollfd fds[2 * JOBS_MAX];
  nfds_t count = 0;
  for (size_t i = 0; i < running; i++) {
    if (children[i].out >= 0)
      fds[count++] = (struct pollfd){.fd = children[i].out, .events = POLLIN};
    if (children[i].err >= 0)
      fds[count++] = (struct pollfd){.fd = children[i].err, .events = POLLIN};
  }
  /* With all pipes closed only the exit is missing, which poll does not see. */
  poll(fds, count, count ? TICK_MS : 1);
}

int process_run(process *list, size_t count, int jobs, process_progress *progress, void *data) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_interrupt}, before[3];
  child children[JOBS_MAX];
  size_t next = 0, running = 0, ended = 0;
  size_t most = (size_t)(jobs > 0 ? (jobs < JOBS_MAX ? jobs : JOBS_MAX) : process_cores());
  interrupted = 0;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; i++)
    sigaction(numbers[i], &action, &before[i]);
  while ((next < count && !interrupted) || running) {
    while (running < most && next < count && !interrupted) {
      if (start(&children[running], &list[next++]))
        running++;
      else
        ended++;
    }
    if (interrupted)
      for (size_t i = 0; i < running; i++)
        kill(-children[i].pid, SIGKILL);
    if (running) wait_for_output(children, running);
    for (size_t i = 0; i < running;) {
      child *c = &children[i];
      drain(&c->out, &c->p->out);
      drain(&c->err, &c->p->err);
      enforce(c);
      if (reap(c)) {
        *c = children[--running];
        ended++;
      } else
        i++;
    }
    if (progress) progress(data, ended, count);
  }
  for (int i = 0; i < 3; i++)
    sigaction(numbers[i], &before[i], NULL);
  return interrupted;
}
