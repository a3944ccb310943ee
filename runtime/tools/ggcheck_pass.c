/* ggcheck_pass.c - REPACK rows: shapes and addresses, the launch, the copy bit by bit.
 *
 * Bits are random, so that any byte that comes from elsewhere shows. Source and copy are allocated
 * to the byte: what is read or written beside them is found by the emulated GPU, what is written
 * inside their gaps by canaries.
 */
#include "ggcheck_pass.h"
#include "dtype.h"
#include "ggcheck_operand.h"
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRANULE = 16, FAULTS_MAX = 12 };

static const int64_t BEYOND = (INT64_C(1) << 31) + 64; /* elements */

/* One launch, as numbers. */
typedef struct shape {
  int64_t m, n, batch;
  int64_t gap;        /* of the source's leading dimension beyond n */
  int64_t stride_gap; /* of its batch stride beyond the rows */
  int skew;           /* elements by which it misses a 256-byte boundary */
  bool shared;        /* the source's stride is 0 */
  bool wide_ld, wide_stride;
  bool measure;
  int schedules;
} shape;

typedef struct run {
  ggcheck_session *session;
  const gg_kernel *row;
  const shape *c;
  int index;
  ggcheck_report *report;
  char text[160];
  ggcheck_operand from, to; /* to: rows filled up to granules */
  int64_t columns;          /* of a row of the copy, without what fills it up */
  gg_args args;
} run;

static int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static size_t element(const run *x) {
  return (size_t)ggi_dtype_bytes(x->row->type_a);
}

static void describe(run *x) {
  const shape *c = x->c;
  char batch[64] = "";
  if (c->batch != 1)
    snprintf(batch, sizeof batch, " batch %lld%s", (long long)c->batch,
             c->shared ? " of one matrix" : "");
  snprintf(x->text, sizeof x->text, "%lldx%lld lda+%lld, %d past 256 bytes%s%s", (long long)c->m,
           (long long)c->n, (long long)c->gap, c->skew * (int)element(x), batch,
           c->wide_ld       ? " rows beyond 2^31"
           : c->wide_stride ? " batch beyond 2^31"
                            : "");
}

static bool allocate(run *x) {
  const shape *c = x->c;
  gg_emu *emu = x->session->emu;
  bool turned = x->row->order_a == GG_ORDER_T;
  int64_t unit = GRANULE / (int64_t)element(x), pitch = x->row->align[3] / (int64_t)element(x);
  ggcheck_operand *a = &x->from, *d = &x->to;
  bool sparse = c->wide_ld || c->wide_stride;
  *a = (ggcheck_operand){.name = 'a', .type = x->row->type_a, .rows = c->m, .cols = c->n};
  a->ld = c->wide_ld && c->m > 1 ? BEYOND / (c->m - 1) + 1 : c->n + c->gap;
  a->matrices = c->shared ? 1 : c->batch;
  a->stride = c->shared ? 0 : c->wide_stride ? BEYOND + 1 : c->m * a->ld + c->stride_gap;
  x->columns = turned ? c->m : c->n;
  *d = (ggcheck_operand){.name = 'd', .type = x->row->type_d, .rows = turned ? c->n : c->m};
  d->cols = round_up(x->columns, unit);
  d->ld = round_up(d->cols, pitch);
  if (c->wide_ld && d->rows > 1) d->ld = round_up(BEYOND / (d->rows - 1) + 1, pitch);
  d->matrices = c->batch;
  d->stride = c->wide_stride ? round_up(BEYOND, pitch) : d->rows * d->ld + c->stride_gap * pitch;
  return ggcheck_operand_alloc(a, emu, (size_t)c->skew * element(x), sparse) &&
         ggcheck_operand_alloc(d, emu, 0, sparse);
}

/* Random bits in the source; the same for the same index. */
static void fill(run *x) {
  ggcheck_random random = {x->session->seed * UINT64_C(1000003) + (uint64_t)x->index};
  for (int64_t matrix = 0; matrix < x->from.matrices; matrix++)
    for (int64_t row = 0; row < x->from.rows; row++)
      for (int64_t col = 0; col < x->from.cols; col++) {
        uint64_t bits = ggcheck_random_bits(&random);
        memcpy(ggcheck_operand_at(&x->from, matrix, row, col), &bits, element(x));
      }
  ggcheck_operand_poison(&x->to);
}

static void arguments(run *x) {
  gg_args *p = &x->args;
  memset(p, 0, sizeof *p);
  p->a = x->from.bytes, p->lda = x->from.ld, p->stride_a = x->from.stride;
  p->d = x->to.bytes, p->ldd = x->to.ld, p->stride_d = x->to.stride;
  p->m = x->c->m, p->n = x->c->n, p->batch = x->c->batch;
}

/* What the source holds there; 0 behind the end of a row of the copy. */
static uint64_t expected(const run *x, int64_t matrix, int64_t row, int64_t col) {
  uint64_t bits = 0;
  if (col >= x->columns) return 0;
  bool turned = x->row->order_a == GG_ORDER_T;
  int64_t from = x->from.matrices > 1 ? matrix : 0;
  memcpy(&bits, ggcheck_operand_at(&x->from, from, turned ? col : row, turned ? row : col),
         element(x));
  return bits;
}

/* The copy's elements; false: one is wrong, and reported. */
static bool compare_elements(run *x) {
  int64_t wrong = 0;
  char text[300] = "";
  for (int64_t matrix = 0; matrix < x->to.matrices; matrix++)
    for (int64_t row = 0; row < x->to.rows; row++)
      for (int64_t col = 0; col < x->to.cols; col++) {
        uint64_t want = expected(x, matrix, row, col), got = 0;
        memcpy(&got, ggcheck_operand_at(&x->to, matrix, row, col), element(x));
        if (got == want || wrong++) continue;
        snprintf(text, sizeof text,
                 "the copy's matrix %lld, row %lld, column %lld%s is 0x%llx instead of 0x%llx",
                 (long long)matrix, (long long)row, (long long)col,
                 col >= x->columns ? ", behind the row's end," : "", (unsigned long long)got,
                 (unsigned long long)want);
      }
  if (!wrong) return true;
  ggcheck_report_add(x->report, GGCHECK_WRONG_VALUE, ggcheck_report_store_line(x->report), 0,
                     (uint64_t)wrong, x->index, x->text, text);
  return false;
}

static bool compare(run *x) {
  bool good = compare_elements(x);
  const ggcheck_operand *const operands[2] = {&x->from, &x->to};
  for (int i = 0; i < 2; i++) {
    int64_t matrix, row, col;
    char text[200];
    if (!ggcheck_operand_gap_written(operands[i], &matrix, &row, &col)) continue;
    snprintf(text, sizeof text,
             "%s was written between its rows, at matrix %lld, row %lld, column %lld of %lld",
             i ? "the copy" : "the source", (long long)matrix, (long long)row, (long long)col,
             (long long)operands[i]->cols);
    ggcheck_report_add(x->report, GGCHECK_GAP_WRITTEN, ggcheck_report_store_line(x->report), 0, 1,
                       x->index, x->text, text);
    good = false;
  }
  return good;
}

static bool launch(run *x, uint64_t seed, bool count) {
  const ggcheck_launch_options o = {.seed = seed,
                                    .async = GG_EMU_LATE,
                                    .count = count,
                                    .max_steps = 1000000,
                                    .resident = 1,
                                    .problem = x->index,
                                    .text = x->text};
  return ggcheck_launch(x->session, x->row, &x->args, &o, x->report) == GGCHECK_LAUNCH_GOOD;
}

/* false: out of memory. */
static bool run_one(ggcheck_session *s, const gg_kernel *row, const shape *c, int index,
                    ggcheck_report *report) {
  run x = {.session = s, .row = row, .c = c, .index = index, .report = report};
  describe(&x);
  bool memory = allocate(&x);
  if (memory) {
    bool good = true;
    for (int i = 0; i <= c->schedules && good; i++) {
      fill(&x);
      arguments(&x);
      good = launch(&x, i ? s->seed + (uint64_t)i : 0, c->measure && !i);
      good = compare(&x) && good;
    }
    report->problems++;
    report->failed_problems += !good;
  } else if (c->wide_ld || c->wide_stride) {
    report->stopped = "offsets beyond 32 bits were not checked: there are no such addresses";
    memory = true;
  }
  ggcheck_operand_free(&x.from, s->emu);
  ggcheck_operand_free(&x.to, s->emu);
  report->memory |= !memory;
  return memory;
}

/* ---- Which shapes ---- */

/* A growing list; a failed one stays failed. */
typedef struct shapes {
  shape *items;
  size_t count, capacity;
  bool failed;
} shapes;

static void add(shapes *list, shape c) {
  if (list->failed) return;
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    shape *grown = realloc(list->items, capacity * sizeof *grown);
    if (!grown) {
      list->failed = true;
      return;
    }
    list->items = grown;
    list->capacity = capacity;
  }
  if (c.batch == 0) c.batch = 1;
  list->items[list->count++] = c;
}

/* Every address inside a granule, on shapes from one element to more than a tile each way: pitches
 * of every remainder, so that rows of one matrix miss granules by different distances. */
static void add_addresses(const gg_kernel *row, shapes *list) {
  int unit = GRANULE / ggi_dtype_bytes(row->type_a);
  const int64_t ms[] = {1, 2, 3, row->tile_m - 1, row->tile_m, row->tile_m + 1, 2 * row->tile_m};
  const int64_t ns[] = {1,
                        2,
                        unit - 1,
                        unit,
                        unit + 1,
                        2 * unit + 1,
                        row->tile_n / 8 + 1, /* the row ends in each of a lane's loads */
                        row->tile_n * 3 / 8 + 1,
                        row->tile_n * 5 / 8 + 1,
                        row->tile_n * 7 / 8 + 1,
                        row->tile_n - 1,
                        row->tile_n,
                        row->tile_n + 1,
                        row->tile_n + unit - 1,
                        2 * row->tile_n + 3};
  enum { MS = sizeof ms / sizeof *ms, NS = sizeof ns / sizeof *ns };
  for (int i = 0; i < NS * unit; i++) {
    int n = i % NS, skew = i / NS;
    add(list, (shape){.m = ms[(n + skew) % MS],
                      .n = ns[n],
                      .gap = (3 * n + skew) % (unit + 1),
                      .skew = skew});
  }
  for (int n = 0; n < NS; n++) /* every row at a granule */
    add(list, (shape){.m = ms[n % MS], .n = ns[n], .gap = round_up(ns[n], unit) - ns[n]});
  for (int m = 0; m < MS; m++) /* dense, as most are */
    for (int n = 0; n < NS; n++)
      if ((m + n) % 2 == 0) add(list, (shape){.m = ms[m], .n = ns[n], .skew = (m + n) % unit});
  /* Rows that share a granule. */
  for (int m = 1; m <= 3 * unit; m += 2)
    for (int n = 1; n < unit && n <= 3; n++)
      add(list, (shape){.m = m, .n = n, .skew = (m * n) % unit});
}

static void add_batches(const gg_kernel *row, shapes *list) {
  int unit = GRANULE / ggi_dtype_bytes(row->type_a);
  shape c = {.m = row->tile_m + 1, .n = row->tile_n - 1, .batch = 3, .gap = 1, .skew = 1 % unit};
  for (int i = 0; i < 3; i++) {
    c.stride_gap = i;
    add(list, c);
  }
  c.shared = true;
  add(list, c);
  add(list, (shape){.m = 5, .n = 3, .batch = 7, .skew = unit - 1});
}

/* Offsets of 32 bits overflow. */
static void add_wide(shapes *list) {
  add(list, (shape){.m = 5, .n = 9, .skew = 1, .wide_ld = true});
  add(list, (shape){.m = 5, .n = 9, .batch = 2, .skew = 1, .wide_stride = true});
}

static void default_shapes(const gg_kernel *row, int schedules, shapes *list) {
  add(list, (shape){.m = 2 * row->tile_m, .n = 2 * row->tile_n + 1, .measure = true});
  add(list,
      (shape){
          .m = row->tile_m - 1, .n = row->tile_n - 1, .gap = 2, .skew = 1, .schedules = schedules});
  add_addresses(row, list);
  add_batches(row, list);
  add(list, (shape){.m = 11 * row->tile_m - 1, .n = 3}); /* many tiles one way, then the other */
  add(list, (shape){.m = 3, .n = 5 * row->tile_n + 1});
  add_wide(list);
}

bool ggcheck_passes(ggcheck_session *s, const gg_kernel *row, const int64_t (*sizes)[4],
                    int size_count, int schedules, ggcheck_report *report) {
  shapes list = {0};
  if (!size_count) default_shapes(row, schedules, &list);
  for (int i = 0; i < size_count; i++)
    add(&list, (shape){.m = sizes[i][0],
                       .n = sizes[i][1],
                       .batch = sizes[i][3],
                       .gap = 1,
                       .skew = 1,
                       .measure = !i,
                       .schedules = schedules});
  bool ok = !list.failed;
  report->memory |= list.failed;
  for (size_t i = 0; ok && i < list.count; i++) {
    if (report->failed_problems >= FAULTS_MAX) {
      report->stopped = "stopped after 12 problems with faults";
      break;
    }
    ok = run_one(s, row, &list.items[i], (int)i, report);
  }
  free(list.items);
  return ok;
}
