/* Plans of family wmma: shapes by type and architecture, padding against what a profiler counted.
 */
#include "unit.h"

#include "plan_wmma.h"

#include <string.h>

typedef struct setting {
  spec_field field;
  int value;
} setting;

#define END SPEC_FIELD_COUNT

static kernel_spec spec_of(const char *gpu, int type, const setting *settings) {
  kernel_spec s = {.file = "test.lua", .line = 1, .call = 1};
  s.gpu = *gpu_find(gpu);
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    s.value[f] = SPEC_UNSET;
  s.value[SPEC_FAMILY] = FAMILY_WMMA;
  s.value[SPEC_DTYPE_A] = type;
  for (; settings->field != END; ++settings)
    s.value[settings->field] = settings->value;
  return s;
}

static const setting none[] = {{END, 0}};

/* Which types there are, and from which card on. */
static void types_follow_the_architecture(void **state) {
  (void)state;
  static const struct {
    const char *gpu;
    int types[7];
  } cards[] = {{"v100", {GG_F16}},
               {"t4", {GG_F16, GG_S8, GG_U8}},
               {"a100-sxm-80", {GG_F16, GG_S8, GG_U8, GG_BF16, GG_TF32, GG_F64}},
               {"rtx-5090", {GG_F16, GG_S8, GG_U8, GG_BF16, GG_TF32, GG_F64}}};
  for (size_t c = 0; c < sizeof cards / sizeof cards[0]; ++c) {
    for (int type = GG_F64; type <= GG_S32; ++type) {
      bool has = false;
      for (int i = 0; i < 7; ++i)
        if (cards[c].types[i] == type) has = true;
      kernel_spec s = spec_of(cards[c].gpu, type, none);
      for (int v = 0; v < VARIANT_COUNT; ++v) {
        kernel_plan p;
        plan_fault fault;
        plan_result result = plan_make(&s, (plan_variant)v, &p, &fault);
        if ((result == PLAN_OK) != has)
          fail_msg("%s, %s: %s", cards[c].gpu, dtype_name(type), has ? fault.text : "made");
        if (!has) {
          assert_int_equal(fault.field, SPEC_DTYPE_A);
          assert_non_null(strstr(fault.text, "use "));
        }
        if (result == PLAN_OK) plan_free(&p);
      }
    }
  }
}

/* Of all m, n, k up to 32 the tensor cores have those that PTX lists, and no others. */
static void shapes_are_those_of_ptx(void **state) {
  (void)state;
  static const struct {
    int type, count;
  } types[] = {{GG_F16, 3}, {GG_BF16, 3}, {GG_S8, 3}, {GG_U8, 3}, {GG_TF32, 1}, {GG_F64, 1}};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
    int count = 0;
    for (int m = 4; m <= 32; m *= 2)
      for (int n = 4; n <= 32; n *= 2)
        for (int k = 4; k <= 32; k *= 2) {
          kernel_spec s = spec_of("h200", types[t].type,
                                  (setting[]){{SPEC_INST_M, m},
                                              {SPEC_INST_N, n},
                                              {SPEC_INST_K, k},
                                              {SPEC_LAYOUT, LAYOUT_NT},
                                              {END, 0}});
          kernel_plan p;
          plan_fault fault;
          if (plan_make(&s, VARIANT_FULL, &p, &fault) != PLAN_OK) {
            assert_string_equal(fault.code, "instruction");
            continue;
          }
          assert_int_equal(p.inst_m * p.inst_n, types[t].type == GG_F64 ? 64 : 256);
          assert_int_equal(p.warp_m % m + p.warp_n % n + p.tile_k % k, 0);
          ++count;
          plan_free(&p);
        }
    assert_int_equal(count, types[t].count);
  }
}

/* Wavefronts of cp.async in the plan's reason are those counted on an H200: rows of 128 bytes at a
 * pitch of 144 cost 10 or 11 each 32 copies, at 128 4; rows of 64 at 80 15, at 64 8; and of shared
 * stores into rows of 64 at 80 8. */
static void padding_weighs_copies_against_loads(void **state) {
  (void)state;
  static const struct {
    const char *gpu;
    int tile_k, padding;
    const char *why;
  } cases[] = {{"h200", 64, 8, "copies 336 + fragments 512, unpadded 128 + 4096"},
               {"h200", 32, 8, "copies 240 + fragments 256, unpadded 128 + 1024"},
               {"t4", 32, 8, "copies 128 + fragments 256, unpadded 64 + 1024"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    kernel_spec s =
        spec_of(cases[i].gpu, GG_F16,
                (setting[]){{SPEC_LAYOUT, LAYOUT_NT}, {SPEC_TILE_K, cases[i].tile_k}, {END, 0}});
    kernel_plan p;
    plan_fault fault;
    assert_int_equal(plan_make(&s, VARIANT_FULL, &p, &fault), PLAN_OK);
    assert_int_equal(p.pad_a, cases[i].padding);
    assert_non_null(strstr(p.why[PLAN_pad_a], cases[i].why));
    assert_int_equal(plan_wmma_ways(&p, 0), 1);
    plan_free(&p);
  }
}

/* Unpadded rows of 128 bytes: 8 rows of ldmatrix in one bank group, and 8 of single words. */
static void unpadded_rows_collide(void **state) {
  (void)state;
  static const int types[] = {GG_F16, GG_BF16, GG_S8, GG_TF32};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
    kernel_spec s = spec_of("h200", types[i],
                            (setting[]){{SPEC_LAYOUT, LAYOUT_NT}, {SPEC_PADDING, 0}, {END, 0}});
    kernel_plan p;
    plan_fault fault;
    assert_int_equal(plan_make(&s, VARIANT_FULL, &p, &fault), PLAN_OK);
    assert_int_equal(plan_wmma_ways(&p, 0), 8);
    assert_int_equal(plan_wmma_ways(&p, 1), 8);
    diag *d = diag_new();
    plan_warn(&p, d);
    assert_true(diag_has(d, "bank-conflict"));
    diag_free(d);
    plan_free(&p);
  }
}

/* f16 sums are made where asked, with a word of warning that the spec may silence. */
static void short_sums_are_warned_of(void **state) {
  (void)state;
  kernel_spec s = spec_of("t4", GG_F16, (setting[]){{SPEC_DTYPE_ACC, GG_F16}, {END, 0}});
  kernel_plan p;
  plan_fault fault;
  assert_int_equal(plan_make(&s, VARIANT_FULL, &p, &fault), PLAN_OK);
  diag *d = diag_new();
  plan_warn(&p, d);
  assert_true(diag_has(d, "f16-sums"));
  assert_int_equal(diag_count(d), 1);
  diag_free(d);
  s.allow = ~0u;
  d = diag_new();
  plan_warn(&p, d);
  assert_int_equal(diag_count(d), 0);
  diag_free(d);
  plan_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_follow_the_architecture),
      cmocka_unit_test(shapes_are_those_of_ptx),
      cmocka_unit_test(padding_weighs_copies_against_loads),
      cmocka_unit_test(unpadded_rows_collide),
      cmocka_unit_test(short_sums_are_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
