/* explain.c - what explain and list print; explain_gpus.c has gpus.
 *
 * Invariant: the text is made whole before any of it is printed, so an error prints nothing on
 * stdout, and --json always gives one valid value.
 */
#include "explain.h"
#include "cli.h"
#include "explain_parts.h"
#include <stdlib.h>
#include <string.h>

static bool wanted(const explain_job *j, const kernel *k) {
  return !j->o->kernel || strcmp(j->o->kernel, k->plan.name) == 0;
}

/* -- A problem on a plan -------------------------------------------------------------------- */

typedef struct fit {
  int64_t size[4];
  int64_t tiles;
  double waves;      /* of blocks over the whole GPU */
  double used;       /* share of the tiles' elements that are inside D */
  const char *lacks; /* why the kernel does not take the problem; NULL: it does, if aligned */
} fit;

static int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static fit fit_of(const kernel_plan *p, const char *problem) {
  fit f = {0};
  cli_problem(problem, f.size);
  int64_t across = ceil_div(f.size[0], p->tile_m) * ceil_div(f.size[1], p->tile_n);
  f.tiles = across * f.size[3];
  int64_t slots = (int64_t)p->spec->gpu.sms * (p->blocks_sm > 0 ? p->blocks_sm : 1);
  f.waves = (double)f.tiles / (double)slots;
  double computed = (double)across * p->tile_m * p->tile_n;
  f.used = computed > 0 ? (double)f.size[0] * (double)f.size[1] / computed : 0;
  const int multiples[] = {p->multiple_m, p->multiple_n, p->multiple_k};
  static const char *const names[] = {"m is not a multiple", "n is not a multiple",
                                      "k is not a multiple"};
  for (int i = 0; i < 3 && !f.lacks; ++i)
    if (multiples[i] > 1 && f.size[i] % multiples[i] != 0) f.lacks = names[i];
  if (!f.lacks && f.size[2] < p->min_k) f.lacks = "k is too small";
  return f;
}

static void print_fit(const kernel_plan *p, const char *problem, buf *out) {
  fit f = fit_of(p, problem);
  buf_printf(out, "problem %s: %lld tiles, %.2f waves of %d x %d blocks, %.1f %% of them inside D",
             problem, (long long)f.tiles, f.waves, p->spec->gpu.sms, p->blocks_sm, 100 * f.used);
  if (f.lacks)
    buf_printf(out, "; not taken: %s\n", f.lacks);
  else
    buf_puts(out, "; taken where aligned\n");
}

static void print_fit_json(const kernel_plan *p, const char *problem, buf *out) {
  fit f = fit_of(p, problem);
  buf_printf(out,
             "{ \"m\": %lld, \"n\": %lld, \"k\": %lld, \"batch\": %lld, \"tiles\": %lld, "
             "\"waves\": %.4f, \"used\": %.4f, \"taken\": %s }",
             (long long)f.size[0], (long long)f.size[1], (long long)f.size[2], (long long)f.size[3],
             (long long)f.tiles, f.waves, f.used, f.lacks ? "false" : "true");
}

/* -- explain -------------------------------------------------------------------------------- */

static void print_requests(const kernel *k, buf *out) {
  buf_puts(out, "asked by");
  for (size_t i = 0; i < k->spec_count; ++i)
    if (!i || k->specs[i]->file != k->specs[i - 1]->file ||
        k->specs[i]->line != k->specs[i - 1]->line)
      buf_printf(out, "%s %s:%d", i ? "," : "", k->specs[i]->file, k->specs[i]->line);
  buf_puts(out, "\n");
}

static void explain_kernel(const explain_job *j, const kernel *k, buf *out) {
  const kernel_plan *p = &k->plan;
  buf_printf(out, "== %s\n", p->name);
  print_requests(k, out);
  plan_print(p, out);
  buf_printf(
      out,
      "budget: shared %d of %d B a block; registers %d of %d a thread; %d blocks/SM; loop %d "
      "B, %d FMAs; kernel %d B; compile %d s\n",
      p->shared_bytes, p->spec->gpu.shared_block, p->registers, p->register_limit, p->blocks_sm,
      p->loop_bytes, p->loop_fmas, p->code_bytes, p->compile_seconds);
  for (size_t i = 0; i < j->o->problem_count; ++i)
    print_fit(p, j->o->problems[i], out);
  buf_puts(out, "\n");
}

/* The fields in which a sweep's point was set, "tile.m=64 stages=3". */
static void print_point(const kernel_spec *s, buf *out) {
  char scratch[32];
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    if (s->value[f] != SPEC_UNSET)
      buf_printf(out, " %s=%s", spec_field_name((spec_field)f),
                 spec_value_text((spec_field)f, s->value[f], scratch));
}

static void explain_text(explain_job *j) {
  for (size_t i = 0; i < j->set.count; ++i)
    if (wanted(j, &j->set.kernels[i])) explain_kernel(j, &j->set.kernels[i], &j->out);
  if (!j->set.rejected || j->o->kernel) return;
  buf_printf(&j->out, "== rejected: %zu of %zu combinations\n", j->set.rejected, j->set.swept);
  for (size_t i = 0; i < j->set.rejected; ++i) {
    const rejection *r = &j->set.rejections[i];
    buf_printf(&j->out, "%s:%d: %s: %s [%s]\n   ", r->spec->file,
               r->spec->source_line[r->fault.field], spec_field_name(r->fault.field), r->fault.text,
               r->fault.code);
    print_point(r->spec, &j->out);
    buf_puts(&j->out, "\n");
  }
}

static void rejection_json(const rejection *r, bool last, buf *out) {
  char scratch[32];
  buf_puts(out, "    { \"file\": ");
  buf_json_string(out, r->spec->file);
  buf_printf(out, ", \"line\": %d, \"field\": \"%s\", \"code\": \"%s\", \"text\": ",
             r->spec->source_line[r->fault.field], spec_field_name(r->fault.field), r->fault.code);
  buf_json_string(out, r->fault.text);
  buf_puts(out, ", \"point\": {");
  bool first = true;
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    if (r->spec->value[f] == SPEC_UNSET) continue;
    buf_printf(out, "%s \"%s\": ", first ? "" : ",", spec_field_name((spec_field)f));
    buf_json_string(out, spec_value_text((spec_field)f, r->spec->value[f], scratch));
    first = false;
  }
  buf_puts(out, last ? " } }\n" : " } },\n");
}

static void requests_json(const kernel *k, buf *out) {
  bool first = true;
  for (size_t i = 0; i < k->spec_count; ++i) {
    if (i && k->specs[i]->file == k->specs[i - 1]->file &&
        k->specs[i]->line == k->specs[i - 1]->line)
      continue;
    buf_puts(out, first ? "{ \"file\": " : ", { \"file\": ");
    buf_json_string(out, k->specs[i]->file);
    buf_printf(out, ", \"line\": %d }", k->specs[i]->line);
    first = false;
  }
}

static void explain_json(explain_job *j) {
  buf *out = &j->out;
  buf_puts(out, "{\n  \"kernels\": [\n");
  bool first = true;
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel *k = &j->set.kernels[i];
    if (!wanted(j, k)) continue;
    buf_puts(out, first ? "    { \"specs\": [" : ",\n    { \"specs\": [");
    first = false;
    requests_json(k, out);
    buf_puts(out, "], \"plan\": ");
    plan_json(&k->plan, out);
    buf_puts(out, ", \"problems\": [");
    for (size_t p = 0; p < j->o->problem_count; ++p) {
      if (p) buf_puts(out, ", ");
      print_fit_json(&k->plan, j->o->problems[p], out);
    }
    buf_puts(out, "] }");
  }
  buf_puts(out, "\n  ],\n  \"rejected\": [\n");
  for (size_t i = 0; i < j->set.rejected; ++i)
    rejection_json(&j->set.rejections[i], i + 1 == j->set.rejected, out);
  buf_puts(out, "  ]\n}\n");
}

/* -- list ----------------------------------------------------------------------------------- */

static void list_text(explain_job *j) {
  buf *out = &j->out;
  int width = 4;
  for (size_t i = 0; i < j->set.count; ++i) {
    int size = (int)strlen(j->set.kernels[i].plan.name);
    if (size > width) width = size;
  }
  buf_printf(out, "%-*s %-6s %-6s %-6s %-5s %-2s %-11s %-6s %-7s %-6s %-9s %s\n", width, "NAME",
             "ARCH", "FAMILY", "KIND", "TYPE", "AB", "TILE", "STAGES", "THREADS", "SLICES",
             "SHARED", "REGISTERS");
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel_plan *p = &j->set.kernels[i].plan;
    char arch[16], tile[40], variant[32];
    snprintf(arch, sizeof arch, "sm_%d%.1s", p->arch, (const char[]){(char)p->arch_suffix, 0});
    snprintf(tile, sizeof tile, "%dx%dx%d", p->tile_m, p->tile_n, p->tile_k);
    buf_printf(out, "%-*s %-6s %-6s %-6s %-5s %-2s %-11s %-6d %-7d %-6d %-9d %d\n", width, p->name,
               arch, spec_family_name(p->family), plan_value_text(p, PLAN_variant, variant),
               dtype_name(p->type_a), spec_layout_name(p->layout), tile, p->stages, p->threads,
               p->k_slices, p->shared_bytes, p->registers);
  }
  if (j->set.rejected)
    buf_printf(out, "%zu of %zu combinations rejected; `gemmgen explain` lists them\n",
               j->set.rejected, j->set.swept);
}

static void list_json(explain_job *j) {
  buf *out = &j->out;
  char scratch[32];
  buf_puts(out, "[\n");
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel *k = &j->set.kernels[i];
    buf_printf(out, "  { \"name\": \"%s\", \"gpu\": \"%s\", \"specs\": [", k->plan.name,
               k->plan.spec->gpu.name);
    requests_json(k, out);
    buf_puts(out, "]");
    for (int f = 0; f < PLAN_FIELD_COUNT; ++f) {
      if (!k->plan.why[f]) continue;
      const char *text = plan_value_text(&k->plan, (plan_field)f, scratch);
      bool number = strspn(text, "-0123456789") == strlen(text) && *text;
      buf_printf(out, ", \"%s\": ", plan_field_name((plan_field)f));
      if (number)
        buf_puts(out, text);
      else
        buf_json_string(out, text);
    }
    buf_puts(out, i + 1 == j->set.count ? " }\n" : " },\n");
  }
  buf_puts(out, "]\n");
}

/* -- The commands --------------------------------------------------------------------------- */

exit_code explain_print(buf *out) {
  bool failed = out->failed;
  if (!failed && out->size) fwrite(out->data, 1, out->size, stdout); /* main checks stdout */
  buf_free(out);
  if (failed) fputs("gemmgen: error: memory is short [out-of-memory]\n", stderr);
  return failed ? EXIT_INTERNAL : EXIT_DONE;
}

static exit_code run(const explain_options *o, void (*print)(explain_job *)) {
  explain_job j = {.o = o, .d = diag_new()};
  if (!j.d) return EXIT_INTERNAL;
  bool ok = kernel_set_load(&j.set, o->specs, o->spec_count, o->gpu, j.d);
  if (ok && o->kernel && kernel_set_find(&j.set, o->kernel) < 0) {
    diag_add(j.d, DIAG_ERROR, NULL, 0, "--kernel", "no-kernel",
             "no spec asks for '%.100s'; `gemmgen list` names them", o->kernel);
    ok = false;
  }
  if (ok) print(&j);
  fflush(stdout);
  diag_print(j.d, stderr);
  exit_code code = exit_code_of(j.d, false);
  if (ok) code = explain_print(&j.out);
  kernel_set_free(&j.set);
  diag_free(j.d);
  return code;
}

exit_code explain(const explain_options *o) {
  return run(o, o->json ? explain_json : explain_text);
}

exit_code list_kernels(const explain_options *o) {
  return run(o, o->json ? list_json : list_text);
}
