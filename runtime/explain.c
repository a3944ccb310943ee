/* explain.c - the choice of kernels as text.
 *
 * The same select.h functions that choose also explain, so the text cannot differ from what a plan
 * does.
 */
#include "context.h"
#include "detail.h"
#include "launch.h"

#include <stdarg.h>
#include <stdio.h>

/* Text that is cut where the caller's buffer ends but counted whole. */
typedef struct writer {
  char *text;
  size_t size, length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list list;
  va_start(list, format);
  size_t left = w->length < w->size ? w->size - w->length : 0;
  int n = vsnprintf(left ? w->text + w->length : NULL, left, format, list);
  va_end(list);
  if (n > 0) w->length += (size_t)n;
}

static void put_row(writer *w, const gg_problem *p, const ggi_way *way) {
  const gg_kernel *row = way->row;
  gg_i64 batch = ggi_way_batch(way, p->batch);
  ggi_grid grid;
  put(w, "          tile %d x %d x %d, %d threads, %d bytes of shared memory\n", row->tile_m,
      row->tile_n, row->tile_k, row->threads, row->shared_bytes);
  if (ggi_grid_plan(row, p->m, p->n, batch, p->device->info.blocks_launch, &grid) != GG_OK) {
    put(w, "          cannot be launched: %s\n", gg_error_detail());
    return;
  }
  double tiles = (double)grid.tiles * (double)batch;
  if (ggi_cluster_blocks(row) > 1)
    put(w, "          clusters of %d x %d x %d blocks\n", row->cluster_m, row->cluster_n,
        row->cluster_k);
  put(w, "          %.0f %s in %lld launch%s, %.2f a SM\n", tiles,
      row->persistent ? "tiles for blocks that stay" : "blocks", grid.launches,
      grid.launches == 1 ? "" : "es", tiles / p->device->info.sms);
  if (way->split.reduce ? way->split.early : way->early)
    put(w, "          launched while the kernel before ends\n");
}

/* "A", "B" or "A and B": what a way copies. */
static const char *copied(const ggi_way *way) {
  return !way->copy[1].pass ? "A" : !way->copy[0].pass ? "B" : "A and B";
}

static void put_copies(writer *w, const gg_device_info *device, const ggi_way *way) {
  for (int i = 0; i < 2; ++i) {
    const ggi_copy *c = &way->copy[i];
    if (!c->pass) continue;
    put(w, "          %c is copied first%s: %lld x %lld", "AB"[i],
        c -> pass -> order_a == GG_ORDER_T ? ", turned" : "", c->rows, c->columns);
    if (c->matrices != 1) put(w, " x %lld", c->matrices);
    put(w, ", rows of %lld, by %s in about %.1f us\n", c->ld, c->pass->name,
        ggi_copy_ns(c, device) / 1000);
  }
}

static void put_split(writer *w, const gg_problem *p, const ggi_way *way) {
  const ggi_split *s = &way->split;
  if (!s->reduce) return;
  ggi_call call;
  ggi_problem_call(p, true, &call);
  put(w, "          k is cut into %lld parts of %lld, added up by %s in about %.1f us\n", s->parts,
      s->k, s->reduce->name, ggi_split_ns(s, &call, &p->device->info) / 1000);
}

static void choose(gg_context *c, const gg_problem *p, bool promised, bool workspace,
                   ggi_choice *choice) {
  const ggi_rows rows = {c->tables, c->count, &p->device->info};
  ggi_call call;
  ggi_problem_call(p, promised, &call);
  ggi_select(&rows, &call, p->pin, workspace, choice);
}

/* A way with copies or parts: its workspace, and what is done without one. */
static void put_workspace(writer *w, gg_context *c, const gg_problem *p, bool promised,
                          const ggi_way *way) {
  if (ggi_way_workspace(way) == 0) return;
  ggi_choice without;
  choose(c, p, promised, false, &without);
  put_copies(w, &p->device->info, way);
  put_split(w, p, way);
  put(w, "          %lld bytes of workspace; without it: %s\n", ggi_way_workspace(way),
      without.way.row ? without.way.row->name : "no kernel");
}

static void put_choice(writer *w, gg_context *c, const gg_problem *p, bool promised,
                       ggi_choice *choice) {
  choose(c, p, promised, true, choice);
  put(w, promised ? "kernel    " : "unaligned ");
  if (!choice->way.row) {
    put(w, "none%s%s\n", choice->text[0] ? "; nearest is " : ": the tables hold no such kernel",
        choice->text);
    return;
  }
  put(w, "%s", choice->way.row->name);
  if (p->pin) put(w, " (pinned)");
  put(w, "\n");
  if (promised) put_row(w, p, &choice->way);
  put_workspace(w, c, p, promised, &choice->way);
}

/* Lists the other kernels: why they do not apply, or how much longer they are predicted to take. */
static void put_others(writer *w, gg_context *c, const gg_problem *p, const ggi_choice *chosen) {
  const ggi_rows rows = {c->tables, c->count, &p->device->info};
  ggi_call call;
  ggi_problem_call(p, true, &call);
  put(w, "not chosen\n");
  int listed = 0;
  for (size_t i = 0; i < c->count; ++i)
    for (int j = 0; j < c->tables[i]->count; ++j) {
      const gg_kernel *row = &c->tables[i]->kernels[j];
      if (row == chosen->way.row || row->kind != GG_KIND_GEMM) continue;
      char reason[200];
      ggi_way way;
      ggi_why why = ggi_way_of(&rows, row, c->tables[i]->emulated, &call, true, true, &way, reason,
                               sizeof reason);
      if (why == GGI_APPLIES && p->pin)
        snprintf(reason, sizeof reason, "applies, but another is pinned");
      else if (why == GGI_APPLIES)
        snprintf(reason, sizeof reason, "applies%s%s, predicted at %.2f of the chosen one's time",
                 ggi_way_copies(&way) ? " after copying "
                 : way.split.reduce   ? " to parts of k"
                                      : "",
                 ggi_way_copies(&way) ? copied(&way) : "", way.time / chosen->way.time);
      put(w, "  %s: %s\n", row->name, reason);
      ++listed;
    }
  if (listed == 0) put(w, "  (there is no other)\n");
}

gg_status gg_explain(gg_context *context, const gg_problem *problem, char *text, size_t size,
                     size_t *length) {
  if (!context || (size > 0 && !text))
    return ggi_fail(GG_ERR_ARGUMENT, "gg_explain: %s is NULL", context ? "text" : "context");
  gg_problem p;
  gg_status status = ggi_problem_check(problem, &p);
  if (status != GG_OK) return status;

  writer w = {text, size, 0};
  if (size > 0) text[0] = '\0';
  char what[GGI_PROBLEM_TEXT];
  ggi_problem_text(&p, what, sizeof what);
  const gg_device_info *d = &p.device->info;
  put(&w, "problem   %s\n", what);
  put(&w, "device    %s, sm_%d, %d SMs", d->name, d->arch, d->sms);
  if (d->memory_gbs > 0) put(&w, ", %d GB/s of device memory", d->memory_gbs);
  put(&w, "\n");
  if (ggi_problem_is_empty(&p)) {
    put(&w, "kernel    none: there is nothing to compute\n");
  } else {
    ggi_choice promised, elements;
    put_choice(&w, context, &p, true, &promised);
    put_choice(&w, context, &p, false, &elements);
    put_others(&w, context, &p, &promised);
  }
  if (length) *length = w.length;
  return GG_OK;
}
