/* plan_simt.c - family simt: a tile of outputs a thread on CUDA-core FMAs, operands through a ring
 * of stages in shared memory.
 *
 * Order of planning, each step fixing what the next one needs: thread tile from shared bandwidth
 * and registers, block tile from the warp's arrangement, k tile from the length of the unrolled
 * body, copies, stages from capacity, residency (plan_simt_registers.c) last. The preferences are
 * measured (docs/simt.md).
 */
#include "plan_epilogue.h"
#include "plan_simt.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FMAS_A_BLOCK = 2048, FMAS_A_BODY = 1024 };

/* Bytes that a thread tile needs from shared memory for each cycle of full-rate FMAs, every operand
 * counted for every thread: (m + n) * element / (m * n) bytes a FMA. */
static double shared_need(const plan_builder *b, int m, int n) {
  int rate = b->plan->type_acc == GG_F64 ? b->gpu->fma_f64 : b->gpu->fma_f32;
  return (double)(m + n) * b->plan->element / (m * n) * rate;
}

/* Divides a tile's side into lanes x thread elements x warps. */
static bool divides(int tile, int lanes, int thread) {
  return tile % (lanes * thread) == 0;
}

static const int lane_shapes[][2] = {{4, 8}, {8, 4}, {2, 16}, {16, 2}, {1, 32}, {32, 1}};
enum { LANE_SHAPES = sizeof lane_shapes / sizeof lane_shapes[0] };

/* Refuses lanes that are no warp, whatever the tile. */
static void check_lanes(plan_builder *b) {
  int lm = plan_asked(b, SPEC_LANES_M, 0), ln = plan_asked(b, SPEC_LANES_N, 0);
  if (lm != 0 && ln != 0 && lm * ln != 32)
    plan_refuse(b, SPEC_LANES_M, "lanes", "%d x %d = %d lanes, a warp has 32; use 4 x 8", lm, ln,
                lm * ln);
  else if (lm != 0 && 32 % lm != 0)
    plan_refuse(b, SPEC_LANES_M, "lanes", "%d does not divide the 32 lanes of a warp; use 4 or 8",
                lm);
  else if (ln != 0 && 32 % ln != 0)
    plan_refuse(b, SPEC_LANES_N, "lanes", "%d does not divide the 32 lanes of a warp; use 4 or 8",
                ln);
}

/* Finds lanes for a thread tile; false if none divides the tile that was asked. */
static bool find_lanes(const plan_builder *b, int tm, int tn, int lanes[2]) {
  for (int i = 0; i < LANE_SHAPES; ++i) {
    int lm = plan_asked(b, SPEC_LANES_M, lane_shapes[i][0]);
    int ln = plan_asked(b, SPEC_LANES_N, lane_shapes[i][1]);
    if (lm * ln != 32) {
      /* One side asked: the other follows. */
      if (plan_given(b, SPEC_LANES_M) && !plan_given(b, SPEC_LANES_N) && 32 % lm == 0)
        ln = 32 / lm;
      else if (plan_given(b, SPEC_LANES_N) && !plan_given(b, SPEC_LANES_M) && 32 % ln == 0)
        lm = 32 / ln;
      else
        continue;
    }
    if (!divides(plan_asked(b, SPEC_TILE_M, lm * tm), lm, tm)) continue;
    if (!divides(plan_asked(b, SPEC_TILE_N, ln * tn), ln, tn)) continue;
    lanes[0] = lm;
    lanes[1] = ln;
    return true;
  }
  return false;
}

/* Would the kernels of all variants be legal with this thread tile? If not, fault says why. Only
 * faults that a smaller thread tile may mend count; others come out as they are, later. */
static bool serves(plan_builder *b, int m, int n, plan_fault *fault) {
  kernel_spec trial = *b->spec;
  trial.value[SPEC_THREAD_M] = m;
  trial.value[SPEC_THREAD_N] = n;
  for (int v = 0; v < VARIANT_COUNT; ++v) {
    kernel_plan p;
    plan_result result = plan_make(&trial, (plan_variant)v, &p, fault);
    if (result == PLAN_OK) plan_free(&p);
    if (result == PLAN_MEMORY) b->result = PLAN_MEMORY;
    if (result == PLAN_ILLEGAL &&
        (strcmp(fault->code, "registers") == 0 || strcmp(fault->code, "threads") == 0))
      return false;
  }
  return true;
}

static void choose_thread_tile(plan_builder *b) {
  static const int candidates[][2] = {{16, 16}, {16, 8}, {8, 8}, {8, 4}, {4, 4},
                                      {4, 2},   {2, 2},  {2, 1}, {1, 1}};
  if (plan_given(b, SPEC_THREAD_M) || plan_given(b, SPEC_THREAD_N)) {
    int m = plan_asked(b, SPEC_THREAD_M, plan_asked(b, SPEC_THREAD_N, 8));
    TAKE(thread_m, THREAD_M, m, NULL, "as thread.n");
    TAKE(thread_n, THREAD_N, m, NULL, "as thread.m");
    return;
  }
  int chosen = -1, tried = -1;
  plan_fault fault, first;
  for (int i = 0; i < (int)(sizeof candidates / sizeof candidates[0]); ++i) {
    int m = candidates[i][0], n = candidates[i][1], lanes[2];
    int registers = plan_simt_tile_registers(b, m, n);
    if (registers > b->gpu->registers_thread) {
      plan_reject(b, "thread tile %dx%d: about %d registers, a thread has %d", m, n, registers,
                  b->gpu->registers_thread);
    } else if (!find_lanes(b, m, n, lanes)) {
      plan_reject(b, "thread tile %dx%d: no arrangement of 32 lanes divides the tile of %dx%d", m,
                  n, plan_asked(b, SPEC_TILE_M, 0), plan_asked(b, SPEC_TILE_N, 0));
    } else if (chosen < 0 && !serves(b, m, n, &fault)) {
      plan_reject(b, "thread tile %dx%d: %s", m, n, fault.text);
      if (tried < 0) tried = i, first = fault;
    } else if (chosen < 0) {
      chosen = i;
      char why[256];
      snprintf(
          why, sizeof why,
          "largest that fits: %dx%d needs %.0f B/cycle of shared memory at full rate (the port "
          "gives %d) and about %d registers",
          m, n, shared_need(b, m, n), b->gpu->shared_bytes_cycle, registers);
      SET(thread_m, m, "%s", why);
      SET(thread_n, n, "%s", why);
    } else {
      plan_reject(b, "thread tile %dx%d: needs %.0f B/cycle of shared memory at full rate", m, n,
                  shared_need(b, m, n));
    }
  }
  if (chosen < 0 && tried >= 0)
    plan_refuse(b, plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS : SPEC_TILE_M, first.code,
                "no thread tile serves; %dx%d, the largest tried: %s", candidates[tried][0],
                candidates[tried][1], first.text);
  else if (chosen < 0)
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "no thread tile divides %d x %d into warps of 32 lanes; use multiples of 32",
                plan_asked(b, SPEC_TILE_M, 0), plan_asked(b, SPEC_TILE_N, 0));
}

/* Warps along one side: from the tile if asked, else towards a tile of 128 (64 for small threads).
 */
static int choose_warps(plan_builder *b, int axis, int lanes, int thread) {
  spec_field tile = axis == 0 ? SPEC_TILE_M : SPEC_TILE_N;
  int warp = lanes * thread;
  if (plan_given(b, tile)) return b->spec->value[tile] / warp;
  int target = b->plan->thread_m * b->plan->thread_n >= 64 ? 128 : 64;
  return warp >= target ? 1 : target / warp;
}

static void choose_block_tile(plan_builder *b) {
  kernel_plan *p = b->plan;
  int tm = p->thread_m, tn = p->thread_n, lanes[2];
  if (!find_lanes(b, tm, tn, lanes)) {
    int lm = plan_asked(b, SPEC_LANES_M, 32 / plan_asked(b, SPEC_LANES_N, 8));
    plan_refuse(b, plan_given(b, SPEC_TILE_M) ? SPEC_TILE_M : SPEC_LANES_N, "tile-multiple",
                "no arrangement of 32 lanes with %dx%d outputs a thread divides the tile of %dx%d; "
                "use multiples of %d x %d",
                tm, tn, plan_asked(b, SPEC_TILE_M, 0), plan_asked(b, SPEC_TILE_N, 0), lm * tm,
                32 / lm * tn);
    return;
  }
  const char *why = "near square for few bytes an FMA; 8 lanes along n read 128 bytes of B";
  TAKE(lanes_m, LANES_M, lanes[0], NULL, "%s", why);
  TAKE(lanes_n, LANES_N, lanes[1], NULL, "%s", why);
  int wm = choose_warps(b, 0, lanes[0], tm), wn = choose_warps(b, 1, lanes[1], tn);
  SET(warps_m, wm, "tile_m / (lanes_m x thread_m)");
  SET(warps_n, wn, "tile_n / (lanes_n x thread_n)");
  TAKE(tile_m, TILE_M, wm * lanes[0] * tm, NULL, "%d warps x %d lanes x %d rows", wm, lanes[0], tm);
  TAKE(tile_n, TILE_N, wn * lanes[1] * tn, NULL, "%d warps x %d lanes x %d columns", wn, lanes[1],
       tn);
  TAKE(k_slices, K_SLICES, 1, NULL, "the tiles of large problems fill the card without slicing k");
  if (p->k_slices == 3)
    plan_refuse(b, SPEC_K_SLICES, "k-slices", "3 is not a power of two; use 1, 2 or 4");
  SET(threads, 32 * wm * wn * p->k_slices, "32 x %d x %d warps x %d k slices", wm, wn, p->k_slices);
  if (p->threads > 1024 || p->threads < 32)
    plan_refuse(b, SPEC_TILE_M, "threads",
                "%dx%d outputs at %dx%d a thread take %d threads; a block has at most 1024; use a "
                "smaller tile%s",
                p->tile_m, p->tile_n, tm, tn, p->threads,
                p->k_slices > 1 ? ", a larger thread tile or fewer k_slices"
                                : " or a larger thread tile");
}

static void choose_k_tile(plan_builder *b) {
  kernel_plan *p = b->plan;
  int fmas = p->thread_m * p->thread_n;
  int steps = FMAS_A_BODY / fmas;
  steps = steps < 8 ? 8 : steps > 16 ? 16 : steps / 8 * 8;
  /* At least the stages asked for, or two, must fit; padded rows are at most 16 elements longer. */
  int stages = plan_asked(b, SPEC_STAGES, 2);
  while (steps > 2 && stages * steps * p->k_slices * (p->tile_m + p->tile_n + 32) * p->element >
                          b->gpu->shared_block)
    steps /= 2;
  TAKE(tile_k, TILE_K, steps * p->k_slices, NULL,
       "%d steps a slice: about %d FMAs a body hide the loop, its barrier and the copies", steps,
       steps * fmas);
  if (p->tile_k % p->k_slices != 0) {
    plan_refuse(b, SPEC_TILE_K, "tile-multiple", "%d is not a multiple of the %d k slices",
                p->tile_k, p->k_slices);
    return;
  }
  int steps_slice = p->tile_k / p->k_slices;
  int most = steps_slice;
  while (most > 1 && (most * fmas > MOST_FMAS_A_BLOCK || steps_slice % most != 0))
    --most;
  TAKE(unroll_k, UNROLL_K, most, NULL,
       most == steps_slice ? "full: the k tile's %d steps stand in the text, %d FMAs"
                           : "%d steps: more than 2048 FMAs in a block slow ptxas and the "
                             "instruction cache (%d)",
       most, most * fmas);
  if (p->unroll_k == 0) SET(unroll_k, steps_slice, "asked by the spec: full");
  if (p->unroll_k > steps_slice || steps_slice % p->unroll_k != 0)
    plan_refuse(b, SPEC_UNROLL_K, "unroll",
                "%d steps do not divide the %d of a k tile%s; use a divisor, or \"full\"",
                p->unroll_k, steps_slice, p->k_slices > 1 ? " slice" : "");
  else if (p->unroll_k != steps_slice)
    buf_printf(&b->suffix, "_u%d", p->unroll_k);
  bool can_double = steps_slice >= 2 && p->unroll_k % 2 == 0;
  TAKE(fragments, FRAGMENTS, can_double ? 2 : 1, "f",
       can_double ? "the next step's operands load while this step computes"
                  : "an odd number of unrolled steps cannot alternate between two sets");
  if (p->fragments == 2 && !can_double)
    plan_refuse(b, SPEC_FRAGMENTS, "fragments",
                "2 sets alternate, which needs an even number of unrolled steps, not %d; use 1",
                p->unroll_k);
  TAKE(order, ORDER, ORDER_SERPENTINE, NULL,
       "each FMA shares an operand with the one before: the register cache saves a bank access");
  static const char *const keys[] = {"_row", "_column", ""};
  buf_puts(&b->suffix, keys[p->order]);
}

static bool power_of_two(int x) {
  return x > 0 && (x & (x - 1)) == 0;
}

static void choose_copies(plan_builder *b) {
  kernel_plan *p = b->plan;
  int asked = plan_asked(b, SPEC_STAGES, 0);
  bool async = b->gpu->has_cp_async && asked != 1;
  if (asked > 8)
    plan_refuse(b, SPEC_STAGES, "stages", "%d; cp.async rings here have 1 to 8 stages", asked);
  if (asked > 2 && !b->gpu->has_cp_async)
    plan_refuse(b, SPEC_STAGES, "stages",
                "%d stages need cp.async (sm_80 and later), %s is sm_%d; use 1 or 2", asked,
                b->gpu->name, b->gpu->arch);
  TAKE(swizzle, SWIZZLE, 0, NULL, "none asked: padding keeps turned stores apart (pad_a, pad_b)");
  if (p->swizzle != 0) {
    if (p->swizzle != 128)
      plan_refuse(b, SPEC_SWIZZLE, "swizzle",
                  "%d; the XOR works on 16-byte chunks of 128-byte rows; use 128, or padding",
                  p->swizzle);
    if (plan_asked(b, SPEC_PADDING, 0) > 0)
      plan_refuse(b, SPEC_SWIZZLE, "swizzle", "128 together with padding; use one of them");
    if (!power_of_two(p->tile_m) || !power_of_two(p->tile_n) || !power_of_two(p->threads) ||
        p->tile_m * p->element < 128 || p->tile_n * p->element < 128)
      plan_refuse(b, SPEC_SWIZZLE, "swizzle",
                  "128 needs rows of 128 bytes and more and powers of two; the tile is %dx%d on %d "
                  "threads; use padding",
                  p->tile_m, p->tile_n, p->threads);
    if (p->unroll_k % 8 != 0 && p->unroll_k != p->tile_k / p->k_slices)
      plan_refuse(
          b, SPEC_UNROLL_K, "swizzle",
          "%d steps do not end on the swizzle's period of 8; use a multiple of 8, or padding",
          p->unroll_k);
    if (p->tile_k / p->k_slices % 8 != 0 && p->k_slices > 1)
      plan_refuse(b, SPEC_K_SLICES, "swizzle",
                  "a slice of %d k steps does not end on the swizzle's period of 8; use padding",
                  p->tile_k / p->k_slices);
    SET(swizzle, 1, "asked by the spec: chunk index XOR (k mod 8)");
    buf_puts(&b->suffix, "_swizzle");
  }
  if (b->result != PLAN_OK) return;
  for (int operand = 0; operand < 2; ++operand)
    plan_copy_operand(b, operand, true, async, NULL);
  if (b->result != PLAN_OK) return;
  if (b->variant == VARIANT_EDGE && p->copy_a == p->element && p->copy_b == p->element) {
    b->result = PLAN_SAME;
    return;
  }
  int vector = gcd_int(gcd_int(p->thread_m, p->thread_n), 16 / p->element);
  SET(vector, vector, "gcd of the thread tile's sides and %d elements of 16 bytes",
      16 / p->element);
  plan_copy_stage(b);
}

static void choose_stages(plan_builder *b) {
  kernel_plan *p = b->plan;
  const gpu_facts *g = b->gpu;
  int choice = g->has_cp_async ? 3 : 2;
  while (choice > 2 && choice * p->stage_bytes > g->shared_block)
    --choice;
  TAKE(stages, STAGES, choice, NULL,
       g->has_cp_async ? "two tiles in flight while one is computed; a fourth gains nothing"
                       : "one tile in registers while one is computed");
  int reduce = p->k_slices / 2 * p->tile_m * p->tile_n * p->element;
  if (p->k_slices > 1)
    SET(reduce_bytes, reduce, "%d half-sums of %d x %d x %d B", p->k_slices / 2, p->tile_m,
        p->tile_n, p->element);
  else
    SET(reduce_bytes, 0, "no slices");
  int ring = p->stages * p->stage_bytes;
  if (reduce > ring)
    SET(shared_bytes, reduce, "the sum of slices, larger than the ring's %d x %d = %d", p->stages,
        p->stage_bytes, ring);
  else
    SET(shared_bytes, ring, "%d stages x %d", p->stages, p->stage_bytes);
  if (reduce > g->shared_block)
    plan_refuse(b, SPEC_K_SLICES, "shared-memory",
                "the sum of %d slices takes %d x %d x %d x %d B = %d B of shared memory, more than "
                "the %d B a block of %s may have; use fewer k_slices or a smaller tile",
                p->k_slices, p->k_slices / 2, p->tile_m, p->tile_n, p->element, reduce,
                g->shared_block, g->name);
  else if (p->shared_bytes > g->shared_block)
    plan_refuse(b, plan_given(b, SPEC_STAGES) ? SPEC_STAGES : SPEC_TILE_K, "shared-memory",
                "%d stages of %d B are %d B of shared memory, more than the %d B a block of %s may "
                "have; use fewer stages or a smaller tile.k",
                p->stages, p->stage_bytes, p->shared_bytes, g->shared_block, g->name);
  TAKE(unroll_stages, UNROLL_STAGES, 0, NULL,
       "a rolled ring: the body stays in the instruction cache");
  if (p->unroll_stages && p->stages < 2)
    plan_refuse(b, SPEC_UNROLL_STAGES, "unroll", "true needs a ring of 2 stages or more");
  if (p->unroll_stages) buf_puts(&b->suffix, "_ring");
}

static void estimate_code(plan_builder *b) {
  kernel_plan *p = b->plan;
  int fmas = p->thread_m * p->thread_n;
  int loads = (p->thread_m + p->thread_n) / p->vector;
  int steps = p->tile_k / p->k_slices;
  int copies = 0;
  copies += p->copies_a * (p->path_a == PATH_ASYNC ? 6 : 3 + p->copy_a / p->element);
  copies += p->copies_b * (p->path_b == PATH_ASYNC ? 6 : 3 + p->copy_b / p->element);
  bool rolled = p->unroll_k != steps;
  int rings = p->unroll_stages ? p->stages : 1;
  int unrolled = rolled && p->fragments == 2 ? 2 * p->unroll_k : p->unroll_k;
  int body = unrolled * (fmas + loads + (rolled ? 4 : 1)) + copies + 24;
  SET(loop_fmas, p->unroll_k * fmas * (rolled ? 1 : rings), "%d steps x %d%s", p->unroll_k, fmas,
      rings > 1 && !rolled ? " x stages" : "");
  SET(loop_bytes, 16 * body * rings,
      "16 bytes x (%d steps x (%d FMAs + %d loads) + %d for copies + 24)%s", unrolled, fmas, loads,
      copies, rings > 1 ? " x stages" : "");
  /* Instructions an output after the loop: alpha and beta take about 3, twice; guards of single
   * elements as many again, and before sm_90 the compiler repeats them. */
  int outside = b->variant != VARIANT_NARROW ? 7 : p->arch < 90 ? 30 : 19;
  outside += plan_step_instructions(p);
  int epilogue = fmas * outside + 64;
  int reduce = p->k_slices > 1 ? 5 * fmas * (p->k_slices / 2 + 1) : 0;
  int prologue = 160 + copies * 3 * p->stages + 3 * copies;
  int budget = 16 * (body * (rings + 1) + epilogue + reduce + prologue) * 5 / 4 + 2048;
  SET(code_bytes, budget, "loop, drain, prologue, epilogue, and a quarter for the compiler");
  SET(compile_seconds, 30, "budget of every kernel");
  SET(fragment_gap, fmas * 3 / 4 / loads > 0 ? fmas * 3 / 4 / loads : 1,
      "%d fragment loads over the first three quarters of a step's %d FMAs", loads, fmas);
  SET(copy_gap, fmas >= 64 ? 24 : fmas >= 16 ? 8 : 2, "spread, so that no two copies queue");
}

/* C and D travel in vectors: f16 and bf16 in pairs, the other narrow types not at all. */
static void require_vector_types(plan_builder *b) {
  const kernel_plan *p = b->plan;
  const struct {
    spec_field field;
    int type;
  } matrices[] = {{SPEC_DTYPE_D, p->type_d}, {SPEC_DTYPE_C, p->type_c}};
  for (int i = 0; i < 2; ++i) {
    int type = matrices[i].type;
    if (type != GG_F64 && type != GG_F32 && type != GG_F16 && type != GG_BF16)
      plan_refuse(b, matrices[i].field, "dtype-family",
                  "%s is not stored by family simt; use f32, f16, bf16, or family smem",
                  dtype_name(type));
  }
}

/* What the choice among kernels rests on, as measured on an H200 over 34 problems
 * (docs/dispatch.md). Fragments: shared bytes a cycle that the thread tile needs, in parts of those
 * there are; beyond 1 the FMAs wait for 0.7 of the excess. Turned elements go one by one too. */
static void rank(plan_builder *b) {
  kernel_plan *p = b->plan;
  int rate = p->type_acc == GG_F64 ? b->gpu->fma_f64 : b->gpu->fma_f32;
  double need = shared_need(b, p->thread_m, p->thread_n) / b->gpu->shared_bytes_cycle;
  double wait = need > 1 ? 0.7 * (need - 1) : 0;
  bool single_a = p->turn_a || p->copy_a == p->element;
  bool single_b = p->turn_b || p->copy_b == p->element;
  double copies = plan_single_copies(p, single_a, single_b, PLAN_SLOTS_ASYNC, rate);
  int speed = (int)(1000 / (1 + wait + copies) + 0.5);
  plan_speed(b, plan_core_speed(b, speed),
             "1000 / (1 + %.2f + %.2f) of CUDA cores: FMAs wait for fragments, and for copies of "
             "single elements",
             wait, copies);
  SET(wave_loss, 100, "an idle SM's time is lost");
  TAKE(overhead_k, OVERHEAD_K, 80, NULL, "to fill the ring and to store, 40 to 100 as measured");
}

const spec_field plan_takes_simt[] = {
    SPEC_TILE_K,          SPEC_THREAD_M,     SPEC_THREAD_N,      SPEC_LANES_M,   SPEC_LANES_N,
    SPEC_STAGES,          SPEC_PADDING,      SPEC_SWIZZLE,       SPEC_COPY_A,    SPEC_COPY_B,
    SPEC_K_SLICES,        SPEC_UNROLL_K,     SPEC_UNROLL_STAGES, SPEC_FRAGMENTS, SPEC_ORDER,
    PLAN_EPILOGUE_FIELDS, SPEC_PROGRAMMATIC, SPEC_FIELD_COUNT};

void plan_make_simt(plan_builder *b) {
  kernel_plan *p = b->plan;
  plan_require_types(b);
  plan_refuse_parts(b);
  require_vector_types(b);
  check_lanes(b);
  if (b->result == PLAN_OK) choose_thread_tile(b);
  if (b->result == PLAN_OK) choose_block_tile(b);
  if (b->result == PLAN_OK) choose_k_tile(b);
  if (b->result == PLAN_OK) choose_copies(b);
  if (b->result == PLAN_OK) choose_stages(b);
  if (b->result == PLAN_OK) plan_simt_residency(b);
  if (b->result == PLAN_OK && plan_step_registers(p) > 0) plan_simt_epilogue_rows(b);
  if (b->result != PLAN_OK) return;
  bool narrow = b->variant == VARIANT_NARROW;
  SET(store_vector, narrow ? 1 : p->vector,
      narrow ? "one element: any pointer" : "as the fragments of B");
  SET(align_c, p->store_vector * dtype_bytes(p->type_c), "of one load of C");
  SET(align_d, p->store_vector * p->element_d, "of one store of D");
  plan_copy_multiples(b);
  TAKE(raster_along, RASTER_ALONG, RASTER_M, "r", "groups of rows share B in L2");
  TAKE(raster_group, RASTER_GROUP, 8, "g",
       "a square of tiles; on an H200, f32 4096^3, groups of 1 to 32 are within 0.4 %%");
  rank(b);
  estimate_code(b);
  char shape[64];
  int n = snprintf(shape, sizeof shape, "%dx%dx%d_t%dx%d", p->tile_m, p->tile_n, p->tile_k,
                   p->thread_m, p->thread_n);
  if (p->lanes_m != 4 || p->lanes_n != 8)
    n += snprintf(shape + n, sizeof shape - (size_t)n, "_l%dx%d", p->lanes_m, p->lanes_n);
  if (p->k_slices > 1) n += snprintf(shape + n, sizeof shape - (size_t)n, "_k%d", p->k_slices);
  snprintf(shape + n, sizeof shape - (size_t)n, "_s%d", p->stages);
  if (b->result == PLAN_OK) plan_common_end(b, shape);
}
