/* plan_fill.c - wavefronts of shared memory that writing one k tile of an operand takes.
 *
 * The rules are those that the emulated GPU counts by (runtime/emu/cost.c), which were measured on
 * an H200: `gemmgen check` must come to the same number. Rows of global memory are taken to begin
 * on lines of 128 bytes.
 */
#include "plan_fill.h"

#include "plan_copy.h"

enum { LANES = 32, BANKS = 32, LINE = 128, SECTOR = 32 };

/* Where lane l of a copy's warp reads and writes. */
typedef struct place {
  int row, column; /* in global memory: of the tile; bytes */
  int to;          /* bytes in shared memory */
} place;

/* The operand's tile as a grid of copies (plan_copy.c). */
typedef struct grid {
  int lanes, height; /* threads along a row, and rows of them */
  int across, down;  /* rounds */
  int rows;          /* of the tile */
  int copy, pitch;   /* bytes */
  int element;       /* bytes */
  bool turned;
} grid;

static grid grid_of(const kernel_plan *p, int operand) {
  bool along_k = plan_contiguous_k(p, operand);
  int mn = operand ? p->tile_n : p->tile_m;
  grid g = {.lanes = operand ? p->copy_lanes_b : p->copy_lanes_a,
            .copy = operand ? p->copy_b : p->copy_a,
            .pitch = (operand ? p->pitch_b : p->pitch_a) * p->element,
            .turned = operand ? p->turn_b : p->turn_a,
            .element = p->element,
            .rows = along_k ? mn : p->tile_k};
  if (g.lanes == 0 || g.copy == 0) return g;
  int extent = (along_k ? p->tile_k : mn) * p->element;
  g.height = p->threads / g.lanes;
  g.across = extent / g.copy / g.lanes;
  g.down = (g.rows + g.height - 1) / g.height;
  return g;
}

static place place_of(const grid *g, int thread, int round_across, int round_down) {
  int x = (thread % g->lanes + round_across * g->lanes) * g->copy;
  int y = thread / g->lanes + round_down * g->height;
  int to = g->turned ? x / g->element * g->pitch + y * g->element : y * g->pitch + x;
  return (place){y, x, to};
}

/* One warp's copies of 16 bytes: a wavefront for each (line read, line written, part), part being
 * the whole where both halves of a sector stay in one sector. */
static int wide(const place *lane, int count) {
  int key[LANES][4], n = 0;
  for (int l = 0; l < count; ++l) {
    int part = 0;
    for (int o = 0; o < count; ++o)
      if (lane[o].row == lane[l].row && lane[o].column == (lane[l].column ^ 16) &&
          lane[o].to / SECTOR != lane[l].to / SECTOR)
        part = lane[l].column & 16 ? 2 : 1;
    const int mine[4] = {lane[l].row, lane[l].column / LINE, lane[l].to / LINE, part};
    int i = 0;
    while (i < n && (key[i][0] != mine[0] || key[i][1] != mine[1] || key[i][2] != mine[2] ||
                     key[i][3] != mine[3]))
      ++i;
    if (i < n) continue;
    for (int j = 0; j < 4; ++j)
      key[n][j] = mine[j];
    ++n;
  }
  return n;
}

/* Copies of 4 and 8 bytes, 128 bytes at once: what meets in a bank, and one for each further line.
 */
static int small(const place *lane, int count, int bytes) {
  int sum = 0, group = LINE / bytes;
  for (int first = 0; first < count; first += group) {
    int used[BANKS] = {0}, rows[LANES], columns[LANES], lines = 0, worst = 0;
    for (int l = first; l < count && l < first + group; ++l) {
      for (int w = 0; w < bytes / 4; ++w)
        if (++used[(lane[l].to / 4 + w) % BANKS] > worst) ++worst;
      int i = 0;
      while (i < lines && (rows[i] != lane[l].row || columns[i] != lane[l].column / LINE))
        ++i;
      if (i == lines) rows[lines] = lane[l].row, columns[lines++] = lane[l].column / LINE;
    }
    sum += worst + lines - 1;
  }
  return sum;
}

/* Lanes of one warp and round that have a row; their places. */
static int warp_places(const grid *g, int warp, int across, int down, place lane[LANES]) {
  int count = 0;
  for (int l = 0; l < LANES; ++l) {
    place at = place_of(g, warp * LANES + l, across, down);
    if (at.row < g->rows) lane[count++] = at;
  }
  return count;
}

static int async_waves(const kernel_plan *p, const grid *g) {
  place lane[LANES];
  int sum = 0, warps = p->threads / LANES;
  /* A swizzle moves chunks inside their line, and the halves of a sector together: it changes
   * nothing here. Small copies: each round is the first one, shifted. */
  if (g->copy < 16) {
    int whole = g->across * g->rows * g->lanes / LANES;
    return whole * small(lane, warp_places(g, 0, 0, 0, lane), g->copy);
  }
  for (int w = 0; w < warps; ++w)
    for (int i = 0; i < g->down; ++i)
      for (int j = 0; j < g->across; ++j)
        sum += wide(lane, warp_places(g, w, j, i, lane));
  return sum;
}

/* Stores of what waited in registers, at least a word each: 128 bytes' worth of lanes at once, what
 * meets in a bank one after the other. */
static int staged_waves(const kernel_plan *p, grid g) {
  place lane[LANES];
  if (g.copy < 4) g.across = g.across * g.copy / 4, g.copy = 4; /* gathered, lanes are of words */
  int sum = 0, group = LINE / g.copy, warps = p->threads / LANES;
  for (int round = 0; round < warps * g.down * g.across; ++round) {
    int count =
        warp_places(&g, round % warps, round / warps % g.across, round / warps / g.across, lane);
    for (int first = 0; first < count; first += group) {
      int used[BANKS] = {0}, worst = 0;
      for (int l = first; l < count && l < first + group; ++l)
        for (int w = 0; w < g.copy / 4; ++w)
          if (++used[(lane[l].to / 4 + w) % BANKS] > worst) ++worst;
      sum += worst;
    }
  }
  return sum;
}

int plan_fill_waves(const kernel_plan *p, int operand) {
  int path = operand ? p->path_b : p->path_a;
  int bytes = (operand ? p->tile_n : p->tile_m) * p->tile_k * p->element;
  grid g = grid_of(p, operand);
  if (path == PATH_NONE) return 0;
  if (path == PATH_TMA || g.lanes == 0) return bytes / LINE;
  if (path == PATH_STAGED && g.turned && !p->swizzle && p->element >= 4)
    return bytes / LINE *
           plan_store_ways(g.lanes, g.copy / p->element, g.pitch / p->element, p->element);
  if (path == PATH_STAGED && g.copy < 4 && p->family != FAMILY_MMA)
    return bytes / (LANES * g.copy); /* each element alone: mma gathers them into words */
  if (path == PATH_STAGED && p->family == FAMILY_MMA && !p->swizzle) return staged_waves(p, g);
  bool whole_lines = g.pitch % LINE == 0 && g.lanes * g.copy % LINE == 0;
  if (path == PATH_STAGED || (g.copy == 16 && !g.turned && whole_lines)) return bytes / LINE;
  return async_waves(p, &g);
}
