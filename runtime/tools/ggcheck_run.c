/* ggcheck_run.c - sets up the operands of a case, launches, compares.
 *
 * Invariant: whatever happens, the operands of a case are freed before the next one, so that an
 * address of an earlier case is out of bounds in a later one.
 */
#include "ggcheck_run.h"
#include "dtype.h"
#include "epilogue.h"
#include "ggcheck_compare.h"
#include "ggcheck_data.h"
#include "launch.h"
#include "tensor_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t BEYOND = (INT64_C(1) << 31) + 64; /* elements */

/* A case on its way: what is allocated for it. */
typedef struct run {
  ggcheck_session *session;
  const gg_kernel *row;
  const ggcheck_case *c;
  int index;
  ggcheck_report *report;
  char text[200];
  ggcheck_operand operand[GGI_OPERANDS]; /* empty: not there, or D in its place */
  gg_args args;
  ggcheck_reference reference;
  double *before[2];           /* batch x m x n: C and the residual as they were, they may be D */
  unsigned char *first;        /* D's bytes after the first launch */
  float absmax;                /* after it */
  uint64_t sums[GGI_OPERANDS]; /* of the operands before the launch */
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
  if (o == GGI_RESIDUAL) o = GGI_D;
  if (o > GGI_D) return 1;
  int bytes = ggi_row_align(row, o), bytes_c = ggi_row_align(row, GGI_C);
  if (x->c->in_place && o == GGI_D && bytes_c > bytes) bytes = bytes_c;
  int64_t unit = bytes / ggi_dtype_bytes(x->operand[o].type);
  return unit > 1 ? unit : 1;
}

/* A matrix as stored, or one row of values. */
static void shape(run *x, int o, gg_dtype type, int64_t rows, int64_t cols) {
  const ggcheck_case *c = x->c;
  ggcheck_operand *op = &x->operand[o];
  *op = (ggcheck_operand){.name = (char)('a' + o), .type = type, .rows = rows, .cols = cols};
  int64_t unit = unit_of(x, o);
  op->ld = round_up(cols > 1 ? cols : 1, unit) + (o == GGI_BIAS ? 0 : c->gap[o] * unit);
  if (c->wide_ld && rows > 1) op->ld = round_up(BEYOND / (rows - 1) + 1, unit);
  bool shared = o != GGI_D && c->shared[o];
  op->stride = shared ? 0 : rows * op->ld + c->stride_gap[o] * unit;
  if (c->wide_stride && !shared) op->stride = round_up(BEYOND, unit);
  op->matrices = shared && c->batch > 1 ? 1 : c->batch;
}

/* Scales lie densely, absmax is one value. */
static void shape_dense(run *x, int o, int64_t count, int64_t stride) {
  x->operand[o] = (ggcheck_operand){.name = (char)('a' + o),
                                    .type = GG_F32,
                                    .rows = 1,
                                    .cols = count,
                                    .ld = count,
                                    .stride = stride,
                                    .matrices = stride ? x->c->batch : count > 0};
}

static void shapes(run *x) {
  const ggcheck_case *c = x->c;
  const gg_kernel *row = x->row;
  bool a_t = row->order_a == GG_ORDER_T, b_t = row->order_b == GG_ORDER_T;
  x->operand[GGI_D].type = row->type_d;
  shape(x, GGI_A, row->type_a, a_t ? c->k : c->m, a_t ? c->m : c->k);
  shape(x, GGI_B, row->type_b, b_t ? c->n : c->k, b_t ? c->k : c->n);
  shape(x, GGI_C, row->type_c, c->m, c->n);
  shape(x, GGI_D, row->type_d, c->m, c->n);
  shape(x, GGI_BIAS, ggi_bias_type(row->type_d), 1, row->bias == GG_BIAS_M ? c->m : c->n);
  shape(x, GGI_RESIDUAL, row->type_d, c->m, c->n);
  if (row->kind == GG_KIND_REDUCE) { /* A is not there, B are the k parts */
    shape(x, GGI_A, row->type_a, 0, 0);
    shape(x, GGI_B, row->type_b, c->m, c->n);
    x->operand[GGI_B].matrices = c->k;
  }
  if (c->in_place || (c->beta == 0 && !c->poison_c)) x->operand[GGI_C].matrices = 0;
  if (row->bias == GG_BIAS_NONE) x->operand[GGI_BIAS].matrices = 0;
  if (!row->residual || c->residual_in_place) x->operand[GGI_RESIDUAL].matrices = 0;
  const struct {
    int operand;
    gg_scaling scaling;
    int64_t extent;
  } scales[3] = {{GGI_SCALE_A, row->scaling_a, c->m},
                 {GGI_SCALE_B, row->scaling_b, c->n},
                 {GGI_SCALE_D, row->scaling_d, 1}};
  for (int i = 0; i < 3; i++)
    shape_dense(x, scales[i].operand, ggi_scale_count(scales[i].scaling, scales[i].extent, c->k),
                ggi_scale_stride(scales[i].scaling, scales[i].extent, c->k));
  shape_dense(x, GGI_ABSMAX, row->absmax ? 1 : 0, 0);
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
  bool sparse = c->wide_ld || c->wide_stride;
  size_t elements = (size_t)(c->batch * c->m * c->n) + 1;
  shapes(x);
  for (int o = 0; o < GGI_OPERANDS; o++) {
    ggcheck_operand *op = &x->operand[o];
    if (o > GGI_B && o != GGI_D && !op->matrices) continue;
    size_t skew = c->skew[o] ? (size_t)(unit_of(x, o) * ggi_dtype_bytes(op->type)) : 0;
    if (!ggcheck_operand_alloc(op, x->session->emu, skew, sparse && o <= GGI_RESIDUAL))
      return false;
  }
  for (int i = 0; i < 2; i++)
    x->before[i] = calloc(elements, sizeof(double));
  return x->before[0] && x->before[1] &&
         ggcheck_reference_alloc(&x->reference, x->row, c->m, c->n, c->k);
}

/* Where C or the residual lies. */
static ggcheck_operand *source(run *x, int o) {
  bool in_place = o == GGI_C ? x->c->in_place : x->c->residual_in_place;
  return &x->operand[in_place ? GGI_D : o];
}

static void keep_before(run *x, int which, const ggcheck_operand *o) {
  int64_t elements = x->c->m * x->c->n;
  for (int64_t b = 0; b < x->c->batch; b++)
    ggcheck_operand_gather(o, b, false, x->before[which] + b * elements);
}

static void fill(run *x) {
  const ggcheck_case *c = x->c;
  ggcheck_random random = {x->session->seed * UINT64_C(1000003) + (uint64_t)x->index};
  for (int o = GGI_A; o <= GGI_B; o++) {
    if (c->poison_ab)
      ggcheck_operand_poison(&x->operand[o]);
    else
      ggcheck_fill_operand(x->row, c, (ggi_operand)o, &x->operand[o], &random);
  }
  if (c->poison_c)
    ggcheck_operand_poison(source(x, GGI_C));
  else if (c->beta != 0)
    ggcheck_fill_operand(x->row, c, GGI_C, source(x, GGI_C), &random);
  if (c->fill == GGCHECK_SPECIAL)
    for (int o = GGI_A; o <= GGI_C; o++)
      if (o != GGI_C || (c->beta != 0 && !c->in_place)) ggcheck_fill_special(&x->operand[o]);
  bool filled = c->in_place && c->beta != 0; /* with C, which is in the same place */
  if (x->row->residual && !(c->residual_in_place && filled))
    ggcheck_fill_operand(x->row, c, GGI_RESIDUAL, source(x, GGI_RESIDUAL), &random);
  ggcheck_fill_operand(x->row, c, GGI_BIAS, &x->operand[GGI_BIAS], &random);
  for (int o = GGI_SCALE_A; o <= GGI_ABSMAX; o++)
    ggcheck_fill_operand(x->row, c, (ggi_operand)o, &x->operand[o], &random);
  if (c->beta != 0) keep_before(x, 0, source(x, GGI_C));
  if (x->row->residual) keep_before(x, 1, source(x, GGI_RESIDUAL));
  for (int o = GGI_A; o < GGI_ABSMAX; o++)
    x->sums[o] = checksum(&x->operand[o]);
}

static void arguments(run *x) {
  const ggcheck_case *c = x->c;
  const ggcheck_operand *o = x->operand;
  const ggcheck_operand *oc = source(x, GGI_C), *residual = source(x, GGI_RESIDUAL);
  gg_dtype type = ggi_row_epilogue(x->row);
  gg_args *p = &x->args;
  memset(p, 0, sizeof *p);
  p->a = o[GGI_A].bytes;
  p->b = o[GGI_B].bytes;
  p->c = oc->bytes; /* NULL where it is not read */
  p->d = o[GGI_D].bytes;
  p->m = c->m, p->n = c->n, p->k = c->k, p->batch = c->batch;
  p->lda = o[GGI_A].ld, p->ldb = o[GGI_B].ld, p->ldc = oc->ld, p->ldd = o[GGI_D].ld;
  p->stride_a = o[GGI_A].stride, p->stride_b = o[GGI_B].stride;
  p->stride_c = oc->stride, p->stride_d = o[GGI_D].stride;
  p->alpha = ggi_scalar_of(c->alpha, type);
  p->beta = ggi_scalar_of(c->beta, type);
  p->bias = o[GGI_BIAS].bytes, p->stride_bias = o[GGI_BIAS].stride;
  if (x->row->residual) {
    p->residual = residual->bytes;
    p->ld_residual = residual->ld, p->stride_residual = residual->stride;
  }
  p->scale_a = o[GGI_SCALE_A].bytes;
  p->scale_b = o[GGI_SCALE_B].bytes;
  p->scale_d = o[GGI_SCALE_D].bytes;
  p->absmax = o[GGI_ABSMAX].bytes;
}

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

ggcheck_outcome ggcheck_launch(ggcheck_session *s, const gg_kernel *row, const gg_args *args,
                               const ggcheck_launch_options *o, ggcheck_report *report) {
  s->options.seed = o->seed;
  s->options.async = o->async;
  s->options.check = 1;
  s->options.count = o->count;
  s->options.max_steps = o->max_steps;
  gg_emu_set_options(s->emu, &s->options);
  gg_emu_reset(s->emu);
  gg_status status = ggi_launch(s->device, row, o->resident, false, args, NULL);
  report->launches++;
  if (o->count && !ggcheck_report_measure(report, s->emu)) report->memory = true;
  int found = ggcheck_report_take(report, s->emu, o->problem, o->text);
  if (status == GG_OK) return GGCHECK_LAUNCH_GOOD;
  if (status == GG_ERR_FAULT) return GGCHECK_LAUNCH_FOUND;
  if (!found)
    ggcheck_report_add(report, GGCHECK_LAUNCH, 0, 0, 1, o->problem, o->text, gg_error_detail());
  return GGCHECK_LAUNCH_REFUSED;
}

static ggcheck_outcome launch(run *x, uint64_t seed, gg_emu_async async, bool count,
                              const char *text) {
  const ggcheck_launch_options o = {.seed = seed,
                                    .async = async,
                                    .count = count,
                                    .max_steps = step_limit(x->c),
                                    .resident = resident(x),
                                    .problem = x->index,
                                    .text = text};
  return ggcheck_launch(x->session, x->row, &x->args, &o, x->report);
}

/* A and B of matrix b; of a reduction ones, and the parts. */
static void gather_product(run *x, int64_t b) {
  ggcheck_reference *r = &x->reference;
  const ggcheck_operand *o = x->operand;
  if (x->row->kind != GG_KIND_REDUCE) {
    ggcheck_operand_gather(&o[GGI_A], b, x->row->order_a == GG_ORDER_T, r->a);
    ggcheck_operand_gather(&o[GGI_B], b, x->row->order_b == GG_ORDER_T, r->b);
    return;
  }
  for (int64_t i = 0; i < r->m * r->k; i++)
    r->a[i] = 1;
  for (int64_t part = 0; part < r->k; part++)
    ggcheck_operand_gather(&o[GGI_B], part, false, r->b + part * r->m * r->n);
}

/* The operands of matrix b, as the reference takes them. */
static void gather(run *x, int64_t b) {
  ggcheck_reference *r = &x->reference;
  const ggcheck_operand *o = x->operand;
  int64_t elements = x->c->m * x->c->n;
  gather_product(x, b);
  memcpy(r->c, x->before[0] + b * elements, (size_t)elements * sizeof(double));
  if (x->row->bias) ggcheck_operand_gather(&o[GGI_BIAS], b, false, r->bias);
  if (x->row->residual)
    memcpy(r->residual, x->before[1] + b * elements, (size_t)elements * sizeof(double));
  if (o[GGI_SCALE_A].size) ggcheck_operand_gather(&o[GGI_SCALE_A], b, false, r->scale_a);
  if (o[GGI_SCALE_B].size) ggcheck_operand_gather(&o[GGI_SCALE_B], b, false, r->scale_b);
  if (o[GGI_SCALE_D].size) ggcheck_operand_gather(&o[GGI_SCALE_D], b, false, &r->scale_d);
}

/* Nothing outside the elements of D was written, no input changed. */
static bool untouched(run *x) {
  bool good = true;
  for (int o = 0; o < GGI_OPERANDS; o++) {
    int64_t matrix, row, col;
    const char *name = ggcheck_operand_name((char)('a' + o));
    char text[200];
    if (!x->operand[o].size) continue;
    if (ggcheck_operand_gap_written(&x->operand[o], &matrix, &row, &col)) {
      snprintf(text, sizeof text,
               "%s was written between its rows, at matrix %lld, row %lld, column %lld of %lld",
               name, (long long)matrix, (long long)row, (long long)col,
               (long long)x->operand[o].cols);
      ggcheck_report_add(x->report, GGCHECK_GAP_WRITTEN, ggcheck_report_store_line(x->report), 0, 1,
                         x->index, x->text, text);
      good = false;
    }
    if (o != GGI_D && o != GGI_ABSMAX && checksum(&x->operand[o]) != x->sums[o]) {
      snprintf(text, sizeof text, "elements of %s, which is read only, changed", name);
      ggcheck_report_add(x->report, GGCHECK_INPUT, ggcheck_report_store_line(x->report), 0, 1,
                         x->index, x->text, text);
      good = false;
    }
  }
  return good;
}

/* Values of D, absmax, canaries, inputs. false: something was wrong. */
static bool compare(run *x) {
  const ggcheck_case *c = x->c;
  ggcheck_reference *r = &x->reference;
  ggcheck_difference difference = {0};
  bool good = true;
  /* The scalars as the kernel sees them, in the epilogue's type. */
  gg_dtype type = ggi_row_epilogue(x->row);
  double alpha = ggi_scalar_value(x->args.alpha, type);
  double beta = ggi_scalar_value(x->args.beta, type);
  for (int64_t b = 0; b < c->batch; b++) {
    gather(x, b);
    ggcheck_reference_compute(r, x->row, alpha, beta, c->fill == GGCHECK_INTEGER);
    ggcheck_compare(&x->operand[GGI_D], b, r, &difference);
  }
  if (ggcheck_compare_report(&difference, x->row->type_d, x->index, x->text, x->report))
    good = false;
  if (x->row->absmax) {
    memcpy(&x->absmax, x->operand[GGI_ABSMAX].bytes, sizeof x->absmax);
    if (ggcheck_compare_absmax((double)x->absmax, c->absmax_before, r, x->index, x->text,
                               x->report))
      good = false;
  }
  return untouched(x) && good;
}

/* Runs again under random schedules: the same bits, and no finding. false: not so, or no memory. */
static bool schedules(run *x) {
  static const gg_emu_async ways[] = {GG_EMU_RANDOM, GG_EMU_EARLY, GG_EMU_LATE};
  const ggcheck_operand *d = &x->operand[GGI_D];
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
    ggcheck_operand_poison(&x->operand[GGI_D]); /* what is not written must show */
    fill(x);                                    /* C and the residual may have gone with it */
    if (launch(x, seed ? seed : 1, ways[i % 3], false, text) != GGCHECK_LAUNCH_GOOD) return false;
    bool same = memcmp(x->first, d->bytes, d->size) == 0;
    if (x->row->absmax && memcmp(&x->absmax, x->operand[GGI_ABSMAX].bytes, sizeof x->absmax) != 0)
      same = false;
    if (!same) {
      ggcheck_report_add(x->report, GGCHECK_BITS, ggcheck_report_store_line(x->report), 0, 1,
                         x->index, text,
                         "D's bits, or absmax, differ from those of the fixed schedule");
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
    ggcheck_outcome result = launch(&x, 0, GG_EMU_LATE, c->measure, x.text);
    bool good = result != GGCHECK_LAUNCH_REFUSED && compare(&x) && result == GGCHECK_LAUNCH_GOOD;
    if (good && !schedules(&x)) good = false;
    report->problems++;
    report->failed_problems += !good;
  } else if (c->wide_ld || c->wide_stride) {
    report->stopped = "offsets beyond 32 bits were not checked: there are no such addresses";
    memory = true;
  } else {
    report->memory = true;
  }
  for (int o = 0; o < GGI_OPERANDS; o++)
    ggcheck_operand_free(&x.operand[o], s->emu);
  ggcheck_reference_free(&x.reference);
  free(x.before[0]);
  free(x.before[1]);
  free(x.first);
  return memory && !report->memory;
}
