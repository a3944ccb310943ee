/* explain_warn.c - warnings that need a problem: what costs most for it, and what would help.
 *
 * Of the kernels that serve a problem alike (types, layout) only the one that is predicted to be
 * fastest is looked at: what the others would do badly does not happen.
 */
#include "explain_parts.h"
#include "explain_sheet.h"

#include <math.h>
#include <string.h>

/* -- Which kernel
 * ---------------------------------------------------------------------------------- */

static bool alike(const kernel_plan *a, const kernel_plan *b) {
  return !plan_is_pass(a) && a->type_a == b->type_a && a->type_b == b->type_b &&
         a->type_d == b->type_d && a->type_acc == b->type_acc && a->layout == b->layout &&
         a->arch == b->arch;
}

static bool contiguous(const kernel_plan *p, int operand, const model_problem *size,
                       double *extent) {
  bool turned = operand == 0   ? p->layout == LAYOUT_TN || p->layout == LAYOUT_TT
                : operand == 1 ? p->layout == LAYOUT_NT || p->layout == LAYOUT_TT
                               : false;
  const double extents[3][2] = {{size->k, size->m}, {size->n, size->k}, {size->n, size->n}};
  *extent = extents[operand][turned];
  return turned;
}

/* Has a dense operand of this size (0 to 2: A, B, D) the alignment that the kernel asks? */
static bool dense_is_aligned(const kernel_plan *p, int operand, const model_problem *size) {
  const int asked[3] = {p->align_a, p->align_b, p->align_d};
  double extent;
  contiguous(p, operand, size, &extent);
  return asked[operand] <= 1 ||
         fmod(extent * (operand < 2 ? p->element : p->element_d), asked[operand]) == 0;
}

/* Seconds of the fastest pass that copies A (0) or B row by row; 0: the specs bring none. */
static double copy_seconds(const explain_job *j, int operand, int element,
                           const model_problem *size) {
  double bytes = size->k * (operand == 0 ? size->m : size->n) * size->batch * element, best = 0;
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel_plan *p = &j->set.kernels[i].plan;
    if (p->family != FAMILY_REPACK || p->element != element || p->turn_a) continue;
    double seconds = (p->overhead_ns + 2 * bytes / p->copy_gbs) * 1e-9;
    if (best == 0 || seconds < best) best = seconds;
  }
  return best;
}

/* Seconds of the copies that dense operands of this size need; below 0: no copy helps. */
static double copies_of(const explain_job *j, const kernel_plan *p, const model_problem *size) {
  double seconds = 0;
  for (int i = 0; i < 3; ++i) {
    if (dense_is_aligned(p, i, size)) continue;
    double copy = i < 2 ? copy_seconds(j, i, i ? dtype_bytes(p->type_b) : p->element, size) : 0;
    if (copy == 0) return -1;
    seconds += copy;
  }
  return seconds;
}

/* The fastest predicted kernel like `like` for dense matrices of this size, with copies of A and B
 * that it needs; NULL: none takes it. */
static const kernel *fastest(const explain_job *j, const kernel_plan *like, const char *problem,
                             double *seconds, double *copies) {
  const kernel *best = NULL;
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel *k = &j->set.kernels[i];
    if (!alike(&k->plan, like) || (j->o->kernel && !explain_wanted(j, k))) continue;
    sheet s = sheet_of(&k->plan);
    sheet_fit f = sheet_fit_of(&s, problem);
    double copying = copies_of(j, &k->plan, &f.size);
    if (f.lacks || copying < 0) continue;
    if (best && f.prediction.seconds + copying >= *seconds) continue;
    best = k;
    *seconds = f.prediction.seconds + copying;
    *copies = copying;
  }
  return best;
}

/* -- The warnings
 * ------------------------------------------------------------------------------------ */

static void padded_text(const char *problem, const kernel_plan *p, char text[64], double *pad,
                        double *was) {
  sheet s = sheet_of(p);
  sheet_fit f = sheet_fit_of(&s, problem);
  double size[3] = {f.size.m, f.size.n, f.size.k};
  *pad = *was = 0;
  for (int i = 0; i < 3; ++i) {
    double extent;
    contiguous(p, i, &f.size, &extent);
    double per = 16.0 / (i < 2 ? p->element : p->element_d);
    double up = ceil(extent / per) * per;
    if (up == extent || *pad != 0) continue;
    *pad = up;
    *was = extent;
  }
  for (int i = 0; i < 3; ++i)
    size[i] = ceil(size[i] / 8) * 8;
  snprintf(text, 64, "%.0fx%.0fx%.0fx%.0f", size[0], size[1], size[2], f.size.batch);
}

static void warn_alignment(explain_job *j, const kernel *k, const char *problem, double seconds,
                           double copies) {
  const kernel_plan *p = &k->plan;
  char text[64], now[32], then[32], takes[80], copying[32];
  double pad, was, better = 0, none = 0;
  padded_text(problem, p, text, &pad, &was);
  if (pad == 0) return;
  const kernel *other = fastest(j, p, text, &better, &none);
  if (!other || (other == k && copies == 0) || better > 0.95 * seconds) return;
  if (copies > 0)
    snprintf(takes, sizeof takes, "operands are copied first, in %s, for",
             sheet_seconds(copies, copying));
  else
    snprintf(takes, sizeof takes, "the call is taken by");
  spec_report(
      k->specs[0], j->d, DIAG_WARNING, SPEC_LAYOUT, "unaligned",
      "%s (%s): rows of %.0f elements are %.0f B, no multiple of 16, so copies of 16 bytes are "
      "out and %s %s: predicted %s; with a leading dimension of %.0f %s would take it: %s; pad "
      "rows "
      "to %.0f",
      problem, spec_layout_name(p->layout), was, was * p->element, takes, p->name,
      sheet_seconds(seconds, now), pad, other->plan.name, sheet_seconds(better, then), pad);
}

/* The best of a few changes of the spec, predicted. */
typedef struct change {
  spec_field field;
  int value;
  double seconds;
} change;

static change best_change(const kernel_plan *p, const char *problem, const change *tries,
                          int count) {
  change best = {.seconds = 0};
  for (int i = 0; i < count; ++i) {
    if (tries[i].value < spec_info(tries[i].field)->low) continue;
    kernel_spec changed = *p->spec;
    changed.value[tries[i].field] = tries[i].value;
    kernel_plan q;
    plan_fault fault;
    if (plan_make(&changed, (plan_variant)p->variant, &q, &fault) != PLAN_OK) continue;
    sheet s = sheet_of(&q);
    sheet_fit f = sheet_fit_of(&s, problem);
    if (!f.lacks && q.family == p->family &&
        (best.seconds == 0 || f.prediction.seconds < best.seconds))
      best = (change){tries[i].field, tries[i].value, f.prediction.seconds};
    plan_free(&q);
  }
  return best;
}

static void remedy(const change *c, double seconds, char text[120]) {
  char then[32];
  if (c->seconds > 0 && c->seconds < 0.97 * seconds)
    snprintf(text, 120, "%s = %d is predicted at %s", spec_field_name(c->field), c->value,
             sheet_seconds(c->seconds, then));
  else
    snprintf(text, 120, "no single change of tile or split helps");
}

static void warn_waves(explain_job *j, const kernel *k, const sheet_fit *f) {
  const kernel_plan *p = &k->plan;
  const model_waves *w = &f->waves;
  const change tries[] = {{SPEC_TILE_M, p->tile_m / 2, 0},
                          {SPEC_TILE_N, p->tile_n / 2, 0},
                          {SPEC_TILE_M, p->tile_m * 2, 0},
                          {SPEC_TILE_N, p->tile_n * 2, 0},
                          {SPEC_TILE_N, p->tile_n - 64, 0},
                          {SPEC_CLUSTER_K, 2, 0},
                          {SPEC_CLUSTER_K, 4, 0},
                          {SPEC_CLUSTER_K, 8, 0},
                          {SPEC_K_SLICES, 2, 0},
                          {SPEC_K_SLICES, 4, 0}};
  char text[120], now[32];
  double blocks = w->tiles * (p->cluster_k > 1 ? p->cluster_k : 1);
  double seconds = f->prediction.seconds;
  /* Launch and latency decide where there is little to do: nothing to warn about. */
  bool small = model_flop(&f->size) < 2e8;
  if (small || p->family == FAMILY_NAIVE) return;
  double sms = p->spec->gpu.sms;
  bool few = blocks<0.9 * sms, tail = w->rounds> 1 && w->filled < 0.8;
  if (!few && !tail) return;
  change best = best_change(p, f->text, tries, sizeof tries / sizeof *tries);
  remedy(&best, seconds, text);
  if (few)
    spec_report(k->specs[0], j->d, DIAG_WARNING, SPEC_TILE_M, "few-blocks",
                "%s (%s): %.0f blocks of %s for %d SMs, %.0f %% of them idle: predicted %s; %s",
                f->text, spec_layout_name(p->layout), blocks, p->name, p->spec->gpu.sms,
                100 * (1 - blocks / p->spec->gpu.sms), sheet_seconds(seconds, now), text);
  else
    spec_report(
        k->specs[0], j->d, DIAG_WARNING, SPEC_TILE_M, "tail-wave",
        "%s (%s): %.2f waves of %s take %.0f rounds, the last one %.0f %% full: predicted %s; %s",
        f->text, spec_layout_name(p->layout), w->waves, p->name, w->rounds,
        100 * (w->waves - (w->rounds - 1)), sheet_seconds(seconds, now), text);
}

static void warn_reuse(explain_job *j, const kernel *k, const sheet_fit *f) {
  const kernel_plan *p = &k->plan;
  const model_waves *w = &f->waves;
  double extra = w->compulsory > 0 ? w->hbm_bytes / w->compulsory : 1;
  double share = f->prediction.alone[BOUND_HBM] / f->prediction.seconds;
  if (extra < 2 || share < 0.3) return;
  static const int groups[] = {1, 2, 4, 8, 16, 32};
  double least = w->hbm_bytes;
  int best = 0;
  for (size_t i = 0; i < sizeof groups / sizeof *groups; ++i) {
    model_kernel m = plan_model(p);
    m.raster_group = groups[i];
    double bytes = model_waves_of(&m, &p->spec->gpu, &f->size).hbm_bytes;
    if (bytes < 0.9 * least) least = bytes, best = groups[i];
  }
  char text[80], bytes[3][32];
  if (best)
    snprintf(text, sizeof text, "raster.group = %d would move %s", best,
             sheet_bytes(least, bytes[0]));
  else
    snprintf(text, sizeof text, "a larger tile reads less");
  spec_report(
      k->specs[0], j->d, DIAG_WARNING, SPEC_RASTER_GROUP, "l2-reuse",
      "%s (%s): %s moves %s through device memory, %.1f x the compulsory %s, since what later "
      "rounds need again no longer is in L2: %.0f %% of the predicted time; %s",
      f->text, spec_layout_name(p->layout), p->name, sheet_bytes(w->hbm_bytes, bytes[1]), extra,
      sheet_bytes(w->compulsory, bytes[2]), 100 * share, text);
}

void explain_warn(explain_job *j) {
  for (size_t x = 0; x < j->o->problem_count; ++x) {
    const char *problem = j->o->problems[x];
    for (size_t i = 0; i < j->set.count; ++i) {
      const kernel *k = &j->set.kernels[i];
      double seconds = 0, copies = 0;
      if (fastest(j, &k->plan, problem, &seconds, &copies) != k) continue;
      sheet s = sheet_of(&k->plan);
      sheet_fit f = sheet_fit_of(&s, problem);
      warn_alignment(j, k, problem, seconds, copies);
      warn_waves(j, k, &f);
      warn_reuse(j, k, &f);
    }
  }
}
