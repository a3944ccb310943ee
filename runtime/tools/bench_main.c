/* bench_main.c - gemmbench_main: arguments, the loop over problems, exit codes.
 *
 * Correctness first: a kernel whose result is wrong is reported with that result and ends in exit
 * code 4, after all problems were measured.
 */
#include "bench.h"
#include "dtype.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
  bench_suite suite;
  bool has_suite, all, pairs, cublas, fast_accum;
  bench_steps steps; /* of every problem */
  const char *kernel;
  const char *match; /* of --all: globs with commas between, or NULL */
  bench_format format;
  bench_options options;
  int device;
  bench_problem shape; /* layout and dtype of --problem */
} arguments;

/* One kernel as a rival. */
typedef struct entrant {
  gg_plan *plan;
  gg_dtype epilogue; /* type of the scalars */
  void *workspace;
} entrant;

typedef struct session {
  const arguments *args;
  const gg_kernel_table *table;
  gg_device *device;
  gg_context *context;
  void *stream;
  bench_cublas *cublas;
  bench_report report;
  bool wrong;
} session;

static int wrong_usage(const char *what, const char *value) {
  fprintf(stderr, "gemmbench: %s%s%s; gemmbench --help lists the options\n", what,
          value ? ": " : "", value ? value : "");
  return 1;
}

static bool count_of(const char *text, int most, int *value) {
  char *end;
  errno = 0;
  long n = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || n < 0 || n > most) return false;
  *value = (int)n;
  return true;
}

/* An option with a value. 0, or an exit code. */
static int option(arguments *a, const char *name, const char *value) {
  int number = 0;
  if (strcmp(name, "--suite") == 0) {
    a->has_suite = true;
    return bench_read(&a->suite, value) ? 0 : 2;
  }
  if (strcmp(name, "--problem") == 0) {
    bench_problem p = a->shape;
    if (!bench_size(value, &p)) return wrong_usage("--problem is not MxNxK or MxNxKxBATCH", value);
    snprintf(p.name, sizeof p.name, "%.47s", value);
    a->has_suite = true;
    return bench_add(&a->suite, &p) ? 0 : 3;
  }
  if (strcmp(name, "--layout") == 0)
    return bench_layout(value, &a->shape.order_a, &a->shape.order_b)
               ? 0
               : wrong_usage("--layout is not nn, nt, tn or tt", value);
  if (strcmp(name, "--dtype") == 0) {
    a->shape.type = bench_dtype(value);
    a->shape.type_d = GG_NONE;
    return a->shape.type != GG_NONE ? 0 : wrong_usage("--dtype is unknown", value);
  }
  if (strcmp(name, "--type-d") == 0) {
    a->shape.type_d = bench_dtype(value);
    return a->shape.type_d != GG_NONE ? 0 : wrong_usage("--type-d is unknown", value);
  }
  bool known;
  if (bench_step(&a->steps, name, value, &known)) return 0;
  if (known) return wrong_usage("a step has no such value", value);
  if (strcmp(name, "--kernel") == 0) {
    a->kernel = value;
    return 0;
  }
  if (strcmp(name, "--match") == 0) {
    a->match = value;
    a->all = true;
    return 0;
  }
  if (strcmp(name, "--baseline") == 0) {
    a->cublas = strcmp(value, "cublas") == 0;
    return a->cublas ? 0 : wrong_usage("--baseline knows cublas only", value);
  }
  if (strcmp(name, "--repeats") == 0)
    return count_of(value, 100, &a->options.repeats)
               ? 0
               : wrong_usage("--repeats is not 0..100", value);
  if (strcmp(name, "--min-ms") == 0) {
    if (!count_of(value, 60000, &number)) return wrong_usage("--min-ms is not 0..60000", value);
    a->options.min_ms = number;
    return 0;
  }
  if (strcmp(name, "--lead-ms") == 0) {
    if (!count_of(value, 60000, &number)) return wrong_usage("--lead-ms is not 0..60000", value);
    a->options.lead_ms = number;
    return 0;
  }
  if (strcmp(name, "--device") == 0)
    return count_of(value, 1023, &a->device) ? 0 : wrong_usage("--device is no ordinal", value);
  return wrong_usage("unknown option", name);
}

/* 0, or an exit code. gemmbench --help (gemmbench.c) lists the options. */
static int parse(int argc, char **argv, arguments *a) {
  for (int i = 1; i < argc; ++i) {
    const char *name = argv[i];
    if (strcmp(name, "--all") == 0) {
      a->all = true;
    } else if (strcmp(name, "--pairs") == 0) {
      a->all = a->pairs = true;
    } else if (strcmp(name, "--fast-accum") == 0) {
      a->fast_accum = true;
    } else if (strcmp(name, "--residual") == 0) {
      a->steps.residual = 1;
    } else if (strcmp(name, "--absmax") == 0) {
      a->steps.absmax = 1;
    } else if (strcmp(name, "--csv") == 0) {
      a->format = BENCH_CSV;
    } else if (strcmp(name, "--json") == 0) {
      a->format = BENCH_JSON;
    } else if (strncmp(name, "--", 2) != 0) {
      return wrong_usage("unexpected argument", name);
    } else if (i + 1 == argc) {
      return wrong_usage("unknown option, or its value is missing", name);
    } else {
      int code = option(a, name, argv[++i]);
      if (code != 0) return code;
    }
  }
  for (size_t i = 0; i < a->suite.count; ++i) {
    a->suite.problems[i].fast_accum = a->fast_accum;
    a->suite.problems[i].steps = a->steps;
  }
  if (!a->has_suite) return wrong_usage("no problem: give --suite or --problem", NULL);
  if (a->all && a->kernel)
    return wrong_usage("--all, or --match, and --kernel exclude each other", NULL);
  return 0;
}

/* ---- Measuring ---- */

static const char *run_plan(void *self, const bench_data *data, int set, void *stream) {
  const entrant *e = self;
  const gg_pointers pointers = bench_pointers(data, set);
  gg_scalar one = gg_scalar_f32(1), zero = gg_scalar_f32(0);
  if (e->epilogue == GG_F64) one = gg_scalar_f64(1), zero = gg_scalar_f64(0);
  if (e->epilogue == GG_S32) one = gg_scalar_s32(1), zero = gg_scalar_s32(0);
  gg_status status =
      gg_run(e->plan, &pointers, one, zero, e->workspace, gg_plan_workspace(e->plan), stream);
  return status == GG_OK ? NULL : gg_error_detail();
}

static gg_status plan_of(const session *s, const bench_problem *p, const char *pin, entrant *e) {
  gg_problem problem;
  gg_problem_init(&problem, p->type);
  problem.device = s->device;
  problem.type_d = bench_type_d(p);
  problem.order_a = p->order_a, problem.order_b = p->order_b;
  problem.m = p->m, problem.n = p->n, problem.k = p->k, problem.batch = p->batch;
  problem.alpha = GG_SCALAR_ONE;
  problem.beta = GG_SCALAR_ZERO;
  problem.align_a = problem.align_b = problem.align_c = problem.align_d = 256;
  problem.align_residual = 256;
  const bench_steps *steps = &p->steps;
  problem.bias = steps->bias, problem.activation = steps->activation;
  problem.scaling_a = steps->scaling_a, problem.scaling_b = steps->scaling_b;
  problem.scaling_d = steps->scaling_d;
  problem.residual = steps->residual, problem.absmax = steps->absmax;
  problem.fast_accum = p->fast_accum;
  problem.pin = pin;
  gg_problem_pack(&problem);
  *e = (entrant){.epilogue = bench_epilogue(p)};
  gg_status status = gg_plan_create(s->context, &problem, &e->plan);
  if (status != GG_OK || gg_plan_workspace(e->plan) == 0) return status;
  status = gg_device_alloc(s->device, gg_plan_workspace(e->plan), &e->workspace);
  if (status != GG_OK) gg_plan_destroy(e->plan);
  return status;
}

/* Whether a name is like one of the globs, which commas part. */
static bool like(const char *name, const char *globs) {
  char glob[160];
  while (*globs) {
    size_t length = strcspn(globs, ",");
    snprintf(glob, sizeof glob, "%.*s", (int)length, globs);
    if (fnmatch(glob, name, 0) == 0) return true;
    globs += length + (globs[length] == ',');
  }
  return false;
}

/* The entrants of a problem. Returns how many. */
static int enter(session *s, const bench_problem *p, entrant *entrants, bench_rival *rivals) {
  int count = 0;
  int tries = s->args->all ? s->table->count : 1;
  for (int i = 0; i < tries; ++i) {
    const char *pin = s->args->all ? s->table->kernels[i].name : s->args->kernel;
    if (s->args->match && !like(pin, s->args->match)) continue;
    entrant *e = &entrants[count];
    gg_status status = plan_of(s, p, pin, e);
    if (status == GG_OK) {
      snprintf(rivals[count].name, sizeof rivals->name, "%.159s", gg_plan_kernel(e->plan));
      rivals[count].run = run_plan;
      rivals[count++].self = e;
    } else if (status != GG_ERR_PIN || !s->args->all) {
      fprintf(stderr, "gemmbench: %s: %s\n", p->name, gg_error_detail());
    }
  }
  return count;
}

/* Adds cuBLASLt where it can compute the same. Returns the new count. */
static int enter_cublas(session *s, const bench_problem *p, const bench_data *data,
                        bench_rival *rivals, int count) {
  if (!s->cublas) return count;
  const char *why = bench_cublas_plan(s->cublas, p, data);
  if (why) {
    fprintf(stderr, "gemmbench: %s: cuBLASLt: %s\n", p->name, why);
    return count;
  }
  bench_rival *rival = &rivals[count];
  snprintf(rival->name, sizeof rival->name, "cuBLASLt");
  rival->run = bench_cublas_run;
  rival->self = s->cublas;
  return count + 1;
}

static void report(session *s, const bench_problem *p, const bench_rival *rivals, int count) {
  const bench_rival *last = &rivals[count - 1];
  const bench_rival *baseline = last->run == bench_cublas_run ? last : NULL;
  for (int i = 0; i < count - (baseline != NULL); ++i) {
    bench_report_row(&s->report, p, &rivals[i], baseline);
    s->wrong = s->wrong || !(rivals[i].worst <= 1);
  }
  if (baseline && !(baseline->worst <= 1))
    fprintf(stderr, "gemmbench: %s: cuBLASLt's own result is %.2f times the error bound\n", p->name,
            baseline->worst);
}

/* `kernels` rivals, with room for one more. */
static bool compete(session *s, const bench_problem *p, bench_rival *rivals, int kernels) {
  bench_data data = {0};
  char error[300] = "";
  gg_status status = bench_data_make(s->device, p, s->stream, &data);
  if (status != GG_OK) {
    fprintf(stderr, "gemmbench: %s: %s\n", p->name, gg_error_detail());
    return false;
  }
  int count = enter_cublas(s, p, &data, rivals, kernels);
  bool good =
      bench_measure(s->device, p, &data, rivals, count, &s->args->options, s->stream, error);
  bench_data_free(&data);
  if (good)
    report(s, p, rivals, count);
  else
    fprintf(stderr, "gemmbench: %s: %s\n", p->name, error);
  return good;
}

static void leave(session *s, entrant *entrants, bench_rival *rivals, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bench_rival_free(&rivals[i]);
    gg_plan_destroy(entrants[i].plan);
    if (entrants[i].workspace) (void)gg_device_free(s->device, entrants[i].workspace);
  }
}

/* Kernels in one round, or each alone with the baseline. */
static bool compete_all(session *s, const bench_problem *p, bench_rival *rivals, int count) {
  if (!s->args->pairs) return compete(s, p, rivals, count);
  for (int i = 0; i < count; ++i) {
    bench_rival pair[2] = {rivals[i], {.graph = NULL}};
    bool good = compete(s, p, pair, 1);
    bench_rival_free(&pair[0]);
    bench_rival_free(&pair[1]);
    if (!good) return false;
  }
  return true;
}

/* 0: done or left out with a note; 2: no kernel; 3: device. */
static int measure_problem(session *s, const bench_problem *p) {
  if (p->type == GG_S32) {
    fprintf(stderr, "gemmbench: %s: s32 is left out, it is no type of A and B\n", p->name);
    return 0;
  }
  size_t most = (s->args->all ? (size_t)s->table->count : 1) + 1;
  entrant *entrants = calloc(most, sizeof *entrants);
  bench_rival *rivals = calloc(most, sizeof *rivals);
  int code = 3, count = 0;
  if (entrants && rivals) {
    count = enter(s, p, entrants, rivals);
    code = count == 0 ? 2 : compete_all(s, p, rivals, count) ? 0 : 3;
    leave(s, entrants, rivals, most);
  }
  free(entrants);
  free(rivals);
  return code;
}

static int measure_all(session *s) {
  bool progress = isatty(STDERR_FILENO);
  const bench_suite *suite = &s->args->suite;
  int worst = 0;
  bench_report_begin(&s->report);
  for (size_t i = 0; i < suite->count && worst != 3; ++i) {
    const bench_problem *p = &suite->problems[i];
    if (progress) {
      fprintf(stderr, "\r\033[K[%zu/%zu] %s\r", i + 1, suite->count, p->name);
      fflush(stderr);
    }
    int code = measure_problem(s, p);
    if (code > worst) worst = code;
  }
  if (progress) fprintf(stderr, "\r\033[K");
  bench_report_end(&s->report);
  return worst ? worst : s->wrong ? 4 : 0;
}

static int open_and_measure(session *s) {
  const gg_kernel_table *tables[1] = {s->table};
  int code = bench_use_device(s->args->device);
  if (code != 0) {
    fprintf(stderr, "gemmbench: CUDA device %d: %s\n", s->args->device, bench_error(code));
    return 3;
  }
  if (gg_device_cuda(s->args->device, &s->device) != GG_OK ||
      gg_device_get_info(s->device, &s->report.device) != GG_OK ||
      gg_context_create(tables, 1, &s->context) != GG_OK ||
      s->device->ops->stream_create(s->device, &s->stream) != GG_OK) {
    fprintf(stderr, "gemmbench: %s\n", gg_error_detail());
    return 3;
  }
  if (s->args->cublas) {
    const char *why = bench_cublas_open(s->device, &s->cublas);
    if (why) {
      fprintf(stderr, "gemmbench: cuBLASLt: %s\n", why);
      return 3;
    }
  }
  return measure_all(s);
}

int gemmbench_main(const gg_kernel_table *table, int argc, char **argv) {
  arguments a = {.options = {.repeats = 5, .min_ms = 100},
                 .shape = {.type = GG_F32, .order_a = GG_ORDER_N, .order_b = GG_ORDER_N}};
  int code = parse(argc, argv, &a);
  if (code == 0) {
    session s = {.args = &a, .table = table, .report = {.out = stdout, .format = a.format}};
    code = open_and_measure(&s);
    bench_cublas_close(s.cublas);
    if (s.stream) s.device->ops->stream_destroy(s.device, s.stream);
    gg_context_destroy(s.context);
    gg_device_destroy(s.device);
  }
  free(a.suite.problems);
  return code;
}
