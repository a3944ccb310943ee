/* html_shared.c - shared memory: what lies where, and which banks a warp's accesses meet.
 *
 * Each access pattern is that of the first warp's first access, served as the hardware serves it:
 * groups of lanes that together ask for 128 bytes, two groups as one where neighbouring lanes read
 * the same (runtime/emu/cost.c). A row of cells is a wavefront, a cell a word in its bank.
 */
#include "html.h"

#include "plan_copy.h"
#include <string.h>

enum {
  LANES = 32,
  BANKS = 32,
  CELL = 17,
  LEFT = 40,
  MOST_WAVES = 32,
  WIDTH = LEFT + BANKS * CELL + 8
};

typedef struct pattern {
  char title[96];
  int lanes;
  int bytes; /* of one lane */
  bool load;
  long address[LANES];
} pattern;

/* -- Who asks for what
 * ------------------------------------------------------------------------------ */

static pattern fragment_pattern(const sheet *s, int operand) {
  const kernel_plan *p = s->plan;
  pattern x = {.lanes = LANES, .load = true};
  int lanes_n = p->lanes_n > 0 ? p->lanes_n : p->tile_n < LANES ? p->tile_n : LANES;
  bool single = s->model.family == MODEL_SMEM;
  int vector = single ? 1 : p->vector;
  x.bytes = vector * p->element;
  snprintf(x.title, sizeof x.title, "A warp loads its first fragment of %c: %d bytes a lane",
           operand ? 'B' : 'A', x.bytes);
  for (int l = 0; l < LANES; ++l) {
    long along = operand ? l % lanes_n : l / lanes_n;
    /* Family smem keeps A in rows along k. */
    x.address[l] = single && !operand ? along * p->pitch_a * p->element : along * x.bytes;
  }
  return x;
}

/* Rows of a tensor-core fragment: 8 of 16 bytes, as ldmatrix, wmma.load and wgmma read them. */
static pattern matrix_pattern(const sheet *s, int operand) {
  const kernel_plan *p = s->plan;
  pattern x = {.lanes = 8, .bytes = 16, .load = true};
  long pitch = 128;
  if (s->model.family != MODEL_WGMMA)
    pitch = (long)(operand ? p->pitch_b : p->pitch_a) * p->element;
  snprintf(x.title, sizeof x.title, "8 rows of %c, 16 bytes of each, %ld bytes apart%s",
           operand ? 'B' : 'A', pitch, p->swizzle ? ", chunks swizzled" : "");
  for (int r = 0; r < 8; ++r)
    x.address[r] = r * pitch + (p->swizzle ? r % 8 * 16 : 0);
  return x;
}

static pattern copy_pattern(const sheet *s, int operand) {
  const kernel_plan *p = s->plan;
  int lanes = operand ? p->copy_lanes_b : p->copy_lanes_a, width = operand ? p->copy_b : p->copy_a;
  int pitch = operand ? p->pitch_b : p->pitch_a, path = operand ? p->path_b : p->path_a;
  bool turned = operand ? p->turn_b : p->turn_a;
  pattern x = {.lanes = p->threads < LANES ? p->threads : LANES};
  int vector = width / p->element;
  x.bytes = turned ? p->element : width;
  snprintf(x.title, sizeof x.title, "A warp %s %c: %d bytes a lane%s",
           path == PATH_ASYNC ? "copies (cp.async)" : "stores", operand ? 'B' : 'A', x.bytes,
           turned ? ", turned" : "");
  for (int l = 0; l < x.lanes; ++l) {
    long along = l % lanes, row = l / lanes;
    x.address[l] = turned ? (along * vector * pitch + row) * p->element
                          : (row * pitch + along * vector) * p->element;
  }
  return x;
}

/* -- Serving
 * ----------------------------------------------------------------------------------------- */

/* Are lanes first .. first + count - 1 paired: each reads what its neighbour l ^ 1, or l ^ 2,
 * reads? */
static bool paired(const pattern *x, int first, int count) {
  for (int other = 1; other <= 2; ++other) {
    bool same = true;
    for (int l = first; l < first + count && same; ++l)
      same = x->address[l] == x->address[l ^ other];
    if (same) return true;
  }
  return false;
}

typedef struct waves {
  int count;
  short lane[MOST_WAVES][BANKS]; /* that asks first, or -1 */
  bool shared[MOST_WAVES][BANKS];
} waves;

static void serve_word(waves *w, int first_wave, long word, int lane,
                       long seen[MOST_WAVES][BANKS]) {
  int bank = (int)(word % BANKS);
  for (int i = first_wave; i < MOST_WAVES; ++i) {
    if (i >= w->count) {
      w->count = i + 1;
      for (int b = 0; b < BANKS; ++b)
        w->lane[i][b] = -1, w->shared[i][b] = false;
    }
    if (w->lane[i][bank] >= 0 && seen[i][bank] != word) continue;
    if (w->lane[i][bank] >= 0)
      w->shared[i][bank] = true;
    else
      w->lane[i][bank] = (short)lane;
    seen[i][bank] = word;
    return;
  }
}

static waves serve(const pattern *x) {
  waves w = {0};
  long seen[MOST_WAVES][BANKS] = {{0}};
  int group = x->bytes <= 4 ? 32 : x->bytes <= 8 ? 16 : 8;
  for (int first = 0; first < x->lanes;) {
    int count = group;
    bool whole = first + 2 * group <= x->lanes && group < 32;
    if (x->load && whole && first % (2 * group) == 0 && paired(x, first, 2 * group))
      count = 2 * group;
    int base = w.count;
    for (int l = first; l < first + count && l < x->lanes; ++l)
      for (int b = 0; b < (x->bytes < 4 ? 4 : x->bytes); b += 4)
        serve_word(&w, base, (x->address[l] + b) / 4, l, seen);
    first += count;
  }
  return w;
}

/* -- Drawing
 * -------------------------------------------------------------------------------------------- */

static int put_pattern(const pattern *x, int top, buf *out) {
  static const char *const classes[] = {"fa", "fb", "fc", "fd"};
  waves w = serve(x);
  int ideal = (x->lanes * (x->bytes < 4 ? 4 : x->bytes) + 127) / 128;
  buf_printf(out, "<text x=\"%d\" y=\"%d\">", LEFT, top + 12);
  html_text(out, x->title);
  buf_printf(out, ": %d wavefront%s%s</text>\n", w.count, w.count == 1 ? "" : "s",
             w.count < ideal   ? ", lanes share words"
             : w.count > ideal ? ", CONFLICTS"
                               : "");
  for (int i = 0; i < w.count; ++i) {
    int y = top + 18 + i * CELL;
    buf_printf(out, "<text class=\"dim end\" x=\"%d\" y=\"%d\">%d</text>", LEFT - 6, y + 12, i + 1);
    for (int b = 0; b < BANKS; ++b) {
      int lane = w.lane[i][b];
      buf_printf(out, "<rect class=\"%s edge\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                 lane < 0 ? "fs" : classes[lane / 8 % 4], LEFT + b * CELL, y, CELL, CELL);
      if (lane >= 0)
        buf_printf(out,
                   "<text class=\"on mid\" style=\"font-size:8px\" x=\"%d\" y=\"%d\">%d%s</text>",
                   LEFT + b * CELL + CELL / 2, y + 12, lane, w.shared[i][b] ? "+" : "");
    }
    buf_puts(out, "\n");
  }
  return top + 18 + w.count * CELL + 10;
}

static int pattern_height(const pattern *x) {
  return 18 + serve(x).count * CELL + 10;
}

static void put_segment(double from, double to, const char *class, const char *text, buf *out) {
  buf_printf(out, "<rect class=\"%s edge\" x=\"%.1f\" y=\"22\" width=\"%.1f\" height=\"26\"/>",
             class, from, to - from);
  if (to - from > 22)
    buf_printf(out, "<text class=\"on mid\" x=\"%.1f\" y=\"39\">%s</text>", (from + to) / 2, text);
  buf_puts(out, "\n");
}

/* The block's shared memory as one bar: stages with A and B, and what follows. */
static void put_map(const sheet *s, buf *out) {
  const kernel_plan *p = s->plan;
  double scale = (double)BANKS * CELL / p->shared_bytes, at = 0;
  char text[24];
  for (int stage = 0; stage < s->model.stages && stage < 16; ++stage) {
    double from = LEFT + at * scale, middle = from + p->bytes_a * scale;
    snprintf(text, sizeof text, "A%d", stage);
    put_segment(from, middle, "fa", text, out);
    snprintf(text, sizeof text, "B%d", stage);
    put_segment(middle, middle + p->bytes_b * scale, "fb", text, out);
    at += p->stage_bytes;
  }
  bool more = at < p->shared_bytes;
  if (more) put_segment(LEFT + at * scale, LEFT + p->shared_bytes * scale, "fc", "D", out);
  buf_printf(out,
             "<text x=\"%d\" y=\"14\">%d stages, A %d B and B %d B each%s: %d of %d B</text>\n",
             LEFT, s->model.stages, p->bytes_a, p->bytes_b, more ? ", then D and barriers" : "",
             p->shared_bytes, s->gpu->shared_block);
}

void html_shared(const sheet *s, const char *id, buf *out) {
  const kernel_plan *p = s->plan;
  pattern list[4];
  int count = 0;
  if (p->shared_bytes == 0) return;
  bool cores = s->model.family == MODEL_SIMT || s->model.family == MODEL_SMEM;
  for (int o = 0; o < 2; ++o)
    list[count++] = cores ? fragment_pattern(s, o) : matrix_pattern(s, o);
  for (int o = 0; o < 2; ++o) {
    int path = o ? p->path_b : p->path_a;
    if (path == PATH_TMA || path == PATH_NONE || (o ? p->copy_lanes_b : p->copy_lanes_a) == 0)
      continue;
    list[count++] = copy_pattern(s, o);
  }
  int height = 60;
  for (int i = 0; i < count; ++i)
    height += pattern_height(&list[i]);
  char text[256];
  snprintf(
      text, sizeof text,
      "%d B of dynamic shared memory; then for each access pattern of a warp the wavefronts that "
      "serve "
      "it, 32 banks of 4 bytes across; numbers are lanes, + marks a word that several lanes read.",
      p->shared_bytes);
  html_figure(out, id, "Shared memory and its banks", text, WIDTH, height + 6);
  put_map(s, out);
  int top = 60;
  for (int i = 0; i < count; ++i)
    top = put_pattern(&list[i], top, out);
  char listing[192];
  snprintf(listing, sizeof listing, "%s-S2", p->name);
  html_figure_end(out, listing);
}
