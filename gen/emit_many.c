/* emit_many.c - a pool of emitters, one Lua state and one set of diagnostics each.
 *
 * Invariant: workers share nothing but the counter of tasks taken and the flag that ends them; a
 * task's buffer is touched by the one worker that took it.
 */
#include "emit_many.h"
#include "progress.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_WORKERS = 8, TASKS_A_WORKER = 16 };

typedef struct pool {
  const emit_task *tasks;
  size_t count;
  const char *templates, *command, *prefix;
  atomic_size_t taken, done;
  atomic_bool stop;
} pool;

typedef struct worker {
  pool *p;
  diag *d;
  progress *bar; /* of the worker that shows it; NULL for the others */
  size_t fault;  /* task at which it failed; count: none */
  bool ok;
  pthread_t thread;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  pool *p = w->p;
  w->fault = p->count;
  emitter *e = emitter_new(p->templates, w->d);
  w->ok = e != NULL;
  if (!w->ok) w->fault = 0;
  while (w->ok && !atomic_load(&p->stop)) {
    size_t i = atomic_fetch_add(&p->taken, 1);
    if (i >= p->count) break;
    const emit_task *t = &p->tasks[i];
    w->ok = emit_kernel(e, t->plan, p->command, t->specs, p->prefix, t->out, w->d);
    if (!w->ok) w->fault = i;
    size_t done = atomic_fetch_add(&p->done, 1) + 1;
    if (w->bar) progress_at(w->bar, done);
  }
  if (!w->ok) atomic_store(&p->stop, true);
  emitter_free(e);
  return NULL;
}

static size_t worker_count(size_t tasks) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t wanted = tasks / TASKS_A_WORKER + 1;
  if (cores > 0 && wanted > (size_t)cores) wanted = (size_t)cores;
  return wanted < MAX_WORKERS ? wanted : MAX_WORKERS;
}

static void copy_diagnostics(const diag *from, diag *to) {
  for (size_t i = 0; i < diag_count(from); ++i) {
    const diag_item *item = diag_at(from, i);
    diag_add(to, item->level, item->file, item->line, item->field, item->code, "%s", item->text);
  }
}

bool emit_many(const emit_task *tasks, size_t count, const char *templates, const char *command,
               const char *prefix, diag *d) {
  pool p = {
      .tasks = tasks, .count = count, .templates = templates, .command = command, .prefix = prefix};
  progress bar;
  progress_begin(&bar, "kernels", count);
  worker workers[MAX_WORKERS] = {{.p = &p, .d = diag_new(), .bar = &bar}};
  size_t running = 1;
  for (size_t wanted = worker_count(count); running < wanted; ++running) {
    worker *w = &workers[running];
    *w = (worker){.p = &p, .d = diag_new()};
    if (!w->d || pthread_create(&w->thread, NULL, work, w) != 0) {
      diag_free(w->d); /* fewer will do */
      break;
    }
  }
  bool ok = workers[0].d != NULL;
  if (ok)
    work(&workers[0]);
  else
    atomic_store(&p.stop, true);
  worker *first = NULL; /* of those that failed, the one at the earliest task */
  for (size_t i = 0; i < running; ++i) {
    if (i > 0) pthread_join(workers[i].thread, NULL);
    if (i == 0 && !ok) continue;
    if (!workers[i].ok && (!first || workers[i].fault < first->fault)) first = &workers[i];
  }
  progress_end(&bar);
  if (first) copy_diagnostics(first->d, d);
  if (!ok || (first && !diag_errors(first->d)))
    diag_add(d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
  for (size_t i = 0; i < running; ++i)
    diag_free(workers[i].d);
  return ok && !first;
}
