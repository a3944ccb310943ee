/* test_explain.c - the text of gg_explain, whole. */
#include "fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static gg_kernel rows[4];
static gg_kernel_table table;
static gg_context *context;
static gg_device *device;

static gg_problem problem(void) {
  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.m = 320, p.n = 160, p.k = 64;
  gg_problem_pack(&p);
  return p;
}

static void explains(const gg_problem *p, const char *expected) {
  char text[4096];
  size_t length = 0;
  assert_int_equal(gg_explain(context, p, text, sizeof text, &length), GG_OK);
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
}

static void chosen(void **s) {
  (void)s;
  gg_problem p = problem();
  explains(&p, "problem   f32 x f32 -> f32, acc f32, nn, 320 x 160 x 64, batch 1, alpha any, beta "
               "any\n"
               "device    emulated GPU, sm_90, 132 SMs\n"
               "kernel    edge\n"
               "          tile 16 x 16 x 1, 256 threads, 0 bytes of shared memory\n"
               "          200 blocks in 1 launch, 1.52 a SM\n"
               "unaligned any\n"
               "not chosen\n"
               "  large: applies, predicted at 32.00 of the chosen one's time\n"
               "  any: applies, predicted at 1.00 of the chosen one's time\n"
               "  f64: A is f32, the kernel's is f64\n");
}

static void pinned(void **s) {
  (void)s;
  gg_problem p = problem();
  p.pin = "large";
  explains(&p, "problem   f32 x f32 -> f32, acc f32, nn, 320 x 160 x 64, batch 1, alpha any, beta "
               "any\n"
               "device    emulated GPU, sm_90, 132 SMs\n"
               "kernel    large (pinned)\n"
               "          tile 128 x 128 x 1, 256 threads, 0 bytes of shared memory\n"
               "          6 blocks in 1 launch, 0.05 a SM\n"
               "unaligned none; nearest is large: A's pointer is aligned to 4 bytes, the kernel "
               "asks for 16\n"
               "not chosen\n"
               "  edge: applies, but another is pinned\n"
               "  any: applies, but another is pinned\n"
               "  f64: A is f32, the kernel's is f64\n");
}

static void none(void **s) {
  (void)s;
  gg_problem p = problem();
  p.type_a = GG_F16;
  char text[4096];
  assert_int_equal(gg_explain(context, &p, text, sizeof text, NULL), GG_OK);
  assert_non_null(
      strstr(text, "kernel    none; nearest is large: A is f16, the kernel's is f32\n"));
  p = problem(), p.m = 0;
  assert_int_equal(gg_explain(context, &p, text, sizeof text, NULL), GG_OK);
  assert_non_null(strstr(text, "kernel    none: there is nothing to compute\n"));
}

static void steps(void **s) {
  (void)s;
  gg_problem p = problem();
  p.bias = GG_BIAS_M, p.activation = GG_ACTIVATION_SILU, p.scaling_b = GG_SCALING_BLOCK;
  char text[4096];
  assert_int_equal(gg_explain(context, &p, text, sizeof text, NULL), GG_OK);
  assert_non_null(strstr(text, "beta any, B scaled by block, bias along m, silu\n"));
  assert_non_null(strstr(text, "  any: bias is m, the kernel's is none\n"));
}

static void cut(void **s) {
  (void)s;
  gg_problem p = problem();
  size_t whole = 0, length = 0;
  assert_int_equal(gg_explain(context, &p, NULL, 0, &whole), GG_OK);
  char text[20];
  memset(text, 'x', sizeof text);
  assert_int_equal(gg_explain(context, &p, text, 12, &length), GG_OK);
  assert_int_equal(length, whole);
  assert_string_equal(text, "problem   f");
  assert_int_equal(text[12], 'x');
}

static void wrong(void **s) {
  (void)s;
  gg_problem p = problem();
  char text[8];
  assert_int_equal(gg_explain(NULL, &p, text, 8, NULL), GG_ERR_ARGUMENT);
  assert_int_equal(gg_explain(context, &p, NULL, 8, NULL), GG_ERR_ARGUMENT);
  p.k = -1;
  assert_int_equal(gg_explain(context, &p, text, 8, NULL), GG_ERR_SIZE);
}

static int set_up(void **s) {
  (void)s;
  rows[0] = fake_row("large", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[0].tile_m = rows[0].tile_n = 128;
  rows[1] = fake_row("edge", GG_F32, GG_ORDER_N, GG_ORDER_N);
  for (int i = 0; i < 4; ++i)
    rows[0].align[i] = rows[1].align[i] = 16;
  rows[2] = fake_row("any", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[3] = fake_row("f64", GG_F64, GG_ORDER_N, GG_ORDER_N);
  table = fake_table(rows, 4);
  const gg_kernel_table *tables[1] = {&table};
  device = fake_device();
  return gg_context_create(tables, 1, &context) != GG_OK;
}

static int tear_down(void **s) {
  (void)s;
  gg_context_destroy(context);
  gg_device_destroy(device);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chosen), cmocka_unit_test(pinned),
                                     cmocka_unit_test(none),   cmocka_unit_test(steps),
                                     cmocka_unit_test(cut),    cmocka_unit_test(wrong)};
  return cmocka_run_group_tests_name("explain", tests, set_up, tear_down);
}
