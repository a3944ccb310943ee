/* html_roofline.c - the roofline of a card with a tile, a problem and its prediction on it. */
#include "html.h"

#include <math.h>

/* Plot area in SVG units; both axes are logarithmic in base 2. */
enum {
  LEFT = 56,
  TOP = 12,
  WIDTH = 560,
  HEIGHT = 270,
  RIGHT = LEFT + WIDTH,
  BOTTOM = TOP + HEIGHT
};

typedef struct axes {
  double x0, x1, y0, y1; /* log2 */
} axes;

static double at_x(const axes *a, double flop_byte) {
  double x = (log2(flop_byte) - a->x0) / (a->x1 - a->x0);
  return LEFT + WIDTH * fmin(1, fmax(0, x));
}

static double at_y(const axes *a, double tflops) {
  double y = (log2(tflops) - a->y0) / (a->y1 - a->y0);
  return BOTTOM - HEIGHT * fmin(1, fmax(0, y));
}

static void put_grid(const axes *a, buf *out) {
  for (double x = ceil(a->x0); x <= a->x1; x += 2)
    buf_printf(out,
               "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"dim mid\" x=\"%.1f\" "
               "y=\"%d\">%g</text>\n",
               at_x(a, exp2(x)), TOP, BOTTOM, at_x(a, exp2(x)), BOTTOM + 16, exp2(x));
  for (double y = ceil(a->y0); y <= a->y1; y += 2)
    buf_printf(out,
               "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"dim end\" x=\"%d\" "
               "y=\"%.1f\">%g</text>\n",
               LEFT, at_y(a, exp2(y)), RIGHT, LEFT - 6, at_y(a, exp2(y)) + 4, exp2(y));
  buf_printf(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
  buf_printf(out,
             "<text class=\"mid\" x=\"%d\" y=\"%d\">FLOP for each byte of device memory</text>\n",
             LEFT + WIDTH / 2, BOTTOM + 34);
  buf_printf(
      out, "<text class=\"mid\" transform=\"rotate(-90 14 %d)\" x=\"14\" y=\"%d\">TFLOP/s</text>\n",
      TOP + HEIGHT / 2, TOP + HEIGHT / 2);
}

static void put_roof(const axes *a, const gpu_facts *g, gpu_unit unit, const char *class,
                     buf *out) {
  double peak = gpu_peak(g, unit), ridge = model_ridge(g, unit);
  if (peak <= 0) return;
  buf_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/>\n", class,
             at_x(a, exp2(a->x0)), at_y(a, exp2(a->x0) * g->hbm_gbs * 1e-3), at_x(a, ridge),
             at_y(a, peak), RIGHT);
  buf_printf(out, "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s: %.1f</text>\n", RIGHT - 4,
             at_y(a, peak) + 14, gpu_unit_name(unit), peak);
}

/* below: where the text stands. */
static void put_mark(const axes *a, double x, double y, char shape, const char *class, double below,
                     const char *text, buf *out) {
  double px = at_x(a, x), py = at_y(a, y);
  if (shape == 'o')
    buf_printf(out, "<circle class=\"%s edge\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>\n", class, px, py);
  else
    buf_printf(out, "<path class=\"%s edge\" d=\"M%.1f %.1fl7 7l-7 7l-7 -7z\"/>\n", class, px,
               py - 7);
  bool left = px > LEFT + WIDTH * 0.6;
  buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", left ? "end" : "",
             px + (left ? -10 : 10), py + below, text);
}

void html_roofline(const sheet *s, const sheet_fit *f, const char *id, buf *out) {
  const model_kernel *k = &s->model;
  double peak = gpu_peak(s->gpu, s->unit);
  if (peak <= 0) return;
  double tile = model_tile_intensity(k->tile_m, k->tile_n) / k->element;
  double flop = model_flop(&f->size), seconds = f->prediction.seconds;
  double bytes = model_compulsory_bytes(&f->size, k->element, k->element_d, true);
  bool shown = !f->lacks && flop > 0 && bytes > 0;
  double own = shown ? flop / bytes : 0, moved = shown ? flop / f->waves.hbm_bytes : 0;
  double reached = shown ? 1e-12 * flop / seconds : 0;
  axes a = {0, 13, floor(log2(peak)) - 9, ceil(log2(peak) + 0.4)};
  if (shown && log2(own) > 12.5) a.x1 = ceil(log2(own)) + 1;
  if (shown && log2(reached) < a.y0) a.y0 = floor(log2(reached));
  char text[400], label[96];
  snprintf(text, sizeof text,
           "Peak of %s %.1f TFLOP/s, bandwidth %d GB/s, ridge at %.1f FLOP/B. The tile alone has "
           "%.1f FLOP/B."
           " The problem has %.1f FLOP/B, with the kernel's traffic %.1f; predicted %.2f TFLOP/s.",
           gpu_unit_name(s->unit), peak, s->gpu->hbm_gbs, model_ridge(s->gpu, s->unit), tile, own,
           moved, reached);
  html_figure(out, id, "Roofline", text, RIGHT + 12, BOTTOM + 42);
  put_grid(&a, out);
  gpu_unit other = s->unit == GPU_CORE_F32 ? GPU_TENSOR_F16 : GPU_CORE_F32;
  if (gpu_rate(s->gpu, other) && log2(gpu_peak(s->gpu, other)) < a.y1)
    put_roof(&a, s->gpu, other, "other", out);
  put_roof(&a, s->gpu, s->unit, "roof", out);
  buf_printf(out,
             "<path class=\"sb\" stroke-dasharray=\"2 3\" d=\"M%.1f %dV%d\"/>"
             "<text class=\"mid\" x=\"%.1f\" y=\"%d\">tile %.0f</text>\n",
             at_x(&a, tile), TOP, BOTTOM, at_x(&a, tile), BOTTOM - 6, tile);
  if (shown) {
    snprintf(label, sizeof label, "predicted %.1f at %.0f FLOP/B moved", reached, moved);
    put_mark(&a, moved, reached, 'o', "fa", 22, label, out);
    double roof = fmin(peak, own * s->gpu->hbm_gbs * 1e-3);
    snprintf(label, sizeof label, "problem %.0f FLOP/B", own);
    put_mark(&a, own, roof, 'd', "fe", -10, label, out);
  }
  html_figure_end(out, NULL);
}
