/* html.c - the page around the figures: style, contents, tables, listing.
 *
 * Invariant: nothing in the page is fetched: no script, no font, no image, no link out of it.
 * Colours come from custom properties, so that dark mode and print are a change of those alone; no
 * figure says anything by colour only.
 */
#include "html.h"

#include "emit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{--bg:#fff;--fg:#1a1a1a;--dim:#5a5a5a;--line:#c8c8c8;--soft:#f1f3f5;--a:#1f6fb2;"
    "--b:#b45309;--c:#2f7d32;--d:#7b3fa0;--e:#a61b1b;--f:#00697a;--on:#fff}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--bg:#16181b;--fg:#e8e8e8;--dim:#a8adb3;--line:#474c52;"
    "--soft:#22262b;--a:#6cb2f0;--b:#f0a35c;--c:#7ccf80;--d:#c79be8;--e:#ff8d85;--f:#5fd0e0;"
    "--on:#111}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}\n"
    "header,main,nav,footer{max-width:72rem;margin:0 auto;padding:0.5rem 1rem}\n"
    "h1,h2,h3{line-height:1.2;overflow-wrap:anywhere}\n"
    "a{color:var(--a)}\n"
    "a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--b);"
    "outline-offset:2px}\n"
    ".skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:0.5rem;background:var(--bg);"
    "padding:0.5rem;z-index:1}\n"
    "nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:0.25rem 1.25rem}\n"
    "nav a{font-family:ui-monospace,monospace;font-size:0.875rem;overflow-wrap:anywhere}\n"
    "article{border-top:3px solid var(--line);margin-top:2rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));"
    "gap:1rem}\n"
    "figure{margin:0;padding:0.5rem;border:1px solid var(--line);border-radius:6px;min-width:0}\n"
    "figcaption{font-weight:600;margin-bottom:0.25rem}\n"
    "figure p{margin:0.25rem 0 0;font-size:0.875rem;color:var(--dim)}\n"
    "svg{display:block;width:100%;min-width:30rem;height:auto}\n"
    "svg text{fill:var(--fg);font:11px system-ui,sans-serif}svg .dim{fill:var(--dim)}\n"
    "svg .mid{text-anchor:middle}svg .end{text-anchor:end}svg .on{fill:var(--on)}\n"
    ".axis{stroke:var(--dim);fill:none}.grid{stroke:var(--line);fill:none}\n"
    ".roof{stroke:var(--fg);stroke-width:2.5;fill:none}.other{stroke:var(--dim);stroke-dasharray:5 "
    "4;"
    "fill:none}\n"
    ".fa{fill:var(--a)}.fb{fill:var(--b)}.fc{fill:var(--c)}.fd{fill:var(--d)}.fe{fill:var(--e)}"
    ".ff{fill:var(--f)}.fs{fill:var(--soft)}\n"
    ".sa{stroke:var(--a)}.sb{stroke:var(--b)}.sc{stroke:var(--c)}.sd{stroke:var(--d)}"
    ".se{stroke:var(--e)}\n"
    ".edge{stroke:var(--bg);stroke-width:1}.box{stroke:var(--dim);stroke-width:1}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:0.875rem;margin:0.5rem 0}\n"
    "th,td{text-align:left;vertical-align:top;padding:0.2rem 0.6rem;border-bottom:1px solid "
    "var(--line)}\n"
    "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "pre{background:var(--soft);padding:0.75rem;border-radius:6px;overflow-x:auto;font:13px/1.45 "
    "ui-monospace,monospace;white-space:pre}\n"
    "pre.sums{white-space:pre-wrap}\n"
    "summary{cursor:pointer;font-weight:600;padding:0.25rem 0}\n"
    "pre a{color:inherit;text-decoration:none}pre :target{background:var(--b);color:var(--on)}\n"
    "@media "
    "print{svg{min-width:0}:root{--bg:#fff;--fg:#000;--dim:#333;--line:#999;--soft:#fff;--a:#"
    "1f6fb2;"
    "--b:#b45309;--c:#2f7d32;--d:#7b3fa0;--e:#a61b1b;--f:#00697a;--on:#fff}"
    ".skip,nav{display:none}figure,table{break-inside:avoid}pre{white-space:pre-wrap;font-size:9px}"
    "article+article{break-before:page}h2,h3{break-after:avoid}body{font-size:11pt}}\n";

void html_text(buf *out, const char *text) {
  for (const char *p = text; *p; ++p) {
    switch (*p) {
    case '<':
      buf_puts(out, "&lt;");
      break;
    case '>':
      buf_puts(out, "&gt;");
      break;
    case '&':
      buf_puts(out, "&amp;");
      break;
    case '"':
      buf_puts(out, "&quot;");
      break;
    default:
      buf_add(out, p, 1);
    }
  }
}

void html_figure(buf *out, const char *id, const char *title, const char *description, int w,
                 int h) {
  buf_printf(out, "<figure id=\"%s\">\n<figcaption>", id);
  html_text(out, title);
  buf_printf(
      out,
      "</figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"%s-t\">"
      "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">",
      id, w, h, id, id, id);
  html_text(out, title);
  buf_printf(out, "</title><desc id=\"%s-d\">", id);
  html_text(out, description);
  buf_puts(out, "</desc>\n");
}

void html_figure_end(buf *out, const char *listing) {
  buf_puts(out, "</svg></div>\n");
  if (listing) buf_printf(out, "<p><a href=\"#%s\">In the kernel's listing</a></p>\n", listing);
  buf_puts(out, "</figure>\n");
}

/* -- Tables
 * ---------------------------------------------------------------------------------------- */

static void plan_table(const kernel_plan *p, buf *out) {
  buf_puts(out,
           "<details><summary>Every number of the plan, with its reason</summary>\n"
           "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">number</th>"
           "<th scope=\"col\">value</th><th scope=\"col\">unit</th><th scope=\"col\">reason</th>"
           "</tr></thead><tbody>\n");
  for (int f = 0; f < PLAN_FIELD_COUNT; ++f) {
    if (!p->why[f]) continue;
    char scratch[32];
    buf_printf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">",
               plan_field_name((plan_field)f));
    html_text(out, plan_value_text(p, (plan_field)f, scratch));
    buf_printf(out, "</td><td>%s</td><td>", plan_field_unit((plan_field)f));
    html_text(out, p->why[f]);
    buf_puts(out, "</td></tr>\n");
  }
  buf_puts(out, "</tbody></table></div></details>\n");
}

static void bounds_table(const sheet_fit *f, buf *out) {
  const model_prediction *r = &f->prediction;
  char text[32];
  buf_puts(out,
           "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">limit</th>"
           "<th scope=\"col\">alone</th><th scope=\"col\">of the prediction</th><th scope=\"col\">"
           "</th></tr></thead><tbody>\n");
  for (int b = 0; b < BOUND_COUNT; ++b)
    buf_printf(out,
               "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td><td class=\"n\">%.0f "
               "%%</td><td>%s</td>"
               "</tr>\n",
               model_bound_name((model_bound)b), sheet_seconds(r->alone[b], text),
               100 * r->alone[b] / r->seconds,
               b == (int)r->binding     ? "binds"
               : b == (int)r->runner_up ? "next"
                                        : "");
  buf_printf(
      out,
      "<tr><th scope=\"row\">together, with the launch</th><td class=\"n\">%s</td><td class=\"n\">"
      "100 %%</td><td>%.2f TFLOP/s, %.1f %% of the peak</td></tr>\n</tbody></table></div>\n",
      sheet_seconds(r->seconds, text), r->tflops, 100 * r->peak_share);
}

static void sums(const explain_job *j, const sheet *s, const sheet_fit *f, buf *out) {
  buf text = {0};
  sheet_print(s, &text);
  if (f) {
    sheet_print_fit(s, f, &text);
    sheet_print_choices(s, f, &text);
    if (j->o->expect > 0) sheet_print_expect(s, f, j->o->expect, &text);
  }
  buf_puts(
      out,
      "<details open=\"open\"><summary>The sums</summary>\n<pre class=\"sums\" tabindex=\"0\">");
  if (text.data) html_text(out, text.data);
  buf_puts(out, "</pre></details>\n");
  buf_free(&text);
}

/* -- The listing
 * --------------------------------------------------------------------------------------- */

/* Each line has an anchor "KERNEL-L12", each banner's section "KERNEL-S3". */
static void put_listing(const char *name, const char *text, buf *out) {
  int line = 1, section = 0;
  while (*text) {
    size_t size = strcspn(text, "\n");
    char row[512];
    snprintf(row, sizeof row, "%.*s", (int)(size < sizeof row ? size : sizeof row - 1), text);
    int number;
    if (sscanf(row, "// ---- %d", &number) == 1 && number == section + 1) {
      section = number;
      buf_printf(out, "<span id=\"%s-S%d\"></span>", name, section);
    }
    /* Each line can be linked to; by keyboard the listing is one stop. */
    buf_printf(out, "<a id=\"%s-L%d\" href=\"#%s-L%d\" tabindex=\"-1\">%5d</a>  ", name, line, name,
               line, line);
    html_text(out, row);
    buf_puts(out, "\n");
    ++line;
    text += size + (text[size] == '\n');
  }
  /* Figures link to sections: all five exist. */
  for (int missing = section + 1; missing <= 5; ++missing)
    buf_printf(out, "<span id=\"%s-S%d\"></span>", name, missing);
}

static void listing(explain_job *j, emitter *e, const kernel *k, buf *out) {
  buf text = {0};
  bool emitted = e && emit_kernel(e, &k->plan, "gemmgen SPEC -o DIR", base_name(k->plan.spec->file),
                                  "", &text, j->d);
  buf_printf(
      out, "<details id=\"%s-listing\"><summary>The emitted kernel</summary>\n<pre tabindex=\"0\">",
      k->plan.name);
  put_listing(k->plan.name, emitted && text.data ? text.data : "", out);
  buf_puts(out, "</pre></details>\n");
  buf_free(&text);
}

/* -- A kernel
 * ------------------------------------------------------------------------------------------- */

static const char *figure_id(char id[192], const char *name, const char *what, size_t problem) {
  snprintf(id, 192, "%s-%s%zu", name, what, problem);
  return id;
}

static void put_problem(explain_job *j, const sheet *s, const char *problem, size_t number,
                        buf *out) {
  char id[192];
  const char *name = s->plan->name;
  sheet_fit f = sheet_fit_of(s, problem);
  buf_puts(out, "<h3>Problem ");
  html_text(out, problem);
  buf_puts(out, "</h3>\n");
  if (f.lacks)
    buf_printf(out, "<p>The kernel does not take it: %s.</p>\n", f.lacks);
  else
    bounds_table(&f, out);
  buf_puts(out, "<div class=\"figures\">\n");
  html_roofline(s, &f, figure_id(id, name, "roofline", number), out);
  html_waves(s, &f, figure_id(id, name, "waves", number), out);
  buf_puts(out, "</div>\n");
  sums(j, s, &f, out);
}

/* A pass over operands multiplies nothing: all it takes is bytes. */
static void put_pass(const kernel_plan *p, buf *out) {
  buf_printf(out, ":%d.</p>\n<p>%.1f us + (bytes read + bytes written) / %d GB/s</p>\n",
             p->spec->line, p->overhead_ns / 1e3, p->copy_gbs);
}

/* What a product's kernel does, for one problem after the other. */
static void put_product(explain_job *j, const kernel_plan *p, buf *out) {
  static const char usual[] = "4096x4096x4096";
  char id[192];
  sheet s = sheet_of(p);
  buf_printf(out, ":%d.</p>\n<div class=\"figures\">\n", p->spec->line);
  html_shared(&s, figure_id(id, p->name, "shared", 0), out);
  html_ring(&s, figure_id(id, p->name, "ring", 0), out);
  buf_puts(out, "</div>\n");
  size_t count = j->o->problem_count ? j->o->problem_count : 1;
  for (size_t i = 0; i < count; ++i)
    put_problem(j, &s, j->o->problem_count ? j->o->problems[i] : usual, i, out);
}

static void put_kernel(explain_job *j, emitter *e, const kernel *k, buf *out) {
  const kernel_plan *p = &k->plan;
  buf_printf(out, "<article id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n",
             p->name, p->name, p->name, p->name);
  buf_printf(
      out,
      "<p>%s, tile %d x %d x %d, %d threads, %d stage%s, %d B of shared memory; planned for %s; "
      "asked by ",
      spec_family_name(p->family), p->tile_m, p->tile_n, p->tile_k, p->threads, p->stages,
      p->stages == 1 ? "" : "s", p->shared_bytes, p->spec->gpu.name);
  html_text(out, base_name(p->spec->file));
  if (plan_is_pass(p))
    put_pass(p, out);
  else
    put_product(j, p, out);
  plan_table(p, out);
  listing(j, e, k, out);
  buf_puts(out, "</article>\n");
}

void html_begin(buf *out, const char *title, const char *subtitle) {
  buf_puts(out,
           "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
           "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
           "initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n"
           "<title>gemmgen explain</title>\n<style>\n");
  buf_puts(out, style);
  buf_puts(out, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the "
                "contents</a>\n<header><h1>");
  html_text(out, title);
  buf_puts(out, "</h1>\n<p>");
  html_text(out, subtitle);
  buf_puts(out, "</p></header>\n");
}

void html_end(buf *out) {
  buf_puts(
      out,
      "<footer><p>Made by gemmgen; the page needs no network.</p></footer>\n</body>\n</html>\n");
}

void html_page(explain_job *j, buf *out) {
  emitter *e = emitter_new(NULL, j->d);
  html_begin(
      out, "Why these kernels are as they are",
      "D[m,n] = alpha * A[m,k] * B[k,n] + beta * C[m,n]. Sums and predictions of gemmgen explain; "
      "constants fitted on an H200.");
  buf_puts(out, "<nav aria-label=\"Kernels\"><ul>\n");
  for (size_t i = 0; i < j->set.count; ++i)
    if (explain_wanted(j, &j->set.kernels[i]))
      buf_printf(out, "<li><a href=\"#%s\">%s</a></li>\n", j->set.kernels[i].plan.name,
                 j->set.kernels[i].plan.name);
  buf_puts(out, "</ul></nav>\n<main id=\"main\">\n");
  for (size_t i = 0; i < j->set.count; ++i)
    if (explain_wanted(j, &j->set.kernels[i])) put_kernel(j, e, &j->set.kernels[i], out);
  buf_puts(out, "</main>\n");
  html_end(out);
  emitter_free(e);
}

bool html_write(const char *path, const buf *text) {
  size_t size = strlen(path) + 8;
  char *temporary = malloc(size);
  if (!temporary) return false;
  snprintf(temporary, size, "%s.new", path);
  FILE *file = fopen(temporary, "wb");
  bool good = file && fwrite(text->data, 1, text->size, file) == text->size;
  if (file && fclose(file) != 0) good = false;
  good = good && rename(temporary, path) == 0;
  int error = errno;
  if (!good && file) remove(temporary);
  free(temporary);
  errno = error;
  return good;
}
