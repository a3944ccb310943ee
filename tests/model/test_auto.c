/* What the model chooses for gemms that leave everything open (gen/plan_auto.c), against the times
 * that an H200 took: of the rows chosen for a layout, those that were measured on a problem, and of
 * them the one predicted to be fastest, beside the fastest kernel that was measured at all. */
#include "unit.h"

#include "kernel_set.h"
#include "measured.h"
#include "plan_auto.h"
#include "plan_model.h"
#include "select.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
  int problems;       /* that were measured with kernels of the layout */
  int known;          /* of which the row predicted to be fastest was among them */
  double loss, worst; /* sum and largest of log(its time / the fastest measured) */
  char where[64];     /* the largest */
} tally;

enum { SETS = 3, LONG_RING = 3 };
static measured sets[SETS];

static int load(void **state) {
  (void)state;
  sets[0] = measured_load("kernels.csv", "times.csv");
  sets[1] = measured_load("specs_kernels.csv", "specs_times.csv");
  sets[2] = measured_load("tiles_kernels.csv", "../../docs/measured/h200_tiles.csv");
  return 0;
}

static int unload(void **state) {
  (void)state;
  for (int s = 0; s < SETS; ++s)
    measured_free(&sets[s]);
  return 0;
}

static kernel_set set_of(const char *spec) {
  kernel_set set;
  diag *d = diag_new();
  const char *paths[] = {spec};
  assert_true(kernel_set_load(&set, paths, 1, "h200", d));
  assert_int_equal(diag_errors(d), 0);
  diag_free(d);
  return set;
}

/* What decides a kernel's time but the length of a ring that covers its fetches: registers and
 * bytes of code are estimates, which change with the planner. */
static model_kernel essence(model_kernel k) {
  if (k.stages >= LONG_RING && !k.swap) k.stages = LONG_RING; /* few rows wait for all of it */
  k.shared_bytes = k.registers = k.blocks_sm = k.loop_bytes = k.unroll_stages = 0;
  k.programmatic = 0; /* builds before had no such start */
  return k;
}

/* The least measured time among a pair's rivals: of kernels like k, or of all. */
static double measured_us(const measured *set, int group, const model_kernel *k) {
  double us = INFINITY;
  for (int i = 0; i < set->count; ++i) {
    const measured_pair *p = &set->pairs[i];
    if (p->group != group || p->us >= us) continue;
    model_kernel mine = essence(p->kernel), theirs = k ? essence(*k) : mine;
    if (memcmp(&mine, &theirs, sizeof mine) == 0) us = p->us;
  }
  return us;
}

static bool takes(const kernel_plan *p, const model_problem *problem) {
  return (p->multiple_m <= 1 || fmod(problem->m, p->multiple_m) == 0) &&
         (p->multiple_n <= 1 || fmod(problem->n, p->multiple_n) == 0) &&
         (p->multiple_k <= 1 || fmod(problem->k, p->multiple_k) == 0);
}

/* What the library goes by: a row's time in its own unit. */
static double row_time(const kernel_plan *p, const gpu_facts *g, const model_problem *problem) {
  gg_kernel row = {.tile_m = p->tile_m,
                   .tile_n = p->tile_n,
                   .cluster_m = p->cluster_m,
                   .cluster_n = p->cluster_n,
                   .cluster_k = p->cluster_k,
                   .blocks_per_sm = p->blocks_sm,
                   .speed = p->speed,
                   .wave_loss_percent = p->wave_loss,
                   .overhead_k = p->overhead_k,
                   .further_percent = p->further,
                   .alone_percent = p->alone,
                   .sm_gflops = p->sm_gflops,
                   .copy_gbs = p->copy_gbs,
                   .memory_gbs = p->spec->gpu.hbm_gbs,
                   .programmatic = p->programmatic};
  ggi_call call = {.type_a = (gg_dtype)p->type_a,
                   .type_b = (gg_dtype)p->type_b,
                   .type_d = (gg_dtype)p->type_d,
                   .m = (gg_i64)problem->m,
                   .n = (gg_i64)problem->n,
                   .k = (gg_i64)problem->k,
                   .batch = (gg_i64)problem->batch,
                   .stride = {1, 1, 1, 1, 1}};
  gg_device_info device = {.sms = g->sms, .memory_gbs = g->hbm_gbs};
  return ggi_row_time(&row, &call, &device);
}

static double model_time(const kernel_plan *p, const gpu_facts *g, const model_problem *problem) {
  model_kernel k = plan_model(p);
  return model_predict(&k, g, problem).seconds;
}

typedef double rule(const kernel_plan *, const gpu_facts *, const model_problem *);

/* Of the set's kernels of a layout the first by a rule; NULL: none takes the problem. */
static const kernel_plan *first_choice(const kernel_set *set, const char *layout,
                                       const measured_pair *pair, rule *time) {
  const kernel_plan *first = NULL;
  double least = INFINITY;
  for (size_t i = 0; i < set->count; ++i) {
    const kernel_plan *p = &set->kernels[i].plan;
    if (p->family == FAMILY_REPACK || p->family == FAMILY_NAIVE || !takes(p, &pair->problem) ||
        strncmp(spec_layout_name(p->layout), layout, 2) != 0)
      continue;
    double here = time(p, pair->gpu, &pair->problem);
    if (here < least) least = here, first = p;
  }
  return first;
}

/* key: "bf16 nt ", as groups begin. */
static void add_problem(const measured *from, const measured_pair *pair, const kernel_set *set,
                        const char *key, rule *time, tally *t) {
  const kernel_plan *first = first_choice(set, key + strlen(key) - 3, pair, time);
  assert_non_null(first);
  model_kernel k = plan_model(first);
  double us = measured_us(from, pair->group, &k), fastest = measured_us(from, pair->group, NULL);
  ++t->problems;
  if (isinf(us)) return;
  double loss = log(us / fastest);
  ++t->known;
  t->loss += loss;
  if (loss <= t->worst) return;
  t->worst = loss;
  snprintf(t->where, sizeof t->where, "%s%.0fx%.0fx%.0f", key, pair->problem.m, pair->problem.n,
           pair->problem.k);
}

/* Was this problem of this run met before, or has it too few rivals to say what is fast? */
static bool skipped(int set, int at) {
  enum { FEW = 5 };
  int rivals = 0;
  for (int i = 0; i < sets[set].count; ++i) {
    if (sets[set].pairs[i].group != sets[set].pairs[at].group) continue;
    if (i < at) return true;
    ++rivals;
  }
  return rivals < FEW;
}

/* held_out: -1: all problems; else those of one half, as the fit of the model has them: the
 * thresholds of gen/plan_auto*.c were set on half 0. */
static tally score(const kernel_set *set, const char *const *keys, rule *time, int held_out) {
  tally t = {0};
  for (; *keys; ++keys)
    for (int s = 0; s < SETS; ++s)
      for (int i = 0; i < sets[s].count; ++i) {
        const measured_pair *p = &sets[s].pairs[i];
        if (held_out >= 0 && p->held_out != (held_out == 1)) continue;
        if (strncmp(sets[s].group_names[p->group], *keys, strlen(*keys)) == 0 && !skipped(s, i))
          add_problem(&sets[s], p, set, *keys, time, &t);
      }
  return t;
}

static void check(const char *spec, const char *const *keys, const char *who, rule *time,
                  double most) {
  static const char *const half[] = {"set on", "judged on", "all"};
  kernel_set set = set_of(spec);
  for (int h = 0; h < 3; ++h) {
    tally t = score(&set, keys, time, h < 2 ? h : -1);
    double mean = exp(t.loss / t.known) - 1, worst = exp(t.worst) - 1;
    print_message("%s, %s, %s: first choice measured on %d of %d problems: %.1f %% beyond the "
                  "fastest measured on average, %.1f %% at worst (%s)\n",
                  spec, who, half[h], t.known, t.problems, 100 * mean, 100 * worst, t.where);
    if (h == 0) continue;
    assert_true(t.known >= (h == 1 ? 8 : 15));
    if (!(mean <= most)) fail_msg("%s: %.1f %% beyond the best", spec, 100 * mean);
  }
  kernel_set_free(&set);
}

static void bf16_is_near_the_best(void **state) {
  (void)state;
  static const char *const keys[] = {"bf16 nt ", "bf16 nn ", "bf16 tn ", "bf16 tt ", NULL};
  check("../../specs/auto_h100_bf16.lua", keys, "model", model_time, 0.05);
  check("../../specs/auto_h100_bf16.lua", keys, "library", row_time, 0.07);
  check("../../specs/h100_bf16.lua", keys, "library", row_time, 0.05); /* measured: to compare */
}

static void f32_is_near_the_best(void **state) {
  (void)state;
  static const char *const keys[] = {"f32 tn ", "f32 nn ", "f32 nt ", "f32 tt ", NULL};
  check("../../specs/auto_h100_f32.lua", keys, "model", model_time, 0.03);
  check("../../specs/auto_h100_f32.lua", keys, "library", row_time, 0.03);
  check("../../specs/h100_f32.lua", keys, "library", row_time, 0.05); /* measured: to compare */
}

/* All kernels of the auto spec as it stands, timed on an H200: what the library takes by speed and
 * overhead_k, beside the fastest of them. */
static void the_library_takes_what_is_fast(void **state) {
  (void)state;
  measured m = measured_load("auto_kernels.csv", "../../docs/measured/h200_auto.csv");
  diag *d = diag_new();
  const char *paths[] = {"../../specs/auto_h100_bf16.lua"};
  kernel_set set;
  assert_true(kernel_set_load(&set, paths, 1, NULL, d));
  int problems = 0;
  double sum = 0, worst = 0;
  for (int group = 0; group < m.groups; ++group) {
    int known = 0;
    double least = INFINITY, us = INFINITY, fastest = INFINITY;
    for (int i = 0; i < m.count; ++i) {
      const measured_pair *pair = &m.pairs[i];
      if (pair->group != group) continue;
      fastest = fmin(fastest, pair->us);
      long at = kernel_set_find(&set, pair->name);
      if (at < 0) continue; /* the model has chosen otherwise since */
      ++known;
      double time = row_time(&set.kernels[at].plan, gpu_find("h200"), &pair->problem);
      if (time < least) least = time, us = pair->us;
    }
    if (known < 6) continue;
    ++problems;
    double loss = us / fastest - 1;
    sum += loss;
    if (loss > worst) worst = loss;
  }
  print_message("library: %.2f %% beyond the fastest on average, %.1f %% at worst, %d problems\n",
                100 * sum / problems, 100 * worst, problems);
  assert_true(problems >= 20);
  if (!(sum / problems <= 0.01)) fail_msg("%.1f %% on average", 100 * sum / problems);
  if (!(worst <= 0.1)) fail_msg("%.1f %% at worst", 100 * worst);
  kernel_set_free(&set);
  diag_free(d);
  measured_free(&m);
}

/* -- What is open, and what comes of it ----------------------------------------------------------
 */

static spec_set expanded(const char *text, diag *d) {
  spec_set set = {0};
  assert_true(spec_load_text("x.lua", text, strlen(text), &set, d));
  assert_true(plan_auto_expand(&set, d));
  return set;
}

/* The family that an open gemm gets; -1: an error. */
static int family_of(const char *gpu, const char *fields) {
  char text[512];
  diag *d = diag_new();
  snprintf(text, sizeof text, "gpu '%s' gemm { %s }", gpu, fields);
  spec_set set = expanded(text, d);
  int family = diag_errors(d) || set.count == 0 ? -1 : set.specs[0].value[SPEC_FAMILY];
  for (size_t i = 0; i < set.count; ++i) {
    assert_non_null(set.specs[i].chosen);
    assert_int_equal(set.specs[i].value[SPEC_FAMILY], family);
  }
  spec_set_free(&set);
  diag_free(d);
  return family;
}

static void families_follow_from_types_and_cards(void **state) {
  (void)state;
  assert_int_equal(family_of("h100-sxm", "dtype = 'bf16'"), FAMILY_WGMMA);
  assert_int_equal(family_of("h100-sxm", "dtype = 'tf32', layout = 'nn'"), FAMILY_WGMMA);
  assert_int_equal(family_of("h100-sxm", "dtype = 'f32'"), FAMILY_SIMT);
  assert_int_equal(family_of("h100-sxm", "dtype = 'f64'"), FAMILY_MMA);
  assert_int_equal(family_of("a100-sxm-80", "dtype = 'bf16'"), FAMILY_MMA);
  assert_int_equal(family_of("t4", "dtype = 'f16'"), FAMILY_MMA);
  assert_int_equal(family_of("t4", "dtype = 'f64'"), FAMILY_SIMT);
  assert_int_equal(family_of("v100", "dtype = 'f16'"), FAMILY_WMMA);
  assert_int_equal(family_of("t4", "dtype = { a = 'bf16', d = 'f32' }"), -1);
}

static void what_is_named_stays(void **state) {
  (void)state;
  diag *d = diag_new();
  spec_set set = expanded("gpu 'h100-sxm'\n"
                          "gemm { family = 'simt', layout = 'tn' }\n"
                          "gemm { layout = 'tn', stages = 2 }\n"
                          "sweep { layout = { 'tn', 'nn' } }",
                          d);
  assert_int_equal(set.count, 4);
  for (size_t i = 0; i < set.count; ++i)
    assert_null(set.specs[i].chosen);
  assert_int_equal(set.report_count, 0);
  spec_set_free(&set);
  diag_free(d);
}

/* The epilogue of an open gemm is kept in all of its points, and equal questions are asked once. */
static void points_keep_what_was_asked(void **state) {
  (void)state;
  static const char gemm[] = "gemm { dtype = 'bf16', layout = 'nt', epilogue = { bias = 'n' } }\n";
  char once[256], twice[256];
  snprintf(once, sizeof once, "gpu 'h100-sxm'\n%s", gemm);
  snprintf(twice, sizeof twice, "gpu 'h100-sxm'\n%s%s", gemm, gemm);
  diag *d = diag_new();
  spec_set one = expanded(once, d), two = expanded(twice, d);
  assert_int_equal(diag_errors(d), 0);
  assert_in_range(one.count, 2, 10);
  assert_int_equal(two.count, one.count);
  assert_int_equal(one.report_count, 1);
  assert_non_null(strstr(one.reports[0], "left open by x.lua:2, layout nt: family wgmma"));
  for (size_t i = 0; i < one.count; ++i) {
    assert_int_equal(one.specs[i].value[SPEC_BIAS], GG_BIAS_N);
    assert_int_equal(one.specs[i].line, 2);
    assert_memory_equal(one.specs[i].value, two.specs[i].value, sizeof one.specs[i].value);
  }
  spec_set_free(&one);
  spec_set_free(&two);
  diag_free(d);
}

/* A card of which too little is known for a prediction: the planner's preferences. */
static void without_facts_the_family_alone_is_chosen(void **state) {
  (void)state;
  static const char text[] = "gpu 'h100-sxm' gemm { layout = 'tn' }";
  diag *d = diag_new();
  spec_set set = {0};
  assert_true(spec_load_text("x.lua", text, strlen(text), &set, d));
  set.specs[0].gpu.boost_mhz = 0;
  assert_true(plan_auto_expand(&set, d));
  assert_int_equal(diag_errors(d), 0);
  assert_int_equal(set.count, 1);
  assert_int_equal(set.specs[0].value[SPEC_FAMILY], FAMILY_SIMT);
  assert_int_equal(set.specs[0].value[SPEC_TILE_M], SPEC_UNSET);
  spec_set_free(&set);
  diag_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bf16_is_near_the_best),
      cmocka_unit_test(f32_is_near_the_best),
      cmocka_unit_test(the_library_takes_what_is_fast),
      cmocka_unit_test(families_follow_from_types_and_cards),
      cmocka_unit_test(what_is_named_stays),
      cmocka_unit_test(points_keep_what_was_asked),
      cmocka_unit_test(without_facts_the_family_alone_is_chosen),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
