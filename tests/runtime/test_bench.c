/* test_bench.c - gemmbench's suite files, statistics and reports. */
#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Reads text as a suite file. */
static bool read_text(const char *text, bench_suite *s) {
  char path[] = "/tmp/gemmgen-bench-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  FILE *out = fdopen(file, "w");
  assert_non_null(out);
  assert_true(fputs(text, out) >= 0);
  assert_int_equal(fclose(out), 0);
  bool good = bench_read(s, path);
  remove(path);
  return good;
}

static void suites(void **state) {
  (void)state;
  bench_suite s = {0};
  assert_true(read_text("# comment\n\n  sq f32 nt 1 2 3 4 # tail\nodd fp64 TN 5 6 7 1\n", &s));
  assert_int_equal(s.count, 2);
  assert_string_equal(s.problems[0].name, "sq");
  assert_int_equal(s.problems[0].type, GG_F32);
  assert_int_equal(s.problems[0].order_a, GG_ORDER_N);
  assert_int_equal(s.problems[0].order_b, GG_ORDER_T);
  assert_int_equal(s.problems[0].k, 3);
  assert_int_equal(s.problems[0].batch, 4);
  assert_int_equal(s.problems[1].type, GG_F64);
  assert_int_equal(s.problems[1].order_a, GG_ORDER_T);
  assert_int_equal(s.problems[1].type_d, GG_NONE);
  free(s.problems);
  s = (bench_suite){0};
  assert_true(read_text("q e4m3 nt 1 2 3 4 fp32\nq s8 nt 1 2 3 4 int8 # tail\n", &s));
  assert_int_equal(s.problems[0].type_d, GG_F32);
  assert_int_equal(s.problems[1].type_d, GG_S8);
  free(s.problems);
}

static void bad_suites(void **state) {
  (void)state;
  static const char *const bad[] = {
      "sq f32 nt 1 2 3\n",    "sq f32 nt 1 2 3 4 5\n", "sq f32 nt 1 2 3 4 f32 5\n",
      "sq f99 nt 1 2 3 4\n",  "sq f32 nx 1 2 3 4\n",   "sq f32 nt 0 2 3 4\n",
      "sq f32 nt 1 2 -3 4\n", "sq f32 nt 1 2 3 4.5\n", "sq f32 nt 1 2 3 4294967296\n"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    bench_suite s = {0};
    assert_false(read_text(bad[i], &s));
    free(s.problems);
  }
  bench_suite s = {0};
  assert_false(bench_read(&s, "/nonexistent/suite"));
}

static void shipped_suite(void **state) {
  (void)state;
  static const char *const files[] = {"../../runtime/tools/suite_f32.txt",
                                      "../../runtime/tools/suite.txt"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
    bench_suite s = {0};
    assert_true(bench_read(&s, files[i]));
    assert_in_range(s.count, 20, 300);
    free(s.problems);
  }
}

static void sizes(void **state) {
  (void)state;
  bench_problem p;
  assert_true(bench_size("1x2x3", &p));
  assert_int_equal(p.batch, 1);
  assert_true(bench_size("1x2x3x4", &p));
  assert_int_equal(p.batch, 4);
  static const char *const bad[] = {"", "1x2", "1x2x3x", "1x2x3x4x5", "ax2x3", "1x2x3 ", "+1x2x3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    assert_false(bench_size(bad[i], &p));
}

/* D's type: float types keep theirs, narrow sums go to a wider one. */
static void types_of_d(void **state) {
  (void)state;
  static const gg_dtype pairs[][2] = {{GG_F64, GG_F64},   {GG_F32, GG_F32},   {GG_TF32, GG_F32},
                                      {GG_F16, GG_F16},   {GG_BF16, GG_BF16}, {GG_E4M3, GG_BF16},
                                      {GG_E5M2, GG_BF16}, {GG_S8, GG_S32},    {GG_U8, GG_S32}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
    bench_problem p = {.type = pairs[i][0]};
    assert_int_equal(bench_type_d(&p), pairs[i][1]);
    p.type_d = GG_F16;
    assert_int_equal(bench_type_d(&p), GG_F16);
  }
  assert_int_equal(bench_dtype("fp16"), GG_F16);
  assert_int_equal(bench_dtype("int8"), GG_S8);
  assert_int_equal(bench_dtype("e4m3"), GG_E4M3);
}

/* Options of steps, their text, and the type that scalars then have. */
static void steps(void **state) {
  (void)state;
  bench_problem p = {.type = GG_S8};
  char text[BENCH_STEPS_TEXT];
  bool known;
  assert_int_equal(bench_epilogue(&p), GG_S32);
  bench_steps_text(&p.steps, text, sizeof text);
  assert_string_equal(text, "");
  assert_true(bench_step(&p.steps, "--bias", "n", &known) && known);
  assert_true(bench_step(&p.steps, "--activation", "gelu_tanh", &known));
  assert_true(bench_step(&p.steps, "--scale-a", "vector", &known));
  assert_true(bench_step(&p.steps, "--scale-d", "tensor", &known));
  assert_int_equal(bench_epilogue(&p), GG_F32);
  bench_steps_text(&p.steps, text, sizeof text);
  assert_string_equal(text, "scale a vector + bias n + gelu_tanh + scale d tensor");
  assert_false(bench_step(&p.steps, "--bias", "tensor", &known));
  assert_true(known);
  assert_false(bench_step(&p.steps, "--kernel", "n", &known));
  assert_false(known);
}

static void medians(void **state) {
  (void)state;
  double spread, odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
  assert_true(bench_median(odd, 3, &spread) == 3);
  assert_true(bench_median(even, 4, &spread) == 2.5);
  assert_true(bench_median(one, 1, &spread) == 7 && spread == 0);
  assert_true(bench_median(one, 0, &spread) == 0);
}

/* The report of one kernel that takes 2 ms beside a baseline that takes 3 ms. */
static void report(bench_format format, char *text, size_t size) {
  double kernel_times[] = {2, 2, 2, 2}, base_times[] = {3, 3, 3, 3},
         clocks[] = {1900, 1900, 1900, 1900};
  bench_rival kernel = {
      .name = "k", .worst = 0.5, .times = kernel_times, .clocks = clocks, .blocks = 4};
  bench_rival base = {.name = "b", .times = base_times, .clocks = clocks, .blocks = 4};
  bench_problem p = {.name = "p",
                     .type = GG_F32,
                     .order_a = GG_ORDER_N,
                     .order_b = GG_ORDER_T,
                     .m = 1000,
                     .n = 1000,
                     .k = 1000,
                     .batch = 1,
                     .steps = {.bias = GG_BIAS_N, .activation = GG_ACTIVATION_RELU}};
  FILE *out = fmemopen(text, size, "w");
  assert_non_null(out);
  bench_report r = {.out = out,
                    .format = format,
                    .device = {.name = "NVIDIA H200", .arch = 90, .sms = 132, .clock_mhz = 1980}};
  bench_report_begin(&r);
  bench_report_row(&r, &p, &kernel, &base);
  bench_report_row(&r, &p, &kernel, NULL);
  bench_report_end(&r);
  fclose(out);
}

static void reports(void **state) {
  (void)state;
  char text[4096];
  report(BENCH_CSV, text, sizeof text);
  assert_non_null(strstr(text, "\np,f32,nt,1000,1000,1000,1,k,2000.000,0.000,1.0000,6.0,1.49,1900,"
                               "3000.000,0.6667,1.5000,0.0000,0.5000,f32,bias n + relu\n"));
  report(BENCH_JSON, text, sizeof text);
  assert_non_null(strstr(text, "\"peak_f64_tflops\": 66.91, \"peak_f32_tflops\": 66.91"));
  assert_non_null(strstr(text, "\"ratio\": 1.5000, \"ratio_spread\": 0.0000, \"right\": true"));
  report(BENCH_TEXT, text, sizeof text);
  assert_non_null(strstr(text, "ceiling in TFLOP/s: f64 66.9, f32 66.9, tf32 535.3, "
                               "bf16 1070.5, e4m3 2141.1, s8 2141.1\n"));
  assert_non_null(strstr(text, " 1.500  0.500  k\n"));
  assert_non_null(strstr(text, "p              f32>f32   nt 1000x1000x1000x1 "));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(suites),  cmocka_unit_test(bad_suites), cmocka_unit_test(shipped_suite),
      cmocka_unit_test(sizes),   cmocka_unit_test(types_of_d), cmocka_unit_test(steps),
      cmocka_unit_test(medians), cmocka_unit_test(reports),
  };
  return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
