/* explain.c - the commands explain and list. What a kernel's page says is in explain_sheet.c,
 * explain_fit.c and explain_expect.c, its JSON in explain_json.c, the command gpus in
 * explain_gpus.c.
 *
 * Invariant: the text is made whole before any of it is printed, so an error prints nothing on
 * stdout, and --json always gives one valid value.
 */
#include "explain.h"
#include "explain_ncu.h"
#include "explain_parts.h"
#include "explain_sheet.h"
#include "explain_sweep.h"
#include "html.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool explain_wanted(const explain_job *j, const kernel *k) {
  return !j->o->kernel || strcmp(j->o->kernel, k->plan.name) == 0;
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

/* What is predicted where no problem is given. */
static const char usual_problem[] = "4096x4096x4096";

/* The kernel of the same spec point and variant on the card that the spec names; NULL: none. */
static const kernel *of_base(const explain_job *j, const kernel *k) {
  if (k->plan.spec->chosen) return NULL; /* on each card the model chose anew */
  size_t point = (size_t)(k->plan.spec - j->set.specs.specs);
  for (size_t i = 0; i < j->base.count; ++i) {
    const kernel_plan *p = &j->base.kernels[i].plan;
    if ((size_t)(p->spec - j->base.specs.specs) == point && p->variant == k->plan.variant)
      return &j->base.kernels[i];
  }
  return NULL;
}

static void explain_problem(explain_job *j, const kernel *k, const sheet *s, const char *problem) {
  buf *out = &j->out;
  sheet_fit f = sheet_fit_of(s, problem);
  sheet_print_fit(s, &f, out);
  /* Each other choice is planned anew: only where someone asked after this problem. */
  if (problem != usual_problem || j->o->kernel) sheet_print_choices(s, &f, out);
  if (j->o->expect > 0) sheet_print_expect(s, &f, j->o->expect, out);
  const kernel *base = of_base(j, k);
  if (!base) return;
  sheet from = sheet_of(&base->plan);
  sheet_print_moves(&from, s, problem, out);
}

static void explain_kernel(explain_job *j, const kernel *k, buf *out) {
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
  if (plan_is_pass(p)) { /* it multiplies nothing: all it takes is bytes */
    buf_printf(out, "time: %.1f us + (bytes read + bytes written) / %d GB/s\n\n",
               p->overhead_ns / 1e3, p->copy_gbs);
    return;
  }
  sheet s = sheet_of(p);
  sheet_print(&s, out);
  bool given = j->o->problem_count > 0;
  for (size_t i = 0; i < (given ? j->o->problem_count : 1); ++i)
    explain_problem(j, k, &s, given ? j->o->problems[i] : usual_problem);
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

/* Profiled kernels of the specs alone, each with what the profile says. */
static void explain_profiles(explain_job *j) {
  size_t known = 0;
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel *k = &j->set.kernels[i];
    const ncu_kernel *measured = ncu_find(&j->profile, k->plan.name);
    if (!measured || !explain_wanted(j, k)) continue;
    ++known;
    buf_printf(&j->out, "== %s\n", k->plan.name);
    sheet s = sheet_of(&k->plan);
    sheet_fit f;
    if (j->o->problem_count) f = sheet_fit_of(&s, j->o->problems[0]);
    explain_profile(&s, j->o->problem_count ? &f : NULL, measured, &j->out);
    buf_puts(&j->out, "\n");
  }
  if (!known)
    diag_add(j->d, DIAG_ERROR, j->o->ncu, 0, "--ncu", "no-kernel",
             "of its %zu kernels (the first is %.80s) the specs ask for none", j->profile.count,
             j->profile.count ? j->profile.kernels[0].name : "-");
}

static void explain_text(explain_job *j) {
  for (size_t i = 0; i < j->set.specs.report_count && !j->o->kernel; ++i)
    buf_puts(&j->out, j->set.specs.reports[i]);
  for (size_t i = 0; i < j->set.count; ++i)
    if (explain_wanted(j, &j->set.kernels[i])) explain_kernel(j, &j->set.kernels[i], &j->out);
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
    explain_requests_json(k, out);
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

/* What the specs give on their own cards, to compare with; its warnings are not this command's. */
static void load_base(explain_job *j) {
  diag *quiet = diag_new();
  if (!quiet) return;
  if (!kernel_set_load(&j->base, j->o->specs, j->o->spec_count, NULL, quiet)) {
    kernel_set_free(&j->base);
    j->base = (kernel_set){0};
  }
  diag_free(quiet);
}

static exit_code write_page(explain_job *j) {
  bool good = !j->out.failed && html_write(j->o->html, &j->out);
  if (!good)
    fprintf(stderr,
            "gemmgen: error: --html: %s cannot be written: %s; give another file [output]\n",
            j->o->html, j->out.failed ? "memory is short" : strerror(errno));
  buf_free(&j->out);
  return good ? EXIT_DONE : EXIT_OUTPUT;
}

static exit_code run(const explain_options *o, void (*print)(explain_job *)) {
  explain_job j = {.o = o, .d = diag_new()};
  if (!j.d) return EXIT_INTERNAL;
  bool ok = kernel_set_load(&j.set, o->specs, o->spec_count, o->gpu, j.d);
  if (ok && o->gpu && print == explain_text) load_base(&j);
  if (ok && o->ncu) ok = ncu_load(&j.profile, o->ncu, j.d);
  if (ok && o->kernel && kernel_set_find(&j.set, o->kernel) < 0) {
    diag_add(j.d, DIAG_ERROR, NULL, 0, "--kernel", "no-kernel",
             "no spec asks for '%.100s'; `gemmgen list` names them", o->kernel);
    ok = false;
  }
  if (ok) print(&j);
  if (ok && print != list_text && print != list_json && !o->ncu) explain_warn(&j);
  ok = ok && diag_errors(j.d) == 0;
  fflush(stdout);
  diag_print(j.d, stderr);
  exit_code code = exit_code_of(j.d, false);
  if (ok && o->html && code == EXIT_DONE)
    code = write_page(&j);
  else if (ok)
    code = explain_print(&j.out);
  kernel_set_free(&j.set);
  kernel_set_free(&j.base);
  ncu_free(&j.profile);
  diag_free(j.d);
  return code;
}

static exit_code explain_sweep(const explain_options *o) {
  explain_job j = {.o = o, .d = diag_new()};
  if (!j.d) return EXIT_INTERNAL;
  sweep_table t;
  bool ok = sweep_load(&t, o->specs, o->spec_count, o->gpu,
                       o->problem_count ? o->problems[0] : usual_problem, o->measured, j.d);
  if (ok) (o->html ? sweep_html : o->json ? sweep_json : sweep_text)(&t, &j.out);
  fflush(stdout);
  diag_print(j.d, stderr);
  exit_code code = exit_code_of(j.d, false);
  if (ok) code = o->html ? write_page(&j) : explain_print(&j.out);
  sweep_free(&t);
  diag_free(j.d);
  return code;
}

static void explain_html(explain_job *j) {
  html_page(j, &j->out);
}

exit_code explain(const explain_options *o) {
  if (o->sweep) return explain_sweep(o);
  if (o->ncu) return run(o, explain_profiles);
  return run(o, o->html ? explain_html : o->json ? explain_json : explain_text);
}

exit_code list_kernels(const explain_options *o) {
  return run(o, o->json ? list_json : list_text);
}
