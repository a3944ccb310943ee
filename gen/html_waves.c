/* html_waves.c - D's tiles as the rounds of blocks take them, in the order of the raster. */
#include "html.h"

#include <math.h>

enum { LEFT = 40, TOP = 24, WIDTH = 560, HEIGHT = 300, MOST_TILES = 96, ROUNDS = 6 };

/* Tile number `block` in raster order: bands of `group` along the fast axis (templates/raster.lua).
 */
static void tile_of(const model_kernel *k, long block, long tiles_m, long tiles_n, long *m,
                    long *n) {
  long fast_tiles = k->raster_n ? tiles_n : tiles_m, slow_tiles = k->raster_n ? tiles_m : tiles_n;
  long group = k->raster_group > 1 ? k->raster_group : fast_tiles;
  long band = block / (group * slow_tiles), in_band = block % (group * slow_tiles);
  long rest = fast_tiles - band * group, side = rest < group ? rest : group;
  long fast = band * group + in_band % side, slow = in_band / side;
  *m = k->raster_n ? slow : fast;
  *n = k->raster_n ? fast : slow;
}

static void put_round(const sheet *s, const model_waves *w, long round, double cell, buf *out) {
  static const char *const classes[ROUNDS] = {"fa", "fb", "fc", "fd", "ff", "fe"};
  long tiles_m = (long)w->tiles_m, tiles_n = (long)w->tiles_n, slots = (long)w->slots;
  long first = round * slots, last = first + slots;
  if (last > tiles_m * tiles_n) last = tiles_m * tiles_n;
  if (s->model.cluster_k > 1) first /= s->model.cluster_k, last /= s->model.cluster_k;
  buf_printf(out, "<path class=\"%s\" d=\"", classes[round % ROUNDS]);
  for (long b = first; b < last; ++b) {
    long m, n;
    tile_of(&s->model, b, tiles_m, tiles_n, &m, &n);
    buf_printf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", LEFT + (double)n * cell, TOP + (double)m * cell,
               cell * 0.94, cell * 0.94, cell * 0.94);
  }
  buf_printf(out, "\"><title>round %ld: tiles %ld to %ld</title></path>\n", round + 1, first,
             last - 1);
}

void html_waves(const sheet *s, const sheet_fit *f, const char *id, buf *out) {
  const model_waves *w = &f->waves;
  double longest = fmax(w->tiles_m, w->tiles_n);
  if (w->tiles <= 0) return;
  char text[320];
  snprintf(text, sizeof text,
           "%.0f x %.0f tiles on %d SMs x %d blocks: %.2f waves, %.0f rounds; tiles of one colour "
           "run together, "
           "raster groups of %d along %s.",
           w->tiles_m, w->tiles_n, s->gpu->sms, s->model.blocks_sm, w->waves, w->rounds,
           s->model.raster_group, s->model.raster_n ? "n" : "m");
  double cell = fmin(WIDTH / w->tiles_n, HEIGHT / w->tiles_m);
  int height = (int)ceil(w->tiles_m * cell), width = (int)ceil(w->tiles_n * cell);
  if (longest > MOST_TILES) {
    buf_printf(out, "<figure id=\"%s\"><figcaption>Waves</figcaption><p>", id);
    html_text(out, text);
    buf_printf(out, " More than %d tiles a side are not drawn.</p></figure>\n", MOST_TILES);
    return;
  }
  html_figure(out, id, "Waves and raster", text, LEFT + WIDTH + 8, TOP + height + 40);
  buf_printf(out,
             "<text x=\"%d\" y=\"14\">n, %.0f tiles of %d</text>"
             "<text transform=\"rotate(-90 14 %d)\" x=\"14\" y=\"%d\" class=\"end\">m, %.0f tiles "
             "of %d</text>\n",
             LEFT, w->tiles_n, s->model.tile_n, TOP + 4, TOP + 4, w->tiles_m, s->model.tile_m);
  buf_printf(out, "<rect class=\"fs\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP,
             width, height);
  for (long round = 0; round * (long)w->slots < (long)(w->tiles_m * w->tiles_n); ++round)
    put_round(s, w, round, cell, out);
  buf_printf(
      out,
      "<text class=\"dim\" x=\"%d\" y=\"%d\">the last of %.0f rounds is %.0f%% full%s</text>\n",
      LEFT, TOP + height + 18, w->rounds, 100 * (w->waves - w->rounds + 1),
      f->size.batch > 1 ? "; one batch is drawn" : "");
  char listing[192];
  snprintf(listing, sizeof listing, "%s-S5", s->plan->name);
  html_figure_end(out, listing);
}
