/* How long the model's commands take, in processor time: a kernel's page with its other choices
 * under 50 ms, ten thousand candidates of a sweep under a second. (A prediction: test_accuracy.c.)
 */
#include "unit.h"

#include "explain_sweep.h"
#include "kernel_set.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__)
enum { UNFAIR = 1 };
#else
enum { UNFAIR = 0 };
#endif

static double seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static void a_page_takes_less_than_50_ms(void **state) {
  (void)state;
  if (UNFAIR) skip();
  const char *specs[] = {"../../specs/h100_f32.lua"};
  double best = 1;
  for (int turn = 0; turn < 3; ++turn) {
    double begin = seconds();
    kernel_set set;
    diag *d = diag_new();
    buf out = {0};
    assert_true(kernel_set_load(&set, specs, 1, NULL, d));
    plan_print(&set.kernels[0].plan, &out);
    sheet s = sheet_of(&set.kernels[0].plan);
    sheet_print(&s, &out);
    sheet_fit f = sheet_fit_of(&s, "4096x4096x4096");
    sheet_print_fit(&s, &f, &out);
    sheet_print_choices(&s, &f, &out);
    sheet_print_expect(&s, &f, 80, &out);
    assert_true(out.size > 4000);
    buf_free(&out);
    kernel_set_free(&set);
    diag_free(d);
    double each = seconds() - begin;
    if (each < best) best = each;
  }
  print_message("a page: %.1f ms\n", 1e3 * best);
  if (!(best < 0.05)) fail_msg("%.1f ms", 1e3 * best);
}

/* A file of 3072 points; one file holds at most 4096. */
static void write_sweep(const char *path, const char *layout) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file,
          "gpu 'h200'\n"
          "local tiles = {}\n"
          "for _, m in ipairs { 32, 64, 128, 256 } do for _, n in ipairs { 32, 64, 128, 256 } do\n"
          "for _, k in ipairs { 8, 16, 32, 64 } do for _, t in ipairs { 4, 8, 16, 2 } do\n"
          "  tiles[#tiles + 1] = { m = m, n = n, k = k, thread = { m = t, n = 8 } }\n"
          "end end end end\n"
          "sweep { family = 'simt', dtype = 'f32', layout = '%s', tile = tiles, stages = { 1, 2, "
          "3, 4 },\n"
          "  unroll = { order = { 'row', 'column', 'serpentine' } }, allow = { 'ring-short' } }\n",
          layout);
  assert_int_equal(fclose(file), 0);
}

static void ten_thousand_candidates_take_less_than_a_second(void **state) {
  (void)state;
  if (UNFAIR) skip();
  static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
  char names[4][64];
  const char *specs[4];
  for (int i = 0; i < 4; ++i) {
    snprintf(names[i], sizeof names[i], "speed_%d_%s.tmp", (int)getpid(), layouts[i]);
    write_sweep(names[i], layouts[i]);
    specs[i] = names[i];
  }
  double best = 100;
  size_t points = 0;
  for (int turn = 0; turn < 3; ++turn) {
    double begin = seconds();
    sweep_table t;
    diag *d = diag_new();
    assert_true(sweep_load(&t, specs, 4, NULL, "4096x4096x4096", NULL, d));
    buf out = {0};
    sweep_text(&t, &out);
    points = t.count + t.refused;
    buf_free(&out);
    sweep_free(&t);
    diag_free(d);
    double each = seconds() - begin;
    if (each < best) best = each;
  }
  for (int i = 0; i < 4; ++i)
    remove(names[i]);
  print_message("%zu candidates: %.2f s\n", points, best);
  assert_true(points >= 10000);
  if (!(best < 1)) fail_msg("%.2f s", best);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_page_takes_less_than_50_ms),
      cmocka_unit_test(ten_thousand_candidates_take_less_than_a_second),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
