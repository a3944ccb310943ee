/* The model against what H200s took and what ptxas allotted (registers.csv). Times: times.csv, of
 * CUDA cores, wmma and cluster.k; docs/measured, of all types on tensor cores. The constants were
 * fitted to the pairs of one half of the problems; the figures here are of the other. */
#include "unit.h"

#include "kernel_set.h"
#include "measured.h"
#include "plan_model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static measured pairs;
static double *predicted;

enum { RIVALS = 8 }; /* fewer: the fastest few, whose order two cards do not agree on */

static double *predict(const measured *m) {
  double *us = malloc((size_t)m->count * sizeof *us);
  for (int i = 0; i < m->count; ++i)
    us[i] = 1e6 * model_predict(&m->pairs[i].kernel, m->pairs[i].gpu, &m->pairs[i].problem).seconds;
  return us;
}

static int load(void **state) {
  (void)state;
  pairs = measured_load("kernels.csv", "times.csv");
  predicted = predict(&pairs);
  return 0;
}

static int unload(void **state) {
  (void)state;
  free(predicted);
  measured_free(&pairs);
  return 0;
}

static void times_are_near_and_ranked(void **state) {
  (void)state;
  measured_score s = measured_score_of(&pairs, predicted, 1);
  assert_true(s.pairs >= 150);
  assert_true(s.groups >= 15);
  if (!(s.median_error <= 0.12)) fail_msg("median error %.1f %%", 100 * s.median_error);
  if (!(s.spearman >= 0.9)) fail_msg("Spearman %.3f", s.spearman);
}

/* All types on tensor cores, tiles good and bad: half of the problems, which the fit has not seen.
 */
static void tensor_cores_are_near_and_ranked(void **state) {
  (void)state;
  measured m = measured_load("tiles_kernels.csv", "../../docs/measured/h200_tiles.csv");
  double *us = predict(&m);
  measured_score all = measured_score_of(&m, us, 1);
  assert_true(all.pairs >= 800);
  if (!(all.median_error <= 0.12)) fail_msg("median error %.1f %%", 100 * all.median_error);
  if (!(all.regret_within >= 0.9))
    fail_msg("within 5 %% in %.0f %% of groups", 100 * all.regret_within);
  m.least_rivals = RIVALS;
  measured_score s = measured_score_of(&m, us, 1), both = measured_score_of(&m, us, -1);
  assert_true(s.groups >= 30);
  /* 0.9 is the aim: reached over all problems, 0.89 where the fit has not been (docs/model.md). */
  if (!(both.spearman >= 0.9)) fail_msg("Spearman %.3f", both.spearman);
  if (!(s.spearman >= 0.87)) fail_msg("Spearman %.3f where held out", s.spearman);
  free(us);
  measured_free(&m);
}

/* The kernels that the library chose for the suite: one each problem. */
static void choices_are_near(void **state) {
  (void)state;
  measured m = measured_load("tiles_kernels.csv", "../../docs/measured/h200_suite.csv");
  double *us = predict(&m);
  measured_score s = measured_score_of(&m, us, 1);
  assert_true(s.pairs >= 80);
  if (!(s.median_error <= 0.12)) fail_msg("median error %.1f %%", 100 * s.median_error);
  free(us);
  measured_free(&m);
}

static void every_family_is_near(void **state) {
  (void)state;
  measured_add(&pairs, "tiles_kernels.csv", "../../docs/measured/h200_tiles.csv");
  free(predicted);
  predicted = predict(&pairs);
  static const struct {
    model_family family;
    int least;
    double median;
  } families[] = {{MODEL_NAIVE, 20, 0.12}, {MODEL_SMEM, 5, 0.2},  {MODEL_SIMT, 300, 0.12},
                  {MODEL_WMMA, 10, 0.2},   {MODEL_MMA, 20, 0.12}, {MODEL_WGMMA, 300, 0.12}};
  for (size_t f = 0; f < sizeof families / sizeof *families; ++f) {
    measured some = {.groups = pairs.groups, .group_names = pairs.group_names};
    some.pairs = malloc((size_t)pairs.count * sizeof *some.pairs);
    double *us = malloc((size_t)pairs.count * sizeof *us);
    for (int i = 0; i < pairs.count; ++i)
      if (pairs.pairs[i].kernel.family == (int)families[f].family)
        some.pairs[some.count] = pairs.pairs[i], us[some.count++] = predicted[i];
    assert_true(some.count >= families[f].least);
    double error = measured_score_of(&some, us, -1).median_error;
    if (!(error <= families[f].median))
      fail_msg("family %d: median error %.1f %%", (int)families[f].family, 100 * error);
    free(some.pairs);
    free(us);
  }
}

/* Of all measured kernels, the one predicted to be fastest, and what it takes beyond the fastest.
 */
static void first_choices_are_good(void **state) {
  (void)state;
  measured_score s = measured_score_of(&pairs, predicted, -1);
  if (!(s.regret_within >= 0.8))
    fail_msg("within 5 %% in %.0f %% of groups", 100 * s.regret_within);
  if (!(s.regret_mean <= 0.04)) fail_msg("%.1f %% beyond the best", 100 * s.regret_mean);
}

/* Kernels of two specs on problems of their suite, no pair of which the fit has seen. */
static void unseen_pairs_are_near_and_ranked(void **state) {
  (void)state;
  measured m = measured_load("specs_kernels.csv", "specs_times.csv");
  double *us = predict(&m);
  measured_score s = measured_score_of(&m, us, -1);
  assert_true(s.pairs >= 600);
  assert_true(s.groups >= 60);
  if (!(s.median_error <= 0.12)) fail_msg("median error %.1f %%", 100 * s.median_error);
  if (!(s.spearman >= 0.9)) fail_msg("Spearman %.3f", s.spearman);
  if (!(s.regret_within >= 0.9))
    fail_msg("within 5 %% in %.0f %% of groups", 100 * s.regret_within);
  free(us);
  measured_free(&m);
}

/* What the model chose for an open gemm (specs/auto_h100_bf16.lua), timed after the fit. */
static void open_gemms_are_near_and_ranked(void **state) {
  (void)state;
  measured m = measured_load("auto_kernels.csv", "../../docs/measured/h200_auto.csv");
  double *us = predict(&m);
  measured_score s = measured_score_of(&m, us, -1);
  assert_true(s.pairs >= 200);
  assert_true(s.groups >= 20);
  if (!(s.median_error <= 0.12)) fail_msg("median error %.1f %%", 100 * s.median_error);
  if (!(s.spearman >= 0.9)) fail_msg("Spearman %.3f", s.spearman);
  if (!(s.regret_within >= 0.9))
    fail_msg("within 5 %% in %.0f %% of groups", 100 * s.regret_within);
  free(us);
  measured_free(&m);
}

/* Random predictions of the same spread must fail the same tests. */
static void the_score_can_fail(void **state) {
  (void)state;
  double *shuffled = malloc((size_t)pairs.count * sizeof *shuffled);
  unsigned seed = 1;
  for (int i = 0; i < pairs.count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    shuffled[i] = predicted[seed % (unsigned)pairs.count];
  }
  measured_score s = measured_score_of(&pairs, shuffled, 1);
  assert_true(s.median_error > 0.3);
  assert_true(fabs(s.spearman) < 0.3);
  assert_true(s.regret_within < 0.5);
  free(shuffled);
}

static void a_prediction_costs_less_than_a_microsecond(void **state) {
  (void)state;
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__)
  skip();
#endif
  double best = 1, sum = 0;
  for (int turn = 0; turn < 7; ++turn) {
    clock_t begin = clock();
    for (int i = 0; i < pairs.count; ++i)
      sum += model_predict(&pairs.pairs[i].kernel, pairs.pairs[i].gpu, &pairs.pairs[i].problem)
                 .seconds;
    double each = (double)(clock() - begin) / CLOCKS_PER_SEC / pairs.count;
    if (each < best) best = each;
  }
  assert_true(sum > 0);
  if (!(best < 1e-6)) fail_msg("%.2f us", 1e6 * best);
}

/* -- Registers ------------------------------------------------------------------------------------
 */

static void registers_are_near_those_of_ptxas(void **state) {
  (void)state;
  const char *specs[] = {"measured.lua", "../../specs/ladder_f32.lua", "../../specs/h100_f32.lua",
                         "../../specs/wmma_f16.lua"};
  kernel_set set;
  diag *d = diag_new();
  assert_true(kernel_set_load(&set, specs, 4, "h200", d));
  FILE *file = fopen("registers.csv", "r");
  assert_non_null(file);
  char line[256];
  int known = 0, near = 0;
  while (fgets(line, sizeof line, file)) {
    char *comma = strchr(line, ',');
    if (!comma) continue;
    *comma = '\0';
    long at = kernel_set_find(&set, line);
    if (at < 0) continue;
    double ptxas = atof(comma + 1);
    model_kernel k = plan_model(&set.kernels[at].plan);
    ++known;
    near += fabs(k.registers / ptxas - 1) <= 0.1;
  }
  fclose(file);
  kernel_set_free(&set);
  diag_free(d);
  assert_true(known >= 100);
  if (near < 0.9 * known) fail_msg("%d of %d within 10 %%", near, known);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_are_near_and_ranked),
      cmocka_unit_test(tensor_cores_are_near_and_ranked),
      cmocka_unit_test(choices_are_near),
      cmocka_unit_test(every_family_is_near), /* from here on the pairs of both */
      cmocka_unit_test(unseen_pairs_are_near_and_ranked),
      cmocka_unit_test(open_gemms_are_near_and_ranked),
      cmocka_unit_test(first_choices_are_good),
      cmocka_unit_test(the_score_can_fail),
      cmocka_unit_test(a_prediction_costs_less_than_a_microsecond),
      cmocka_unit_test(registers_are_near_those_of_ptxas),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
