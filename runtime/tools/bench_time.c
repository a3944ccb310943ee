/* bench_time.c - checks rivals, then times them against each other.
 *
 * A block is one rival's graph replayed for at least min_ms, so that clocks settle on its load;
 * with lead_ms they settle before the clock starts. Blocks go forwards and backwards through the
 * rivals (A B B A), so that a slow drift of clocks meets all alike. Each run of a graph takes the
 * next set of operands.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all steps need. */
typedef struct bench {
  gg_device *device;
  const bench_problem *problem;
  const bench_data *data;
  const bench_options *options;
  void *stream;
  void *begin, *end; /* events */
  char *error;       /* 300 bytes */
} bench;

static bool failed(const bench *x, const bench_rival *r, const char *what, const char *why) {
  snprintf(x->error, 300, "%s: %s: %s", r->name, what, why);
  return false;
}

static bool run(const bench *x, bench_rival *r, int set) {
  const char *why = r->run(r->self, x->data, set, x->stream);
  return why ? failed(x, r, "run", why) : true;
}

/* absmax as the run before it left it. */
static bool check_absmax(const bench *x, bench_rival *r, int which, double *worst) {
  double part = 0;
  int code = bench_absmax(x->data->absmax, x->data->absmax_reference[which], &part, x->stream);
  if (code != 0) return failed(x, r, "absmax", bench_error(code));
  if (!(part <= *worst)) *worst = part;
  return true;
}

/* which 0: set 0, normal numbers; 1: the last set, whole numbers. */
static bool check(const bench *x, bench_rival *r, int which) {
  const bench_problem *p = x->problem;
  const bench_data *data = x->data;
  int set = which ? data->sets : 0;
  double worst = 0;
  int code = bench_poison(data->d[set], data->bytes_d, x->stream);
  if (code == 0 && data->absmax) code = bench_zero(data->absmax, sizeof(float), x->stream);
  if (code != 0) return failed(x, r, "poison", bench_error(code));
  if (!run(x, r, set)) return false;
  code = bench_compare(data->d[set], bench_type_d(p), data->result[which], data->bound[which],
                       (size_t)p->m * (size_t)p->n * (size_t)p->batch, &worst, x->stream);
  if (code != 0) return failed(x, r, "comparison", bench_error(code));
  if (data->absmax && !check_absmax(x, r, which, &worst)) return false;
  if (!(worst <= r->worst)) r->worst = worst;
  return true;
}

static bool check_fresh(const bench *x, bench_rival *r) {
  return check(x, r, 0) && check(x, r, 1);
}

static bool lap(const bench *x, const bench_rival *r, float *ms) {
  if (x->device->ops->event_elapsed(x->device, x->begin, x->end, ms) != GG_OK)
    return failed(x, r, "time", gg_error_detail());
  return true;
}

static bool mark(const bench *x, const bench_rival *r, void *event) {
  if (x->device->ops->event_record(x->device, event, x->stream) != GG_OK)
    return failed(x, r, "event", gg_error_detail());
  return true;
}

static bool capture(const bench *x, bench_rival *r) {
  int code = bench_capture_begin(x->stream);
  if (code != 0) return failed(x, r, "capture", bench_error(code));
  bool good = true;
  for (int i = 0; i < r->runs && good; ++i)
    good = run(x, r, i % x->data->sets);
  code = bench_capture_end(x->stream, &r->graph);
  if (good && code != 0) return failed(x, r, "capture", bench_error(code));
  return good;
}

static bool replay(const bench *x, bench_rival *r, int times) {
  for (int i = 0; i < times; ++i) {
    int code = bench_replay(r->graph, x->stream);
    if (code != 0) return failed(x, r, "replay", bench_error(code));
  }
  return true;
}

/* Sizes the graph (2 ms, whole rounds over the sets) and the block. */
static bool prepare(const bench *x, bench_rival *r) {
  float ms = 0;
  int tries = x->data->sets < 8 ? x->data->sets : 8;
  if (!mark(x, r, x->begin)) return false;
  for (int i = 0; i < tries; ++i)
    if (!run(x, r, i)) return false;
  if (!mark(x, r, x->end) || !lap(x, r, &ms)) return false;
  double once = ms > 0 ? (double)ms / tries : 1e-3;
  int rounds = (int)ceil(2 / once / x->data->sets);
  r->runs = (rounds < 1 ? 1 : rounds > 64 ? 64 : rounds) * x->data->sets;
  if (!capture(x, r)) return false;

  if (!replay(x, r, 1) || !mark(x, r, x->begin) || !replay(x, r, 1) || !mark(x, r, x->end) ||
      !lap(x, r, &ms))
    return false;
  double replays = ceil(x->options->min_ms / (ms > 0 ? (double)ms : 1e-3));
  r->replays = replays < 1 ? 1 : replays > 1e6 ? 1000000 : (int)replays;
  r->lead = (int)ceil(x->options->lead_ms / (ms > 0 ? (double)ms : 1e-3));
  return true;
}

static bool block(const bench *x, bench_rival *r, bool keep) {
  float ms = 0;
  double mhz = 0;
  if (!replay(x, r, r->lead) || !mark(x, r, x->begin) || !replay(x, r, r->replays) ||
      !mark(x, r, x->end))
    return false;
  int code = bench_clock(&mhz, x->stream);
  if (code != 0) return failed(x, r, "clock", bench_error(code));
  if (!lap(x, r, &ms)) return false;
  if (keep) {
    r->times[r->blocks] = (double)ms / r->runs / r->replays;
    r->clocks[r->blocks++] = mhz;
  }
  return true;
}

static bool measure(const bench *x, bench_rival *rivals, int count) {
  for (int i = 0; i < count; ++i) {
    bench_rival *r = &rivals[i];
    r->worst = 0;
    r->blocks = 0;
    r->times = calloc((size_t)x->options->repeats * 2, sizeof *r->times);
    r->clocks = calloc((size_t)x->options->repeats * 2, sizeof *r->clocks);
    if (!r->times || !r->clocks) return failed(x, r, "times", "no memory");
    if (!check_fresh(x, r)) return false;
  }
  if (x->options->repeats == 0) return true;
  for (int i = 0; i < count; ++i)
    if (!prepare(x, &rivals[i])) return false;
  for (int i = 0; i < count; ++i)
    if (!block(x, &rivals[i], false)) return false;
  for (int round = 0; round < x->options->repeats; ++round) {
    for (int i = 0; i < count; ++i)
      if (!block(x, &rivals[i], true)) return false;
    for (int i = count - 1; i >= 0; --i)
      if (!block(x, &rivals[i], true)) return false;
  }
  /* Once more under load, into poisoned memory. */
  for (int i = 0; i < count; ++i)
    if (!check_fresh(x, &rivals[i])) return false;
  return true;
}

bool bench_measure(gg_device *device, const bench_problem *p, const bench_data *data,
                   bench_rival *rivals, int count, const bench_options *o, void *stream,
                   char error[300]) {
  bench x = {device, p, data, o, stream, NULL, NULL, error};
  if (device->ops->event_create(device, &x.begin) != GG_OK ||
      device->ops->event_create(device, &x.end) != GG_OK) {
    snprintf(error, 300, "%s", gg_error_detail());
    if (x.begin) device->ops->event_destroy(device, x.begin);
    return false;
  }
  bool good = measure(&x, rivals, count);
  device->ops->event_destroy(device, x.begin);
  device->ops->event_destroy(device, x.end);
  return good;
}

void bench_rival_free(bench_rival *rival) {
  bench_graph_free(rival->graph);
  free(rival->times);
  free(rival->clocks);
  rival->graph = NULL;
  rival->times = rival->clocks = NULL;
}
