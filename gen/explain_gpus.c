/* explain_gpus.c - the command gpus: every fact of every card with its unit and source, the peaks
 * that follow from them, and what was measured.
 */
#include "explain_parts.h"
#include "gpu_fields.h"
#include <string.h>

/* -- Sources, numbered in the order in which a card's facts name them ------------------------- */

enum { MOST_SOURCES = 16 };

typedef struct sources {
  const char *name[MOST_SOURCES];
  int count;
} sources;

static int source_number(sources *s, const char *name) {
  for (int i = 0; i < s->count; ++i)
    if (strcmp(s->name[i], name) == 0) return i + 1;
  if (s->count < MOST_SOURCES) s->name[s->count++] = name;
  return s->count;
}

/* -- Features: what an architecture can do ------------------------------------------------------
 */

/* From the PTX ISA's "Target ISA Notes". */
static const struct {
  const char *name;
  int first, last; /* compute capability x 10 */
} features[] = {
    {"wmma", 70, 999},       {"ldmatrix", 75, 999},     {"mma.sync", 70, 999},
    {"bf16", 80, 999},       {"tf32", 80, 999},         {"f64 mma", 80, 999},
    {"cp.async", 80, 999},   {"fp8 mma.sync", 89, 999}, {"TMA", 90, 999},
    {"mbarrier", 80, 999},   {"clusters", 90, 999},     {"stmatrix", 90, 999},
    {"setmaxnreg", 90, 999}, {"wgmma", 90, 90},
};

static void put_features(const gpu_facts *g, const char *open, const char *between, buf *out) {
  bool first = true;
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i) {
    if (g->arch < features[i].first || g->arch > features[i].last) continue;
    buf_printf(out, "%s%s%s%s", first ? "" : between, open, features[i].name, open);
    first = false;
  }
}

/* -- Text ----------------------------------------------------------------------------------- */

static void put_peaks(const gpu_facts *g, buf *out) {
  buf_puts(out, "  dense peaks, 2 x FMA/SM/cycle x SMs x clock, and the ridge: peak / bandwidth\n");
  for (int u = 0; u < GPU_UNIT_COUNT; ++u) {
    int rate = gpu_rate(g, (gpu_unit)u);
    if (!rate) continue;
    double peak = gpu_peak(g, (gpu_unit)u);
    buf_printf(out, "    %-18s %8.1f TFLOP/s = 2 x %d x %d x %d MHz; ridge %.1f FLOP/B\n",
               gpu_unit_name((gpu_unit)u), peak, rate, g->sms, gpu_clock(g, (gpu_unit)u),
               1e3 * peak / g->hbm_gbs);
  }
}

static void gpu_text(const gpu_facts *g, buf *out) {
  char scratch[16];
  sources s = {.count = 0};
  buf_printf(out, "%s\n", g->name);
  for (size_t i = 0; i < gpu_field_count; ++i) {
    const gpu_field *f = &gpu_fields[i];
    const char *text = gpu_field_value_text(g, f, scratch), *source = gpu_field_source(g, f);
    char number[16] = "   ";
    if (source) snprintf(number, sizeof number, "[%d]", source_number(&s, source));
    buf_printf(out, "  %-18s %10s %-13s %s %s\n", f->name, text, f->unit, number, f->text);
  }
  put_peaks(g, out);
  buf_puts(out, "  features: ");
  put_features(g, "", ", ", out);
  buf_puts(out, "\n");
  for (const gpu_measure *m = g->measured; m && m->name; ++m)
    buf_printf(out, "  measured %-18s %7g %-8s %s\n", m->name, m->value, m->unit, m->text);
  for (int i = 0; i < s.count; ++i)
    buf_printf(out, "  [%d] %s\n", i + 1, s.name[i]);
}

static void put_overview(buf *out) {
  buf_printf(out, "\n%-12s %5s %4s %5s %8s %8s %8s %8s %8s %6s %6s %5s\n", "all", "arch", "SMs",
             "MHz", "f32", "f64", "f16", "tf32", "f8", "GB/s", "L2 MB", "GB");
  for (size_t i = 0; i < gpu_count(); ++i) {
    const gpu_facts *g = gpu_at(i);
    static const gpu_unit shown[] = {GPU_CORE_F32, GPU_CORE_F64, GPU_TENSOR_F16, GPU_TENSOR_TF32,
                                     GPU_TENSOR_F8};
    buf_printf(out, "%-12s %5d %4d %5d", g->name, g->arch, g->sms, g->boost_mhz);
    for (size_t u = 0; u < sizeof shown / sizeof *shown; ++u)
      if (gpu_rate(g, shown[u]))
        buf_printf(out, " %8.1f", gpu_peak(g, shown[u]));
      else
        buf_printf(out, " %8s", "-");
    buf_printf(out, " %6d ", g->hbm_gbs);
    if (g->l2_bytes)
      buf_printf(out, "%6d", g->l2_bytes >> 20);
    else
      buf_printf(out, "%6s", "-");
    buf_printf(out, " %5d\n", g->memory_gb);
  }
  buf_puts(out, "f32 to f8: dense TFLOP/s; f16, tf32 and f8 on tensor cores, f32 accumulators\n");
}

/* -- JSON ----------------------------------------------------------------------------------- */

static void gpu_json(const gpu_facts *g, buf *out) {
  char scratch[16];
  buf_printf(out, "  { \"name\": \"%s\"", g->name);
  for (size_t i = 0; i < gpu_field_count; ++i) {
    const gpu_field *f = &gpu_fields[i];
    const char *text = gpu_field_value_text(g, f, scratch);
    if (strcmp(text, "unknown") == 0) text = "null";
    buf_printf(out, f->kind == GPU_SUFFIX ? ", \"%s\": \"%s\"" : ", \"%s\": %s", f->name, text);
  }
  buf_puts(out, ",\n    \"peaks_tflops\": {");
  const char *comma = "";
  for (int u = 0; u < GPU_UNIT_COUNT; ++u) {
    if (!gpu_rate(g, (gpu_unit)u)) continue;
    buf_printf(out, "%s \"%s\": %.2f", comma, gpu_unit_name((gpu_unit)u), gpu_peak(g, (gpu_unit)u));
    comma = ",";
  }
  buf_puts(out, " },\n    \"features\": [");
  put_features(g, "\"", ", ", out);
  buf_puts(out, "],\n    \"measured\": [");
  for (const gpu_measure *m = g->measured; m && m->name; ++m) {
    buf_printf(out, "%s{ \"name\": \"%s\", \"value\": %g, \"unit\": \"%s\", \"text\": ",
               m == g->measured ? "" : ", ", m->name, m->value, m->unit);
    buf_json_string(out, m->text);
    buf_puts(out, " }");
  }
  buf_puts(out, "],\n    \"sources\": {");
  for (size_t i = 0; i < gpu_field_count; ++i) {
    buf_printf(out, "%s \"%s\": ", i ? "," : "", gpu_fields[i].name);
    const char *source = gpu_field_source(g, &gpu_fields[i]);
    if (source)
      buf_json_string(out, source);
    else
      buf_puts(out, "null");
  }
  buf_puts(out, " },\n    \"source\": ");
  buf_json_string(out, g->source ? g->source : "");
  buf_puts(out, " }");
}

exit_code list_gpus(const explain_options *o) {
  buf out = {0};
  if (o->json) buf_puts(&out, "[\n");
  bool first = true;
  for (size_t i = 0; i < gpu_count(); ++i) {
    const gpu_facts *g = gpu_at(i);
    if (o->gpu && strcmp(g->name, o->gpu) != 0) continue;
    if (!first) buf_puts(&out, o->json ? ",\n" : "\n");
    first = false;
    (o->json ? gpu_json : gpu_text)(g, &out);
  }
  if (o->json)
    buf_puts(&out, "\n]\n");
  else if (!o->gpu)
    put_overview(&out);
  return explain_print(&out);
}
