/* html_ring.c - the ring in time: when each k tile is fetched and when it is computed.
 *
 * A fetch begins when its stage is free, takes the model's cycles, and the product of a k tile
 * waits for its fetch and for the product before. Nothing else is assumed.
 */
#include "html.h"

#include <math.h>

enum { LEFT = 64, WIDTH = 520, ROW = 22, TOP = 24, MOST_TILES = 40 };

typedef struct span {
  double from, to;
} span;

void html_ring(const sheet *s, const char *id, buf *out) {
  const model_kernel *k = &s->model;
  if (k->family == MODEL_NAIVE || k->stage_bytes == 0) return;
  model_latency l = model_latency_of(k, s->gpu);
  int stages = k->stages, tiles = 3 * stages + 3;
  if (tiles > MOST_TILES) tiles = MOST_TILES;
  span fetch[MOST_TILES], product[MOST_TILES];
  double waited = 0;
  bool threads = k->family != MODEL_WGMMA && stages > 1;
  for (int i = 0; i < tiles; ++i) {
    /* With one block a stage is free when its product is done; fetches are issued in order. Threads
     * spread theirs over the products of the k tile that is `ahead` before: the last copy leaves
     * with the last of them. */
    int ahead = threads ? (int)l.ring.ahead : stages;
    double from = i < ahead ? 0 : threads ? product[i - ahead].from : product[i - stages].to;
    fetch[i] = (span){from, from + l.fetch + (threads && i >= ahead ? l.ring.held : 0)};
    double ready = fetch[i].to, before = i ? product[i - 1].to : 0;
    product[i].from = fmax(ready, before);
    product[i].to = product[i].from + l.compute;
    if (i > 0) waited += product[i].from - before;
  }
  double end = product[tiles - 1].to, scale = WIDTH / end;
  char text[320];
  snprintf(text, sizeof text,
           "%d stages; a k tile takes %.0f cycles to fetch and %.0f to compute. After the first "
           "fetch the units "
           "wait %.0f cycles in %d k tiles.",
           stages, l.fetch, l.compute, waited, tiles);
  html_figure(out, id, "The ring in time", text, LEFT + WIDTH + 16, TOP + stages * ROW + 44);
  buf_printf(
      out,
      "<text x=\"%d\" y=\"14\">light: fetch, dark: product of a k tile; %.0f cycles shown</text>\n",
      LEFT, end);
  for (int i = 0; i < stages && i < MOST_TILES; ++i)
    buf_printf(out, "<text class=\"end\" x=\"%d\" y=\"%d\">stage %d</text>\n", LEFT - 6,
               TOP + i * ROW + 15, i);
  for (int i = 0; i < tiles; ++i) {
    int y = TOP + i % stages * ROW;
    buf_printf(
        out,
        "<rect class=\"fa\" opacity=\"0.35\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
        "<rect class=\"fa edge\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
        LEFT + fetch[i].from * scale, y + 5, (fetch[i].to - fetch[i].from) * scale, ROW - 10,
        LEFT + product[i].from * scale, y + 1, (product[i].to - product[i].from) * scale, ROW - 3);
    if ((product[i].to - product[i].from) * scale > 14)
      buf_printf(out, "<text class=\"on mid\" x=\"%.1f\" y=\"%d\">%d</text>",
                 LEFT + (product[i].from + product[i].to) / 2 * scale, y + 15, i);
    buf_puts(out, "\n");
  }
  int bottom = TOP + stages * ROW + 4;
  buf_printf(
      out,
      "<path class=\"axis\" d=\"M%d %dH%d\"/><text class=\"dim mid\" x=\"%d\" y=\"%d\">cycles; the "
      "units wait %.0f%% of the time after the first fetch</text>\n",
      LEFT, bottom, LEFT + WIDTH, LEFT + WIDTH / 2, bottom + 18,
      100 * waited / (end - product[0].from));
  char listing[192];
  snprintf(listing, sizeof listing, "%s-S4", s->plan->name);
  html_figure_end(out, listing);
}
