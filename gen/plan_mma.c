/* plan_mma.c - family mma: tensor cores by mma.sync, fed from shared memory by ldmatrix, shared
 * memory by cp.async (sm_80 and later) or through registers (sm_75).
 *
 * Order of planning, each step fixing what the next one needs: instruction and sums from the types,
 * block and warp tile from registers and shared memory, rows and swizzle from what reads them,
 * stages and residency last. Measured in docs/mma.md.
 */
#include "plan_epilogue.h"
#include "plan_mma.h"
#include "plan_sums.h"

#include <stdio.h>
#include <string.h>

/* Preferences: wide block tiles move few bytes through L2, square warp tiles few through shared
 * memory. */
static const int block_tiles[][2] = {{128, 256}, {128, 128}, {64, 128}, {64, 64}, {32, 32}};
static const int warp_tiles[][2] = {{64, 64}, {64, 32}, {32, 64}, {32, 32},
                                    {32, 16}, {16, 32}, {16, 16}};
enum { BLOCK_TILES = sizeof block_tiles / sizeof block_tiles[0] };
enum { WARP_TILES = sizeof warp_tiles / sizeof warp_tiles[0], LEAST_WARPS = 4, SCALE_BLOCK = 128 };

static bool asked_otherwise(const plan_builder *b, spec_field f, int value) {
  return plan_asked(b, f, value) != value;
}

/* Is this what the spec asks, and do warps fill the block? */
static bool is_asked(const plan_builder *b, const mma_tile *t) {
  return !asked_otherwise(b, SPEC_WARP_M, t->warp_m) &&
         !asked_otherwise(b, SPEC_WARP_N, t->warp_n) && t->m % t->warp_m == 0 &&
         t->n % t->warp_n == 0;
}

/* Does it fit? If not, says why into text (size bytes). */
static bool fits(const plan_builder *b, const mma_tile *t, char *text, size_t size) {
  int threads = plan_mma_threads(t);
  int limit = b->gpu->registers_sm / (plan_asked(b, SPEC_MIN_BLOCKS, 1) * threads) / 8 * 8;
  if (limit > b->gpu->registers_thread) limit = b->gpu->registers_thread;
  int registers = plan_mma_registers(b, t, t->fragments).total;
  int stages = plan_asked(b, SPEC_STAGES, plan_mma_least_stages(b));
  int bytes = stages * plan_mma_stage_bytes(b->plan, t);
  if (threads > 1024)
    snprintf(text, size, "%d threads, a block has at most 1024", threads);
  else if (registers > limit)
    snprintf(text, size, "about %d registers, a thread may have %d", registers, limit);
  else if (bytes > b->gpu->shared_block)
    snprintf(text, size, "%d stages take %d B, a block has %d", stages, bytes,
             b->gpu->shared_block);
  else
    return true;
  return false;
}

/* k of a tile: rows of 128 bytes where that many fit; less where copies pass through registers. */
static int k_of(const plan_builder *b, mma_tile t) {
  const kernel_plan *p = b->plan;
  int least = p->step_k > 32 / p->element ? p->step_k : 2 * p->step_k;
  t.k = (plan_mma_gathers(b) ? 64 : 128) / p->element;
  if (t.k < least) t.k = least;
  if (plan_mma_by_tma(b)) return t.k; /* whole rows of its swizzle */
  char text[128];
  while (t.k > least && !fits(b, &t, text, sizeof text))
    t.k /= 2;
  return t.k;
}

/* The first warp tile that fits the block; least: warps that it must leave. */
static bool find_warps(plan_builder *b, mma_tile *t, int least, bool note) {
  char text[128];
  for (int i = 0; i < WARP_TILES; ++i) {
    int wm = warp_tiles[i][0], wn = warp_tiles[i][1];
    if (b->plan->type_a == GG_F64 && wm * wn > 2048) continue; /* 256 registers of sums */
    t->warp_m = plan_asked(b, SPEC_WARP_M, wm);
    t->warp_n = plan_asked(b, SPEC_WARP_N, wn);
    if (!is_asked(b, t) || plan_mma_threads(t) < 32 * least) continue;
    t->k = plan_asked(b, SPEC_TILE_K, k_of(b, *t));
    if (fits(b, t, text, sizeof text)) return true;
    if (note)
      plan_reject(b, "%dx%dx%d in warps of %dx%d with %d set%s of fragments: %s", t->m, t->n, t->k,
                  t->warp_m, t->warp_n, t->fragments, t->fragments > 1 ? "s" : "", text);
    if (plan_given(b, SPEC_WARP_M) && plan_given(b, SPEC_WARP_N)) break;
  }
  return false;
}

static bool find_blocks(plan_builder *b, mma_tile *t) {
  for (int least = LEAST_WARPS; least >= 1; least -= LEAST_WARPS - 1)
    for (int i = 0; i < BLOCK_TILES; ++i) {
      t->m = plan_asked(b, SPEC_TILE_M, block_tiles[i][0]);
      t->n = plan_asked(b, SPEC_TILE_N, block_tiles[i][1]);
      if (find_warps(b, t, least, least == LEAST_WARPS)) return true;
      if (plan_given(b, SPEC_TILE_M) && plan_given(b, SPEC_TILE_N)) break;
    }
  return false;
}

/* One set of fragments where registers have no room for the usual two, or turns are odd. */
static bool find_tile(plan_builder *b, mma_tile *t) {
  t->fragments = plan_asked(b, SPEC_FRAGMENTS, plan_asked(b, SPEC_UNROLL_K, 0) % 2 == 0 ? 2 : 1);
  if (find_blocks(b, t)) return true;
  t->fragments = plan_asked(b, SPEC_FRAGMENTS, 1);
  return find_blocks(b, t);
}

/* Multiples that the spec's numbers must be, whatever fits. */
static void check_sides(plan_builder *b) {
  static const spec_field sixteens[] = {SPEC_TILE_M, SPEC_TILE_N, SPEC_WARP_M, SPEC_WARP_N};
  for (int i = 0; i < 4; ++i) {
    int value = plan_asked(b, sixteens[i], 16);
    if (value % 16 != 0)
      plan_refuse(b, sixteens[i], "tile-multiple",
                  "%d is not a multiple of 16, the rows that one ldmatrix brings; use %d", value,
                  round_up(value, 16));
  }
  int k = plan_asked(b, SPEC_TILE_K, b->plan->step_k);
  if (k % b->plan->step_k != 0)
    plan_refuse(b, SPEC_TILE_K, "tile-multiple",
                "%d is not a multiple of the %d elements of a k step; use %d", k, b->plan->step_k,
                round_up(k, b->plan->step_k));
  if (b->plan->promote_k > 0 && b->plan->promote_k % k != 0)
    plan_refuse(
        b, SPEC_TILE_K, "tile-multiple",
        "%d does not divide the %d of k after which sums of fp8 are promoted; use 32, 64 or "
        "128, or fast_accum",
        k, b->plan->promote_k);
  const int scaling[] = {b->plan->scale_a, b->plan->scale_b};
  for (int i = 0; i < 2; ++i) {
    int tile = plan_asked(b, sixteens[i], 0), warp = plan_asked(b, sixteens[i + 2], 1);
    if (scaling[i] == GG_SCALING_BLOCK && SCALE_BLOCK % warp != 0)
      plan_refuse(b, sixteens[i + 2], "tile-multiple",
                  "%d does not divide the %d rows (columns) that have a scale; use %d", warp,
                  SCALE_BLOCK, gcd_int(warp, SCALE_BLOCK));
    if (tile % warp != 0)
      plan_refuse(b, sixteens[i + 2], "tile-multiple", "%d does not divide the block's %d; use %d",
                  warp, tile, gcd_int(tile, 64));
  }
}

/* The spec's tile where this variant can have it; else, where copies of single elements take the
 * registers that it needs, one of its own. */
static bool find_variant_tile(plan_builder *b, mma_tile *t) {
  if (find_tile(b, t)) return true;
  if (b->variant != VARIANT_NARROW) return false;
  kernel_spec own = *b->spec;
  const kernel_spec *asked = b->spec;
  static const spec_field freed[] = {SPEC_TILE_M, SPEC_TILE_N, SPEC_TILE_K,    SPEC_WARP_M,
                                     SPEC_WARP_N, SPEC_STAGES, SPEC_MIN_BLOCKS};
  for (size_t i = 0; i < sizeof freed / sizeof freed[0]; ++i)
    own.value[freed[i]] = SPEC_UNSET;
  b->spec = &own;
  bool found = find_tile(b, t);
  b->spec = asked;
  return found;
}

static void choose_tile(plan_builder *b) {
  kernel_plan *p = b->plan;
  mma_tile t;
  if (!find_variant_tile(b, &t)) {
    char text[128] = "no warp tile divides it";
    mma_tile last = {.m = plan_asked(b, SPEC_TILE_M, 32), .n = plan_asked(b, SPEC_TILE_N, 32)};
    last.warp_m = plan_asked(b, SPEC_WARP_M, 16);
    last.warp_n = plan_asked(b, SPEC_WARP_N, 16);
    last.k = plan_asked(b, SPEC_TILE_K, 2 * p->step_k);
    last.fragments = plan_asked(b, SPEC_FRAGMENTS, 1);
    if (is_asked(b, &last)) fits(b, &last, text, sizeof text);
    plan_refuse(b, plan_given(b, SPEC_TILE_M) ? SPEC_TILE_M : SPEC_FAMILY, "tile-fit",
                "no warp tile serves; %dx%dx%d in warps of %dx%d: %s; use a smaller tile, fewer "
                "stages or fewer min_blocks",
                last.m, last.n, last.k, last.warp_m, last.warp_n, text);
    return;
  }
  const char *why = b->variant == VARIANT_NARROW
                        ? "what registers leave beside copies of single elements"
                        : "the largest of the preferred ones that registers and shared memory hold";
  const char *asked = plan_asked_why(b, SPEC_TILE_M);
  SET(tile_m, t.m, "%s", plan_asked(b, SPEC_TILE_M, -1) == t.m ? asked : why);
  SET(tile_n, t.n, "%s", plan_asked(b, SPEC_TILE_N, -1) == t.n ? asked : why);
  if (plan_asked(b, SPEC_TILE_K, -1) == t.k)
    SET(tile_k, t.k, "%s", asked);
  else
    SET(tile_k, t.k, "%d bytes a row where k is contiguous", t.k * p->element);
  mma_registers r = plan_mma_registers(b, &t, t.fragments);
  p->fragments = t.fragments;
  double need = (double)(t.warp_m + t.warp_n) * p->element / (t.warp_m * t.warp_n);
  SET(warp_m, t.warp_m, "%d registers of sums; %.4f shared bytes an FMA", r.accumulators, need);
  SET(warp_n, t.warp_n, "%d registers of sums; %.4f shared bytes an FMA", r.accumulators, need);
  SET(warps_m, t.m / t.warp_m, "%d / %d", t.m, t.warp_m);
  SET(warps_n, t.n / t.warp_n, "%d / %d", t.n, t.warp_n);
  SET(threads, plan_mma_threads(&t), "32 x %d x %d warps", p->warps_m, p->warps_n);
  SET(k_slices, 1, "none");
}

/* k steps that the text has: all, or those of a turn of a loop. Copies of single elements may have
 * a k tile of their own. */
static void choose_unrolling(plan_builder *b, int steps) {
  kernel_plan *p = b->plan;
  TAKE(unroll_k, UNROLL_K, steps, NULL, "full: the k tile's %d steps stand in the text", steps);
  if (p->unroll_k == 0) SET(unroll_k, steps, "asked by the spec: full");
  if (b->variant == VARIANT_NARROW && steps % p->unroll_k != 0)
    SET(unroll_k, gcd_int(steps, p->unroll_k), "of the %d asked, what divides this k tile's %d",
        p->unroll_k, steps);
  if (steps % p->unroll_k != 0)
    plan_refuse(b, SPEC_UNROLL_K, "unroll",
                "%d steps do not divide the %d of a k tile (%d elements each); use a divisor, or "
                "\"full\"",
                p->unroll_k, steps, p->step_k);
  else if (p->unroll_k != steps)
    buf_printf(&b->suffix, "_u%d", p->unroll_k);
}

/* A ring that is written out repeats the body for each stage. */
static void choose_ring(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (b->variant == VARIANT_NARROW) {
    SET(unroll_stages, 0, "copies of single elements are most of the text, and take the registers");
    return;
  }
  TAKE(unroll_stages, UNROLL_STAGES, 0, NULL,
       "a rolled ring: the body stays in the instruction cache");
  if (!p->unroll_stages) return;
  buf_puts(&b->suffix, "_ring");
  if (p->promote_k > 0)
    plan_refuse(b, SPEC_UNROLL_STAGES, "unroll",
                "true: sums of two stages' parts of %d of k would live at once, and spill; use "
                "false%s",
                p->promote_k, plan_has_parts(p) ? "" : ", or fast_accum");
  else if (p->arch == 90 && plan_is_fp8(p->type_a))
    plan_refuse(b, SPEC_UNROLL_STAGES, "unroll",
                "true: the compiler widens fp8 for sm_90, of two stages at once, and spills; use "
                "false");
}

static void choose_steps(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (plan_mma_by_tma(b)) buf_puts(&b->suffix, "_tma");
  choose_unrolling(b, p->tile_k / p->step_k);
  choose_ring(b);
  bool two = plan_given(b, SPEC_FRAGMENTS) || p->fragments == 2;
  TAKE(fragments, FRAGMENTS, two && p->unroll_k % 2 == 0 ? 2 : 1, "f", "%s",
       two ? "the next step's operands load while this step computes; with one set each behind its "
             "last use"
           : "registers have no room for a second: each is loaded again behind its last use");
  if (p->fragments == 2 && p->unroll_k % 2 != 0)
    plan_refuse(b, SPEC_FRAGMENTS, "fragments",
                "2 sets alternate, which needs an even number of unrolled k steps, not %d; use 1",
                p->unroll_k);
  TAKE(order, ORDER, ORDER_SERPENTINE, NULL, "neighbours share an operand's registers");
  static const char *const keys[] = {"_row", "_column", ""};
  buf_puts(&b->suffix, keys[p->order]);
}

/* What a lane stores of D, or finishes, at once: a warp's lanes fill 8 rows in whole stores. */
static void choose_vectors(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool narrow = b->variant == VARIANT_NARROW;
  int vector = narrow ? 1 : gcd_int(16 / p->element_d, p->warp_n / 4);
  SET(store_vector, vector,
      narrow ? "one element: any pointer" : "of a row that shared memory collects, up to 16 bytes");
  int widest = dtype_bytes(p->type_acc) > p->element_d ? dtype_bytes(p->type_acc) : p->element_d;
  if (dtype_bytes(p->type_c) > widest) widest = dtype_bytes(p->type_c);
  int finished = narrow ? 1 : gcd_int(16 / widest, p->warp_n / 4);
  SET(sum_vector, finished,
      narrow ? "one element: any pointer" : "16 bytes of sums, of C or of D, whichever are fewest");
  SET(align_c, finished * dtype_bytes(p->type_c), "of one load of C");
  SET(align_d, vector * p->element_d, "of one store of D");
}

static void choose_rest(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (plan_mma_by_tma(b))
    plan_mma_tma_multiples(b);
  else
    plan_copy_multiples(b);
  TAKE(raster_along, RASTER_ALONG, RASTER_M, "r", "groups of rows share B in L2");
  TAKE(raster_group, RASTER_GROUP, 2048 / p->tile_m > 0 ? 2048 / p->tile_m : 1, "g",
       "%d rows of tiles: the SMs' tiles together near a square", 2048 / p->tile_m);
}

const spec_field plan_takes_mma[] = {
    SPEC_TILE_K,     SPEC_WARP_M,     SPEC_WARP_N,   SPEC_INST_M,          SPEC_INST_N,
    SPEC_INST_K,     SPEC_STAGES,     SPEC_PADDING,  SPEC_SWIZZLE,         SPEC_COPY_A,
    SPEC_COPY_B,     SPEC_COPY_PATH,  SPEC_UNROLL_K, SPEC_UNROLL_STAGES,   SPEC_FRAGMENTS,
    SPEC_ORDER,      SPEC_FAST_ACCUM, SPEC_EDGE,     PLAN_EPILOGUE_FIELDS, SPEC_PROGRAMMATIC,
    SPEC_FIELD_COUNT};

static void make(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (b->variant == VARIANT_EDGE && !plan_asked(b, SPEC_EDGE, 1)) b->result = PLAN_SAME;
  plan_mma_types(b);
  if (b->result == PLAN_OK) check_sides(b);
  if (b->result == PLAN_OK && plan_mma_by_tma(b)) plan_mma_check_tma(b);
  if (b->result == PLAN_OK) choose_tile(b);
  if (b->result == PLAN_OK) choose_steps(b);
  if (b->result == PLAN_OK) plan_mma_shared(b);
  if (b->result == PLAN_OK) choose_vectors(b);
  if (b->result == PLAN_OK) plan_mma_staging(b);
  if (b->result == PLAN_OK) plan_mma_residency(b);
  if (b->result != PLAN_OK) return;
  bool tma = plan_mma_by_tma(b);
  if (b->variant == VARIANT_EDGE && !tma && p->copy_a == p->element && p->copy_b == p->element) {
    b->result = PLAN_SAME;
    return;
  }
  SET(persistent, 1, "the next tile's copies run during the last products and the epilogue");
  choose_rest(b);
  plan_mma_cost(b);
  char shape[64];
  int n = snprintf(shape, sizeof shape, "%dx%dx%d_w%dx%d", p->tile_m, p->tile_n, p->tile_k,
                   p->warp_m, p->warp_n);
  snprintf(shape + n, sizeof shape - (size_t)n, "_s%d", p->stages);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}

/* By TMA where it can be, unless the spec says who copies. */
void plan_make_mma(plan_builder *b) {
  plan_mark begin = plan_mark_here(b);
  make(b);
  if (b->result != PLAN_ILLEGAL || plan_given(b, SPEC_COPY_PATH) || !plan_mma_by_tma(b)) return;
  plan_fault trouble = *b->fault;
  plan_go_back(b, &begin);
  b->by_threads = true;
  plan_reject(b, "copies by TMA: %s: %s", spec_field_name(trouble.field), trouble.text);
  make(b);
}
