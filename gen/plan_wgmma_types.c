/* plan_wgmma_types.c - family wgmma: which types the tensor cores take, and what that asks of the
 * sums.
 *
 * Rows of shared memory are 128 bytes and an instruction takes 32 bytes of k, whatever the type.
 * 16-bit types may lie MN-major; the others only K-major. fp8 sums keep about 14 bits inside the
 * tensor core and are moved into f32 registers every 128 of k unless fast_accum is asked.
 */
#include "plan_epilogue.h"
#include "plan_sums.h"
#include "plan_wgmma.h"

static bool is_whole(int type) {
  return type == GG_S8 || type == GG_U8;
}

static void require_factors(plan_builder *b) {
  const kernel_plan *p = b->plan;
  int type = p->type_a;
  if (type == GG_F32)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-family",
                "tensor cores do not multiply f32; use tf32 (10 bits of fraction), or family simt");
  else if (type == GG_F64 || type == GG_S32)
    plan_refuse(b, SPEC_DTYPE_A, "dtype-family",
                "wgmma does not multiply %s; use bf16, f16, tf32, e4m3, e5m2, s8 or u8",
                dtype_name(type));
  bool mixed =
      (plan_is_fp8(type) && plan_is_fp8(p->type_b)) || (is_whole(type) && is_whole(p->type_b));
  if (p->type_b != type && !mixed)
    plan_refuse(b, SPEC_DTYPE_B, "dtype-family", "%s does not multiply with %s; use %s",
                dtype_name(p->type_b), dtype_name(type),
                plan_is_fp8(type) ? "e4m3 or e5m2"
                : is_whole(type)  ? "s8 or u8"
                                  : dtype_name(type));
  int acc = is_whole(type) ? GG_S32 : GG_F32;
  if (p->type_acc != acc)
    plan_refuse(b, SPEC_DTYPE_ACC, "dtype-family", "%s where family wgmma sums %s in %s; use that",
                dtype_name(p->type_acc), dtype_name(type), dtype_name(acc));
}

static void require_results(plan_builder *b) {
  const kernel_plan *p = b->plan;
  const struct {
    int type;
    spec_field spec;
  } results[] = {{p->type_d, SPEC_DTYPE_D}, {p->type_c, SPEC_DTYPE_C}};
  bool whole = p->type_epilogue == GG_S32;
  for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i) {
    int type = results[i].type;
    bool good = whole ? type == GG_S32 : type == GG_F32 || type == GG_F16 || type == GG_BF16;
    if (!good)
      plan_refuse(b, results[i].spec, "dtype-family",
                  "family wgmma makes no %s of what is computed in %s; use %s", dtype_name(type),
                  dtype_name(p->type_epilogue), whole ? "s32" : "f32, f16 or bf16");
  }
}

/* tf32 that lies MN-major is turned on its way into registers, from which the tensor cores take
 * their first operand: A, or B where D is computed transposed. */
static void choose_ways(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool a = plan_contiguous_k(p, 0), c = plan_contiguous_k(p, 1), native = p->element != 4;
  bool turned = !native && (!a || !c), both = !native && !a && !c;
  bool few = plan_wgmma_few_rows(b);
  SET(swap, few || (turned && a),
      few           ? "fewer rows than the 64 of a first operand: B's columns are those"
      : turned && a ? "B is contiguous in n: as first operand it may come through registers"
                    : "A is the first operand");
  if (few && !a && p->element == 2)
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "A is contiguous in m (layout %s): its rows of 128 bytes are 64 of m; use 64",
                spec_layout_name(p->layout));
  SET(path_a, PATH_TMA, "one thread, no registers");
  SET(path_b, both ? PATH_STAGED : PATH_TMA,
      both ? "the second operand must lie K-major: 4 x 4 elements are turned in registers"
           : "one thread, no registers");
  SET(from_registers, turned,
      !turned ? "the tensor cores read both operands in shared memory"
              : "contiguous in %s, which the tensor cores read of 16-bit types only: loads of 4 "
                "bytes turn it",
      a ? "n" : "m");
  if (turned && p->type_d != GG_F32)
    plan_refuse(b, SPEC_DTYPE_D, "dtype-family",
                "%s is not stored in layout %s, where lanes hold sums of 4 bytes beside each "
                "other; use f32",
                dtype_name(p->type_d), spec_layout_name(p->layout));
}

void plan_wgmma_loader(plan_builder *b) {
  kernel_plan *p = b->plan;
  enum { QUAD = 4, THREADS = 128, UNITS = 4 };
  if (p->tile_n != 128 && p->tile_n != 256)
    plan_refuse(b, SPEC_TILE_N, "tile-multiple",
                "%d columns of B are not what 128 threads turn, 4 x 4 at a time; use 128 or 256",
                p->tile_n);
  if (p->groups == 3)
    plan_refuse(b, SPEC_TILE_M, "registers",
                "three warpgroups leave the one that turns B no registers; use 64, 128 or 256");
  if (b->result != PLAN_OK) return;
  int units = p->tile_n * p->tile_k / (QUAD * QUAD * THREADS);
  SET(copy_b, 16, "4 elements along n");
  SET(copies_b, QUAD * units, "%d x %d elements / (128 threads x 4)", p->tile_k, p->tile_n);
  SET(fragments, UNITS / units, "%d x %d registers a thread hold %d blocks of k on their way",
      UNITS / units, QUAD * QUAD * units, UNITS / units);
  int producer = p->group_m > 64 ? 104 : 120;
  int consumer = p->groups == 1 ? 232 : p->group_m > 64 ? 200 : 192;
  SET(producer_registers, producer, "%d of elements on their way, and addresses",
      UNITS * QUAD * QUAD);
  SET(consumer_registers, consumer,
      "sums, operands and addresses; %d x %d + %d are not more than %d x %d at entry", p->groups,
      consumer, producer, p->groups + 1, b->gpu->registers_sm / p->threads / 8 * 8);
}

void plan_wgmma_parts(plan_builder *b) {
  const kernel_plan *p = b->plan;
  if (p->promote_k == 0)
    plan_refuse_parts(b);
  else if (p->scale_b == GG_SCALING_GROUP && !p->swap)
    plan_refuse(b, SPEC_SCALE_B, "scaling",
                "group: a scale for each column and 128 of k is more than a thread of family wgmma "
                "loads beside its sums; use \"block\", swap A and B, or tile.m below 64");
  else if (p->scale_a == GG_SCALING_BLOCK && p->swap && PROMOTE_K % p->tile_m != 0)
    plan_refuse(b, SPEC_TILE_M, "tile-multiple",
                "%d rows may lie in two blocks of 128 that have a scale of A each; use 8, 16 or 32",
                p->tile_m);
  else if (p->scale_b == GG_SCALING_BLOCK && PROMOTE_K % p->tile_n != 0)
    plan_refuse(
        b, SPEC_TILE_N, "tile-multiple",
        "%d columns lie in several blocks of 128 that have a scale of B each; use 64 or 128",
        p->tile_n);
}

int plan_wgmma_first(const kernel_plan *p) {
  return p->swap ? p->tile_n : p->tile_m;
}

int plan_wgmma_second(const kernel_plan *p) {
  return p->swap ? p->tile_m : p->tile_n;
}

int plan_wgmma_step_n(const kernel_plan *p) {
  if (p->swap) return 64;
  if (is_whole(p->type_a)) return 16;
  if (p->from_registers) return 32;
  return plan_contiguous_k(p, 1) ? 8 : 128 / p->element;
}

void plan_wgmma_turned_panels(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (!p->from_registers) {
    plan_wgmma_few_panels(b);
    return;
  }
  int panels = p->group_n / 32;
  SET(panel, 32, "one swizzled row of 128 bytes");
  SET(panel_swizzle, 128, "the panel's row");
  SET(panel_m, 128 / panels, "16384 bytes of a warpgroup's %d columns", p->group_n);
  SET(panel_bytes, p->panel_m * 128, "%d rows x 128 B", p->panel_m);
  SET(chunk, panels, "the warps of a group store to all of them at once");
}

void plan_wgmma_types(plan_builder *b) {
  if (!b->gpu->has_wgmma)
    plan_refuse(b, SPEC_FAMILY, "family-gpu", "wgmma needs sm_90a, %s is sm_%d; use family simt",
                b->gpu->name, b->gpu->arch);
  require_factors(b);
  require_results(b);
  if (b->result != PLAN_OK || b->variant == VARIANT_NARROW) return;
  plan_promotion(b);
  choose_ways(b);
}

bool plan_wgmma_native(const kernel_plan *p) {
  bool a = plan_contiguous_k(p, 0), c = plan_contiguous_k(p, 1);
  return p->element > 1 || (a && c);
}
