/* plan_auto_grid.c - the candidates of plan_auto, and what the model says of each.
 *
 * The grids hold the kinds of kernels that the model's constants were fitted to (docs/model.md), in
 * the order that works: block tiles that capacity admits, for each of them thread tiles or walks,
 * stages last.
 */
#include "plan_auto_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Squares; few rows and few columns, as language models have them; short k, long k; widths that
 * fill one round of a large card; many small ones. */
const model_problem auto_suite[AUTO_PROBLEMS] = {
    {256, 256, 256, 1},     {512, 512, 512, 1},    {768, 768, 768, 1},    {1024, 1024, 1024, 1},
    {1536, 1536, 1536, 1},  {2048, 2048, 2048, 1}, {3072, 3072, 3072, 1}, {4096, 4096, 4096, 1},
    {8192, 8192, 8192, 1},  {16, 4096, 4096, 1},   {64, 4096, 4096, 1},   {64, 4096, 14336, 1},
    {128, 6144, 4096, 1},   {128, 8192, 4096, 1},  {16, 28672, 4096, 1},  {256, 28672, 4096, 1},
    {512, 4096, 4096, 1},   {512, 6144, 4096, 1},  {512, 4096, 14336, 1}, {2048, 6144, 4096, 1},
    {2048, 28672, 4096, 1}, {4096, 64, 4096, 1},   {8192, 256, 1024, 1},  {4096, 4096, 128, 1},
    {4096, 4096, 512, 1},   {256, 256, 16384, 1},  {512, 512, 8192, 1},   {1024, 1024, 16384, 1},
    {2176, 2176, 4096, 1},  {64, 64, 65536, 1},    {256, 256, 256, 64},   {1024, 1024, 128, 32},
};

/* A tie goes to the larger tile, which asks less of L2 and of barriers: the model is off by more.
 * Both are set on one half of the measured problems and judged on the other (docs/model.md). */
static const double HALVING = 0.02;
static const double SPLIT = 1.1; /* the model takes clusters for cheaper than they are */
enum { LARGEST = 128 * 256, FEW_ROWS = 64 };

enum { ROOMY = 16 }; /* times the bandwidth: device memory no longer counts */

static bool predict(auto_candidate *c, const kernel_plan *p) {
  model_kernel k = plan_model(p);
  /* Tiles of few rows are chosen among by what they read, whatever their area. */
  double area = (k.swap ? FEW_ROWS : k.tile_m) * (double)k.tile_n;
  double handicap = (k.cluster_k > 1 ? SPLIT : 1) + HALVING * log2(LARGEST / area);
  gpu_facts roomy = c->spec.gpu;
  roomy.hbm_gbs *= ROOMY;
  for (int i = 0; i < AUTO_PROBLEMS; ++i) {
    const model_problem *problem = &auto_suite[i];
    model_kernel guarded = k;
    bool whole = (p->multiple_m <= 1 || fmod(problem->m, p->multiple_m) == 0) &&
                 (p->multiple_n <= 1 || fmod(problem->n, p->multiple_n) == 0) &&
                 (p->multiple_k <= 1 || fmod(problem->k, p->multiple_k) == 0);
    if (!whole) guarded.guarded = 1; /* its edge kernel takes the call */
    c->us[i] = INFINITY;
    double seconds = model_predict(&guarded, &c->spec.gpu, problem).seconds;
    if (!isfinite(seconds) || seconds <= 0) return false; /* the card's facts do not suffice */
    c->us[i] = 1e6 * seconds * handicap;
    c->own_us[i] = 1e6 * model_predict(&guarded, &roomy, problem).seconds * handicap;
  }
  return true;
}

static bool known(const auto_search *s, const char *name) {
  for (size_t i = 0; i < s->count; ++i)
    if (strcmp(s->list[i].name, name) == 0) return true;
  return false;
}

long auto_try(auto_search *s, const kernel_spec *spec) {
  if (s->count == s->capacity) {
    size_t capacity = s->capacity ? 2 * s->capacity : 64;
    auto_candidate *grown = realloc(s->list, capacity * sizeof *grown);
    if (!grown) {
      s->memory = true;
      return -1;
    }
    s->list = grown;
    s->capacity = capacity;
  }
  kernel_plan p;
  plan_fault fault;
  plan_result result = plan_make(spec, VARIANT_FULL, &p, &fault);
  if (result == PLAN_MEMORY) s->memory = true;
  if (result == PLAN_ILLEGAL) ++s->refused;
  if (result != PLAN_OK) return -1;
  auto_candidate *c = &s->list[s->count];
  c->spec = *spec;
  memcpy(c->name, p.name, sizeof c->name);
  bool added = !known(s, p.name) && predict(c, &p);
  plan_free(&p);
  return added ? (long)s->count++ : -1;
}

/* -- Family ----------------------------------------------------------------------------------- */

int auto_family(const kernel_spec *open, plan_fault *fault) {
  /* By speed where several serve. */
  static const int order[] = {FAMILY_WGMMA, FAMILY_MMA, FAMILY_WMMA, FAMILY_SIMT, FAMILY_SMEM};
  for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
    kernel_spec trial = *open;
    trial.value[SPEC_FAMILY] = order[i];
    kernel_plan p;
    plan_fault why;
    plan_result result = plan_make(&trial, VARIANT_FULL, &p, &why);
    if (result == PLAN_SAME) return order[i];
    /* What a later card would do says more than what CUDA cores do not. */
    if (result == PLAN_ILLEGAL && (!fault->code || strcmp(fault->code, "dtype-gpu") != 0))
      *fault = why;
    if (result != PLAN_OK) continue;
    bool same = p.family == order[i];
    plan_free(&p);
    if (same) return order[i];
  }
  return -1;
}

/* -- Grids ------------------------------------------------------------------------------------ */

typedef struct setting {
  spec_field field;
  int value;
} setting;

static void try_with(auto_search *s, const kernel_spec *base, const setting *settings, int count) {
  kernel_spec spec = *base;
  for (int i = 0; i < count; ++i)
    if (settings[i].value != SPEC_UNSET) spec.value[settings[i].field] = settings[i].value;
  if (!s->memory) auto_try(s, &spec);
}

/* Block tile, k tile, thread tile, slices of k. */
static void grid_simt(auto_search *s, const kernel_spec *base) {
  static const int tiles[][6] = {
      {256, 128, 8, 16, 8, 1}, {128, 128, 8, 16, 8, 1}, {128, 128, 16, 8, 8, 1},
      {128, 128, 8, 8, 8, 1},  {128, 64, 16, 8, 8, 1},  {64, 64, 16, 8, 8, 1},
      {64, 64, 16, 8, 4, 1},   {64, 64, 16, 4, 4, 1},   {32, 64, 16, 4, 4, 1},
      {64, 128, 32, 8, 8, 2},  {128, 64, 32, 8, 8, 2},  {64, 64, 32, 8, 8, 2},
      {64, 64, 32, 8, 8, 4},   {32, 64, 32, 4, 8, 4},   {32, 32, 32, 4, 4, 2},
      {32, 32, 32, 4, 4, 4},   {16, 32, 64, 4, 4, 4}};
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i) {
    const int *t = tiles[i];
    const setting settings[] = {
        {SPEC_TILE_M, t[0]},   {SPEC_TILE_N, t[1]},
        {SPEC_TILE_K, t[2]},   {SPEC_THREAD_M, t[3]},
        {SPEC_THREAD_N, t[4]}, {SPEC_K_SLICES, t[5] > 1 ? t[5] : SPEC_UNSET}};
    try_with(s, base, settings, 6);
  }
}

/* Block tiles, and how blocks walk over them: tile after tile, the groups in turn, one tile each, a
 * tile shared by a cluster of 2, 4 and 8. */
enum { WALKS = 6 };
static void grid_wgmma(auto_search *s, const kernel_spec *base) {
  static const int walks[WALKS][3] = {
      {SPEC_UNSET, SPEC_UNSET, SPEC_UNSET}, {SCHEDULE_PINGPONG, SPEC_UNSET, SPEC_UNSET},
      {SPEC_UNSET, 0, SPEC_UNSET},          {SPEC_UNSET, SPEC_UNSET, 2},
      {SPEC_UNSET, SPEC_UNSET, 4},          {SPEC_UNSET, SPEC_UNSET, 8}};
  static const struct {
    int m, n;
    bool walk[WALKS];
  } tiles[] = {{128, 256, {1, 0, 1, 1, 1, 1}}, {256, 128, {1, 0, 0, 0, 0, 0}},
               {192, 200, {0, 0, 1, 0, 0, 0}}, {192, 192, {1, 0, 0, 0, 0, 0}},
               {128, 224, {1, 0, 0, 0, 0, 0}}, {128, 192, {1, 0, 1, 0, 0, 0}},
               {192, 128, {1, 0, 0, 0, 0, 0}}, {128, 128, {1, 1, 0, 1, 1, 1}},
               {64, 256, {1, 1, 0, 0, 0, 0}},  {256, 64, {1, 0, 0, 0, 0, 0}},
               {128, 96, {0, 0, 1, 0, 0, 0}},  {128, 64, {1, 0, 0, 0, 0, 0}},
               {64, 128, {1, 1, 1, 0, 0, 0}},  {64, 64, {1, 0, 1, 1, 1, 1}},
               {32, 128, {1, 0, 0, 0, 0, 0}},  {32, 64, {1, 0, 0, 0, 0, 0}},
               {16, 128, {1, 0, 0, 0, 0, 0}},  {16, 64, {1, 0, 0, 0, 0, 0}}};
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i)
    for (int w = 0; w < WALKS; ++w) {
      const setting settings[] = {{SPEC_TILE_M, tiles[i].m},
                                  {SPEC_TILE_N, tiles[i].n},
                                  {SPEC_SCHEDULE, walks[w][0]},
                                  {SPEC_PERSISTENT, walks[w][1]},
                                  {SPEC_CLUSTER_K, walks[w][2]}};
      if (tiles[i].walk[w]) try_with(s, base, settings, 5);
    }
}

/* mma and wmma: the planner lays warps into the block tile. */
static void grid_warps(auto_search *s, const kernel_spec *base) {
  static const int tiles[][2] = {{128, 256}, {256, 128}, {128, 128}, {64, 256}, {64, 128},
                                 {128, 64},  {64, 64},   {32, 128},  {32, 64},  {32, 32}};
  static const int rows[] = {128, 64}; /* bytes of a k tile's row */
  int type = base->value[SPEC_DTYPE_A], element = dtype_bytes(type == SPEC_UNSET ? GG_F32 : type);
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i)
    for (size_t j = 0; j < sizeof rows / sizeof *rows; ++j) {
      const setting settings[] = {
          {SPEC_TILE_M, tiles[i][0]}, {SPEC_TILE_N, tiles[i][1]}, {SPEC_TILE_K, rows[j] / element}};
      try_with(s, base, settings, 3);
    }
}

void auto_grid(auto_search *s, int family) {
  kernel_spec base = *s->open;
  base.value[SPEC_FAMILY] = family;
  if (family == FAMILY_SIMT) grid_simt(s, &base);
  if (family == FAMILY_WGMMA) grid_wgmma(s, &base);
  if (family == FAMILY_MMA || family == FAMILY_WMMA) grid_warps(s, &base);
}

enum { MOST_STAGES = 4 };

void auto_refine(auto_search *s, size_t candidate) {
  kernel_spec base = s->list[candidate].spec;
  bool simt = base.value[SPEC_FAMILY] == FAMILY_SIMT;
  if (base.value[SPEC_FAMILY] == FAMILY_WGMMA) return; /* its ring takes what is left */
  for (int stages = 2; stages <= MOST_STAGES; ++stages) {
    const setting settings[] = {{SPEC_STAGES, stages}};
    try_with(s, &base, settings, 1);
  }
  if (!simt) return;
  /* Operands that are turned: through registers, or element by element through cp.async. */
  int element =
      dtype_bytes(base.value[SPEC_DTYPE_A] == SPEC_UNSET ? GG_F32 : base.value[SPEC_DTYPE_A]);
  int layout = base.value[SPEC_LAYOUT] == SPEC_UNSET ? LAYOUT_NN : base.value[SPEC_LAYOUT];
  bool a = layout == LAYOUT_NN || layout == LAYOUT_NT,
       b = layout == LAYOUT_NT || layout == LAYOUT_TT;
  const setting copies[] = {{SPEC_COPY_A, a ? element : SPEC_UNSET},
                            {SPEC_COPY_B, b ? element : SPEC_UNSET}};
  if (a || b) try_with(s, &base, copies, 2);
}
