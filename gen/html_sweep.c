/* html_sweep.c - the page of explain --sweep: heat maps over pairs of fields, and the table.
 *
 * A cell is the best point with its two values, whatever the others are; its number is in the cell,
 * the shade repeats it.
 */
#include "explain_sweep.h"
#include "html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 24, MOST_MAPS = 10, CELL_W = 74, CELL_H = 30, LEFT = 120, TOP = 44 };

typedef struct axis {
  spec_field field;
  int values[MOST_VALUES], count;
} axis;

static int by_int(const void *x, const void *y) {
  int a = *(const int *)x, b = *(const int *)y;
  return (a > b) - (a < b);
}

/* false: too many values for a map. */
static bool make_axis(const sweep_table *t, spec_field f, axis *a) {
  *a = (axis){.field = f};
  for (size_t i = 0; i < t->count; ++i) {
    int value = t->rows[i].spec->value[f], known = 0;
    while (known < a->count && a->values[known] != value)
      ++known;
    if (known < a->count) continue;
    if (a->count == MOST_VALUES) return false;
    a->values[a->count++] = value;
  }
  qsort(a->values, (size_t)a->count, sizeof *a->values, by_int);
  return true;
}

static const char *axis_text(const axis *a, int i, char scratch[32]) {
  return a->values[i] == SPEC_UNSET ? "planned" : spec_value_text(a->field, a->values[i], scratch);
}

/* TFLOP/s of the best point with these two values; 0: none. */
static double best_of(const sweep_table *t, const axis *x, int i, const axis *y, int j,
                      bool measured) {
  double best = 0, flop = 1e-12 * model_flop(&t->size);
  for (size_t r = 0; r < t->count; ++r) {
    const sweep_row *row = &t->rows[r];
    if (row->spec->value[x->field] != x->values[i] || row->spec->value[y->field] != y->values[j])
      continue;
    double seconds = measured ? row->measured : isinf(row->seconds) ? 0 : row->seconds;
    if (seconds > 0 && flop / seconds > best) best = flop / seconds;
  }
  return best;
}

static void put_map(const sweep_table *t, const axis *x, const axis *y, bool measured, buf *out) {
  double top = 0, low = INFINITY;
  for (int i = 0; i < x->count; ++i)
    for (int j = 0; j < y->count; ++j) {
      double v = best_of(t, x, i, y, j, measured);
      if (v > top) top = v;
      if (v > 0 && v < low) low = v;
    }
  if (top <= 0) return;
  char id[160], title[160], text[200], scratch[32];
  snprintf(id, sizeof id, "map-%s-%s-%s", spec_field_name(x->field), spec_field_name(y->field),
           measured ? "measured" : "predicted");
  snprintf(title, sizeof title, "%s over %s and %s, TFLOP/s", measured ? "Measured" : "Predicted",
           spec_field_name(x->field), spec_field_name(y->field));
  snprintf(text, sizeof text, "The best point for each pair of values; from %.1f to %.1f TFLOP/s.",
           low, top);
  html_figure(out, id, title, text, LEFT + x->count * CELL_W + 8, TOP + y->count * CELL_H + 12);
  buf_printf(
      out, "<text class=\"mid\" x=\"%d\" y=\"14\">%s</text><text x=\"4\" y=\"%d\">%s</text>\n",
      LEFT + x->count * CELL_W / 2, spec_field_name(x->field), TOP - 8, spec_field_name(y->field));
  for (int i = 0; i < x->count; ++i)
    buf_printf(out, "<text class=\"mid\" x=\"%d\" y=\"%d\">%s</text>",
               LEFT + i * CELL_W + CELL_W / 2, TOP - 8, axis_text(x, i, scratch));
  for (int j = 0; j < y->count; ++j) {
    int cy = TOP + j * CELL_H;
    buf_printf(out, "\n<text class=\"end\" x=\"%d\" y=\"%d\">%s</text>", LEFT - 8, cy + 19,
               axis_text(y, j, scratch));
    for (int i = 0; i < x->count; ++i) {
      double v = best_of(t, x, i, y, j, measured);
      double shade = v > 0 ? top > low ? 0.1 + 0.55 * (v - low) / (top - low) : 0.6 : 0;
      buf_printf(
          out,
          "<rect class=\"fs box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><rect class=\"fa\" "
          "opacity=\"%.2f\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
          LEFT + i * CELL_W, cy, CELL_W, CELL_H, shade, LEFT + i * CELL_W, cy, CELL_W, CELL_H);
      if (v > 0)
        buf_printf(out, "<text class=\"mid\" x=\"%d\" y=\"%d\"%s>%.1f</text>",
                   LEFT + i * CELL_W + CELL_W / 2, cy + 19,
                   v == top ? " style=\"font-weight:700\"" : "", v);
    }
  }
  buf_puts(out, "\n");
  html_figure_end(out, NULL);
}

static void put_maps(const sweep_table *t, buf *out) {
  int maps = 0;
  buf_puts(out, "<div class=\"figures\">\n");
  for (int i = 0; i < t->varying_count; ++i)
    for (int j = i + 1; j < t->varying_count && maps < MOST_MAPS; ++j) {
      axis x, y;
      if (!make_axis(t, t->varying[i], &x) || !make_axis(t, t->varying[j], &y)) continue;
      put_map(t, &x, &y, false, out);
      if (t->has_times) put_map(t, &x, &y, true, out);
      ++maps;
    }
  buf_puts(out, "</div>\n");
}

static void put_table(const sweep_table *t, buf *out) {
  char scratch[32];
  buf_puts(
      out,
      "<div class=\"scroll\" tabindex=\"0\"><table><caption>Every point, fastest prediction first"
      "</caption><thead><tr><th scope=\"col\">kernel</th>");
  for (int v = 0; v < t->varying_count; ++v)
    buf_printf(out, "<th scope=\"col\">%s</th>", spec_field_name(t->varying[v]));
  buf_puts(out, "<th scope=\"col\">predicted us</th><th scope=\"col\">measured us</th><th "
                "scope=\"col\">bound</th>"
                "<th scope=\"col\">registers</th><th scope=\"col\">shared B</th><th "
                "scope=\"col\">blocks/SM</th>");
  for (int f = 0; f < (t->has_figures ? FIGURE_COUNT : 0); ++f)
    buf_printf(out, "<th scope=\"col\">%s</th>", sweep_figure_name((sweep_figure)f));
  buf_puts(out, "</tr></thead><tbody>\n");
  for (size_t i = 0; i < t->count; ++i) {
    const sweep_row *r = &t->rows[i];
    if (isinf(r->seconds)) continue;
    buf_printf(out, "<tr><th scope=\"row\">%s</th>", r->name);
    for (int v = 0; v < t->varying_count; ++v) {
      int value = r->spec->value[t->varying[v]];
      buf_printf(out, "<td class=\"n\">%s</td>",
                 value == SPEC_UNSET ? "planned" : spec_value_text(t->varying[v], value, scratch));
    }
    buf_printf(out, "<td class=\"n\">%.2f</td>", 1e6 * r->seconds);
    if (r->measured > 0)
      buf_printf(out, "<td class=\"n\">%.2f</td>", 1e6 * r->measured);
    else
      buf_puts(out, "<td></td>");
    buf_printf(out,
               "<td>%s</td><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%d</td>",
               model_bound_name(r->binding), r->registers, r->shared_bytes, r->blocks_sm);
    for (int f = 0; f < (t->has_figures ? FIGURE_COUNT : 0); ++f)
      buf_printf(out, "<td class=\"n\">%s</td>", sweep_figure_text(r, (sweep_figure)f, scratch));
    buf_puts(out, "</tr>\n");
  }
  buf_puts(out, "</tbody></table></div>\n");
}

void sweep_html(const sweep_table *t, buf *out) {
  html_begin(out, "A sweep",
             "Predictions of gemmgen explain --sweep, and what gemmbench measured.");
  buf_puts(out, "<main id=\"main\">\n<h2>Problem ");
  html_text(out, t->problem);
  buf_printf(out, "</h2>\n<p>%zu points, %zu refused by the planner.</p>\n", t->count, t->refused);
  put_maps(t, out);
  put_table(t, out);
  buf_puts(out, "</main>\n");
  html_end(out);
}
