/* plan.c - plans: building, printing, hashing. What only one family knows is in plan_<family>.c.
 *
 * Invariant: a field that has a value has a reason; a field without a reason is 0 and is not shown.
 */
#include "plan_auto.h"
#include "plan_epilogue.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *unit, *text;
  size_t offset;
} fields[PLAN_FIELD_COUNT] = {
#define X(member, unit, text) {#member, unit, text, offsetof(kernel_plan, member)},
    PLAN_FIELDS(X)
#undef X
};

/* ORDER FAMILY */
static const plan_family families[FAMILY_COUNT] = {
    {"naive.cu.lua", NULL, plan_make_naive, plan_takes_naive,
     "it uses no shared memory and one output a thread; leave it out or use family simt"},
    {"smem.cu.lua", NULL, plan_make_smem, plan_takes_smem,
     "one output a thread, one element a copy; leave it out or use family simt"},
    {"simt.cu.lua", NULL, plan_make_simt, plan_takes_simt, "it has no tensor cores; leave it out"},
    {"gemv.cu.lua", NULL, plan_make_gemv, plan_takes_gemv,
     "a block has a row of B and all of its k; leave it out"},
    {"wmma.cu.lua", NULL, plan_make_wmma, plan_takes_wmma,
     "warps hold fragments, whose registers wmma lays out; leave it out"},
    {"mma.cu.lua", "mma_tma.cu.lua", plan_make_mma, plan_takes_mma,
     "warps hold fragments, whose lanes mma.sync lays out; leave it out"},
    {"wgmma.cu.lua", NULL, plan_make_wgmma, plan_takes_wgmma,
     "the instruction and TMA fix it; leave it out"},
    {"repack.cu.lua", NULL, plan_make_repack, plan_takes_repack, "it has no numbers of its own"},
    {"reduce.cu.lua", NULL, plan_make_reduce, plan_takes_reduce, "it has no numbers of its own"},
};

const char *plan_template(const kernel_plan *p) {
  const plan_family *f = &families[p->family];
  return f->by_tma != NULL && p->path_a == PATH_TMA ? f->by_tma : f->template_name;
}

const char *plan_field_name(plan_field f) {
  return fields[f].name;
}

const char *plan_field_unit(plan_field f) {
  return fields[f].unit;
}

const char *plan_field_text(plan_field f) {
  return fields[f].text;
}

static int *slot(kernel_plan *p, plan_field f) {
  return (int *)(void *)((char *)p + fields[f].offset);
}

int plan_value(const kernel_plan *p, plan_field f) {
  return *slot((kernel_plan *)(uintptr_t)p, f);
}

int gcd_int(int a, int b) {
  while (b != 0) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/* -- Building ------------------------------------------------------------------------------- */

static void out_of_memory(plan_builder *b) {
  b->result = PLAN_MEMORY;
}

static void set_list(plan_builder *b, plan_field f, int value, const char *why, va_list list) {
  *slot(b->plan, f) = value;
  char text[512];
  vsnprintf(text, sizeof text, why, list);
  free(b->plan->why[f]);
  b->plan->why[f] = strdup(text);
  if (b->plan->why[f] == NULL) out_of_memory(b);
}

void plan_set(plan_builder *b, plan_field f, int value, const char *why, ...) {
  va_list list;
  va_start(list, why);
  set_list(b, f, value, why, list);
  va_end(list);
}

bool plan_given(const plan_builder *b, spec_field f) {
  return b->spec->value[f] != SPEC_UNSET;
}

int plan_asked(const plan_builder *b, spec_field f, int otherwise) {
  return plan_given(b, f) ? b->spec->value[f] : otherwise;
}

const char *plan_asked_why(const plan_builder *b, spec_field f) {
  const char *chosen = b->spec->chosen;
  if (chosen && (f == SPEC_SPEED || f == SPEC_OVERHEAD_K))
    return "fitted to the model's times of the rows left open, so that the library takes those "
           "that "
           "the model does (docs/model.md)";
  return chosen && plan_auto_fills(f) ? chosen : "asked by the spec";
}

int plan_take(plan_builder *b, plan_field f, spec_field from, int choice, const char *key,
              const char *why, ...) {
  va_list list;
  va_start(list, why);
  if (plan_given(b, from)) {
    plan_set(b, f, b->spec->value[from], "%s", plan_asked_why(b, from));
  } else {
    set_list(b, f, choice, why, list);
  }
  va_end(list);
  int value = plan_value(b->plan, f);
  if (key != NULL && value != choice) {
    if (key[0] == '=')
      buf_printf(&b->suffix, "_%s", key + 1);
    else
      buf_printf(&b->suffix, "_%s%d", key, value);
  }
  return value;
}

void plan_refuse(plan_builder *b, spec_field f, const char *code, const char *text, ...) {
  if (b->result != PLAN_OK) return;
  b->result = PLAN_ILLEGAL;
  b->fault->field = f;
  b->fault->code = code;
  va_list list;
  va_start(list, text);
  vsnprintf(b->fault->text, sizeof b->fault->text, text, list);
  va_end(list);
}

void plan_reject(plan_builder *b, const char *text, ...) {
  char line[512];
  va_list list;
  va_start(list, text);
  vsnprintf(line, sizeof line, text, list);
  va_end(list);
  kernel_plan *p = b->plan;
  char **grown = realloc(p->rejected, (p->rejected_count + 1) * sizeof *grown);
  if (grown == NULL) {
    out_of_memory(b);
    return;
  }
  p->rejected = grown;
  p->rejected[p->rejected_count] = strdup(line);
  if (p->rejected[p->rejected_count] == NULL)
    out_of_memory(b);
  else
    p->rejected_count++;
}

plan_mark plan_mark_here(const plan_builder *b) {
  plan_mark mark = {.rejected = b->plan->rejected_count, .suffix = b->suffix.size};
  for (int f = 0; f < PLAN_FIELD_COUNT; ++f)
    mark.set[f] = b->plan->why[f] != NULL;
  return mark;
}

void plan_go_back(plan_builder *b, const plan_mark *mark) {
  kernel_plan *p = b->plan;
  for (int f = 0; f < PLAN_FIELD_COUNT; ++f) {
    if (mark->set[f]) continue;
    *slot(p, (plan_field)f) = 0;
    free(p->why[f]);
    p->why[f] = NULL;
  }
  while (p->rejected_count > mark->rejected)
    free(p->rejected[--p->rejected_count]);
  b->suffix.size = mark->suffix;
  if (b->suffix.data != NULL) b->suffix.data[mark->suffix] = '\0';
  memset(b->fault, 0, sizeof *b->fault);
  b->result = PLAN_OK;
}

/* Fields of every family. */
static bool is_common(spec_field f) {
  static const spec_field common[] = {SPEC_FAMILY,
                                      SPEC_DTYPE_A,
                                      SPEC_DTYPE_B,
                                      SPEC_DTYPE_C,
                                      SPEC_DTYPE_D,
                                      SPEC_LAYOUT,
                                      SPEC_DTYPE_ACC,
                                      SPEC_TILE_M,
                                      SPEC_TILE_N,
                                      SPEC_RASTER_ALONG,
                                      SPEC_ALPHA,
                                      SPEC_BETA,
                                      SPEC_RASTER_GROUP,
                                      SPEC_MIN_BLOCKS,
                                      SPEC_SPEED,
                                      SPEC_OVERHEAD_K,
                                      SPEC_REPACK,
                                      SPEC_SPLIT,
                                      SPEC_BUDGET_LOOP_BYTES,
                                      SPEC_BUDGET_BLOCK_FMAS,
                                      SPEC_BUDGET_ENFORCE};
  for (size_t i = 0; i < sizeof common / sizeof common[0]; ++i)
    if (common[i] == f) return true;
  return false;
}

static bool takes(const plan_family *family, spec_field f) {
  for (const spec_field *t = family->takes; *t != SPEC_FIELD_COUNT; ++t)
    if (*t == f) return true;
  return is_common(f);
}

/* Refuses fields that the family has not. */
static void refuse_others(plan_builder *b, const plan_family *family) {
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    if (plan_given(b, (spec_field)f) && !takes(family, (spec_field)f))
      plan_refuse(b, (spec_field)f, "field-family", "family %s has no such field: %s",
                  spec_family_name(b->plan->family),
                  f == SPEC_COPY_PATH && b->plan->family != FAMILY_WGMMA
                      ? "its threads always copy; leave it out"
                      : family->others);
}

static int usual_accumulator(int type) {
  switch (type) {
  case GG_F64:
  case GG_F32:
    return type;
  case GG_S8:
  case GG_U8:
  case GG_S32:
    return GG_S32;
  default:
    return GG_F32;
  }
}

/* D's type where the spec leaves it out. */
static int usual_output(int type) {
  switch (type) {
  case GG_TF32:
    return GG_F32;
  case GG_E4M3:
  case GG_E5M2:
    return GG_BF16;
  case GG_S8:
  case GG_U8:
    return GG_S32;
  default:
    return type;
  }
}

/* tf32 is a way to multiply f32 and no way to store it. */
static int stored(int type) {
  return type == GG_TF32 ? GG_F32 : type;
}

static const char *const variant_names[VARIANT_COUNT] = {"full", "edge", "narrow"};

void plan_common_begin(plan_builder *b) {
  kernel_plan *p = b->plan;
  SET(family, plan_asked(b, SPEC_FAMILY, FAMILY_SIMT), "%s",
      plan_given(b, SPEC_FAMILY) ? plan_asked_why(b, SPEC_FAMILY)
                                 : "the fastest family without tensor cores");
  static const char *const variant_why[VARIANT_COUNT] = {
      "no guards: calls that are multiples of the tile, aligned for wide copies",
      ("wide copies with guards outside the main loop: calls whose contiguous extents are "
       "multiples "
       "of a copy"),
      "copies of one element with guards outside the main loop: every call",
  };
  SET(variant, (int)b->variant, "%s", variant_why[b->variant]);
  SET(arch, b->gpu->arch, "%s", b->gpu->name);
  SET(arch_suffix, 0, "nothing here needs arch-specific instructions; PTX serves later cards");

  int type = plan_asked(b, SPEC_DTYPE_A, GG_F32);
  int accumulator = usual_accumulator(type);
  SET(type_a, type, plan_given(b, SPEC_DTYPE_A) ? "asked by the spec" : "f32 unless asked");
  SET(type_b, plan_asked(b, SPEC_DTYPE_B, type),
      plan_given(b, SPEC_DTYPE_B) ? "asked by the spec" : "as A");
  int output = usual_output(type);
  SET(type_d, stored(plan_asked(b, SPEC_DTYPE_D, output)),
      plan_given(b, SPEC_DTYPE_D) ? "asked by the spec"
      : output == type            ? "as A"
      : accumulator == output     ? "as the accumulator"
                                  : "room for sums of 8-bit numbers");
  SET(type_c, stored(plan_asked(b, SPEC_DTYPE_C, p->type_d)),
      plan_given(b, SPEC_DTYPE_C) ? "asked by the spec" : "as D");
  SET(type_acc, plan_asked(b, SPEC_DTYPE_ACC, accumulator),
      plan_given(b, SPEC_DTYPE_ACC) ? "asked by the spec"
      : accumulator == type         ? "as A"
      : accumulator == GG_S32       ? "sums of whole numbers are whole"
                                    : "sums of narrow types in f32");
  SET(element, dtype_bytes(type), "sizeof %s", dtype_name(type));
  SET(element_d, dtype_bytes(p->type_d), "sizeof %s", dtype_name(p->type_d));
  SET(layout, plan_asked(b, SPEC_LAYOUT, LAYOUT_NN),
      plan_given(b, SPEC_LAYOUT) ? "asked by the spec" : "both operands row-major as written");
  TAKE(alpha, ALPHA, GG_SCALAR_ANY, NULL, "read at run time: one kernel serves every alpha");
  TAKE(beta, BETA, GG_SCALAR_ANY, NULL,
       "read at run time: one kernel serves every beta; C is not read where it is 0");
  plan_epilogue(b);
  TAKE(repack, REPACK, p->family == FAMILY_WGMMA, NULL,
       p->family == FAMILY_WGMMA
           ? "TMA asks for multiples of 16 bytes: other operands are copied first"
           : "copies of one element serve every pitch");
  if (p->repack && (plan_pass_type(p->type_a) == GG_NONE || plan_pass_type(p->type_b) == GG_NONE))
    plan_refuse(b, SPEC_REPACK, "repack-type",
                "no pass copies elements of %d bytes; use false, or types of 1, 2 or 4 bytes",
                p->element);
  TAKE(split, SPLIT, 0, NULL, "k is not cut unless asked (docs/split.md)");
  if (p->split && p->type_acc == GG_F16)
    plan_refuse(b, SPEC_SPLIT, "split-type",
                "parts of k are not added up in f16; use dtype.acc \"f32\", or false");
  if (p->split && plan_has_parts(p))
    plan_refuse(b, SPEC_SPLIT, "split-scaling",
                "scales for each 128 of k belong to the product's own sums, which a part of k has "
                "not all of; use false");
  if (p->alpha == GG_SCALAR_ZERO)
    plan_refuse(b, SPEC_ALPHA, "alpha-zero",
                "0 leaves no product to compute; use true (read at run time) or 1");
}

/* What addresses and bounds alone take; the parts of an SM, each with a quarter of the registers
 * for a quarter of the warps. */
enum { LEAST_REGISTERS = 24, PARTITIONS = 4 };

/* Registers are given out 256 at a time to each warp (8 a thread). */
int plan_blocks_by_registers(const plan_builder *b, int registers) {
  int warps = b->gpu->registers_sm / PARTITIONS / (32 * round_up(registers, 8));
  return PARTITIONS * warps / (b->plan->threads / 32);
}

void plan_register_limit(plan_builder *b) {
  kernel_plan *p = b->plan;
  int warps = p->min_blocks * p->threads / 32;
  int warps_part = (warps + PARTITIONS - 1) / PARTITIONS;
  int part = b->gpu->registers_sm / PARTITIONS;
  int limit = part / (warps_part * 32) / 8 * 8;
  if (limit > b->gpu->registers_thread) limit = b->gpu->registers_thread;
  SET(register_limit, limit,
      "%d blocks of %d threads put %d warps on each quarter of an SM: %d / (%d x 32), in steps of "
      "8, at most %d",
      p->min_blocks, p->threads, warps_part, part, warps_part, b->gpu->registers_thread);
  if (limit < LEAST_REGISTERS)
    plan_refuse(b, plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS : SPEC_TILE_M, "registers",
                "%d blocks of %d threads leave each thread %d registers, a kernel needs %d; use "
                "fewer min_blocks or a smaller tile",
                p->min_blocks, p->threads, limit, LEAST_REGISTERS);
}

/* Measured: what ptxas adds to a short loop where registers cost nothing. */
enum { LOADS_AHEAD = 24 };

int plan_spend_registers(const plan_builder *b, int need) {
  int most = b->gpu->registers_sm / b->gpu->threads_sm / 8 * 8;
  if (most > need + LOADS_AHEAD) most = need + LOADS_AHEAD;
  if (most > b->plan->register_limit) most = b->plan->register_limit;
  return most > need ? most : need;
}

/* " 128 registers x 256 threads" and so on: which limit decides how many blocks an SM holds. */
void plan_occupancy(plan_builder *b) {
  kernel_plan *p = b->plan;
  const gpu_facts *g = b->gpu;
  int by_threads = g->threads_sm / p->threads;
  int by_shared = p->shared_bytes + g->shared_reserved == 0
                      ? g->blocks_sm
                      : g->shared_sm / (p->shared_bytes + g->shared_reserved);
  int blocks = g->blocks_sm;
  const char *limit = "blocks an SM can hold";
  if (by_threads < blocks) blocks = by_threads, limit = "threads";
  if (by_shared < blocks) blocks = by_shared, limit = "shared memory";
  if (p->min_blocks > blocks) {
    plan_refuse(b, SPEC_MIN_BLOCKS, "min-blocks",
                "%d blocks of %d threads and %d B of shared memory; an SM of %s holds %d (%s); use "
                "at most %d, or a smaller tile",
                p->min_blocks, p->threads, p->shared_bytes, g->name, blocks, limit, blocks);
    return;
  }
  int registers = p->registers < p->register_limit ? p->registers : p->register_limit;
  int by_registers = plan_blocks_by_registers(b, registers);
  if (by_registers < blocks) blocks = by_registers, limit = "registers";
  SET(blocks_sm, blocks,
      "%s: registers %d / (%d x %d), by quarters of an SM, = %d, shared %d / (%d + %d) = %d, "
      "threads %d / %d = %d",
      limit, g->registers_sm, round_up(registers, 8), p->threads, by_registers, g->shared_sm,
      p->shared_bytes, g->shared_reserved, by_shared, g->threads_sm, p->threads, by_threads);
}

/* Types beside A's, where they differ from what A's implies: "_b_e5m2_d_f32". */
static void name_types(const kernel_plan *p, buf *out) {
  buf_puts(out, dtype_name(p->type_a));
  if (p->type_b != p->type_a) buf_printf(out, "_b_%s", dtype_name(p->type_b));
  if (p->type_d != usual_output(p->type_a)) buf_printf(out, "_d_%s", dtype_name(p->type_d));
  if (p->type_c != p->type_d) buf_printf(out, "_c_%s", dtype_name(p->type_c));
  if (p->type_acc != usual_accumulator(p->type_a))
    buf_printf(out, "_acc_%s", dtype_name(p->type_acc));
}

/* Naive and smem are there to be read, and keep to what every card has. */
void plan_launch(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool able = p->arch >= 90, plain = p->family == FAMILY_NAIVE || p->family == FAMILY_SMEM;
  TAKE(programmatic, PROGRAMMATIC, able && !plain, "=serial", "%s",
       !able   ? "griddepcontrol came with sm_90"
       : plain ? "read in the classroom: nothing that sm_70 lacks"
               : "blocks start, set up and wait while the kernel before ends (docs/launching.md)");
  if (p->programmatic && !able)
    plan_refuse(b, SPEC_PROGRAMMATIC, "programmatic-arch",
                "griddepcontrol came with sm_90, this is for sm_%d; leave it out", p->arch);
}

void plan_common_end(plan_builder *b, const char *shape) {
  kernel_plan *p = b->plan;
  plan_launch(b);
  plan_occupancy(b);
  plan_set_peak(b);
  if (p->why[PLAN_copy_gbs] == NULL)
    SET(copy_gbs, plan_bandwidth(b, 885),
        "0.885 of %d (measured of copies, H200: 4250 of 4800): no kernel reads and writes faster",
        b->gpu->hbm_gbs);
  if (b->result != PLAN_OK) return;
  if (!plan_is_pass(p)) plan_several(b);
  buf name = {0};
  buf_printf(&name, "sm%d%s_%s_", p->arch, p->arch_suffix == 'a' ? "a" : "",
             spec_family_name(p->family));
  name_types(p, &name);
  if (!plan_is_pass(p)) /* it sees neither A nor B, and has no twins */
    buf_printf(&name, "_%s_%s%s", spec_layout_name(p->layout), shape,
               b->suffix.data ? b->suffix.data : "");
  plan_epilogue_name(p, &name);
  if (!plan_is_pass(p)) buf_printf(&name, "_%s", variant_names[b->variant]);
  if (name.failed) {
    out_of_memory(b);
  } else if (name.size >= sizeof p->name) {
    plan_refuse(b, SPEC_FAMILY, "name-long",
                "the kernel's name would have %zu characters, more than %zu; leave out fields",
                name.size, sizeof p->name - 1);
  } else {
    memcpy(p->name, name.data, name.size + 1);
  }
  buf_free(&name);
}

plan_result plan_make(const kernel_spec *s, plan_variant variant, kernel_plan *out,
                      plan_fault *fault) {
  memset(out, 0, sizeof *out);
  memset(fault, 0, sizeof *fault);
  out->spec = s;
  plan_builder b = {.spec = s,
                    .gpu = &s->gpu,
                    .plan = out,
                    .fault = fault,
                    .variant = variant,
                    .result = PLAN_OK};
  if (!s->pass) plan_common_begin(&b);
  if (b.result == PLAN_OK && !s->pass) refuse_others(&b, &families[out->family]);
  if (b.result == PLAN_OK) families[s->pass ? s->value[SPEC_FAMILY] : out->family].make(&b);
  if (b.suffix.failed) b.result = PLAN_MEMORY;
  buf_free(&b.suffix);
  if (b.result != PLAN_OK) plan_free(out);
  return b.result;
}

void plan_free(kernel_plan *p) {
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i)
    free(p->why[i]);
  for (size_t i = 0; i < p->rejected_count; ++i)
    free(p->rejected[i]);
  free(p->rejected);
  memset(p, 0, sizeof *p);
}

/* -- Showing -------------------------------------------------------------------------------- */

static const char *const path_names[] = {"none", "cp.async", "staged", "tma"};
static const char *const load_names[] = {"lds", "ldmatrix", "ldmatrix_trans",
                                         "ldmatrix_trans_bytes"}; /* ORDER fragment_load */
static const char *const scalar_names[] = {"any", "zero", "one"};

/* Units that a spec spells as names too. */
static const struct {
  const char *unit;
  spec_kind kind;
} spec_kinds[] = {{"layout", KIND_LAYOUT},   {"order", KIND_ORDER},
                  {"along", KIND_ALONG},     {"schedule", KIND_SCHEDULE},
                  {"bias", KIND_BIAS},       {"activation", KIND_ACTIVATION},
                  {"scaling", KIND_SCALING}, {"family", KIND_FAMILY}};
enum { SPEC_KINDS = sizeof spec_kinds / sizeof spec_kinds[0] };

const char *plan_value_text(const kernel_plan *p, plan_field f, char scratch[32]) {
  const char *unit = fields[f].unit;
  int v = plan_value(p, f);
  for (size_t i = 0; i < SPEC_KINDS; ++i) {
    size_t count;
    if (strcmp(unit, spec_kinds[i].unit) == 0)
      return spec_kind_names(spec_kinds[i].kind, &count)[v];
  }
  if (strcmp(unit, "variant") == 0) return variant_names[v];
  if (strcmp(unit, "dtype") == 0) return dtype_name(v);
  if (strcmp(unit, "path") == 0) return path_names[v];
  if (strcmp(unit, "load") == 0) return load_names[v];
  if (strcmp(unit, "scalar") == 0) return scalar_names[v];
  if (strcmp(unit, "bool") == 0) return v ? "yes" : "no";
  if (strcmp(unit, "char") == 0) return v == 'a' ? "a" : "none";
  snprintf(scratch, 32, "%d", v);
  return scratch;
}

/* Units that are kinds of names, not measures. */
static bool is_name(const char *unit) {
  static const char *const names[] = {"variant", "dtype", "path", "load", "scalar", "bool", "char"};
  for (size_t i = 0; i < SPEC_KINDS; ++i)
    if (strcmp(spec_kinds[i].unit, unit) == 0) return true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (strcmp(unit, names[i]) == 0) return true;
  return false;
}

void plan_print(const kernel_plan *p, buf *out) {
  buf_printf(out, "plan %s\n", p->name);
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i) {
    plan_field f = (plan_field)i;
    if (p->why[f] == NULL) continue;
    char scratch[32], value[64];
    const char *unit = is_name(fields[f].unit) ? "" : fields[f].unit;
    snprintf(value, sizeof value, "%s%s%s", plan_value_text(p, f, scratch), unit[0] ? " " : "",
             unit);
    buf_printf(out, "  %-15s = %-20s # %s\n", fields[f].name, value, p->why[f]);
  }
  for (size_t i = 0; i < p->rejected_count; ++i)
    buf_printf(out, "  rejected: %s\n", p->rejected[i]);
}

void plan_json(const kernel_plan *p, buf *out) {
  buf_puts(out, "{\"name\": ");
  buf_json_string(out, p->name);
  buf_puts(out, ", \"fields\": {");
  const char *comma = "";
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i) {
    plan_field f = (plan_field)i;
    if (p->why[f] == NULL) continue;
    char scratch[32];
    buf_printf(out, "%s\"%s\": ", comma, fields[f].name);
    if (is_name(fields[f].unit) && strcmp(fields[f].unit, "bool") != 0)
      buf_json_string(out, plan_value_text(p, f, scratch));
    else
      buf_printf(out, "%d", plan_value(p, f));
    comma = ", ";
  }
  buf_puts(out, "}, \"reasons\": {");
  comma = "";
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i) {
    if (p->why[i] == NULL) continue;
    buf_printf(out, "%s\"%s\": ", comma, fields[i].name);
    buf_json_string(out, p->why[i]);
    comma = ", ";
  }
  buf_puts(out, "}, \"rejected\": [");
  for (size_t i = 0; i < p->rejected_count; ++i) {
    if (i > 0) buf_puts(out, ", ");
    buf_json_string(out, p->rejected[i]);
  }
  buf_puts(out, "]}");
}

bool plan_is_outside(plan_field f) {
  return f == PLAN_further || f == PLAN_alone || f == PLAN_repack || f == PLAN_split ||
         f == PLAN_sm_gflops || f == PLAN_copy_gbs || f == PLAN_overhead_ns ||
         f == PLAN_partial_percent;
}

void plan_hash(const kernel_plan *p, char out[65]) {
  char scratch[32];
  buf text = {0};
  spec_print(p->spec, &text);
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i)
    if (p->why[i] != NULL && !plan_is_outside((plan_field)i))
      buf_printf(&text, "%s = %s\n", fields[i].name, plan_value_text(p, (plan_field)i, scratch));
  sha256_hex(text.data ? text.data : "", text.size, out);
  buf_free(&text);
}
