/* plan_wmma.c - family wmma: tensor cores by wmma.load, wmma.mma and wmma.store, in the shapes of
 * nvcuda::wmma.
 *
 * A block computes warp tiles, a warp tile is a grid of fragments. wmma reads either order, so
 * operands lie in shared memory as in global memory and nothing is turned; rows are padded so that
 * the loads of a fragment spread over the banks. Which element a register holds is nobody's
 * business: sums go through shared memory to the epilogue, a row of fragments at a time, each warp
 * in a strip of its own.
 */
#include "plan_wmma.h"

#include "plan_epilogue.h"

#include <stdio.h>
#include <string.h>

enum {
  /* Addresses, bounds, loop; tf32 and 8-bit types, whose steps are short, take more for loads that
   * ptxas moves up. Fitted to ptxas (nvcc 13.0, sm_75 to sm_120): no spill at these. */
  OTHER_REGISTERS = 20,
  MORE_LOADS = 32,
  REACHED = 500,   /* per mille of the fastest kernel, by the largest tiles */
  MOST_STAGED = 32 /* registers of a narrow kernel for elements on their way */
};

typedef struct shape {
  int m, n, k;
} shape;

/* What wmma multiplies, and since which architecture; the first shape is the default. */
typedef struct operand_type {
  int type, arch, acc;
  shape shapes[3];
} operand_type;

static const operand_type types[] = {
    {GG_F16, 70, GG_F32, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
    {GG_S8, 72, GG_S32, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
    {GG_U8, 72, GG_S32, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
    {GG_BF16, 80, GG_F32, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
    {GG_TF32, 80, GG_F32, {{16, 16, 8}}},
    {GG_F64, 80, GG_F64, {{8, 8, 4}}},
};
enum { TYPES = sizeof types / sizeof types[0], SHAPES = 3 };

static const operand_type *type_of(const kernel_plan *p) {
  for (size_t i = 0; i < TYPES; ++i)
    if (types[i].type == p->type_a) return &types[i];
  return NULL;
}

static void choose_types(plan_builder *b) {
  const kernel_plan *p = b->plan;
  const operand_type *t = type_of(p);
  if (t == NULL) {
    plan_refuse(
        b, SPEC_DTYPE_A, "dtype-family",
        "%s is no type of wmma; use f16, bf16, tf32, s8, u8 or f64%s", dtype_name(p->type_a),
        p->type_a == GG_F32 ? " (tf32 is f32 with 10 bits of fraction), or family simt" : "");
    return;
  }
  if (b->gpu->arch < t->arch)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-gpu", "wmma takes %s from sm_%d on, %s is sm_%d; use f16%s",
                dtype_name(p->type_a), t->arch, b->gpu->name, b->gpu->arch,
                b->gpu->arch >= 72 ? " or s8" : "");
  if (p->type_b != p->type_a)
    plan_refuse(b, SPEC_DTYPE_B, "dtype-family", "%s does not multiply with %s in wmma; use %s",
                dtype_name(p->type_b), dtype_name(p->type_a), dtype_name(p->type_a));
  bool half = p->type_a == GG_F16 && p->type_acc == GG_F16; /* legal, with a warning */
  if (p->type_acc != t->acc && !half)
    plan_refuse(b, SPEC_DTYPE_ACC, "dtype-family", "%s where wmma sums %s in %s; use that",
                dtype_name(p->type_acc), dtype_name(p->type_a), dtype_name(t->acc));
  plan_require_output(b);
  plan_refuse_parts(b);
}

static void choose_instruction(plan_builder *b) {
  kernel_plan *p = b->plan;
  const operand_type *t = type_of(p);
  const shape *found = NULL;
  char known[64] = "";
  for (int i = 0; i < SHAPES && t->shapes[i].m > 0; ++i) {
    const shape *s = &t->shapes[i];
    size_t at = strlen(known);
    snprintf(known + at, sizeof known - at, "%s%dx%dx%d", i > 0 ? " or " : "", s->m, s->n, s->k);
    if (found == NULL && plan_asked(b, SPEC_INST_M, s->m) == s->m &&
        plan_asked(b, SPEC_INST_N, s->n) == s->n && plan_asked(b, SPEC_INST_K, s->k) == s->k)
      found = s;
  }
  if (found == NULL) {
    const shape *s = &t->shapes[0];
    plan_refuse(b,
                plan_given(b, SPEC_INST_M)   ? SPEC_INST_M
                : plan_given(b, SPEC_INST_N) ? SPEC_INST_N
                                             : SPEC_INST_K,
                "instruction", "wmma has no %dx%dx%d for %s; use %s",
                plan_asked(b, SPEC_INST_M, s->m), plan_asked(b, SPEC_INST_N, s->n),
                plan_asked(b, SPEC_INST_K, s->k), dtype_name(p->type_a), known);
    return;
  }
  const char *why = t->shapes[1].m > 0 ? "16x16: A and B are read equally often"
                                       : "the only shape of these elements";
  TAKE(inst_m, INST_M, found->m, NULL, "%s", why);
  TAKE(inst_n, INST_N, found->n, NULL, "%s", why);
  TAKE(inst_k, INST_K, found->k, NULL, "of the shape");
}

/* Words a fragment's matrix takes in each lane. */
static int fragment_words(int rows, int columns, int element) {
  int words = rows * columns * element / 128;
  return words > 0 ? words : 1;
}

static int words_acc(const kernel_plan *p) {
  return fragment_words(p->inst_m, p->inst_n, dtype_bytes(p->type_acc));
}

/* The largest multiple of `unit` up to `most` that divides `tile`; 0: none. */
static int part_of(int tile, int unit, int most) {
  for (int part = most / unit * unit; part > 0; part -= unit)
    if (tile % part == 0) return part;
  return 0;
}

static void check_warp_tile(plan_builder *b, spec_field tile, spec_field warp, int side, int part,
                            int unit, const char *axis) {
  if (part == 0)
    plan_refuse(b, tile, "tile-multiple",
                "%d is no multiple of the instruction's %d along %s; use %d", side, unit, axis,
                round_up(side, unit));
  else if (part % unit != 0)
    plan_refuse(b, warp, "tile-multiple",
                "%d is no multiple of the instruction's %d along %s; use %d", part, unit, axis,
                round_up(part, unit));
  else if (side % part != 0)
    plan_refuse(b, plan_given(b, warp) ? warp : tile, "tile-multiple",
                "a tile of %d is no multiple of a warp's %d along %s; use %d", side, part, axis,
                part_of(side, unit, part));
}

/* Elements narrower than 4 bytes come one by one through a register each, a tile ahead. */
static void shorten_k(plan_builder *b) {
  kernel_plan *p = b->plan;
  int k = p->tile_k, each = p->tile_m + p->tile_n;
  if (p->element >= 4) return;
  while (k > p->inst_k && (k * each > MOST_STAGED * p->threads || p->tile_k % k != 0))
    k -= p->inst_k;
  if (k != p->tile_k)
    SET(tile_k, k, "narrow: %d elements on their way are a register each, at most %d a thread",
        k * each / p->threads, MOST_STAGED);
}

static void choose_tile(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool doubles = p->type_a == GG_F64;
  int most_m = doubles ? 32 : 64, most_n = 32;
  int side = doubles ? 64 : 128;
  const char *why = doubles ? "4 warps of 32 x 32" : "8 warps of 64 x 32";
  TAKE(tile_m, TILE_M, round_up(side, plan_asked(b, SPEC_WARP_M, p->inst_m)), NULL, "%s", why);
  TAKE(tile_n, TILE_N, round_up(side, plan_asked(b, SPEC_WARP_N, p->inst_n)), NULL, "%s", why);
  TAKE(warp_m, WARP_M, part_of(p->tile_m, p->inst_m, most_m), NULL,
       "up to %d: more fragments share a load, as many as registers hold", most_m);
  TAKE(warp_n, WARP_N, part_of(p->tile_n, p->inst_n, most_n), NULL,
       "up to %d: accumulators leave room for two blocks an SM", most_n);
  check_warp_tile(b, SPEC_TILE_M, SPEC_WARP_M, p->tile_m, p->warp_m, p->inst_m, "m");
  check_warp_tile(b, SPEC_TILE_N, SPEC_WARP_N, p->tile_n, p->warp_n, p->inst_n, "n");
  if (b->result != PLAN_OK) return;
  SET(warps_m, p->tile_m / p->warp_m, "%d / %d", p->tile_m, p->warp_m);
  SET(warps_n, p->tile_n / p->warp_n, "%d / %d", p->tile_n, p->warp_n);
  SET(threads, 32 * p->warps_m * p->warps_n, "%d x %d warps", p->warps_m, p->warps_n);
  if (p->threads > 1024)
    plan_refuse(b, plan_given(b, SPEC_WARP_M) ? SPEC_WARP_M : SPEC_TILE_M, "threads",
                "%d x %d warps are %d threads, a block has at most 1024; use a larger warp tile or "
                "a smaller tile",
                p->warps_m, p->warps_n, p->threads);
  SET(k_slices, 1, "none");
  /* Copies of 16 bytes into padded rows cost 2.5 times the least where a row has 128 bytes, 3.75
   * times where it has 64 (measured, H200). */
  int stages = plan_asked(b, SPEC_STAGES, b->gpu->has_cp_async ? 3 : 2);
  int bytes = stages * (p->tile_m + p->tile_n) * (128 + 16) <= b->gpu->shared_block ? 128 : 64;
  TAKE(tile_k, TILE_K, bytes / p->element, NULL, "%s %d-byte rows of k fit %d times",
       bytes == 128 ? "the cheapest to copy:" : "128 bytes do not fit;", bytes, stages);
  if (p->tile_k % p->inst_k != 0) {
    plan_refuse(b, SPEC_TILE_K, "tile-multiple",
                "%d is no multiple of the instruction's %d; use %d", p->tile_k, p->inst_k,
                round_up(p->tile_k, p->inst_k));
    return;
  }
  if (b->variant == VARIANT_NARROW) shorten_k(b);
  SET(unroll_k, p->tile_k / p->inst_k, "all of a k tile's steps");
  SET(unroll_stages, 0, "a rolled ring: the body stays in the instruction cache");
  SET(fragments, 1, "the compiler moves loads up as far as registers allow");
}

/* wmma.load asks its address to be a multiple of the lane's part of the fragment, up to 32 bytes.
 * f16 fragments have each element twice there. */
static void check_alignment(plan_builder *b, int operand) {
  const kernel_plan *p = b->plan;
  bool along_k = plan_contiguous_k(p, operand);
  int side = operand == 0 ? p->inst_m : p->inst_n;
  if (p->type_a != GG_F16 || along_k || side * p->element % 32 == 0) return;
  plan_refuse(
      b, operand == 0 ? SPEC_INST_M : SPEC_INST_N, "instruction",
      "fragments of %d f16 along %c lie 16 bytes apart in layout %s, wmma.load asks for 32; "
      "use 16x16x16, or a layout with %c contiguous along k",
      side, operand == 0 ? 'm' : 'n', spec_layout_name(p->layout), operand == 0 ? 'A' : 'B');
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
  SET(swizzle, 0, "wmma.load takes a leading dimension: rows are padded");
  for (int operand = 0; operand < 2; ++operand) {
    check_alignment(b, operand);
    if (b->result != PLAN_OK) return;
    plan_padding padding = plan_wmma_padding(p, operand, async);
    plan_copy_operand(b, operand, !plan_contiguous_k(p, operand), async, &padding);
    if (b->result != PLAN_OK) return;
  }
  if (b->variant == VARIANT_EDGE && p->copy_a == p->element && p->copy_b == p->element) {
    b->result = PLAN_SAME;
    return;
  }
  plan_copy_stage(b);
}

static void choose_shared(plan_builder *b) {
  kernel_plan *p = b->plan;
  const gpu_facts *g = b->gpu;
  int choice = g->has_cp_async ? 3 : 2;
  while (choice > 2 && choice * p->stage_bytes > g->shared_block)
    --choice;
  TAKE(stages, STAGES, choice, NULL,
       g->has_cp_async ? "two tiles in flight while one is computed"
                       : "one tile in registers while one is computed");
  int size = dtype_bytes(p->type_acc), warps = p->threads / 32;
  SET(pitch_d, p->warp_n + 8,
      "%d + 8: the 8 rows that wmma.store writes at once lie in different banks", p->warp_n);
  int strip = p->inst_m * p->pitch_d * size;
  SET(d_bytes, warps * strip, "%d warps x %d rows of fragments' sums x %d x %d B; reuses the ring",
      warps, p->inst_m, p->pitch_d, size);
  int ring = p->stages * p->stage_bytes;
  if (p->d_bytes > ring)
    SET(shared_bytes, p->d_bytes, "staging of D, larger than the ring's %d x %d = %d", p->stages,
        p->stage_bytes, ring);
  else
    SET(shared_bytes, ring, "%d stages x %d", p->stages, p->stage_bytes);
  if (p->shared_bytes > g->shared_block)
    plan_refuse(b, plan_given(b, SPEC_STAGES) ? SPEC_STAGES : SPEC_TILE_K, "shared-memory",
                "%d stages of %d B are %d B of shared memory, more than the %d B a block of %s may "
                "have; use fewer stages or a smaller tile.k",
                p->stages, p->stage_bytes, p->shared_bytes, g->shared_block, g->name);
}

static int staged_registers(const kernel_plan *p) {
  int sum = 0;
  if (p->path_a == PATH_STAGED) sum += p->copies_a * (p->copy_a > 4 ? p->copy_a / 4 : 1);
  if (p->path_b == PATH_STAGED) sum += p->copies_b * (p->copy_b > 4 ? p->copy_b / 4 : 1);
  return sum;
}

/* Pointers that the copies keep: one for each row (k contiguous) or column (guarded). */
static int pointer_registers(const kernel_plan *p, int operand) {
  int side = operand == 0 ? p->tile_m : p->tile_n;
  int lanes = operand == 0 ? p->copy_lanes_a : p->copy_lanes_b;
  int vector = (operand == 0 ? p->copy_a : p->copy_b) / p->element;
  if (plan_contiguous_k(p, operand)) return 2 * ((side * lanes + p->threads - 1) / p->threads);
  return p->variant == VARIANT_FULL ? 2 : 2 * (side / vector / lanes);
}

/* A loop of one step is written out four times by nvcc; the loads of all four are made first. */
static int turns_written(const kernel_plan *p) {
  return p->unroll_k == 1 ? 4 : 1;
}

/* What ptxas allots, for the residency of the kernel as it will be; the launch bound follows from
 * the estimate below, which has less to spare. */
static void expect_registers(plan_builder *b, int accumulators, int fragments, int staged,
                             int pointers, bool short_steps) {
  kernel_plan *p = b->plan;
  /* With one stage all steps' fragments are loaded at once, behind the barrier, when what was
   * staged is stored. */
  int steps = p->unroll_k * fragments, loads = turns_written(p) * staged, held = fragments + loads;
  if (p->stages == 1) held = steps > loads ? steps : loads;
  /* Each copy of a single element has an address of its own. Rows that nothing clamps are a pitch
   * apart from the first, which is all that is kept of them. */
  int each = 2 * (p->copies_a + p->copies_b);
  if (b->variant == VARIANT_NARROW && pointers < each) pointers = each;
  if (b->variant == VARIANT_FULL) pointers = 4;
  /* A warp alone has no place among others to keep. */
  int other = (p->threads == 32 ? 20 : 32) + (short_steps ? MORE_LOADS / 2 : 0),
      total = accumulators + held + pointers + other;
  SET(registers, total < p->register_limit ? total : p->register_limit,
      "%d accumulators + %d %s + %d pointers + %d other%s", accumulators, held,
      p->stages > 1   ? "fragments and staged"
      : loads > steps ? "on their way"
                      : "fragments of all steps",
      pointers, other, total > p->register_limit ? "; the limit is less" : "");
}

static void choose_residency(plan_builder *b) {
  kernel_plan *p = b->plan;
  int rows = p->warp_m / p->inst_m, columns = p->warp_n / p->inst_n;
  int accumulators = rows * columns * words_acc(p);
  int fragments = rows * fragment_words(p->inst_m, p->inst_k, p->element) +
                  columns * fragment_words(p->inst_n, p->inst_k, p->element);
  int staged = staged_registers(p);
  int pointers = pointer_registers(p, 0) + pointer_registers(p, 1);
  bool short_steps = p->element == 1 || p->type_a == GG_TF32;
  int other = OTHER_REGISTERS + (short_steps ? MORE_LOADS : 0);
  int total = accumulators + fragments + staged + pointers + other;
  int wanted = round_up(total, 8);
  int blocks = 1;
  while (blocks + 1 <= plan_blocks_by_registers(b, wanted) &&
         (blocks + 1) * p->threads <= b->gpu->threads_sm &&
         (blocks + 1) * (p->shared_bytes + b->gpu->shared_reserved) <= b->gpu->shared_sm &&
         blocks < 4)
    ++blocks;
  TAKE(min_blocks, MIN_BLOCKS, blocks, "mb", "as many as %d registers x %d threads allow", wanted,
       p->threads);
  plan_register_limit(b);
  if (total > p->register_limit)
    plan_refuse(b,
                plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS
                : plan_given(b, SPEC_WARP_M)   ? SPEC_WARP_M
                                               : SPEC_TILE_M,
                "registers",
                "about %d registers a thread (%d accumulators, %d fragments, %d staged), the limit "
                "is %d: the kernel would spill; use %s",
                total, accumulators, fragments, staged, p->register_limit,
                plan_given(b, SPEC_MIN_BLOCKS) ? "fewer min_blocks or a smaller warp tile"
                                               : "a smaller warp tile");
  expect_registers(b, accumulators, fragments, staged, pointers, short_steps);
}

static void choose_store(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool narrow = b->variant == VARIANT_NARROW;
  SET(vector,
      narrow                  ? 1
      : p->type_acc == GG_F64 ? 2
                              : 4,
      narrow ? "one element: any pointer" : "sums that a lane takes from shared memory at once");
  SET(store_vector, p->vector, "as from shared memory");
  SET(align_c, p->store_vector * dtype_bytes(p->type_c), "of one load of C");
  SET(align_d, p->store_vector * p->element_d, "of one store of D");
}

static void estimate_code(plan_builder *b) {
  kernel_plan *p = b->plan;
  int rows = p->warp_m / p->inst_m, columns = p->warp_n / p->inst_n;
  int products = p->unroll_k * rows * columns;
  int loads = p->unroll_k * (rows + columns);
  int copies = 0;
  copies += p->copies_a * (p->path_a == PATH_ASYNC ? 6 : 4 + p->copy_a / 4);
  copies += p->copies_b * (p->path_b == PATH_ASYNC ? 6 : 4 + p->copy_b / 4);
  int machine = p->arch < 80 ? 4 : 2; /* tensor-core instructions of a wmma.mma */
  int body = products * machine + loads * 2 + copies + 24;
  SET(loop_fmas, products, "wmma.mma: %d steps x %d x %d", p->unroll_k, rows, columns);
  SET(loop_bytes, 16 * body, "16 bytes x (%d x %d products + 2 x %d loads + %d for copies + 24)",
      products, machine, loads, copies);
  int strip = p->inst_m * p->warp_n / 32;
  int each = 12 + plan_step_instructions(p);
  int around = b->variant == VARIANT_NARROW ? 16 : 8; /* conditions of single elements */
  /* Guarded copies of a single stage stand twice: the compiler peels the loop's first round. */
  if (b->variant != VARIANT_FULL && p->stages == 1) around += 8;
  SET(code_bytes,
      16 * body * (1 + turns_written(p)) + 16 * copies * (p->stages + 1) +
          rows * strip * 16 * each + 1024 * around,
      "loop and drain, prologue, about %d instructions an output of %d strips, %d KB around", each,
      rows, around);
  SET(compile_seconds, 30, "budget of every kernel");
  SET(copy_gap, 1, "wmma.mma between two copies");
}

const spec_field plan_takes_wmma[] = {
    SPEC_TILE_K,          SPEC_WARP_M,       SPEC_WARP_N,     SPEC_INST_M, SPEC_INST_N,
    SPEC_INST_K,          SPEC_STAGES,       SPEC_PADDING,    SPEC_COPY_A, SPEC_COPY_B,
    PLAN_EPILOGUE_FIELDS, SPEC_PROGRAMMATIC, SPEC_FIELD_COUNT};

void plan_make_wmma(plan_builder *b) {
  kernel_plan *p = b->plan;
  choose_types(b);
  if (b->result == PLAN_OK) choose_instruction(b);
  if (b->result == PLAN_OK) choose_tile(b);
  if (b->result == PLAN_OK) choose_copies(b);
  if (b->result == PLAN_OK) choose_shared(b);
  if (b->result == PLAN_OK) choose_residency(b);
  if (b->result != PLAN_OK) return;
  choose_store(b);
  plan_copy_multiples(b);
  TAKE(raster_along, RASTER_ALONG, RASTER_M, "r", "groups of rows share B in L2");
  TAKE(raster_group, RASTER_GROUP, 8, "g", "a square of tiles");
  int side = 2 * p->tile_m * p->tile_n / (p->tile_m + p->tile_n);
  if (b->variant == VARIANT_NARROW) {
    int slots = p->path_a == PATH_ASYNC ? PLAN_SLOTS_ASYNC : PLAN_SLOTS_REGISTERS;
    int rate = gpu_rate(b->gpu, plan_tensor_unit(p->type_a)) * REACHED / 1000;
    double copies = plan_single_copies(p, true, true, slots, rate);
    int speed = (int)(REACHED / (1 + 16.0 / side + copies));
    plan_speed(b, speed > 1 ? speed : 1,
               "%d / (1 + 16 / %d + %.2f): half of what mma.sync or wgmma reach; copies of one "
               "element, each %d slots of 128 beside %d FMAs a cycle",
               REACHED, side, copies, slots, rate);
  } else if (!plan_speed_by_model(b)) {
    plan_speed(b, REACHED * side / (side + 16),
               "%d x %d / (%d + 16): half of what mma.sync or wgmma reach", REACHED, side, side);
  }
  SET(wave_loss, 100, "an idle SM's time is lost");
  TAKE(overhead_k, OVERHEAD_K, p->tile_k * (p->stages + 4), NULL,
       "%d k tiles to fill the ring, about 4 to store", p->stages);
  estimate_code(b);
  const shape *usual = &type_of(p)->shapes[0];
  char name[64];
  int n = snprintf(name, sizeof name, "%dx%dx%d_w%dx%d", p->tile_m, p->tile_n, p->tile_k, p->warp_m,
                   p->warp_n);
  if (p->inst_m != usual->m)
    n += snprintf(name + n, sizeof name - (size_t)n, "_i%dx%d", p->inst_m, p->inst_n);
  snprintf(name + n, sizeof name - (size_t)n, "_s%d", p->stages);
  if (b->result == PLAN_OK) plan_common_end(b, name);
}
