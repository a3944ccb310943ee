/* ggcheck_case.c - which runs a row gets.
 *
 * Invariant: every case is legal for its row (sizes, scalar classes, alignment), so whatever goes
 * wrong in it is the kernel's fault.
 *
 * The full cross product of sizes, scalars, pitches and batches has thousands of points. Instead
 * each list of values is walked with its own period, so that every value of every list occurs, and
 * so do most pairs of m and n edges and all nine pairs of alpha and beta classes.
 */
#include "ggcheck_case.h"
#include "dtype.h"
#include "epilogue.h"
#include "ggcheck_data.h"
#include "ggcheck_number.h"
#include "tensor_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES_MAX = 32, RASTER_TILES = 11, SCALE_BLOCK = 128 };

static const double LARGE = 0x1p100; /* absmax before a run that does not raise it */

typedef struct size_list {
  int64_t value[SIZES_MAX];
  size_t count;
} size_list;

static bool multiple_of(int64_t value, int unit) {
  return unit <= 1 || value % unit == 0;
}

bool ggcheck_size_legal(const gg_kernel *row, int64_t m, int64_t n, int64_t k) {
  return multiple_of(m, row->multiple_m) && multiple_of(n, row->multiple_n) &&
         multiple_of(k, row->multiple_k) && k >= row->min_k;
}

int ggcheck_stages_guess(const gg_kernel *row) {
  int64_t stage = (int64_t)(row->tile_m + row->tile_n) * row->tile_k * ggi_dtype_bytes(row->type_a);
  int64_t stages = stage > 0 ? row->shared_bytes / stage : 1;
  if (stages < 1) return 1;
  return stages > 8 ? 8 : (int)stages;
}

static void add_size(size_list *list, int64_t value, int unit, int64_t least) {
  if (value < least || !multiple_of(value, unit) || list->count == SIZES_MAX) return;
  for (size_t i = 0; i < list->count; i++)
    if (list->value[i] == value) return;
  list->value[list->count++] = value;
}

/* m or n: the tile, one element (or the least step the row takes) to either side of it, two tiles
 * and the least size at all. */
static size_list axis_sizes(int tile, int multiple) {
  size_list list = {.count = 0};
  int step = multiple > 1 ? multiple : 1;
  add_size(&list, tile, step, 1);
  add_size(&list, tile + step, step, 1);
  add_size(&list, tile - step, step, 1);
  add_size(&list, 2 * (int64_t)tile, step, 1);
  add_size(&list, step, step, 1);
  return list;
}

/* Blocks of a cluster that share a tile, each a part of k. */
static int64_t parts_of(const gg_kernel *row) {
  return row->cluster_k > 1 ? row->cluster_k : 1;
}

/* k: none, every fill of the ring from one tile to two more than it has stages, tails of one step
 * and of one step less than a tile, before, at and after the ring's end. Where several blocks share
 * a tile: some of them without k, each with one tile, each with more than its ring holds. */
static size_list depth_sizes(const gg_kernel *row) {
  size_list list = {.count = 0};
  int step = row->multiple_k > 1 ? row->multiple_k : 1;
  int64_t tile = row->tile_k > 0 ? row->tile_k : 1;
  int64_t stages = ggcheck_stages_guess(row);
  int64_t least = row->min_k > 1 ? row->min_k : 1;
  add_size(&list, tile * stages + step, step, least);
  add_size(&list, tile, step, least);
  add_size(&list, step, step, least);
  add_size(&list, tile - step, step, least);
  add_size(&list, tile + step, step, least);
  add_size(&list, tile * (stages + 2) - step, step, least);
  for (int64_t tiles = 2; tiles <= stages + 2; tiles++)
    add_size(&list, tile * tiles, step, least);
  add_size(&list, 2 * tile + step, step, least);
  add_size(&list, tile * (stages + 1) + step, step, least);
  add_size(&list, (least + step - 1) / step * step, step, least);
  if (parts_of(row) > 1) {
    add_size(&list, tile * (parts_of(row) - 1), step, least);
    add_size(&list, tile * parts_of(row), step, least);
    add_size(&list, tile * parts_of(row) + step, step, least);
    add_size(&list, tile * parts_of(row) * (stages + 1) - step, step, least);
  }
  if (row->family && tile < 4) /* no tile to speak of (naive) */
    add_size(&list, (33 + step - 1) / step * step, step, least);
  return list;
}

/* The i-th scalar that the compiled class admits: zero, one, other. */
static double scalar(gg_scalar_class compiled, int i, ggcheck_fill fill, double other) {
  if (compiled == GG_SCALAR_ZERO) return 0;
  if (compiled == GG_SCALAR_ONE) return 1;
  if (i % 3 == 1) return 1;
  if (i % 3 == 2) return 0;
  return fill == GGCHECK_INTEGER ? (other < 0 ? -3 : 2) : other;
}

/* What the row's types and steps allow: whole scalars where the epilogue is whole, D in C's place
 * where the two are of one type, in the residual's where there is one. */
static ggcheck_case fitted(const gg_kernel *row, const ggcheck_case *c) {
  ggcheck_case fit = *c;
  if (row->type_c != row->type_d) fit.in_place = false;
  if (!row->residual) fit.residual_in_place = false;
  if (!row->absmax) fit.absmax_before = 0;
  if (c->fill == GGCHECK_NORMAL && c->alpha != 0 && row->alpha == GG_SCALAR_ANY && c->alpha != 1)
    fit.alpha *= ggcheck_alpha_unit(row, c->k);
  if (ggcheck_is_integer(ggi_row_epilogue(row))) {
    fit.alpha = c->alpha < 0 ? floor(c->alpha) : ceil(c->alpha);
    fit.beta = c->beta < 0 ? floor(c->beta) : ceil(c->beta);
  }
  return fit;
}

static void add_case(const gg_kernel *row, ggcheck_cases *cases, const ggcheck_case *c) {
  if (row->kind == GG_KIND_REDUCE && c->batch != 1) return; /* its batch is one */
  if (cases->count == cases->capacity) {
    size_t capacity = cases->capacity ? 2 * cases->capacity : 32;
    ggcheck_case *items = realloc(cases->items, capacity * sizeof *items);
    if (!items) {
      cases->failed = true;
      return;
    }
    cases->items = items;
    cases->capacity = capacity;
  }
  cases->items[cases->count++] = fitted(row, c);
}

void ggcheck_cases_free(ggcheck_cases *cases) {
  free(cases->items);
  *cases = (ggcheck_cases){0};
}

/* A general case: both scalars neither 0 nor 1 where the row lets them. */
static ggcheck_case general(const gg_kernel *row, int64_t m, int64_t n, int64_t k, int64_t batch,
                            ggcheck_fill fill) {
  ggcheck_case c = {.m = m, .n = n, .k = k, .batch = batch, .fill = fill};
  c.alpha = scalar(row->alpha, 0, fill, 1.3);
  c.beta = scalar(row->beta, 0, fill, -0.7);
  return c;
}

/* Sizes against each other, with everything else varied along. */
static void add_edges(const gg_kernel *row, ggcheck_cases *out) {
  size_list ms = axis_sizes(row->tile_m, row->multiple_m);
  size_list ns = axis_sizes(row->tile_n, row->multiple_n);
  size_list ks = depth_sizes(row);
  if (!ms.count || !ns.count || !ks.count) return;
  size_t runs = ks.count > 15 ? ks.count : 15;
  if (ms.count * ns.count < 5) /* an unguarded kernel: whole tiles only */
    runs = ks.count > 9 ? ks.count : 9;
  for (size_t i = 0; i < runs; i++) {
    int64_t m = ms.value[i % ms.count];
    int64_t n = ns.value[(i + i / ms.count) % ns.count];
    ggcheck_fill fill = i % 4 == 2 ? GGCHECK_INTEGER : GGCHECK_NORMAL;
    ggcheck_case c = general(row, m, n, ks.value[i % ks.count], 1, fill);
    c.alpha = scalar(row->alpha, (int)i, fill, 1.3);
    c.beta = scalar(row->beta, (int)(i / 3), fill, -0.7);
    if (i % 3 == 2 && i >= 9) /* alpha 0 computes nothing: beyond the nine pairs use the size */
      c.alpha = scalar(row->alpha, 0, fill, -1.1);
    c.in_place = i % 4 == 1;
    c.residual_in_place = i % 5 == 3;
    c.absmax_before = i % 4 == 3 ? LARGE : 0;
    for (int o = 0; o < GGI_OPERANDS; o++) {
      c.gap[o] = (i + (size_t)o) % 3 == 0 ? 0 : (int64_t)(2 * ((i + (size_t)o) % 4) + 1);
      c.skew[o] = ((i >> 1) + (size_t)o) % 2 == 1;
    }
    add_case(row, out, &c);
  }
}

static int64_t rounded(int64_t value, int unit) {
  return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

/* Batches with each stride zero in turn; two tiles one way, so that tile and batch can be mixed up.
 */
static void add_batches(const gg_kernel *row, ggcheck_cases *out) {
  int64_t m = rounded(row->tile_m + 1, row->multiple_m);
  int64_t n = rounded(row->tile_n > 2 ? row->tile_n - 2 : 1, row->multiple_n);
  int64_t k = rounded(row->min_k > 2 ? row->min_k : 2, row->multiple_k);
  for (int i = 0; i < 4; i++) {
    ggcheck_case c = general(row, m, n, k, 3, i == 1 ? GGCHECK_INTEGER : GGCHECK_NORMAL);
    for (int o = 0; o < 3; o++)
      c.shared[o] = i == o;
    c.shared[GGI_BIAS] = i % 2 == 1;
    c.shared[GGI_RESIDUAL] = i == 2;
    for (int o = 0; o < GGI_OPERANDS; o++)
      c.stride_gap[o] = (i + o) % 3;
    c.gap[i] = 1;
    c.in_place = i == 3;
    add_case(row, out, &c);
  }
}

/* What the scalars and sizes forbid to read, and what IEEE says of NaN and infinity. */
static void add_semantics(const gg_kernel *row, ggcheck_cases *out) {
  int64_t k = rounded(row->tile_k + 1 > row->min_k ? row->tile_k + 1 : row->min_k, row->multiple_k);
  int64_t full_m = rounded(row->tile_m, row->multiple_m),
          full_n = rounded(row->tile_n, row->multiple_n);
  int64_t edge_m = rounded(row->tile_m + 1, row->multiple_m);
  int64_t edge_n = rounded(row->tile_n + 1, row->multiple_n);
  bool any_alpha = row->alpha == GG_SCALAR_ANY || row->alpha == GG_SCALAR_ZERO;
  bool any_beta = row->beta == GG_SCALAR_ANY || row->beta == GG_SCALAR_ZERO;
  ggcheck_case c;

  c = general(row, edge_m, full_n, k, 1, GGCHECK_SPECIAL);
  add_case(row, out, &c);
  if (any_beta) {
    c = general(row, full_m, full_n, k, 1, GGCHECK_NORMAL);
    c.beta = 0;
    c.poison_c = true;
    add_case(row, out, &c);
    c.m = edge_m;
    c.n = edge_n;
    c.in_place = true;
    add_case(row, out, &c);
  }
  if (any_alpha) {
    c = general(row, full_m, edge_n, k, 1, GGCHECK_NORMAL);
    c.alpha = 0;
    c.poison_ab = true;
    add_case(row, out, &c);
  }
  if (any_alpha && any_beta) {
    c.beta = 0;
    c.poison_c = true;
    add_case(row, out, &c);
  }
  if (row->min_k == 0) {
    c = general(row, edge_m, full_n, 0, 3, GGCHECK_NORMAL);
    add_case(row, out, &c);
    c.batch = 1;
    c.m = full_m;
    if (any_beta) {
      c.beta = 0;
      c.poison_c = true;
    }
    add_case(row, out, &c);
  }
  for (int i = 0; i < 3; i++) { /* nothing to do: nothing launched, nothing written */
    c = general(row, i == 0 ? 0 : full_m, i == 1 ? 0 : full_n, k, i == 2 ? 0 : 1, GGCHECK_NORMAL);
    add_case(row, out, &c);
  }
}

/* Scales of 128 of k, and of 128 rows and columns: several of each, the last of them not whole.
 * Those of rows and columns have these sizes too, being the same up to 128 of k. */
static void add_scales(const gg_kernel *row, ggcheck_cases *out) {
  const gg_scaling scaling[2] = {row->scaling_a, row->scaling_b};
  if (scaling[0] < GG_SCALING_VECTOR && scaling[1] < GG_SCALING_VECTOR) return;
  for (int i = 0; i < 3; i++) {
    int64_t sides[2];
    for (int o = 0; o < 2; o++)
      sides[o] = scaling[o] == GG_SCALING_BLOCK ? SCALE_BLOCK + 1 + 8 * i : 5 + i;
    int64_t k = i == 0 ? SCALE_BLOCK - 1 : i * SCALE_BLOCK + 1;
    if (k < row->min_k) k = row->min_k;
    ggcheck_case c = general(row, rounded(sides[0], row->multiple_m),
                             rounded(sides[1], row->multiple_n), rounded(k, row->multiple_k),
                             i == 2 ? 2 : 1, i == 1 ? GGCHECK_INTEGER : GGCHECK_NORMAL);
    add_case(row, out, &c);
  }
}

/* Far beyond what D holds, where conversions to it end at its largest number. A whole epilogue has
 * none: it wraps. */
static void add_saturation(const gg_kernel *row, ggcheck_cases *out) {
  bool ends = !ggcheck_has_infinity(row->type_d) || row->type_d == GG_E5M2;
  if (!ends || row->alpha != GG_SCALAR_ANY || ggcheck_is_integer(ggi_row_epilogue(row))) return;
  ggcheck_case c =
      general(row, rounded(row->tile_m, row->multiple_m), rounded(row->tile_n, row->multiple_n),
              rounded(row->min_k > 8 ? row->min_k : 8, row->multiple_k), 1, GGCHECK_NORMAL);
  c.alpha = row->type_d == GG_S32 ? 300000 : row->type_d == GG_E5M2 ? 60000 : 300;
  add_case(row, out, &c);
}

/* Every operand with a row, then with a matrix, beyond 2^31 elements: offsets in 32 bits overflow.
 */
static void add_wide(const gg_kernel *row, ggcheck_cases *out) {
  int64_t k = row->tile_k > row->min_k ? row->tile_k : row->min_k;
  ggcheck_case c =
      general(row, rounded(row->tile_m, row->multiple_m), rounded(row->tile_n, row->multiple_n),
              rounded(k > 2 ? k : 2, row->multiple_k), 1, GGCHECK_NORMAL);
  c.wide_ld = true;
  add_case(row, out, &c);
  c.wide_ld = false;
  c.wide_stride = true;
  c.batch = 2;
  add_case(row, out, &c);
}

/* `tiles` tiles, the last one step short of a whole one where the row takes that. */
static int64_t many(int64_t tiles, int tile, int multiple) {
  int64_t step = multiple > 1 ? multiple : 1;
  return tiles * rounded(tile, multiple) - (step < tile ? step : 0);
}

/* Many tiles each way: rasters walk groups of tiles, the last of which are not whole, nor are the
 * last tiles: a block that goes on to another tile needs its bounds. */
static void add_rasters(const gg_kernel *row, ggcheck_cases *out) {
  int64_t k = rounded(row->min_k > 1 ? row->min_k : 1, row->multiple_k);
  for (int i = 0; i < 2; i++) {
    int64_t m = many(i == 0 ? RASTER_TILES : 2, row->tile_m, row->multiple_m);
    int64_t n = many(i == 0 ? 2 : RASTER_TILES, row->tile_n, row->multiple_n);
    ggcheck_case c = general(row, m, n, k, 1, GGCHECK_INTEGER);
    add_case(row, out, &c);
  }
}

/* One block, guarded where the row has guards, over every stage of the ring and around again. */
static void add_schedules(const gg_kernel *row, int schedules, ggcheck_cases *out) {
  int step_m = row->multiple_m > 1 ? row->multiple_m : 1;
  int step_n = row->multiple_n > 1 ? row->multiple_n : 1;
  int step_k = row->multiple_k > 1 ? row->multiple_k : 1;
  int64_t m = row->tile_m - step_m > 0 ? row->tile_m - step_m : rounded(row->tile_m, step_m);
  int64_t n = row->tile_n - step_n > 0 ? row->tile_n - step_n : rounded(row->tile_n, step_n);
  int64_t k = (int64_t)(ggcheck_stages_guess(row) + 2) * row->tile_k * parts_of(row);
  if (step_k < row->tile_k) k += step_k;
  if (k < row->min_k) k = row->min_k;
  ggcheck_case c = general(row, m, n, rounded(k, step_k), 1, GGCHECK_NORMAL);
  c.schedules = schedules;
  add_case(row, out, &c);
}

void ggcheck_default_cases(const gg_kernel *row, int schedules, ggcheck_cases *out) {
  int64_t k = (int64_t)(ggcheck_stages_guess(row) + 2) * row->tile_k * parts_of(row);
  if (k < row->min_k) k = row->min_k;
  ggcheck_case c = general(row, rounded(2 * (int64_t)row->tile_m, row->multiple_m),
                           rounded(2 * (int64_t)row->tile_n, row->multiple_n),
                           rounded(k, row->multiple_k), 1, GGCHECK_NORMAL);
  c.measure = true;
  add_case(row, out, &c);
  add_schedules(row, schedules, out);
  add_edges(row, out);
  add_semantics(row, out);
  add_batches(row, out);
  add_rasters(row, out);
  add_scales(row, out);
  add_saturation(row, out);
  add_wide(row, out);
}

void ggcheck_size_cases(const gg_kernel *row, int64_t m, int64_t n, int64_t k, int64_t batch,
                        int schedules, ggcheck_cases *out) {
  ggcheck_case c = general(row, m, n, k, batch, GGCHECK_NORMAL);
  c.measure = !out->count; /* of several sizes, the first */
  c.schedules = schedules;
  add_case(row, out, &c);
  c = general(row, m, n, k, batch, GGCHECK_INTEGER);
  for (int o = 0; o < GGI_OPERANDS; o++) {
    c.gap[o] = 1;
    c.skew[o] = true;
  }
  add_case(row, out, &c);
}

void ggcheck_case_text(const gg_kernel *row, const ggcheck_case *c, char *text, size_t size) {
  static const char *const fills[] = {"", " integers", " with NaN and Inf"};
  char batch[32] = "", extra[96] = "";
  if (c->batch != 1) snprintf(batch, sizeof batch, "x%lld", (long long)c->batch);
  int at = 0;
  for (int o = 0; o < 4; o++) {
    static const char names[] = "abcd";
    const gg_dtype types[4] = {row->type_a, row->type_b, row->type_c, row->type_d};
    int unit = ggi_row_align(row, o) / ggi_dtype_bytes(types[o]);
    if (c->gap[o] && at >= 0 && at < (int)sizeof extra)
      at += snprintf(extra + at, sizeof extra - (size_t)at, " ld%c+%lld", names[o],
                     (long long)(c->gap[o] * (unit > 1 ? unit : 1)));
  }
  const char *wide = c->wide_ld ? " rows beyond 2^31" : c->wide_stride ? " batch beyond 2^31" : "";
  snprintf(text, size, "%lldx%lldx%lld%s alpha %g beta %g%s%s%s%s%s%s%s", (long long)c->m,
           (long long)c->n, (long long)c->k, batch, c->alpha, c->beta, fills[c->fill], extra, wide,
           c->in_place ? " C=D" : "", c->residual_in_place ? " residual=D" : "",
           c->poison_ab ? " A,B=NaN" : "", c->poison_c ? " C=NaN" : "");
}
