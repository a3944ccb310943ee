/* test_spec_load.c - specs that are right: points, order, lines. Wrong ones are in bad_specs/. */
#include "unit.h"
#include "spec.h"
#include "spec_scan.h"
#include <stdlib.h>
#include <string.h>

typedef struct loaded {
  spec_set set;
  diag *d;
  bool ok;
} loaded;

static loaded load(const char *text) {
  loaded l = {.d = diag_new()};
  l.ok = spec_load_text("x.lua", text, strlen(text), &l.set, l.d);
  if (!l.ok) diag_print(l.d, stderr);
  return l;
}

static void unload(loaded *l) {
  spec_set_free(&l->set);
  diag_free(l->d);
}

static int value(const loaded *l, size_t i, spec_field f) {
  assert_true(i < l->set.count);
  return l->set.specs[i].value[f];
}

static void a_gemm_is_one_point(void **state) {
  (void)state;
  loaded l = load("gpu 'h100-sxm'\n"
                  "gemm {\n"
                  "  family = 'simt', dtype = { a = 'f32', b = 'f32', d = 'f64', acc = 'f64' },\n"
                  "  tile = { m = 128, n = 64.0, k = 32 / 2,\n"
                  "    thread = { m = 8 } },\n"
                  "  copy = { a = 16 }, unroll = { k = 'full', stages = true, order = 'row' },\n"
                  "  raster = { along = 'n' },\n"
                  "  epilogue = { alpha = true, beta = 0 }, budget = { enforce = false },\n"
                  "  allow = { 'loop-code' },\n"
                  "}");
  assert_true(l.ok);
  assert_int_equal(l.set.count, 1);
  const kernel_spec *s = &l.set.specs[0];
  assert_string_equal(s->file, "x.lua");
  assert_int_equal(s->line, 2);
  assert_false(s->sweep);
  assert_false(s->in_loop);
  assert_string_equal(s->gpu.name, "h100-sxm");
  assert_int_equal(value(&l, 0, SPEC_FAMILY), FAMILY_SIMT);
  assert_int_equal(value(&l, 0, SPEC_DTYPE_A), GG_F32);
  assert_int_equal(value(&l, 0, SPEC_DTYPE_C), SPEC_UNSET);
  assert_int_equal(value(&l, 0, SPEC_DTYPE_ACC), GG_F64);
  assert_int_equal(value(&l, 0, SPEC_TILE_N), 64);
  assert_int_equal(value(&l, 0, SPEC_TILE_K), 16);
  assert_int_equal(value(&l, 0, SPEC_THREAD_M), 8);
  assert_int_equal(value(&l, 0, SPEC_THREAD_N), SPEC_UNSET);
  assert_int_equal(value(&l, 0, SPEC_UNROLL_K), 0);
  assert_int_equal(value(&l, 0, SPEC_UNROLL_STAGES), 1);
  assert_int_equal(value(&l, 0, SPEC_ALPHA), GG_SCALAR_ANY);
  assert_int_equal(value(&l, 0, SPEC_BETA), GG_SCALAR_ZERO);
  assert_int_equal(value(&l, 0, SPEC_RASTER_ALONG), RASTER_N);
  assert_int_equal(value(&l, 0, SPEC_BUDGET_ENFORCE), 0);
  assert_int_equal(s->source_line[SPEC_DTYPE_B], 3);
  assert_int_equal(s->source_line[SPEC_TILE_K], 4);
  assert_int_equal(s->source_line[SPEC_THREAD_M], 5);
  assert_int_equal(s->source_line[SPEC_ORDER], 6);
  assert_int_equal(s->source_line[SPEC_STAGES], 2); /* left out: the call's */
  assert_true(spec_allows(s, "loop-code"));
  assert_false(spec_allows(s, "loop-fmas"));
  assert_false(spec_allows(s, "no-such-code"));
  unload(&l);
}

static void a_plain_dtype_means_operands_and_result(void **state) {
  (void)state;
  loaded l = load("gpu 't4' gemm { dtype = 'f64' }");
  assert_true(l.ok);
  static const spec_field all[] = {SPEC_DTYPE_A, SPEC_DTYPE_B, SPEC_DTYPE_D};
  for (size_t i = 0; i < 3; ++i)
    assert_int_equal(value(&l, 0, all[i]), GG_F64);
  assert_int_equal(value(&l, 0, SPEC_DTYPE_C), SPEC_UNSET);
  assert_int_equal(value(&l, 0, SPEC_DTYPE_ACC), SPEC_UNSET);
  unload(&l);
}

static void layouts_are_a_list_in_gemm(void **state) {
  (void)state;
  loaded l = load("gpu 't4'\ngemm { layout = { 'nt', 'nn' } }\ngemm { layout = 'tt' }");
  assert_true(l.ok);
  assert_int_equal(l.set.count, 3);
  assert_int_equal(value(&l, 0, SPEC_LAYOUT), LAYOUT_NT);
  assert_int_equal(value(&l, 1, SPEC_LAYOUT), LAYOUT_NN);
  assert_int_equal(value(&l, 2, SPEC_LAYOUT), LAYOUT_TT);
  assert_false(l.set.specs[0].sweep);
  assert_int_equal(l.set.specs[1].call, 1);
  assert_int_equal(l.set.specs[2].call, 2);
  unload(&l);
}

static void a_sweep_is_the_cross_product(void **state) {
  (void)state;
  loaded l = load("gpu 't4'\n"
                  "sweep { family = 'simt',\n"
                  "  stages = { 2, 3 },\n"
                  "  tile = { { m = 64, n = { 32, 64 } },\n"
                  "           { m = 128, thread = { m = { 4, 8 }, n = 8 } } },\n"
                  "  unroll = { k = { 'full', 4 } },\n"
                  "}");
  assert_true(l.ok);
  assert_int_equal(l.set.count, 4 * 2 * 2);
  /* Fields in their order, the first varies slowest: tile, stages, unroll. */
  static const int expected[][5] = {
      {64, 32, SPEC_UNSET, 2, 0}, {64, 32, SPEC_UNSET, 2, 4}, {64, 32, SPEC_UNSET, 3, 0},
      {64, 32, SPEC_UNSET, 3, 4}, {64, 64, SPEC_UNSET, 2, 0}, {64, 64, SPEC_UNSET, 2, 4},
      {64, 64, SPEC_UNSET, 3, 0}, {64, 64, SPEC_UNSET, 3, 4}, {128, SPEC_UNSET, 4, 2, 0},
      {128, SPEC_UNSET, 4, 2, 4}, {128, SPEC_UNSET, 4, 3, 0}, {128, SPEC_UNSET, 4, 3, 4},
      {128, SPEC_UNSET, 8, 2, 0}, {128, SPEC_UNSET, 8, 2, 4}, {128, SPEC_UNSET, 8, 3, 0},
      {128, SPEC_UNSET, 8, 3, 4}};
  for (size_t i = 0; i < l.set.count; ++i) {
    assert_true(l.set.specs[i].sweep);
    assert_int_equal(value(&l, i, SPEC_TILE_M), expected[i][0]);
    assert_int_equal(value(&l, i, SPEC_TILE_N), expected[i][1]);
    assert_int_equal(value(&l, i, SPEC_THREAD_M), expected[i][2]);
    assert_int_equal(value(&l, i, SPEC_STAGES), expected[i][3]);
    assert_int_equal(value(&l, i, SPEC_UNROLL_K), expected[i][4]);
  }
  assert_int_equal(l.set.specs[0].source_line[SPEC_TILE_M], 4);
  assert_int_equal(l.set.specs[8].source_line[SPEC_TILE_M], 5);
  unload(&l);
}

static void gpus_come_by_name_base_and_table(void **state) {
  (void)state;
  loaded l = load("gpu 'h100-sxm' gemm {}\n"
                  "gpu { base = 'h100-sxm', sms = 114, name = 'h100-cut' } gemm {}\n"
                  "gpu { arch = 90, sms = 1, boost_mhz = 1000, fma_f32 = 128, fma_f64 = 64,\n"
                  "  shared_bytes_cycle = 128, registers_sm = 65536, registers_thread = 255,\n"
                  "  shared_sm = 65536, shared_block = 65536, shared_reserved = 0,\n"
                  "  threads_sm = 2048, blocks_sm = 16, l2_bytes = 1048576, hbm_gbs = 100,\n"
                  "  has_cp_async = true, arch_suffix = 'a' } gemm {}");
  assert_true(l.ok);
  assert_int_equal(l.set.specs[1].gpu.sms, 114);
  assert_string_equal(l.set.specs[1].gpu.name, "h100-cut");
  assert_int_equal(l.set.specs[1].gpu.arch, 90);
  assert_string_equal(l.set.specs[2].gpu.name, "custom");
  assert_int_equal(l.set.specs[2].gpu.arch_suffix, 'a');
  assert_true(l.set.specs[2].gpu.has_cp_async);
  assert_false(l.set.specs[2].gpu.has_tma);
  unload(&l);
}

static void the_callers_gpu_replaces_the_specs(void **state) {
  (void)state;
  loaded l = {.d = diag_new()};
  l.set.gpu = gpu_find("h200");
  const char *text = "gpu 't4' gemm {}";
  assert_true(spec_load_text("x.lua", text, strlen(text), &l.set, l.d));
  assert_string_equal(l.set.specs[0].gpu.name, "h200");
  unload(&l);
}

static void calls_in_loops_are_numbered(void **state) {
  (void)state;
  loaded l = load("gpu 't4'\n"
                  "for i = 1, 23 do\n"
                  "  gemm { stages = 1 }\n"
                  "end\n"
                  "sweep { stages = 1 }\n"
                  "gemm { stages = 1 }");
  assert_true(l.ok);
  char note[48];
  static const struct {
    size_t at;
    const char *note;
  } cases[] = {{0, " (1st gemm)"},
               {1, " (2nd gemm)"},
               {2, " (3rd gemm)"},
               {3, " (4th gemm)"},
               {10, " (11th gemm)"},
               {11, " (12th gemm)"},
               {20, " (21st gemm)"},
               {23, ""},
               {24, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_string_equal(spec_call_note(&l.set.specs[cases[i].at], note), cases[i].note);
  unload(&l);
}

static void files_share_a_set(void **state) {
  (void)state;
  loaded l = load("gpu 't4' gemm {}");
  const char *bad = "gpu 't4' gemm { stage = 1 } gemm {}";
  assert_false(spec_load_text("y.lua", bad, strlen(bad), &l.set, l.d));
  assert_int_equal(l.set.count, 2); /* the call that was right is kept for further checks */
  assert_string_equal(l.set.specs[1].file, "y.lua");
  const char *mark = "\xef\xbb\xbfgpu 't4' gemm {}";
  assert_true(spec_load_text("z.lua", mark, strlen(mark), &l.set, l.d));
  assert_int_equal(l.set.count, 3);
  unload(&l);
}

static void canonical_text_has_no_place(void **state) {
  (void)state;
  loaded a = load("gpu 't4' gemm { stages = 2, family = 'simt', epilogue = { beta = true } }");
  loaded b = load("\n\n\ngpu 't4'\nlocal t = { family = 'simt', epilogue = { beta = true } }\n"
                  "t.stages = 4 // 2\ngemm(t)");
  buf x = {0}, y = {0};
  spec_print(&a.set.specs[0], &x);
  spec_print(&b.set.specs[0], &y);
  assert_string_equal(x.data, y.data);
  assert_memory_equal(x.data, "family = simt\nstages = 2\nepilogue.beta = true\ngpu.name = t4\n",
                      60);
  buf_free(&x);
  buf_free(&y);
  unload(&a);
  unload(&b);
}

static void the_scan_finds_lines(void **state) {
  (void)state;
  static const char text[] = "-- gemm { stages = 1 }\n"
                             "--[[ gemm {\n]] local s = [==[ gemm {\n ]] ]==]\n"
                             "local q = 'gemm { \\' } \\\\'\n"
                             "gemm {\n" /* 6 */
                             "  a = f(1, { b = 2 }, \"}\"), -- }\n"
                             "  tile = {\n" /* 8 */
                             "    m = 1, ['x'] = 3,\n"
                             "    n = { { k = 1 },\n" /* 10 */
                             "          { k = 2 } } },\n"
                             "  last = x == y and { 1 } or { 2 };\n" /* 12 */
                             "}\n"
                             "while x do if y then gemm({ k = 1 }) end end\n" /* 14 */
                             "sweep { k = 1 } sweep { k = 2 }\n"              /* 15 */
                             "gemm { k = function() local a, b = 1 end,\n m = 2 }\n";
  spec_scan *s = spec_scan_new(text, sizeof text - 1);
  assert_non_null(s);
  assert_int_equal(spec_scan_call(s, 1), -1);
  assert_int_equal(spec_scan_call(s, 5), -1);
  int call = spec_scan_call(s, 6);
  assert_true(call >= 0);
  assert_false(spec_scan_in_loop(s, call));
  assert_int_equal(spec_scan_line(s, call, "a"), 7);
  assert_int_equal(spec_scan_line(s, call, "b"), 0);
  assert_int_equal(spec_scan_line(s, call, "tile"), 8);
  assert_int_equal(spec_scan_line(s, call, "tile.m"), 9);
  assert_int_equal(spec_scan_line(s, call, "tile.n[1].k"), 10);
  assert_int_equal(spec_scan_line(s, call, "tile.n[2].k"), 11);
  assert_int_equal(spec_scan_line(s, call, "last"), 12);
  call = spec_scan_call(s, 14);
  assert_true(call >= 0);
  assert_true(spec_scan_in_loop(s, call));
  assert_int_equal(spec_scan_call(s, 15), -1); /* two on one line: which one is unknown */
  call = spec_scan_call(s, 16);
  assert_int_equal(spec_scan_line(s, call, "m"), 17);
  spec_scan_free(s);
  spec_scan_free(NULL);
}

static void the_scan_is_linear(void **state) {
  (void)state;
  size_t size = 1 << 20;
  char *text = malloc(size);
  assert_non_null(text);
  static const char *const hard[] = {"gemm{", "{", "[==[", "--[[", "gemm{a={", "'\\", "a ", "]"};
  for (size_t i = 0; i < sizeof hard / sizeof *hard; ++i) {
    size_t unit = strlen(hard[i]);
    for (size_t at = 0; at < size; ++at)
      text[at] = hard[i][at % unit];
    spec_scan *s = spec_scan_new(text, size);
    assert_non_null(s);
    spec_scan_free(s);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gemm_is_one_point),
      cmocka_unit_test(a_plain_dtype_means_operands_and_result),
      cmocka_unit_test(layouts_are_a_list_in_gemm),
      cmocka_unit_test(a_sweep_is_the_cross_product),
      cmocka_unit_test(gpus_come_by_name_base_and_table),
      cmocka_unit_test(the_callers_gpu_replaces_the_specs),
      cmocka_unit_test(calls_in_loops_are_numbered),
      cmocka_unit_test(files_share_a_set),
      cmocka_unit_test(canonical_text_has_no_place),
      cmocka_unit_test(the_scan_finds_lines),
      cmocka_unit_test(the_scan_is_linear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
