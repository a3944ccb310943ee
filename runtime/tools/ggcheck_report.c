/* ggcheck_report.c - findings of one kernel.
 *
 * Invariant: findings are kept in the order they were first seen, one per (kind, lines), so that a
 * report depends on the kernel and the seed alone.
 */
#include "ggcheck_report.h"

#include <stdlib.h>
#include <string.h>

static const double WORST_MAX = 1e9; /* JSON has no infinity */

void ggcheck_report_free(ggcheck_report *r) {
  free(r->accesses);
  r->accesses = NULL;
}

bool ggcheck_report_ok(const ggcheck_report *r) {
  return !r->finding_count && !r->memory;
}

void ggcheck_report_add(ggcheck_report *r, const char *kind, int line, int other_line,
                        uint64_t count, int problem, const char *problem_text, const char *text) {
  for (int i = 0; i < r->finding_count; i++) {
    ggcheck_finding *f = &r->findings[i];
    if (strcmp(f->kind, kind) != 0 || f->line != line || f->other_line != other_line) continue;
    f->count += count;
    f->problems += problem != f->last_problem;
    f->last_problem = problem;
    return;
  }
  if (r->finding_count == GGCHECK_FINDINGS_MAX) {
    r->more++;
    return;
  }
  ggcheck_finding *f = &r->findings[r->finding_count++];
  *f = (ggcheck_finding){kind, line, other_line, count, 1, problem, "", ""};
  snprintf(f->text, sizeof f->text, "%s", text);
  snprintf(f->problem, sizeof f->problem, "%s", problem_text);
}

int ggcheck_report_take(ggcheck_report *r, const gg_emu *emu, int problem,
                        const char *problem_text) {
  const gg_emu_finding *found;
  size_t count = gg_emu_findings(emu, &found);
  for (size_t i = 0; i < count; i++)
    ggcheck_report_add(r, gg_emu_kind_name(found[i].kind), found[i].line, found[i].other_line,
                       found[i].count, problem, problem_text, found[i].text);
  return (int)count;
}

bool ggcheck_report_measure(ggcheck_report *r, const gg_emu *emu) {
  const gg_emu_access *accesses;
  size_t count = gg_emu_accesses(emu, &accesses);
  gg_emu_access *copy = count ? malloc(count * sizeof *copy) : NULL;
  if (count && !copy) return false;
  if (count) memcpy(copy, accesses, count * sizeof *copy);
  free(r->accesses);
  r->accesses = copy;
  r->access_count = count;
  return true;
}

int ggcheck_report_store_line(const ggcheck_report *r) {
  for (size_t i = 0; i < r->access_count; i++)
    if (!r->accesses[i].shared && strncmp(r->accesses[i].op, "st_", 3) == 0)
      return r->accesses[i].line;
  return 0;
}

static void sum(const ggcheck_report *r, int shared, uint64_t *cost, uint64_t *ideal) {
  *cost = *ideal = 0;
  for (size_t i = 0; i < r->access_count; i++)
    if (r->accesses[i].shared == shared) {
      *cost += r->accesses[i].cost;
      *ideal += r->accesses[i].ideal;
    }
}

static void print_ratio(const ggcheck_report *r, const char *name, int shared, FILE *to) {
  uint64_t cost, ideal;
  sum(r, shared, &cost, &ideal);
  if (ideal)
    fprintf(to, "  %s %.2f", name, (double)cost / (double)ideal);
  else
    fprintf(to, "  %s    -", name);
}

void ggcheck_print_kernel(const ggcheck_report *r, int name_width, const char *tag, FILE *to) {
  fprintf(to, "%s%-*s  %3d problem%s", tag, name_width, r->row->name, r->problems,
          r->problems == 1 ? " " : "s");
  if (r->worst < 1000)
    fprintf(to, "  worst %6.2f", r->worst);
  else
    fputs("  worst  >1000", to);
  print_ratio(r, "shared", 1, to);
  print_ratio(r, "sectors", 0, to);
  fprintf(to, "  %s\n", !ggcheck_report_ok(r) ? "FAULT" : r->problems ? "ok" : "not run");
}

void ggcheck_print_findings(const ggcheck_report *r, const char *tag, FILE *to) {
  for (int i = 0; i < r->finding_count; i++) {
    const ggcheck_finding *f = &r->findings[i];
    fprintf(to, "%s%s:%d: error: %s", tag, r->row->file, f->line ? f->line : 1, f->text);
    if (f->other_line && f->other_line != f->line) fprintf(to, " (with line %d)", f->other_line);
    fprintf(to, "; %s", f->problem);
    if (f->problems > 1)
      fprintf(to, " and %d more problem%s", f->problems - 1, f->problems == 2 ? "" : "s");
    fprintf(to, " [%s]\n", f->kind);
  }
  if (r->more) fprintf(to, "%s%s:1: error: %d more findings\n", tag, r->row->file, r->more);
  if (r->memory)
    fprintf(to, "%s%s:1: error: the check ran out of memory [memory]\n", tag, r->row->file);
  if (r->stopped) fprintf(to, "%s%s:1: note: %s\n", tag, r->row->file, r->stopped);
}

void ggcheck_print_lines(const ggcheck_report *r, const char *tag, FILE *to) {
  for (size_t i = 0; i < r->access_count; i++) {
    const gg_emu_access *a = &r->accesses[i];
    fprintf(to, "%s%s:%d: %-20s %-7s %9llu requests  %9llu %s  %.2f of ideal\n", tag, r->row->file,
            a->line, a->op, a->shared ? "shared" : "global", (unsigned long long)a->requests,
            (unsigned long long)a->cost, a->shared ? "wavefronts" : "sectors",
            a->ideal ? (double)a->cost / (double)a->ideal : 1.0);
  }
}

static void json_string(const char *text, FILE *to) {
  fputc('"', to);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(to, "\\%c", c);
    else if (c < 0x20)
      fprintf(to, "\\u%04x", (unsigned)c);
    else
      fputc(c, to);
  }
  fputc('"', to);
}

static void json_cost(const ggcheck_report *r, const char *name, int shared, FILE *to) {
  uint64_t cost, ideal;
  sum(r, shared, &cost, &ideal);
  fprintf(to, ",\"%s\":{\"cost\":%llu,\"ideal\":%llu}", name, (unsigned long long)cost,
          (unsigned long long)ideal);
}

static void json_finding(const ggcheck_finding *f, FILE *to) {
  fprintf(to, "{\"kind\":\"%s\",\"line\":%d,\"other_line\":%d,\"count\":%llu,\"problems\":%d",
          f->kind, f->line, f->other_line, (unsigned long long)f->count, f->problems);
  fputs(",\"problem\":", to);
  json_string(f->problem, to);
  fputs(",\"text\":", to);
  json_string(f->text, to);
  fputc('}', to);
}

void ggcheck_print_json(const ggcheck_report *r, const char *tag, FILE *to) {
  fprintf(to, "%s{\"name\":", tag);
  json_string(r->row->name, to);
  fputs(",\"file\":", to);
  json_string(r->row->file, to);
  fputs(",\"family\":", to);
  json_string(r->row->family, to);
  fprintf(to, ",\"ok\":%s,\"problems\":%d,\"launches\":%d,\"worst\":%.6g",
          ggcheck_report_ok(r) ? "true" : "false", r->problems, r->launches,
          r->worst < WORST_MAX ? r->worst : WORST_MAX);
  json_cost(r, "shared", 1, to);
  json_cost(r, "sectors", 0, to);
  fputs(",\"findings\":[", to);
  for (int i = 0; i < r->finding_count; i++) {
    if (i) fputc(',', to);
    json_finding(&r->findings[i], to);
  }
  if (r->memory) {
    static const ggcheck_finding memory = {"memory", 0, 0, 1, 0, 0, "the check ran out of memory",
                                           ""};
    if (r->finding_count) fputc(',', to);
    json_finding(&memory, to);
  }
  fprintf(to, "],\"more_findings\":%d,\"lines\":[", r->more);
  for (size_t i = 0; i < r->access_count; i++) {
    const gg_emu_access *a = &r->accesses[i];
    fprintf(to,
            "%s{\"line\":%d,\"op\":\"%s\",\"space\":\"%s\",\"requests\":%llu,\"cost\":%llu,"
            "\"ideal\":%llu}",
            i ? "," : "", a->line, a->op, a->shared ? "shared" : "global",
            (unsigned long long)a->requests, (unsigned long long)a->cost,
            (unsigned long long)a->ideal);
  }
  fputs("]}\n", to);
}
