/* spec.c - the words of a spec: names of fields and values, canonical text, messages.
 *
 * Invariant: spec_print writes what a plan depends on and nothing else (no file, no line), so equal
 * text means equal plans.
 */
#include "spec.h"
#include "gpu_fields.h"
#include "plan_auto.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const spec_field_info fields[SPEC_FIELD_COUNT] = {
#define X(id, name, kind, low, high) {name, KIND_##kind, low, high},
    SPEC_FIELDS(X)
#undef X
};

/* ORDER FAMILY, DTYPE, LAYOUT, PATH, ORDER, ALONG, SCHEDULE, BIAS, ACTIVATION, SCALING: by value.
 */
static const char *const family_names[FAMILY_COUNT] = {"naive", "smem",  "simt",   "gemv",  "wmma",
                                                       "mma",   "wgmma", "repack", "reduce"};
static const char *const layout_names[] = {"nn", "nt", "tn", "tt"};
static const char *const path_names[] = {"async", "tma"};
static const char *const order_names[] = {"row", "column", "serpentine"};
static const char *const along_names[] = {"m", "n"};
static const char *const schedule_names[] = {"cooperative", "pingpong"};
static const char *const bias_names[] = {"none", "n", "m"};
static const char *const activation_names[] = {"none", "relu", "gelu", "silu", "gelu_tanh"};
static const char *const scaling_names[] = {"none", "tensor", "vector", "group", "block"};
static const char *const dtype_names[] = {"none", "f64",  "f32", "tf32", "f16", "bf16",
                                          "e4m3", "e5m2", "s8",  "u8",   "s32"};
static const int dtype_sizes[] = {0, 8, 4, 4, 2, 2, 1, 1, 1, 1, 4};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

const char *const spec_warning_codes[] = {"loop-code",     "block-fmas",
                                          "bank-conflict", "ring-synchronous",
                                          "ring-short",    "tile-k-large",
                                          "rolled-loop",   "no-tensor-cores",
                                          "unaligned",     "few-blocks",
                                          "tail-wave",     "l2-reuse",
                                          "f16-sums",      NULL};

const spec_field_info *spec_info(spec_field f) {
  return &fields[f];
}

const char *spec_field_name(spec_field f) {
  return fields[f].name;
}

const char *const *spec_kind_names(spec_kind kind, size_t *count) {
  static const struct {
    const char *const *names;
    size_t count;
  } table[] = {
      [KIND_FAMILY] = {family_names, FAMILY_REPACK},             /* passes come unasked, and last */
      [KIND_DTYPE] = {dtype_names + 1, LENGTH(dtype_names) - 1}, /* GG_NONE cannot be asked for */
      [KIND_LAYOUT] = {layout_names, LENGTH(layout_names)},
      [KIND_PATH] = {path_names, LENGTH(path_names)},
      [KIND_ORDER] = {order_names, LENGTH(order_names)},
      [KIND_ALONG] = {along_names, LENGTH(along_names)},
      [KIND_SCHEDULE] = {schedule_names, LENGTH(schedule_names)},
      [KIND_BIAS] = {bias_names, LENGTH(bias_names)},
      [KIND_ACTIVATION] = {activation_names, LENGTH(activation_names)},
      [KIND_SCALING] = {scaling_names, LENGTH(scaling_names)},
      [KIND_SCALAR] = {NULL, 0},
  };
  *count = table[kind].count;
  return table[kind].names;
}

static const char *pick(const char *const *names, size_t count, int value) {
  return value >= 0 && (size_t)value < count ? names[value] : "?";
}

const char *spec_family_name(int family) {
  return pick(family_names, LENGTH(family_names), family);
}

const char *spec_layout_name(int layout) {
  return pick(layout_names, LENGTH(layout_names), layout);
}

const char *dtype_name(int dtype) {
  return pick(dtype_names, LENGTH(dtype_names), dtype);
}

int dtype_from_name(const char *name) {
  for (size_t i = 1; i < LENGTH(dtype_names); ++i)
    if (strcmp(name, dtype_names[i]) == 0) return (int)i;
  return GG_NONE;
}

int dtype_bytes(int dtype) {
  return dtype >= 0 && (size_t)dtype < LENGTH(dtype_sizes) ? dtype_sizes[dtype] : 0;
}

const char *spec_value_text(spec_field f, int value, char scratch[32]) {
  static const char *const scalars[] = {"true", "0", "1"}; /* ORDER gg_scalar_class */
  if (value == SPEC_UNSET) return "unset";
  const char *const *names;
  size_t count;
  switch (fields[f].kind) {
  case KIND_BOOL:
    return value ? "true" : "false";
  case KIND_DTYPE:
    return dtype_name(value);
  case KIND_FAMILY:
  case KIND_LAYOUT:
  case KIND_PATH:
  case KIND_ORDER:
  case KIND_ALONG:
  case KIND_SCHEDULE:
  case KIND_BIAS:
  case KIND_ACTIVATION:
  case KIND_SCALING:
    names = spec_kind_names(fields[f].kind, &count);
    return pick(names, count, value);
  case KIND_SCALAR:
    return pick(scalars, LENGTH(scalars), value);
  case KIND_UNROLL:
    if (value == 0) return "full";
    break;
  case KIND_INT:
    break;
  }
  snprintf(scratch, 32, "%d", value);
  return scratch;
}

void spec_print(const kernel_spec *s, buf *out) {
  char scratch[32], fact[16];
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    if (s->value[f] == SPEC_UNSET) continue;
    buf_printf(out, "%s = %s\n", fields[f].name,
               spec_value_text((spec_field)f, s->value[f], scratch));
  }
  buf_printf(out, "gpu.name = %s\n", s->gpu.name);
  for (size_t i = 0; i < gpu_field_count; ++i)
    if (gpu_field_planned(&gpu_fields[i]))
      buf_printf(out, "gpu.%s = %s\n", gpu_fields[i].name,
                 gpu_field_value_text(&s->gpu, &gpu_fields[i], fact));
}

bool spec_allows(const kernel_spec *s, const char *code) {
  for (unsigned i = 0; spec_warning_codes[i]; ++i)
    if (strcmp(spec_warning_codes[i], code) == 0) return s->allow >> i & 1;
  return false;
}

const char *spec_call_note(const kernel_spec *s, char scratch[48]) {
  static const char *const ending[] = {"th", "st", "nd", "rd"};
  if (!s->in_loop) return "";
  int tens = s->call / 10 % 10, ones = s->call % 10;
  snprintf(scratch, 48, " (%d%s %s)", s->call, ending[tens != 1 && ones < 4 ? ones : 0],
           s->sweep ? "sweep" : "gemm");
  return scratch;
}

void spec_report(const kernel_spec *s, diag *d, diag_level level, spec_field f, const char *code,
                 const char *format, ...) {
  if (level == DIAG_WARNING && spec_allows(s, code)) return;
  if (level == DIAG_WARNING && s->chosen && plan_auto_fills(f)) return; /* nobody asked for it */
  char text[800], note[48];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_add(d, level, s->file, s->source_line[f], fields[f].name, code, "%s%s", text,
           spec_call_note(s, note));
}

void spec_set_free(spec_set *set) {
  for (size_t i = 0; i < set->file_count; ++i)
    free(set->files[i]);
  for (size_t i = 0; i < set->text_count; ++i)
    free(set->texts[i]);
  free(set->texts);
  free(set->reports);
  free(set->files);
  free(set->specs);
  *set = (spec_set){0};
}
