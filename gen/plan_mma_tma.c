/* plan_mma_tma.c - family mma fed by TMA (sm_90 and later): one thread has both operands copied
 * into boxes of rows of 128 bytes, whose chunks TMA swizzles as ldmatrix wants them; each warp
 * waits for a stage and gives it back on its own, by mbarriers, so that warps drift apart and cover
 * each other's loads.
 *
 * No warp is set aside for it: nine warps take the registers of twelve (each quarter of an SM would
 * hold three), so the computing warps issue the copies in turn.
 */
#include "plan_mma.h"

#include <stdio.h>

enum {
  ROW_BYTES = 128,   /* of a box: what the swizzle mixes */
  LONGEST_BOX = 256, /* rows that one copy brings */
  FLIP = 0x210,      /* TMA flips chunk bits 0, 1, 2 by bits 0, 1, 2 of the row's number */
  ALIGN = 16,        /* bytes: base, pitch, stride */
};

bool plan_mma_by_tma(const plan_builder *b) {
  if (b->variant == VARIANT_NARROW) return false; /* TMA asks for multiples of 16 bytes */
  if (plan_given(b, SPEC_COPY_PATH)) return plan_asked(b, SPEC_COPY_PATH, 0) == COPY_BY_TMA;
  return b->gpu->has_tma && !b->by_threads; /* measured: faster by 3 to 11 % (docs/mma.md) */
}

void plan_mma_check_tma(plan_builder *b) {
  static const spec_field threads_only[] = {SPEC_PADDING, SPEC_COPY_A, SPEC_COPY_B, SPEC_UNROLL_K};
  static const char *const why[] = {
      "TMA writes rows of 128 bytes and swizzles them; leave it out",
      "TMA copies whole boxes; leave it out",
      "TMA copies whole boxes; leave it out",
      "all k steps of a k tile stand in the text where TMA copies; leave it out",
  };
  if (!b->gpu->has_tma)
    plan_refuse(b, SPEC_COPY_PATH, "copy-path",
                "\"tma\" came with sm_90, %s is sm_%d; use \"async\" or leave it out", b->gpu->name,
                b->gpu->arch);
  char scratch[32];
  for (size_t i = 0; i < sizeof threads_only / sizeof threads_only[0]; ++i) {
    spec_field f = threads_only[i];
    if (plan_asked(b, f, 0) != 0)
      plan_refuse(b, f, "copy-path", "%s together with copy.path = \"tma\": %s",
                  spec_value_text(f, plan_asked(b, f, 0), scratch), why[i]);
  }
  if (plan_given(b, SPEC_SWIZZLE) && plan_asked(b, SPEC_SWIZZLE, 0) != ROW_BYTES)
    plan_refuse(b, SPEC_SWIZZLE, "copy-path",
                "%d together with copy.path = \"tma\", whose rows are swizzled over 128 bytes; use "
                "128 or leave it out",
                plan_asked(b, SPEC_SWIZZLE, 0));
}

/* Boxes of 128 bytes along the contiguous axis, side by side. */
static void choose_boxes(plan_builder *b, int operand) {
  const kernel_plan *p = b->plan;
  bool a = operand == 0, along_k = plan_contiguous_k(p, operand);
  int extent = a ? p->tile_m : p->tile_n, warp = a ? p->warp_m : p->warp_n;
  int row = (along_k ? p->tile_k : extent) * p->element, rows = along_k ? extent : p->tile_k;
  spec_field side = a ? SPEC_TILE_M : SPEC_TILE_N, width = along_k ? SPEC_TILE_K : side;
  if (row % ROW_BYTES != 0)
    plan_refuse(
        b, width, "copy-path",
        "%d elements of %c make rows of %d bytes, TMA's swizzle needs multiples of 128; use "
        "%d, or copy.path = \"async\"",
        row / p->element, a ? 'A' : 'B', row, round_up(row, ROW_BYTES) / p->element);
  if (rows > LONGEST_BOX)
    plan_refuse(b, along_k ? side : SPEC_TILE_K, "copy-path",
                "%d rows are more than the 256 of one copy by TMA; use 256 or fewer", rows);
  int bytes = warp * p->element;
  if (!along_k && bytes % ROW_BYTES != 0 && (bytes & (bytes - 1)) != 0)
    plan_refuse(b, a ? SPEC_WARP_M : SPEC_WARP_N, "copy-path",
                "%d elements are %d bytes of a row, no multiple of 128 and no power of two: chunks "
                "could not be found by flipping bits; use %d",
                warp, bytes, 32 / p->element);
  plan_set(b, a ? PLAN_path_a : PLAN_path_b, PATH_TMA,
           "one lane of a warp asks for whole boxes, the warps in turn: no registers");
  plan_set(b, a ? PLAN_turn_a : PLAN_turn_b, 0,
           "contiguous along the same axis in global and shared memory");
  plan_set(b, a ? PLAN_pad_a : PLAN_pad_b, 0, "swizzled instead");
  plan_set(b, a ? PLAN_pitch_a : PLAN_pitch_b, ROW_BYTES / p->element, "rows of 128 bytes");
  plan_set(b, a ? PLAN_box_a : PLAN_box_b, rows, along_k ? "the tile's" : "all of a tile's k");
  plan_set(b, a ? PLAN_copies_a : PLAN_copies_b, row / ROW_BYTES,
           "boxes: %d bytes along the contiguous axis / 128", row);
  plan_set(b, a ? PLAN_bytes_a : PLAN_bytes_b, rows * row, "%d rows x %d", rows, row);
  plan_set(b, a ? PLAN_align_a : PLAN_align_b, ALIGN, "TMA: base, pitch and stride");
  plan_set(b, a ? PLAN_flip_a : PLAN_flip_b, FLIP,
           "bits of a row's number that flip its chunks as TMA does: 0, 1, 2 flip 0, 1, 2 (0x210)");
  int ways = plan_mma_read_ways(p, operand);
  if (ways > 1)
    plan_refuse(
        b, SPEC_COPY_PATH, "copy-path",
        "\"tma\" with %s contiguous along %c: its swizzle leaves %d lanes of a fragment load "
        "in a bank; use \"async\"",
        dtype_name(p->type_a),
        along_k ? 'k'
        : a     ? 'm'
                : 'n',
        ways);
}

void plan_mma_tma(plan_builder *b) {
  kernel_plan *p = b->plan;
  SET(swizzle, 1, "128-byte rows, 16-byte chunks XOR (row mod 8), as TMA writes them");
  for (int operand = 0; operand < 2 && b->result == PLAN_OK; ++operand)
    choose_boxes(b, operand);
  SET(box_width, ROW_BYTES / p->element, "rows of 128 bytes, those of the swizzle");
  SET(promotion, 256, "two rows of a box at once");
  SET(stage_bytes, p->bytes_a + p->bytes_b, "%d + %d", p->bytes_a, p->bytes_b);
}

void plan_mma_tma_multiples(plan_builder *b) {
  kernel_plan *p = b->plan;
  bool full = b->variant == VARIANT_FULL;
  SET(multiple_m, full ? p->tile_m : 1, full ? "no row guard" : "guarded");
  SET(multiple_n, full ? p->tile_n : p->store_vector,
      full ? "no column guard" : "one store of D holds this many columns");
  SET(multiple_k, 1, "TMA fills up with zeros");
  SET(min_k, 0, "every loop may run zero times");
}
