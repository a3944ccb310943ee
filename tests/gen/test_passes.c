/* Passes over operands: which points bring them, what they are, and that cards of one architecture
 * share kernels. */
#include "unit.h"

#include "dispatch.h"
#include "kernel_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 2 };

/* Loads the texts, a file each. */
static bool load(kernel_set *k, diag *d, const char *const texts[FILES]) {
  char names[FILES][40];
  const char *paths[FILES];
  size_t count = 0;
  for (; count < FILES && texts[count]; ++count) {
    strcpy(names[count], "/tmp/gemmgen-passes-XXXXXX");
    int file = mkstemp(names[count]);
    assert_true(file >= 0);
    assert_int_equal(write(file, texts[count], strlen(texts[count])), strlen(texts[count]));
    close(file);
    paths[count] = names[count];
  }
  bool good = kernel_set_load(k, paths, count, NULL, d);
  for (size_t i = 0; i < count; ++i)
    remove(paths[i]);
  return good;
}

/* The names of passes that a spec brings are these, in their order; "" ends the list. */
static void brings(const char *text, const char *const names[]) {
  kernel_set k;
  diag *d = diag_new();
  assert_true(load(&k, d, (const char *const[FILES]){text, NULL}));
  size_t found = 0;
  for (size_t i = 0; i < k.count; ++i)
    if (plan_is_pass(&k.kernels[i].plan))
      assert_string_equal(k.kernels[i].plan.name, names[found++]);
  assert_string_equal(names[found], "");
  kernel_set_free(&k);
  diag_free(d);
}

/* Names of all kernels of a spec that hold `part`, in their order; "" ends the list. */
static void holds(const char *text, const char *part, const char *const names[]) {
  kernel_set k;
  diag *d = diag_new();
  assert_true(load(&k, d, (const char *const[FILES]){text, NULL}));
  size_t found = 0;
  for (size_t i = 0; i < k.count; ++i)
    if (strstr(k.kernels[i].plan.name, part))
      assert_string_equal(k.kernels[i].plan.name, names[found++]);
  assert_string_equal(names[found], "");
  kernel_set_free(&k);
  diag_free(d);
}

/* Cutting k: sums where the point's own kernels do not leave them, one reduction an epilogue. */
static void points_split(void **state) {
  (void)state;
  const char *const f32[] = {"sm90_reduce_f32", ""};
  const char *const gelu[] = {"sm90_reduce_f32_bias_n_gelu", "sm90_reduce_f32_bias_m", ""};
  const char *const bf16[] = {"sm90_reduce_f32_d_bf16", ""};
  const char *const s8[] = {"sm90_reduce_s32_d_bf16", ""};
  const char *const sums[] = {"sm90a_wgmma_bf16_d_f32_nt_64x64x64_w1_s9_alpha1_beta0_full", ""};
  const char *const own[] = {""};
  const char *const plain[] = {"sm90_simt_f32_nn_32x32x8_t4x4_s3_alpha1_beta0_full",
                               "sm90_simt_f32_nn_32x32x8_t4x4_s3_alpha1_beta0_edge",
                               "sm90_simt_f32_nn_32x32x8_t4x4_s3_alpha1_beta0_narrow", ""};
  brings(
      "gpu 'h200' gemm { family = 'simt', layout = { 'nn', 'nt' }, dispatch = { split = true } }",
      f32);
  holds("gpu 'h200' gemm { family = 'simt', dispatch = { split = true } }", "alpha1", own);
  brings("gpu 'h200' for _, e in ipairs { { bias = 'n', activation = 'gelu' }, { bias = 'm' } } do "
         "gemm { family = 'simt', epilogue = e, dispatch = { split = true } } end",
         gelu);
  holds("gpu 'h200' gemm { family = 'simt', tile = { m = 32, n = 32, k = 8, thread = { m = 4, n = "
        "4 } }, epilogue = { bias = 'n' }, dispatch = { split = true } }",
        "alpha1", plain);
  const char *wgmma = "gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16', layout = 'nt', tile = { "
                      "m = 64, n = 64 }, stages = 9, dispatch = { split = true, repack = false } }";
  brings(wgmma, bf16);
  holds(wgmma, "d_f32", sums);
  brings("gpu 'h200' gemm { family = 'wgmma', dtype = { a = 's8', d = 'bf16' }, layout = 'nt', "
         "dispatch = { split = true, repack = false } }",
         s8);
}

/* The kernel of sums takes no call by itself: it needs no narrow twin. The reduction's row. */
static void splits_in_the_table(void **state) {
  (void)state;
  kernel_set k;
  diag *d = diag_new();
  const char *text =
      "gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16', layout = 'nt', dispatch = { "
      "split = true, edge = false } }";
  assert_true(load(&k, d, (const char *const[FILES]){text, NULL}));
  const kernel_plan *plans[16];
  assert_true(k.count < 16);
  for (size_t i = 0; i < k.count; ++i)
    plans[i] = &k.kernels[i].plan;
  dispatch_sort(plans, k.count);
  assert_true(dispatch_prove(plans, k.count, d));
  buf out = {0};
  dispatch_table(plans, k.count, "", &out);
  const char *row = strstr(out.data, ".name = \"sm90_reduce_f32_d_bf16\"");
  assert_non_null(row);
  assert_non_null(strstr(row, ".kind = GG_KIND_REDUCE"));
  assert_non_null(strstr(row, ".type_a = GG_F32, .type_b = GG_F32, .type_c = GG_BF16, .type_d = "
                              "GG_BF16, .type_acc = GG_F32"));
  assert_non_null(strstr(row, ".copy_gbs = 4248, .memory_gbs = 4800,\n     .overhead_ns = 2000"));
  buf_free(&out);
  kernel_set_free(&k);
  diag_free(d);
}

static void points_bring_them(void **state) {
  (void)state;
  const char *const none[] = {""};
  const char *const b16[] = {"sm90_repack_b16", "sm90_repack_b16_slim", "sm90_repack_b16_turned",
                             ""};
  const char *const b8[] = {"sm90_repack_b8", "sm90_repack_b8_slim", "sm90_repack_b8_turned", ""};
  const char *const t4[] = {"sm75_repack_b32", "sm75_repack_b32_slim", "sm75_repack_b32_turned",
                            ""};
  brings("gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16' }", b16);
  brings("gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16', dispatch = { repack = false } }",
         none);
  brings("gpu 'h200' gemm { family = 'simt' }", none);
  brings("gpu 't4' gemm { family = 'simt', dispatch = { repack = true } }", t4);
  /* Each once, whatever asks for it. */
  brings("gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16', layout = { 'nn', 'nt' } }"
         "gemm { family = 'wgmma', dtype = 'f16' }",
         b16);
  brings("gpu 'h200' gemm { family = 'wgmma', layout = 'nt', tile = { m = 64, n = 64 },"
         "dtype = { a = 'e4m3', b = 'e5m2', d = 'bf16' } }",
         b8);
}

static void askers_are_named(void **state) {
  (void)state;
  kernel_set k;
  diag *d = diag_new();
  assert_true(
      load(&k, d,
           (const char *const[FILES]){"gpu 'h200'\ngemm { family = 'wgmma', dtype = 'bf16' }\n"
                                      "gemm { family = 'wgmma', dtype = 'f16' }",
                                      NULL}));
  long at = kernel_set_find(&k, "sm90_repack_b16");
  assert_true(at >= 0);
  const kernel *pass = &k.kernels[at];
  assert_int_equal(pass->spec_count, 2);
  assert_int_equal(pass->specs[0]->line, 2);
  assert_int_equal(pass->specs[1]->line, 3);
  assert_int_equal(pass->specs[1]->value[SPEC_DTYPE_A], GG_F16);
  kernel_set_free(&k);
  diag_free(d);
}

static bool refused(const char *text, const char *code) {
  kernel_set k;
  diag *d = diag_new();
  bool good = load(&k, d, (const char *const[FILES]){text, NULL});
  bool found = diag_has(d, code);
  kernel_set_free(&k);
  diag_free(d);
  return !good && found;
}

static void wrong_wishes(void **state) {
  (void)state;
  assert_true(
      refused("gpu 'h200' gemm { dtype = 'f64', dispatch = { repack = true } }", "repack-type"));
  assert_true(refused("gpu 'h200' gemm { family = 'repack' }", "unknown-value"));
  assert_true(refused("gpu 'h200' gemm { family = 'reduce' }", "unknown-value"));
  assert_true(refused("gpu 'h200' gemm { family = 'naive', dtype = { a = 'f16', acc = 'f16' }, "
                      "dispatch = { split = true } }",
                      "split-type"));
  assert_true(
      refused("gpu 'h200' gemm { family = 'naive', dtype = { a = 'e4m3' }, epilogue = { scale "
              "= { a = 'group' } }, dispatch = { split = true } }",
              "split-scaling"));
}

/* The second card has another clock and bandwidth: the same kernels, the first one's figures. */
static void cards_share_kernels(void **state) {
  (void)state;
  kernel_set k;
  diag *d = diag_new();
  assert_true(
      load(&k, d,
           (const char *const[FILES]){"gpu 'h100-pcie' gemm { family = 'wgmma', dtype = 'bf16' }",
                                      "gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16' }"}));
  for (size_t i = 0; i < k.count; ++i)
    assert_int_equal(k.kernels[i].spec_count, 2);
  long at = kernel_set_find(&k, "sm90_repack_b16");
  assert_true(at >= 0);
  assert_int_equal(k.kernels[at].plan.copy_gbs, gpu_find("h100-pcie")->hbm_gbs * 885 / 1000);
  kernel_set_free(&k);
  diag_free(d);
}

/* What the table's formula rests on: bytes and tiles. */
static void figures(void **state) {
  (void)state;
  kernel_set k;
  diag *d = diag_new();
  assert_true(load(
      &k, d,
      (const char *const[FILES]){"gpu 'h200' gemm { family = 'wgmma', dtype = 'bf16' }", NULL}));
  const struct {
    const char *name;
    int tile_m, tile_n, shared, gbs;
  } passes[] = {{"sm90_repack_b16", 8, 32 * 4 * 8, 0, 4248},
                {"sm90_repack_b16_slim", 32, 8 * 4 * 8, 0, 4248},
                {"sm90_repack_b16_turned", 64, 64, 64 * 128, 3456}};
  for (size_t i = 0; i < 3; ++i) {
    long at = kernel_set_find(&k, passes[i].name);
    assert_true(at >= 0);
    const kernel_plan *p = &k.kernels[at].plan;
    assert_int_equal(p->tile_m, passes[i].tile_m);
    assert_int_equal(p->tile_n, passes[i].tile_n);
    assert_int_equal(p->shared_bytes, passes[i].shared);
    assert_int_equal(p->copy_gbs, passes[i].gbs);
    assert_int_equal(p->align_a, 2);
    assert_int_equal(p->align_d, 128);
  }
  kernel_set_free(&k);
  diag_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_bring_them),
      cmocka_unit_test(askers_are_named),
      cmocka_unit_test(wrong_wishes),
      cmocka_unit_test(cards_share_kernels),
      cmocka_unit_test(figures),
      cmocka_unit_test(points_split),
      cmocka_unit_test(splits_in_the_table),
  };
  return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
