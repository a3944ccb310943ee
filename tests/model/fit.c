/* fit.c - fits the model's constants to measurements, on one half of the pairs.
 *
 *   model_fit KERNELS.csv TIMES.csv ...           score the constants that are built in
 *   model_fit --out OUT.c KERNELS.csv TIMES.csv ...   fit, score, write runtime/model_fitted.c anew
 *   model_fit --pairs KERNELS.csv TIMES.csv ...   the same score, and one line a pair
 *
 * A pattern search in the logarithms of the constants, from the built-in ones, between bounds that
 * what they mean allows. The loss is the mean of |log(prediction / time)| with each group of rivals
 * weighing alike, and half as much again for what an order within a group gets wrong. Same files,
 * same constants: nothing here is random.
 */
#include "measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds, and how a value is spelled. ORDER CONSTANT: by name. */
static const struct bound {
  const char *name;
  double low, high;
} bounds[] = {
    {"launch_us", 0.3, 4},
    {"early_us", 0.05, 2.5},
    {"start_cycles", 50, 3000},
    {"map_cycles", 10, 6000},
    {"latency_cycles", 350, 2500},
    {"tma_cycles", 350, 2500},
    {"far_cycles", 10, 1500},
    {"queue", 0.01, 2},
    {"outside", 0.5, 8},
    {"load_cycles", 100, 1500},
    {"lds_slots", 0.02, 0.8},
    {"copy_slots", 1, 12},
    {"staged_slots", 1, 60},
    {"fill_slots", 0.05, 12},
    {"crooked", 1, 3},
    {"stage_slots", 3, 120},
    {"turn_slots", 0.5, 40},
    {"barrier_cycles", 1, 300},
    {"first_share", 0.05, 1},
    {"shared_latency", 20, 40},
    {"ldg_waves", 0.2, 4},
    {"line_waves", 0.05, 4},
    {"math_share", 0.8, 0.99},
    {"tensor_share", 0.8, 1},
    {"mma_share", 0.6, 1.03},
    {"dmma_share", 0.8, 1.03},
    {"wmma_share", 0.5, 1.03},
    {"fill_share", 0.05, 1},
    {"turn_cycles", 20, 400},
    {"promote_cycles", 10, 500},
    {"group_wait", 5, 400},
    {"sm_l2_bytes", 40, 110},
    {"all_l2_bytes", 15, 64},
    {"hbm_share", 0.8, 0.97},
    {"stream_share", 0.8, 0.98},
    {"write_share", 0.5, 1},
    {"l2_share", 0.3, 0.3}, /* held: what a profile read of device memory (profile_mma.csv) */
    {"store_bytes", 4, 128},
    {"guarded_bytes", 1, 128},
    {"tail_cycles", 20, 5000},
    {"epilogue_shown", 0.02, 1},
    {"cluster_cycles", 50, 6000},
    {"cluster_start", 10, 3000},
    {"cluster_bytes", 4, 128},
    {"overlap", 2, 30},
    {"overlap_blocks", 2.5, 30},
    {"overlap_memory", 5, 30},
    {"code_share", 0.04,
     0.04}, /* held: rings of unroll_f32 written out, 54 to 74 KB (docs/model.md) */
    {"idle_watts", 60, 250},
    {"fma_pj", 0.5, 3},
    {"tf32_pj", 0.5, 6},
    {"f8_pj", 0.2, 2},
    {"s8_pj", 0.2, 2},
    {"mma_pj", 0.1, 4},
    {"dmma_pj", 2, 40},
    {"shared_pj", 0.3, 6},
    {"l2_pj", 2, 30},
    {"hbm_pj", 10, 80},
    {"wave_blur", 0.001, 1},
};
enum { CONSTANTS = sizeof bounds / sizeof *bounds };

static size_t offset_of(const char *name) {
#define X(member, unit, text)                                                                      \
  if (strcmp(name, #member) == 0) return offsetof(model_constants, member);
  MODEL_CONSTANTS(X)
#undef X
  fprintf(stderr, "no constant %s\n", name);
  exit(2);
}

static double *slot(model_constants *c, int i) {
  return (double *)(void *)((char *)c + offset_of(bounds[i].name));
}

static void predict(const measured *m, const model_constants *c, double *us) {
  for (int i = 0; i < m->count; ++i) {
    const measured_pair *p = &m->pairs[i];
    us[i] = 1e6 * model_predict_with(c, &p->kernel, p->gpu, &p->problem).seconds;
  }
}

/* -- Loss
 * ------------------------------------------------------------------------------------------- */

static double loss(const measured *m, const model_constants *c, double *us, const double *weight) {
  predict(m, c, us);
  double sum = 0, weights = 0, wrong = 0, orders = 0;
  for (int i = 0; i < m->count; ++i) {
    const measured_pair *p = &m->pairs[i];
    if (p->held_out) continue;
    sum += weight[i] * fmin(0.5, fabs(log(us[i] / p->us)));
    weights += weight[i];
    /* Neighbours in the file are rivals: cheap, and enough to feel the order. */
    for (int j = i + 1; j < m->count && j < i + 12 && m->pairs[j].group == p->group; ++j) {
      if (m->pairs[j].held_out) continue;
      double real = log(m->pairs[j].us / p->us), said = log(us[j] / us[i]);
      wrong += weight[i] * fabs(real - said);
      orders += weight[i];
    }
  }
  return sum / weights + (orders > 0 ? wrong / orders : 0);
}

/* Groups weigh alike, not pairs: the square root, so that large ones still count for more. */
static double *weights_of(const measured *m) {
  int *size = calloc((size_t)m->groups, sizeof *size);
  double *w = malloc((size_t)m->count * sizeof *w);
  for (int i = 0; i < m->count; ++i)
    ++size[m->pairs[i].group];
  for (int i = 0; i < m->count; ++i)
    w[i] = 1 / sqrt(size[m->pairs[i].group]);
  free(size);
  return w;
}

static model_constants fit(const measured *m, double *us) {
  model_constants best = model_fitted;
  double *weight = weights_of(m);
  for (int i = 0; i < CONSTANTS; ++i)
    *slot(&best, i) = fmin(bounds[i].high, fmax(bounds[i].low, *slot(&best, i)));
  double least = loss(m, &best, us, weight), step[CONSTANTS];
  /* Long steps again once short ones have found nothing: a valley's other side may be lower. */
  for (int start = 0; start < 6; ++start) {
    double begun = least;
    for (int i = 0; i < CONSTANTS; ++i)
      step[i] = start % 2 ? 1 : 0.3;
    for (int round = 0; round < 40; ++round) {
      double before = least;
      for (int i = 0; i < CONSTANTS; ++i) {
        bool better = false;
        for (int sign = -1; sign <= 1 && !better; sign += 2) {
          model_constants trial = best;
          double *x = slot(&trial, i);
          *x = fmin(bounds[i].high, fmax(bounds[i].low, *x * exp(sign * step[i])));
          double l = loss(m, &trial, us, weight);
          if (l < least - 1e-7) least = l, best = trial, better = true;
        }
        step[i] = better ? fmin(1, step[i] * 1.5) : fmax(0.002, step[i] * 0.6);
      }
      if (round > 20 && before - least < 1e-5) break;
    }
    fprintf(stderr, "start %d: loss %.4f\n", start, least);
    if (start > 1 && begun - least < 1e-4) break;
  }
  free(weight);
  return best;
}

/* -- Report
 * ------------------------------------------------------------------------------------------ */

static void print_score(const char *what, measured_score s) {
  printf(
      "%-10s %5d pairs: median error %.1f %%, nine tenths below %.1f %%; %d groups: Spearman %.3f "
      "(median %.3f), first choice within 5 %% of the best in %.0f %%, %.1f %% beyond it on "
      "average\n",
      what, s.pairs, 100 * s.median_error, 100 * s.worst_decile, s.groups, s.spearman,
      s.spearman_median, 100 * s.regret_within, 100 * s.regret_mean);
}

static void print_pairs(const measured *m, const double *us) {
  for (int i = 0; i < m->count; ++i) {
    const measured_pair *p = &m->pairs[i];
    model_prediction r = model_predict(&p->kernel, p->gpu, &p->problem);
    printf("%-28s %9.2f %9.2f %+7.1f %%  %-16s %s%s\n", m->group_names[p->group], p->us, us[i],
           100 * (us[i] / p->us - 1), model_bound_name(r.binding), p->name,
           p->held_out ? " (held out)" : "");
  }
}

static int write_constants(const char *path, model_constants *c) {
  FILE *out = fopen(path, "w");
  if (!out) return perror(path), 3;
  fprintf(out,
          "/* model_fitted.c - the model's constants. Written by tests/model/fit.c; do not edit by "
          "hand. */\n#include \"model.h\"\n\nconst model_constants model_fitted = {\n");
  for (int i = 0; i < CONSTANTS; ++i)
    fprintf(out, "    .%s = %.4g,\n", bounds[i].name, *slot(c, i));
  fprintf(out, "};\n");
  return fclose(out) == 0 ? 0 : 3;
}

int main(int argc, char **argv) {
  bool pairs = argc > 1 && strcmp(argv[1], "--pairs") == 0;
  const char *out = argc > 2 && strcmp(argv[1], "--out") == 0 ? argv[2] : NULL;
  int first = pairs ? 2 : out ? 3 : 1;
  if (argc < first + 2 || (argc - first) % 2 != 0)
    return fprintf(stderr, "usage: model_fit [--out OUT.c | --pairs] KERNELS.csv TIMES.csv "
                           "[KERNELS.csv TIMES.csv ...]\n"),
           1;
  measured m = {0};
  for (int i = first; i < argc; i += 2)
    measured_add(&m, argv[i], argv[i + 1]);
  double *us = malloc((size_t)m.count * sizeof *us);
  model_constants c = model_fitted;
  if (out) c = fit(&m, us);
  predict(&m, &c, us);
  if (pairs) print_pairs(&m, us);
  print_score("fitted to", measured_score_of(&m, us, 0));
  print_score("held out", measured_score_of(&m, us, 1));
  print_score("all", measured_score_of(&m, us, -1));
  int code = out ? write_constants(out, &c) : 0;
  free(us);
  measured_free(&m);
  return code;
}
