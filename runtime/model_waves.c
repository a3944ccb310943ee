/* model_waves.c - how a problem's tiles fall on the SMs, and the traffic that follows.
 *
 * Blocks that run together walk along k in step, so each piece of A and B that several of them need
 * comes from device memory once; what later waves need again comes from L2 if it is still there.
 */
#include "model_parts.h"

#include <math.h>

static double least(double a, double b) {
  return a < b ? a : b;
}

static double most(double a, double b) {
  return a > b ? a : b;
}

/* Rows of an operand whose pitch is no multiple of 128 bytes begin in the middle of lines: each run
 * of a row touches one line more. Dense matrices are assumed. Rows outside of a matrix cost a
 * tensor map more than those inside (measured: tiles of 128 and 256 rows for m of 16 and 128);
 * copies by threads leave them out. */
static double traffic(const model_constants *c, int path, double pitch, double outside) {
  double factor = fmod(pitch, MODEL_WAVEFRONT) != 0 ? c->crooked : 1;
  return factor * (1 - outside) + outside * (path == MODEL_TMA ? c->outside : 0);
}

model_traffic model_traffic_of(const model_constants *c, const model_kernel *k,
                               const model_problem *p, const model_waves *w) {
  double pitch_a = (k->along_k_a ? p->k : p->m) * k->element;
  double pitch_b = (k->along_k_b ? p->k : p->n) * k->element;
  return (model_traffic){traffic(c, k->path_a, pitch_a, w->outside_m),
                         traffic(c, k->path_b, pitch_b, w->outside_n)};
}

/* Tiles along one axis, in whole clusters. */
static double tiles_along(double extent, int tile, int cluster) {
  double tiles = ceil(extent / tile);
  return cluster > 1 ? ceil(tiles / cluster) * cluster : tiles;
}

/* Tiles that run together cover side_m x side_n: bands of raster_group tiles along one axis, walked
 * along the other. */
static void sides(const model_kernel *k, model_waves *w) {
  double together =
      least(w->slots / (k->cluster_k > 0 ? k->cluster_k : 1), w->tiles_m * w->tiles_n);
  double fast_tiles = k->raster_n ? w->tiles_n : w->tiles_m;
  double slow_tiles = k->raster_n ? w->tiles_m : w->tiles_n;
  double fast = k->raster_group > 1 ? least(k->raster_group, fast_tiles) : fast_tiles;
  fast = least(fast, together);
  double slow = least(slow_tiles, ceil(together / fast));
  w->side_m = k->raster_n ? slow : fast;
  w->side_n = k->raster_n ? fast : slow;
}

/* The share of `bytes` that is still in L2 when it is needed again: all of it up to the room there
 * is, then falling to none at twice that. */
static double kept(double bytes, double room) {
  if (bytes <= room) return 1;
  return bytes >= 2 * room ? 0 : 2 - bytes / room;
}

/* Bytes of A and B from device memory in one batch. */
static double operand_traffic(const model_kernel *k, const model_waves *w, const model_problem *p,
                              double room) {
  double row = k->tile_m * p->k * k->element, column = k->tile_n * p->k * k->element;
  double a = p->m * p->k * k->element, b = p->n * p->k * k->element;
  double fast = k->raster_n ? w->side_n : w->side_m, slow = k->raster_n ? w->side_m : w->side_n;
  double fast_tiles = k->raster_n ? w->tiles_n : w->tiles_m;
  double slow_tiles = k->raster_n ? w->tiles_m : w->tiles_n;
  double fast_all = k->raster_n ? b : a, slow_all = k->raster_n ? a : b;
  double fast_one = k->raster_n ? column : row, slow_one = k->raster_n ? row : column;
  double bands = ceil(fast_tiles / (k->raster_group > 1 ? k->raster_group : fast_tiles));
  double waves_band = most(1, slow_tiles / slow);
  /* A band's own operand is needed in each of its waves, with the other's share between. */
  double band = least(fast_tiles, k->raster_group > 1 ? k->raster_group : fast_tiles);
  double keep_fast = kept(band * fast_one + slow * slow_one, room);
  double fast_traffic = fast_all * (1 + (waves_band - 1) * (1 - keep_fast) * most(1, fast / band));
  /* The other operand is needed whole by each band. */
  double keep_slow = kept(slow_all + band * fast_one, room);
  double slow_traffic = slow_all * (1 + (bands - 1) * (1 - keep_slow));
  return fast_traffic + slow_traffic;
}

/* SMs that blocks can stand on. A cluster keeps to one GPC, whose SMs are seldom a multiple of its
 * blocks: of an H200's 132 SMs clusters of 4 and more reach 120 (measured). */
static double places(const model_kernel *k, const gpu_facts *g) {
  int blocks = k->cluster_m * k->cluster_n * k->cluster_k;
  if (blocks <= 2) return g->sms;
  double reached = floor(g->sms * 120 / 132.0);
  return reached - fmod(reached, blocks);
}

model_waves model_waves_with(const model_constants *c, const model_kernel *k, const gpu_facts *g,
                             const model_problem *p) {
  model_waves w = {0};
  double split = k->cluster_k > 1 ? k->cluster_k : 1;
  w.tiles_m = tiles_along(p->m, k->tile_m, k->cluster_m);
  w.tiles_n = tiles_along(p->n, k->tile_n, k->cluster_n);
  w.tiles = w.tiles_m * w.tiles_n * p->batch;
  w.slots = places(k, g) * (k->blocks_sm > 0 ? k->blocks_sm : 1);
  w.waves = w.tiles * split / w.slots;
  w.rounds = ceil(w.waves);
  w.filled = w.rounds > 0 ? w.waves / w.rounds : 0;
  w.inside = w.tiles > 0 ? p->m * p->n / (w.tiles_m * k->tile_m * w.tiles_n * k->tile_n) : 0;
  w.compulsory = model_compulsory_bytes(p, k->element, k->element_d, true);
  if (w.tiles == 0) return w;
  w.outside_m = 1 - p->m / (w.tiles_m * k->tile_m);
  w.outside_n = 1 - p->n / (w.tiles_n * k->tile_n);
  sides(k, &w);
  model_traffic factor = model_traffic_of(c, k, p, &w);
  /* What a cluster shares by multicast arrives at each of its SMs all the same: measured, sharing
   * gains nothing (docs/wgmma.md, Clusters). */
  w.l2_bytes = w.tiles * p->k * k->element * (factor.a * k->tile_m + factor.b * k->tile_n);
  double room = c->l2_share * (g->l2_bytes > 0 ? g->l2_bytes : 32 << 20);
  double d = p->m * p->n * k->element_d;
  w.hbm_bytes = p->batch * (operand_traffic(k, &w, p, room) + d);
  /* Each part but one hands its f32 sums to another through distributed shared memory. */
  w.split_bytes = (split - 1) * w.tiles * k->tile_m * k->tile_n * (k->element > 4 ? 8 : 4);
  return w;
}

model_waves model_waves_of(const model_kernel *k, const gpu_facts *g, const model_problem *p) {
  return model_waves_with(&model_fitted, k, g, p);
}
