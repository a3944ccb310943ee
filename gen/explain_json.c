/* explain_json.c - what explain --json prints: plans, the model's figures, rejections. */
#include "explain_parts.h"
#include "explain_sheet.h"
#include <string.h>

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

void explain_requests_json(const kernel *k, buf *out) {
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

/* A kernel's figures that hold for every problem, by section of the text. */
static void figures_json(const sheet *s, buf *out) {
  const model_kernel *k = &s->model;
  model_shared m = model_shared_of(k, s->gpu);
  model_residency r = model_residency_of(k, s->gpu);
  model_capacity c = model_capacity_of(k, s->gpu);
  model_latency l = model_latency_of(k, s->gpu);
  model_issue i = model_issue_of(k, s->gpu);
  double tile = model_tile_intensity(k->tile_m, k->tile_n);
  buf_printf(out, "{ \"unit\": \"%s\", \"peak_tflops\": %.6g, \"ridge\": %.6g, ",
             gpu_unit_name(s->unit), gpu_peak(s->gpu, s->unit), model_ridge(s->gpu, s->unit));
  buf_printf(out, "\"tile_flop_element\": %.6g, \"tile_flop_byte\": %.6g, ", tile,
             tile / k->element);
  buf_printf(out,
             "\"shared\": { \"thread\": %.6g, \"warp\": %.6g, \"served\": %.6g, \"fill\": %.6g, "
             "\"available\": %.6g, \"share\": %.6g }, ",
             m.per_thread, m.per_warp, m.served, m.fill, m.available, m.share);
  buf_printf(
      out,
      "\"residency\": { \"accumulators\": %.6g, \"fragments\": %.6g, \"by_registers\": %d, "
      "\"by_shared\": %d, \"by_threads\": %d, \"by_blocks\": %d, \"blocks\": %d, \"warps\": %d, "
      "\"occupancy\": %.6g }, ",
      r.accumulators, r.fragments, r.by_registers, r.by_shared, r.by_threads, r.by_blocks, r.blocks,
      r.warps, r.occupancy);
  buf_printf(
      out,
      "\"capacity\": { \"stage\": %.6g, \"ring\": %.6g, \"total\": %.6g, \"stages_fit\": %d, "
      "\"share\": %.6g }, ",
      c.stage, c.ring, c.total, c.stages_fit, c.share);
  buf_printf(out,
             "\"latency\": { \"in_flight\": %.6g, \"needed\": %.6g, \"compute_cycles\": %.6g, "
             "\"fetch_cycles\": %.6g, \"stages_needed\": %.6g, \"ring_cycles\": %.6g }, ",
             l.in_flight, l.needed, l.compute, l.fetch, l.stages_needed, l.ring.period);
  buf_printf(out,
             "\"issue\": { \"math\": %.6g, \"loads\": %.6g, \"copies\": %.6g, \"stores\": %.6g, "
             "\"slots\": %.6g, \"bound\": %.6g }, ",
             i.math, i.loads, i.copies, i.stores, i.slots, i.bound);
  model_wavefronts w = model_wavefronts_of(k);
  buf_printf(out, "\"wavefronts\": { \"loads\": %.9g, \"fill\": %.9g } }", w.loads, w.fill);
}

static void fit_json(const sheet *s, const char *problem, buf *out) {
  sheet_fit f = sheet_fit_of(s, problem);
  const model_waves *w = &f.waves;
  const model_prediction *r = &f.prediction;
  buf_printf(out,
             "{ \"m\": %.0f, \"n\": %.0f, \"k\": %.0f, \"batch\": %.0f, \"tiles\": %.0f, "
             "\"waves\": %.4f, \"rounds\": %.0f, \"used\": %.4f, \"taken\": %s, ",
             f.size.m, f.size.n, f.size.k, f.size.batch, w->tiles, w->waves, w->rounds, w->inside,
             f.lacks ? "false" : "true");
  buf_printf(out, "\"l2_bytes\": %.0f, \"hbm_bytes\": %.0f, \"compulsory_bytes\": %.0f",
             w->l2_bytes, w->hbm_bytes, w->compulsory);
  if (!f.lacks) {
    buf_printf(out, ", \"seconds\": %.6g, \"tflops\": %.6g, \"peak_share\": %.6g, \"mhz\": %.0f, ",
               r->seconds, r->tflops, r->peak_share, r->mhz);
    buf_printf(out, "\"binding\": \"%s\", \"runner_up\": \"%s\", \"alone_seconds\": {",
               model_bound_name(r->binding), model_bound_name(r->runner_up));
    for (int b = 0; b < BOUND_COUNT; ++b)
      buf_printf(out, "%s \"%s\": %.6g", b ? "," : "", model_bound_name((model_bound)b),
                 r->alone[b]);
    buf_puts(out, " }");
  }
  buf_puts(out, " }");
}

void explain_json(explain_job *j) {
  buf *out = &j->out;
  buf_puts(out, "{\n  \"kernels\": [\n");
  bool first = true;
  for (size_t i = 0; i < j->set.count; ++i) {
    const kernel *k = &j->set.kernels[i];
    if (!explain_wanted(j, k)) continue;
    buf_puts(out, first ? "    { \"specs\": [" : ",\n    { \"specs\": [");
    first = false;
    explain_requests_json(k, out);
    buf_puts(out, "], \"plan\": ");
    plan_json(&k->plan, out);
    if (plan_is_pass(&k->plan)) { /* it multiplies nothing */
      buf_puts(out, " }");
      continue;
    }
    sheet s = sheet_of(&k->plan);
    buf_puts(out, ", \"model\": ");
    figures_json(&s, out);
    buf_puts(out, ", \"problems\": [");
    for (size_t p = 0; p < j->o->problem_count; ++p) {
      if (p) buf_puts(out, ", ");
      fit_json(&s, j->o->problems[p], out);
    }
    buf_puts(out, "] }");
  }
  buf_puts(out, "\n  ],\n  \"rejected\": [\n");
  for (size_t i = 0; i < j->set.rejected; ++i)
    rejection_json(&j->set.rejections[i], i + 1 == j->set.rejected, out);
  buf_puts(out, "  ]\n}\n");
}
