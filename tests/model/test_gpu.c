/* The table of GPUs against the figures that the cards' papers print, in their own units: what the
 * table has as FMAs per SM and cycle, the papers have as TFLOP/s. */
#include "unit.h"

#include "gpu.h"
#include "gpu_fields.h"
#include <math.h>
#include <string.h>

/* Dense TFLOP/s (TOP/s) of the data sheet or whitepaper; 0: it names none. */
static const struct {
  const char *name;
  double f32, f64, f16, tf32, f8, s8, tensor_f64;
} papers[] = {
    {"v100", 15.7, 7.8, 125, 0, 0, 0, 0},
    {"t4", 8.1, 0, 65, 0, 0, 130, 0},
    {"a100-sxm-40", 19.5, 9.7, 312, 156, 0, 624, 19.5},
    {"a100-sxm-80", 19.5, 9.7, 312, 156, 0, 624, 19.5},
    {"a30", 10.3, 5.2, 165, 82, 0, 330, 10.3},
    {"a10", 31.2, 0, 125, 62.5, 0, 250, 0},
    {"rtx-3090", 35.6, 0, 71, 35.6, 0, 284, 0},
    {"l4", 30.3, 0, 121, 60, 242.5, 242.5, 0},
    {"l40s", 91.6, 0, 366.5, 183, 733, 733, 0},
    {"rtx-4090", 82.6, 1.3, 165.2, 82.6, 330.3, 660.6, 0},
    {"gh200", 67, 34, 989.5, 494.5, 1979, 1979, 67},
    {"h100-nvl", 60, 30, 835.5, 417.5, 1670.5, 1670.5, 60},
    {"h100-pcie", 51, 26, 756, 378, 1513, 1513, 51},
    {"h100-sxm", 67, 34, 989.5, 494.5, 1979, 1979, 67},
    {"h20", 0, 0, 148, 74, 296, 296, 0},
    {"h200", 67, 34, 989.5, 494.5, 1979, 1979, 67},
    {"b200", 75, 37, 2250, 1125, 4500, 4500, 37},
    {"rtx-5090", 104.8, 1.64, 209.5, 104.8, 419, 838, 0},
};

static void near_paper(const char *name, gpu_unit unit, double expected) {
  if (expected == 0) return;
  double peak = gpu_peak(gpu_find(name), unit);
  /* Papers round to two or three digits. */
  if (fabs(peak / expected - 1) > 0.017)
    fail_msg("%s, %s: %.2f follows from the table, the paper says %.2f", name, gpu_unit_name(unit),
             peak, expected);
}

static void peaks_are_those_of_the_papers(void **state) {
  (void)state;
  assert_int_equal(gpu_count(), sizeof papers / sizeof *papers);
  for (size_t i = 0; i < gpu_count(); ++i) {
    const char *name = papers[i].name;
    assert_non_null(gpu_find(name));
    near_paper(name, GPU_CORE_F32, papers[i].f32);
    near_paper(name, GPU_CORE_F64, papers[i].f64);
    near_paper(name, GPU_TENSOR_F16, papers[i].f16);
    near_paper(name, GPU_TENSOR_TF32, papers[i].tf32);
    near_paper(name, GPU_TENSOR_F8, papers[i].f8);
    near_paper(name, GPU_TENSOR_S8, papers[i].s8);
    near_paper(name, GPU_TENSOR_F64, papers[i].tensor_f64);
  }
}

static void a_rate_of_0_means_that_the_paper_names_no_peak(void **state) {
  (void)state;
  for (size_t i = 0; i < gpu_count(); ++i) {
    const gpu_facts *g = gpu_find(papers[i].name);
    assert_int_equal(g->tensor_tf32 != 0, papers[i].tf32 != 0);
    assert_int_equal(g->tensor_f8 != 0, papers[i].f8 != 0);
    assert_int_equal(g->tensor_s8 != 0, papers[i].s8 != 0);
    assert_int_equal(g->tensor_f64 != 0, papers[i].tensor_f64 != 0);
  }
}

static void rows_are_sorted_and_possible(void **state) {
  (void)state;
  for (size_t i = 0; i < gpu_count(); ++i) {
    const gpu_facts *g = gpu_at(i);
    if (i > 0) {
      const gpu_facts *before = gpu_at(i - 1);
      assert_true(before->arch < g->arch ||
                  (before->arch == g->arch && strcmp(before->name, g->name) < 0));
    }
    assert_true(g->shared_block <= g->shared_sm);
    assert_int_equal(g->has_cp_async, g->arch >= 80);
    assert_int_equal(g->has_tma, g->arch >= 90);
    assert_int_equal(g->has_wgmma, g->arch == 90);
    assert_int_equal(g->threads_sm % 32, 0);
    assert_non_null(g->source);
    assert_non_null(g->paper);
    assert_non_null(g->device);
  }
}

static void drivers_names_find_their_card(void **state) {
  (void)state;
  static const struct {
    const char *driver;
    int arch;
    const char *name;
  } cases[] = {{"NVIDIA H200", 90, "h200"},
               {"NVIDIA H20", 90, "h20"},
               {"NVIDIA GH200 480GB", 90, "gh200"},
               {"NVIDIA H100 80GB HBM3", 90, "h100-sxm"},
               {"NVIDIA H100 PCIe", 90, "h100-pcie"},
               {"NVIDIA H100 NVL", 90, "h100-nvl"},
               {"NVIDIA A100-SXM4-80GB", 80, "a100-sxm-80"},
               {"NVIDIA A100-SXM4-40GB", 80, "a100-sxm-40"},
               {"NVIDIA A30", 80, "a30"},
               {"NVIDIA A10", 86, "a10"},
               {"NVIDIA GeForce RTX 3090", 86, "rtx-3090"},
               {"NVIDIA GeForce RTX 4090", 89, "rtx-4090"},
               {"NVIDIA L4", 89, "l4"},
               {"NVIDIA L40S", 89, "l40s"},
               {"Tesla T4", 75, "t4"},
               {"Tesla V100-SXM2-32GB", 70, "v100"},
               {"NVIDIA B200", 100, "b200"},
               {"NVIDIA GeForce RTX 5090", 120, "rtx-5090"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const gpu_facts *g = gpu_of_device(cases[i].driver, cases[i].arch);
    assert_non_null(g);
    assert_string_equal(g->name, cases[i].name);
  }
  /* A card that is not in the table: its architecture's; an architecture that is not: nothing. */
  assert_int_equal(gpu_of_device("NVIDIA L40", 89)->arch, 89);
  assert_null(gpu_of_device("NVIDIA H200", 91));
}

static void unknown_is_said_and_has_no_source(void **state) {
  (void)state;
  char scratch[16];
  const gpu_facts *nvl = gpu_find("h100-nvl");
  int seen = 0;
  for (size_t i = 0; i < gpu_field_count; ++i) {
    const gpu_field *f = &gpu_fields[i];
    bool l2 = strcmp(f->name, "l2_bytes") == 0, rate = strcmp(f->name, "tensor_f16") == 0;
    if (l2) {
      assert_string_equal(gpu_field_value_text(nvl, f, scratch), "unknown");
      assert_null(gpu_field_source(nvl, f));
      assert_string_equal(gpu_field_source(gpu_find("h200"), f), "device properties");
    }
    if (rate) assert_string_equal(gpu_field_value_text(nvl, f, scratch), "2048");
    seen += l2 + rate;
  }
  assert_int_equal(seen, 2);
}

static void exceptions_name_facts_that_exist(void **state) {
  (void)state;
  for (size_t i = 0; i < gpu_count(); ++i)
    for (const gpu_exception *e = gpu_at(i)->exceptions; e && e->fact; ++e) {
      bool found = false;
      for (size_t f = 0; f < gpu_field_count; ++f)
        found |= strcmp(gpu_fields[f].name, e->fact) == 0;
      if (!found) fail_msg("%s: no fact is called %s", gpu_at(i)->name, e->fact);
    }
}

static void measured_figures_are_found_by_name(void **state) {
  (void)state;
  assert_true(gpu_measured(gpu_find("h200"), "copy_gbs") == 4300);
  assert_true(gpu_measured(gpu_find("h200"), "no such") == 0);
  assert_true(gpu_measured(gpu_find("t4"), "copy_gbs") == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(peaks_are_those_of_the_papers),
      cmocka_unit_test(a_rate_of_0_means_that_the_paper_names_no_peak),
      cmocka_unit_test(rows_are_sorted_and_possible),
      cmocka_unit_test(drivers_names_find_their_card),
      cmocka_unit_test(unknown_is_said_and_has_no_source),
      cmocka_unit_test(exceptions_name_facts_that_exist),
      cmocka_unit_test(measured_figures_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
