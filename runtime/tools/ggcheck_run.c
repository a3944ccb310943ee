/* ggcheck_run.c - sets up the operands of a case, launches, compares.
 *
 * Invariant: whatever happens, the operands of a case are freed before the next one, so that an
 * address of an earlier case is out of bounds in a later one.
 */
#include "ggcheck_run.h"
#include "dtype.h"
#include "ggcheck_compare.h"
#include "launch.h"
#include "tensor_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, C, D };

static const int64_t BEYOND = (INT64_C(1) << 31) + 64; /* elements */

/* A case on its way: what is allocated for it. */
typedef struct run {
  ggcheck_session *session;
  const gg_kernel *row;
  const ggcheck_case *c;
  int index;
  ggcheck_report *report;
  char text[200];
  ggcheck_operand operand[4]; /* C is empty where it is D or null */
  gg_args args;
  ggcheck_reference reference;
  double *c_before;     /* batch x m x n: C as it was, it may be D */
  unsigned char *first; /* D's bytes after the first launch */
  uint64_t sums[3];     /* of A, B and C before the launch */
} run;

bool ggcheck_session_open(ggcheck_session *s, uint64_t seed) {
  *s = (ggcheck_session){.seed = seed};
  if (gg_device_emulated(NULL, &s->device) != GG_OK) return false;
  s->emu = ggi_device_emulator(s->device);
  ggi_device_keep_findings(s->device, 1);
  gg_emu_options_init(&s->options);
  s->options.keep_nan = 1; /* its bits say which operand it came from */
  return true;
}

void ggcheck_session_close(ggcheck_session *s) {
  gg_device_destroy(s->device);
  *s = (ggcheck_session){0};
}

static int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* Elements that pointer, leading dimension and stride of an operand must be multiples of. */
static int64_t unit_of(const run *x, int o) {
  const gg_kernel *row = x->row;
  int bytes = ggi_row_align(row, o), bytes_c = ggi_row_align(row, C);
  if (x->c->in_place && o == D && bytes_c > bytes) bytes = bytes_c;
  int64_t unit = bytes / ggi_dtype_bytes(x->operand[o].type);
  return unit > 1 ? unit : 1;
}

static void shape(run *x, int o, gg_dtype type, int64_t rows, int64_t cols) {
  const ggcheck_case *c = x->c;
  ggcheck_operand *op = &x->operand[o];
  *op = (ggcheck_operand){.name = (char)('a' + o), .type = type, .rows = rows, .cols = cols};
  int64_t unit = unit_of(x, o);
  op->ld = round_up(cols > 1 ? cols : 1, unit) + c->gap[o] * unit;
  if (c->wide_ld && rows > 1) op->ld = round_up(BEYOND / (rows - 1) + 1, unit);
  bool shared = o < D && c->shared[o];
  op->stride = shared ? 0 : rows * op->ld + c->stride_gap[o] * unit;
  if (c->wide_stride && !shared) op->stride = round_up(BEYOND, unit);
  op->matrices = shared && c->batch > 1 ? 1 : c->batch;
}

/* Small whole numbers whose sums the accumulator holds exactly: at most 16 k below 2^24, k below
 * 2^11. Unsigned ones start at zero. */
static double whole(const run *x, gg_dtype type, ggcheck_random *random) {
  int range = x->c->k > 100000 || x->row->type_acc == GG_F16 ? 3 : 9;
  return ggcheck_random_below(random, range) - (type == GG_U8 ? 0 : range / 2);
}

/* Normal numbers; of integer types all of them alike, s32 (C only) of a size with the products. */
static double normal(gg_dtype type, ggcheck_random *random) {
  switch (type) {
  case GG_S8:
    return ggcheck_random_below(random, 256) - 128;
  case GG_U8:
    return ggcheck_random_below(random, 256);
  case GG_S32:
    return ggcheck_random_below(random, 1 << 20) - (1 << 19);
  default:
    return ggcheck_random_normal(random);
  }
}

static void fill_normal(const run *x, ggcheck_operand *o, ggcheck_random *random) {
  for (int64_t matrix = 0; matrix < o->matrices; matrix++)
    for (int64_t row = 0; row < o->rows; row++)
      for (int64_t col = 0; col < o->cols; col++) {
        double value =
            x->c->fill == GGCHECK_INTEGER ? whole(x, o->type, random) : normal(o->type, random);
        ggcheck_store(o->type, ggcheck_operand_at(o, matrix, row, col), value);
      }
}

/* NaN and infinities where they reach some of D, never all of it if m, n > 2. e4m3 has NaN only,
 * integers have neither. */
static void fill_special(ggcheck_operand *o) {
  if (!o->size || ggcheck_is_integer(o->type)) return;
  int64_t row = o->rows - 1, col = o->cols - 1;
  double first = o->name == 'b' ? (double)-INFINITY : (double)INFINITY;
  if (!ggcheck_has_infinity(o->type)) first = (double)NAN;
  ggcheck_store(o->type, ggcheck_operand_at(o, 0, 0, col / 2), first);
  ggcheck_store(o->type, ggcheck_operand_at(o, 0, row, col), o->name == 'b' ? 0 : (double)NAN);
}

static uint64_t checksum(const ggcheck_operand *o) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  size_t width = (size_t)ggi_dtype_bytes(o->type);
  for (int64_t matrix = 0; o->size && matrix < o->matrices; matrix++)
    for (int64_t row = 0; row < o->rows; row++) {
      const unsigned char *at = ggcheck_operand_at(o, matrix, row, 0);
      for (size_t i = 0; i < width * (size_t)o->cols; i++)
        sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    }
  return sum;
}

static bool allocate(run *x) {
  const ggcheck_case *c = x->c;
  const gg_kernel *row = x->row;
  bool a_t = row->order_a == GG_ORDER_T, b_t = row->order_b == GG_ORDER_T;
  bool sparse = c->wide_ld || c->wide_stride;
  x->operand[D].type = row->type_d;
  shape(x, A, row->type_a, a_t ? c->k : c->m, a_t ? c->m : c->k);
  shape(x, B, row->type_b, b_t ? c->n : c->k, b_t ? c->k : c->n);
  shape(x, C, row->type_c, c->m, c->n);
  shape(x, D, row->type_d, c->m, c->n);
  if (c->in_place || (c->beta == 0 && !c->poison_c)) x->operand[C].matrices = 0;
  for (int o = A; o <= D; o++) {
    if (o == C && !x->operand[C].matrices) continue;
    size_t skew = c->skew[o] ? (size_t)(unit_of(x, o) * ggi_dtype_bytes(x->operand[o].type)) : 0;
    if (!ggcheck_operand_alloc(&x->operand[o], x->session->emu, skew, sparse)) return false;
  }
  x->c_before = calloc((size_t)(c->batch * c->m * c->n) + 1, sizeof(double));
  return x->c_before && ggcheck_reference_alloc(&x->reference, c->m, c->n, c->k);
}

static void fill(run *x) {
  const ggcheck_case *c = x->c;
  ggcheck_random random = {x->session->seed * UINT64_C(1000003) + (uint64_t)x->index};
  ggcheck_operand *source_c = &x->operand[c->in_place ? D : C];
  for (int o = A; o <= B; o++) {
    if (c->poison_ab)
      ggcheck_operand_poison(&x->operand[o]);
    else
      fill_normal(x, &x->operand[o], &random);
  }
  if (c->poison_c)
    ggcheck_operand_poison(source_c);
  else if (c->beta != 0)
    fill_normal(x, source_c, &random);
  if (c->fill == GGCHECK_SPECIAL)
    for (int o = A; o <= C; o++)
      if (o != C || (c->beta != 0 && !c->in_place)) fill_special(&x->operand[o]);
  if (c->beta != 0)
    for (int64_t b = 0; b < c->batch; b++)
      ggcheck_operand_gather(source_c, b, false, x->c_before + b * c->m * c->n);
  for (int o = A; o <= C; o++)
    x->sums[o] = checksum(&x->operand[o]);
}

static gg_scalar scalar(gg_dtype type, double value) {
  if (type == GG_S32) return gg_scalar_s32((int)value);
  return type == GG_F64 ? gg_scalar_f64(value) : gg_scalar_f32((float)value);
}

static void arguments(run *x) {
  const ggcheck_case *c = x->c;
  const ggcheck_operand *o = x->operand;
  const ggcheck_operand *oc = c->in_place ? &o[D] : &o[C];
  gg_args *p = &x->args;
  memset(p, 0, sizeof *p);
  p->a = o[A].bytes;
  p->b = o[B].bytes;
  p->c = oc->bytes; /* NULL where it is not read */
  p->d = o[D].bytes;
  p->m = c->m, p->n = c->n, p->k = c->k, p->batch = c->batch;
  p->lda = o[A].ld, p->ldb = o[B].ld, p->ldc = oc->ld, p->ldd = o[D].ld;
  p->stride_a = o[A].stride, p->stride_b = o[B].stride;
  p->stride_c = oc->stride, p->stride_d = o[D].stride;
  p->alpha = scalar(x->row->type_acc, c->alpha);
  p->beta = scalar(x->row->type_acc, c->beta);
}

typedef enum outcome { LAUNCH_GOOD, LAUNCH_FOUND, LAUNCH_REFUSED } outcome;

/* A thread executes less than this on any problem of ours: beyond it the kernel does not end. */
static uint64_t step_limit(const ggcheck_case *c) {
  return 1000000 + 4096 * (uint64_t)c->k;
}

/* Clusters at once of a persistent kernel: 1 to 3 and many in turn, so that a block has several
 * tiles, one, and unequal numbers of them. */
static int resident(const run *x) {
  static const int clusters[4] = {2, 1, 64, 3};
  return clusters[x->index & 3];
}

/* Launches and takes over what the emulated GPU found. */
static outcome launch(run *x, uint64_t seed, gg_emu_async async, bool count, const char *text) {
  ggcheck_session *s = x->session;
  s->options.seed = seed;
  s->options.async = async;
  s->options.check = 1;
  s->options.count = count;
  s->options.max_steps = step_limit(x->c);
  gg_emu_set_options(s->emu, &s->options);
  gg_emu_reset(s->emu);
  gg_status status = ggi_launch(s->device, x->row, resident(x), &x->args, NULL);
  x->report->launches++;
  if (count && !ggcheck_report_measure(x->report, s->emu)) x->report->memory = true;
  int found = ggcheck_report_take(x->report, s->emu, x->index, text);
  if (status == GG_OK) return LAUNCH_GOOD;
  if (status == GG_ERR_FAULT) return LAUNCH_FOUND;
  if (!found)
    ggcheck_report_add(x->report, GGCHECK_LAUNCH, 0, 0, 1, x->index, text, gg_error_detail());
  return LAUNCH_REFUSED;
}

/* Values of D, canaries, inputs. false: something was wrong. */
static bool compare(run *x) {
  const ggcheck_case *c = x->c;
  ggcheck_reference *r = &x->reference;
  ggcheck_difference difference = {0};
  bool good = true;
  /* The scalars as the kernel sees them, in the accumulator's type. */
  double alpha = ggi_scalar_value(x->args.alpha, x->row->type_acc);
  double beta = ggi_scalar_value(x->args.beta, x->row->type_acc);
  for (int64_t b = 0; b < c->batch; b++) {
    ggcheck_operand_gather(&x->operand[A], b, x->row->order_a == GG_ORDER_T, r->a);
    ggcheck_operand_gather(&x->operand[B], b, x->row->order_b == GG_ORDER_T, r->b);
    memcpy(r->c, x->c_before + b * c->m * c->n, (size_t)(c->m * c->n) * sizeof(double));
    ggcheck_reference_compute(r, x->row, alpha, beta, c->fill == GGCHECK_INTEGER);
    ggcheck_compare(&x->operand[D], b, r, &difference);
  }
  if (ggcheck_compare_report(&difference, x->row->type_d, x->index, x->text, x->report))
    good = false;
  for (int o = A; o <= D; o++) {
    int64_t matrix, row, col;
    char text[200];
    if (!x->operand[o].size) continue;
    if (ggcheck_operand_gap_written(&x->operand[o], &matrix, &row, &col)) {
      snprintf(text, sizeof text,
               "%c was written between its rows, at matrix %lld, row %lld, column %lld of %lld",
               'A' + o, (long long)matrix, (long long)row, (long long)col,
               (long long)x->operand[o].cols);
      ggcheck_report_add(x->report, GGCHECK_GAP_WRITTEN, ggcheck_report_store_line(x->report), 0, 1,
                         x->index, x->text, text);
      good = false;
    }
    if (o < D && checksum(&x->operand[o]) != x->sums[o]) {
      snprintf(text, sizeof text, "elements of %c, which is read only, changed", 'A' + o);
      ggcheck_report_add(x->report, GGCHECK_INPUT, ggcheck_report_store_line(x->report), 0, 1,
                         x->index, x->text, text);
      good = false;
    }
  }
  return good;
}

/* Runs again under random schedules: the same bits, and no finding. false: not so, or no memory. */
static bool schedules(run *x) {
  static const gg_emu_async ways[] = {GG_EMU_RANDOM, GG_EMU_EARLY, GG_EMU_LATE};
  const ggcheck_operand *d = &x->operand[D];
  if (!x->c->schedules || !d->size) return true;
  x->first = malloc(d->size);
  if (!x->first) {
    x->report->memory = true;
    return false;
  }
  memcpy(x->first, d->bytes, d->size);
  for (int i = 0; i < x->c->schedules; i++) {
    uint64_t seed = x->session->seed + (uint64_t)i + 1;
    char text[240];
    snprintf(text, sizeof text, "%s, schedule %llu", x->text, (unsigned long long)seed);
    if (!x->c->in_place) ggcheck_operand_poison(&x->operand[D]); /* what is not written must show */
    fill(x);                                                     /* in place, C has gone */
    if (launch(x, seed ? seed : 1, ways[i % 3], false, text) != LAUNCH_GOOD) return false;
    if (memcmp(x->first, d->bytes, d->size) != 0) {
      ggcheck_report_add(x->report, GGCHECK_BITS, ggcheck_report_store_line(x->report), 0, 1,
                         x->index, text, "D's bits differ from those of the fixed schedule");
      return false;
    }
  }
  return true;
}

bool ggcheck_run(ggcheck_session *s, const gg_kernel *row, const ggcheck_case *c, int index,
                 ggcheck_report *report) {
  run x = {.session = s, .row = row, .c = c, .index = index, .report = report};
  ggcheck_case_text(row, c, x.text, sizeof x.text);
  bool memory = allocate(&x);
  if (memory) {
    fill(&x);
    arguments(&x);
    outcome result = launch(&x, 0, GG_EMU_LATE, c->measure, x.text);
    bool good = result != LAUNCH_REFUSED && compare(&x) && result == LAUNCH_GOOD;
    if (good && !schedules(&x)) good = false;
    report->problems++;
    report->failed_problems += !good;
  } else if (c->wide_ld || c->wide_stride) {
    report->stopped = "offsets beyond 32 bits were not checked: there are no such addresses";
    memory = true;
  } else {
    report->memory = true;
  }
  for (int o = A; o <= D; o++)
    ggcheck_operand_free(&x.operand[o], s->emu);
  ggcheck_reference_free(&x.reference);
  free(x.c_before);
  free(x.first);
  return memory && !report->memory;
}
