/* launch.c - a launch: its clusters dealt to host threads, its results gathered.
 *
 * Invariant: clusters are taken in rising order, each by one world; nothing of a cluster depends on
 * which world took it.
 */
#include "emu.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
  _Atomic uint64_t *next;
  uint64_t clusters;
  emu_world *world;
  pthread_t thread;
} job;

static int refuse(char error[240], const char *format, ...) {
  if (error != NULL) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, 240, format, args);
    va_end(args);
  }
  return -1;
}

static int check(const gg_emu *e, const gg_emu_launch *l, const gg_args *args, char error[240]) {
  const gg_emu_options *o = &e->options;
  const char *name = l->name != NULL ? l->name : "?";
  if (l->entry == NULL || args == NULL)
    return refuse(error, "launch of %s: no %s", name, args == NULL ? "arguments" : "entry");
  if (l->block_x == 0 || l->block_x > (unsigned)o->max_threads_per_block)
    return refuse(error, "launch of %s: %u threads in a block, of 1 to %d", name, l->block_x,
                  o->max_threads_per_block);
  if (l->shared_bytes > (unsigned)o->max_shared_bytes)
    return refuse(error, "launch of %s: %u bytes of shared memory, of at most %d", name,
                  l->shared_bytes, o->max_shared_bytes);
  if (l->grid_x == 0 || l->grid_y == 0 || l->grid_z == 0)
    return refuse(error, "launch of %s: an empty grid of %u x %u x %u blocks", name, l->grid_x,
                  l->grid_y, l->grid_z);
  if (l->grid_x > 2147483647u || l->grid_y > 65535 || l->grid_z > 65535)
    return refuse(error,
                  "launch of %s: a grid of %u x %u x %u blocks, of at most "
                  "2147483647 x 65535 x 65535",
                  name, l->grid_x, l->grid_y, l->grid_z);
  if (l->cluster_x > 1 && o->arch < 90)
    return refuse(error, "launch of %s: clusters of %u blocks, but arch %d has none", name,
                  l->cluster_x, o->arch);
  if (l->cluster_x > EMU_CLUSTER)
    return refuse(error, "launch of %s: clusters of %u blocks, of at most %d", name, l->cluster_x,
                  EMU_CLUSTER);
  if (l->cluster_x > 1 && l->grid_x % l->cluster_x != 0)
    return refuse(error, "launch of %s: %u blocks along x are no multiple of the cluster's %u",
                  name, l->grid_x, l->cluster_x);
  return 0;
}

static void *work(void *arg) {
  job *j = arg;
  ggi_emu_world = j->world;
  for (;;) {
    uint64_t i = atomic_fetch_add(j->next, 1);
    if (i >= j->clusters || j->world->short_of_memory) break;
    ggi_emu_run_cluster(j->world, i);
  }
  ggi_emu_world = NULL;
  return NULL;
}

static uint32_t cluster_of(const gg_emu_launch *l) {
  return l->cluster_x > 1 ? l->cluster_x : 1;
}

/* Worlds of the launch's geometry, kept from the last launch where they fit. */
static int worlds_ready(gg_emu *e, const gg_emu_launch *l, int n) {
  int fits = e->worlds > 0 && e->world[0]->block_threads == l->block_x &&
             e->world[0]->blocks == cluster_of(l) && e->world[0]->shared_bytes == l->shared_bytes;
  if (!fits || e->worlds < n) {
    for (int i = 0; i < e->worlds; i++)
      ggi_emu_world_destroy(e->world[i]);
    free(e->world);
    e->worlds = 0;
    e->world = calloc((size_t)n, sizeof(emu_world *));
    if (e->world == NULL) return -1;
    for (; e->worlds < n; e->worlds++)
      if (ggi_emu_world_create(e, l, &e->world[e->worlds]) != 0) return -1;
  }
  return 0;
}

static void world_begin(emu_world *w, const gg_emu_launch *l, const gg_args *args, int alone) {
  w->alone = alone;
  w->launch = l;
  w->args = args;
  w->options = w->device->options;
  w->step_limit = w->options.max_steps != 0 ? w->options.max_steps : UINT64_MAX;
  w->short_of_memory = 0;
  w->block_dim = (ggd_uint3){l->block_x, 1, 1};
  w->grid_dim = (ggd_uint3){l->grid_x, l->grid_y, l->grid_z};
  memset(w->near, 0, sizeof w->near);
  ggi_emu_notes_clear(&w->notes);
}

/* Adds the run's findings to those since the reset. */
static int gather(gg_emu *e, int n) {
  emu_notes run = {0};
  int status = e->options.check ? ggi_emu_global_end(e, e->world[0]->launch, &run) : 0;
  for (int i = 0; i < n; i++) {
    emu_world *w = e->world[i];
    if (w->short_of_memory || ggi_emu_notes_merge(&run, &w->notes) != 0) status = -1;
    if (ggi_emu_count_merge(e, w) != 0) status = -1;
  }
  for (size_t i = 0; i < run.count; i++)
    run.note[i].where += e->launches << 32;
  if (ggi_emu_notes_merge(&e->notes, &run) != 0) status = -1;
  ggi_emu_notes_free(&run);
  ggi_emu_notes_sort(&e->notes);
  e->launches++;

  gg_emu_finding *finding = realloc(e->finding, (e->notes.count + 1) * sizeof *finding);
  if (finding == NULL) return -1;
  e->finding = finding;
  e->findings = e->notes.count;
  for (size_t i = 0; i < e->notes.count; i++)
    finding[i] = e->notes.note[i].finding;
  return status;
}

int gg_emu_run(gg_emu *e, const gg_emu_launch *l, const gg_args *args, char error[240]) {
  if (check(e, l, args, error) != 0) return -1;
  uint64_t clusters = (uint64_t)l->grid_x * l->grid_y * l->grid_z / cluster_of(l);
  int n = e->options.host_threads < 1 ? 1 : e->options.host_threads;
  if ((uint64_t)n > clusters) n = (int)clusters;
  job *jobs = calloc((size_t)n, sizeof *jobs);
  if (jobs == NULL || worlds_ready(e, l, n) != 0) {
    free(jobs);
    return refuse(error, "launch of %s: memory is short", l->name != NULL ? l->name : "?");
  }
  ggi_emu_global_begin(e);

  _Atomic uint64_t next = 0;
  int started = 1;
  for (int i = 0; i < n; i++) {
    world_begin(e->world[i], l, args, n == 1);
    jobs[i] = (job){.next = &next, .clusters = clusters, .world = e->world[i]};
  }
  /* Fewer threads than asked for is slower, not wrong. */
  while (started < n && pthread_create(&jobs[started].thread, NULL, work, &jobs[started]) == 0)
    started++;
  work(&jobs[0]);
  for (int i = 1; i < started; i++)
    pthread_join(jobs[i].thread, NULL);
  free(jobs);
  if (gather(e, n) != 0)
    return refuse(error, "launch of %s: memory ran short; its results are incomplete",
                  l->name != NULL ? l->name : "?");
  return 0;
}
