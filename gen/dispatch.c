/* dispatch.c - plans -> rows of gg_table.c, in the order of preference.
 *
 * The runtime takes the row with the least predicted time (speed, wave_loss, overhead_k), and the
 * first of equals. Their order: newer architecture, then rows that use alignment (full and edge)
 * before narrow ones, faster families, larger tiles, compiled-in scalars.
 */
#include "dispatch.h"

#include "version.h"

#include <stdlib.h>
#include <string.h>

static int rank(const kernel_plan *p) {
  return p->variant == VARIANT_NARROW;
}

static int compare(const void *left, const void *right) {
  const kernel_plan *a = *(const kernel_plan *const *)left;
  const kernel_plan *b = *(const kernel_plan *const *)right;
  const int keys[][2] = {
      {plan_is_pass(a), plan_is_pass(b)},
      {b->arch, a->arch},
      {b->arch_suffix, a->arch_suffix},
      {rank(a), rank(b)},
      {b->family, a->family},
      {b->tile_m * b->tile_n, a->tile_m * a->tile_n},
      {b->alpha == GG_SCALAR_ANY ? 0 : 1, a->alpha == GG_SCALAR_ANY ? 0 : 1},
      {b->beta == GG_SCALAR_ANY ? 0 : 1, a->beta == GG_SCALAR_ANY ? 0 : 1},
      {a->variant, b->variant},
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i)
    if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
  return strcmp(a->name, b->name);
}

void dispatch_sort(const kernel_plan **plans, size_t count) {
  if (count > 1) qsort(plans, count, sizeof *plans, compare);
}

static bool serves(int kernel, int call) {
  return kernel == GG_SCALAR_ANY || kernel == call;
}

/* Does q take every call of p's kind: any size, any element-aligned pointer? */
static bool is_last_resort(const kernel_plan *q, const kernel_plan *p) {
  return !plan_is_pass(q) && q->arch == p->arch && q->type_a == p->type_a &&
         q->type_b == p->type_b && q->type_c == p->type_c && q->type_d == p->type_d &&
         q->type_acc == p->type_acc && q->layout == p->layout && serves(q->alpha, p->alpha) &&
         serves(q->beta, p->beta) && q->bias == p->bias && q->activation == p->activation &&
         q->residual == p->residual && q->scale_a == p->scale_a && q->scale_b == p->scale_b &&
         q->scale_d == p->scale_d && q->absmax == p->absmax && q->multiple_m == 1 &&
         q->multiple_n == 1 && q->multiple_k == 1 && q->min_k == 0 &&
         q->align_a <= dtype_bytes(q->type_a) && q->align_b <= dtype_bytes(q->type_b) &&
         q->align_c <= dtype_bytes(q->type_c) && q->align_d <= dtype_bytes(q->type_d);
}

bool dispatch_prove(const kernel_plan *const *plans, size_t count, diag *d) {
  bool proved = true;
  for (size_t i = 0; i < count; ++i) {
    const kernel_plan *p = plans[i];
    /* A pass promises nothing, nor does a kernel that takes calls only with one. */
    if (plan_is_pass(p) || p->spec->sums) continue;
    int asked = p->spec->value[SPEC_LAYOUT];
    if (p->layout != (asked == SPEC_UNSET ? LAYOUT_NN : asked)) continue;
    bool found = is_last_resort(p, p);
    /* Plans of one point are neighbours in kind, not in the sorted order: look from the end, where
     * the narrow rows are. */
    for (size_t j = count; !found && j-- > 0;)
      found = is_last_resort(plans[j], p);
    if (found) continue;
    proved = false;
    diag_add(d, DIAG_ERROR, p->spec->file, p->spec->line, NULL, "dispatch-hole",
             "no kernel without demands on size and alignment stands beside %s; let the spec keep "
             "a legal narrow variant",
             p->name);
  }
  return proved;
}

static const char *const dtype_enums[] = {"GG_NONE", "GG_F64",  "GG_F32",  "GG_TF32",
                                          "GG_F16",  "GG_BF16", "GG_E4M3", "GG_E5M2",
                                          "GG_S8",   "GG_U8",   "GG_S32"};
static const char *const scalar_enums[] = {"GG_SCALAR_ANY", "GG_SCALAR_ZERO", "GG_SCALAR_ONE"};

static const char *const bias_enums[] = {"GG_BIAS_NONE", "GG_BIAS_N", "GG_BIAS_M"};
static const char *const activation_enums[] = {"GG_ACTIVATION_NONE", "GG_ACTIVATION_RELU",
                                               "GG_ACTIVATION_GELU", "GG_ACTIVATION_SILU",
                                               "GG_ACTIVATION_GELU_TANH"};
static const char *const scaling_enums[] = {"GG_SCALING_NONE", "GG_SCALING_TENSOR",
                                            "GG_SCALING_VECTOR", "GG_SCALING_GROUP",
                                            "GG_SCALING_BLOCK"};

/* Families without clusters leave the field 0. */
static int at_least_1(int blocks) {
  return blocks > 1 ? blocks : 1;
}

static const char *order_enum(bool transposed) {
  return transposed ? "GG_ORDER_T" : "GG_ORDER_N";
}

static bool transposed_a(const kernel_plan *p) {
  return p->layout == LAYOUT_TN || p->layout == LAYOUT_TT;
}

static bool transposed_b(const kernel_plan *p) {
  return p->layout == LAYOUT_NT || p->layout == LAYOUT_TT;
}

/* Tensor maps: boxes one swizzled row of 128 bytes wide. D: the rows of one warpgroup. */
static void maps(const kernel_plan *p, buf *out) {
  static const char none[] = "{0, 0, 0, 0, 0}";
  if (p->path_a != PATH_TMA) {
    buf_printf(out, "     .maps = {%s, %s, %s, %s},\n", none, none, none, none);
    return;
  }
  buf_printf(out, "     .maps = {{1, %d, %d, 128, %d}, ", p->box_width, p->box_a, p->promotion);
  if (p->path_b == PATH_TMA)
    buf_printf(out, "{1, %d, %d, 128, %d}, %s, ", p->box_width, p->box_b, p->promotion, none);
  else
    buf_printf(out, "%s, %s, ", none, none);
  if (p->path_d == PATH_TMA)
    buf_printf(out, "{1, %d, %d, %d, %d}},\n", p->panel, p->panel_m, p->panel_swizzle,
               p->promotion_d);
  else
    buf_printf(out, "%s},\n", none);
}

static void row(const kernel_plan *p, const char *prefix, buf *out) {
  buf_printf(out, "    {.name = \"%s\",\n", p->name);
  buf_printf(out, "     .symbol = \"%s%s\",\n", prefix, p->name);
  buf_printf(out, "     .file = \"%s.cu\",\n", p->name);
  buf_printf(out, "     .entry = ENTRY(%s%s),\n", prefix, p->name);
  buf_printf(out, "     .family = \"%s\",\n", spec_family_name(p->family));
  buf_printf(out, "     .kind = %s,\n",
             p->family == FAMILY_REPACK   ? "GG_KIND_REPACK"
             : p->family == FAMILY_REDUCE ? "GG_KIND_REDUCE"
                                          : "GG_KIND_GEMM");
  buf_printf(out, "     .arch = %d,\n", p->arch);
  buf_printf(out, "     .arch_suffix = %s,\n", p->arch_suffix == 'a' ? "'a'" : "0");
  buf_printf(out, "     .type_a = %s, .type_b = %s, .type_c = %s, .type_d = %s, .type_acc = %s,\n",
             dtype_enums[p->type_a], dtype_enums[p->type_b], dtype_enums[p->type_c],
             dtype_enums[p->type_d], dtype_enums[p->type_acc]);
  buf_printf(out, "     .promote_k = %d, .fast_accum = %d,\n", p->promote_k, p->fast_accum);
  buf_printf(out, "     .order_a = %s, .order_b = %s,\n", order_enum(transposed_a(p)),
             order_enum(transposed_b(p)));
  buf_printf(out, "     .alpha = %s, .beta = %s,\n", scalar_enums[p->alpha], scalar_enums[p->beta]);
  buf_printf(out, "     .tile_m = %d, .tile_n = %d, .tile_k = %d, .k_slices = %d,\n", p->tile_m,
             p->tile_n, p->tile_k, p->k_slices);
  buf_printf(out, "     .bias = %s, .activation = %s, .residual = %d, .absmax = %d,\n",
             bias_enums[p->bias], activation_enums[p->activation], p->residual, p->absmax);
  buf_printf(out, "     .scaling_a = %s, .scaling_b = %s, .scaling_d = %s,\n",
             scaling_enums[p->scale_a], scaling_enums[p->scale_b], scaling_enums[p->scale_d]);
  buf_printf(out, "     .threads = %d, .cluster_m = %d, .cluster_n = %d, .cluster_k = %d,\n",
             p->threads, at_least_1(p->cluster_m), at_least_1(p->cluster_n),
             at_least_1(p->cluster_k));
  buf_printf(out, "     .shared_bytes = %d, .blocks_per_sm = %d,\n", p->shared_bytes, p->blocks_sm);
  buf_printf(out, "     .align = {%d, %d, %d, %d},\n", p->align_a, p->align_b, p->align_c,
             p->align_d);
  buf_printf(out, "     .multiple_m = %d, .multiple_n = %d, .multiple_k = %d, .min_k = %d,\n",
             p->multiple_m, p->multiple_n, p->multiple_k, p->min_k);
  buf_printf(out, "     .speed = %d, .wave_loss_percent = %d, .overhead_k = %d,\n", p->speed,
             p->wave_loss, p->overhead_k);
  buf_printf(out,
             "     .further_percent = %d, .alone_percent = %d,\n"
             "     .sm_gflops = %d, .copy_gbs = %d, .memory_gbs = %d,\n"
             "     .overhead_ns = %d, .partial_percent = %d,\n",
             plan_is_pass(p) ? 100 : p->further, plan_is_pass(p) ? 100 : p->alone, p->sm_gflops,
             p->copy_gbs, p->spec->gpu.hbm_gbs, p->overhead_ns, p->partial_percent);
  maps(p, out);
  buf_printf(out, "     .persistent = %d, .programmatic = %d},\n", p->persistent, p->programmatic);
}

void dispatch_table(const kernel_plan *const *plans, size_t count, const char *prefix, buf *out) {
  buf_printf(out,
             "/* clang-format off */\n"
             "/* Generated by gemmgen %s: the dispatch table of this folder, in the order of\n"
             " * preference. This file may be used under any terms. */\n"
             "#include \"gg_kernel.h\"\n\n"
             "/* One build of the table in a binary: the emulated one has names of its own. */\n"
             "#ifdef GEMMGEN_EMULATE\n"
             "#define ENTRY(name) (gg_entry)name##_emu\n"
             "#define DECLARE(name) void name##_emu(const gg_args p)\n"
             "#define TABLE %sgg_table_emu\n"
             "#define EMULATED 1\n"
             "#else\n"
             "#define ENTRY(name) (gg_entry)name\n"
             "#define DECLARE(name) void name(const gg_args p)\n"
             "#define TABLE %sgg_table\n"
             "#define EMULATED 0\n"
             "#endif\n\n",
             GEMMGEN_VERSION, prefix, prefix);
  for (size_t i = 0; i < count; ++i)
    buf_printf(out, "DECLARE(%s%s);\n", prefix, plans[i]->name);
  buf_puts(out, "\nstatic const gg_kernel kernels[] = {\n");
  for (size_t i = 0; i < count; ++i)
    row(plans[i], prefix, out);
  buf_printf(out,
             "};\n\n"
             "extern const gg_kernel_table TABLE;\n"
             "const gg_kernel_table TABLE = {\n"
             "    .abi = GG_KERNEL_ABI,\n"
             "    .args_size = sizeof(gg_args),\n"
             "    .row_size = sizeof(gg_kernel),\n"
             "    .emulated = EMULATED,\n"
             "    .count = sizeof kernels / sizeof kernels[0],\n"
             "    .kernels = kernels,\n"
             "    .generator = \"gemmgen %s\",\n"
             "};\n",
             GEMMGEN_VERSION);
}

void dispatch_print(const kernel_plan *const *plans, size_t count, buf *out) {
  for (size_t i = 0; i < count; ++i) {
    const kernel_plan *p = plans[i];
    buf_printf(out, "%3zu %s: m %% %d, n %% %d, k %% %d, k >= %d, align %d %d %d %d, speed %d\n", i,
               p->name, p->multiple_m, p->multiple_n, p->multiple_k, p->min_k, p->align_a,
               p->align_b, p->align_c, p->align_d, p->speed);
  }
}
