/* plan_copy.c - how an operand's tile gets from global to shared memory: path, width, and which
 * thread moves what. Shared by the families that use shared memory.
 *
 * A tile is X copies along the axis that is contiguous in global memory times Y rows of it. The
 * block's threads stand as tx x ty over that grid and make X / tx * ceil(Y / ty) copies each.
 */
#include "plan_copy.h"

#include <stdio.h>

typedef struct operand_fields {
  char name;
  plan_field path, turn, copy, copies, copy_lanes, pad, pitch, bytes, align;
  spec_field spec_copy;
} operand_fields;

static const operand_fields operands[2] = {
    {'a', PLAN_path_a, PLAN_turn_a, PLAN_copy_a, PLAN_copies_a, PLAN_copy_lanes_a, PLAN_pad_a,
     PLAN_pitch_a, PLAN_bytes_a, PLAN_align_a, SPEC_COPY_A},
    {'b', PLAN_path_b, PLAN_turn_b, PLAN_copy_b, PLAN_copies_b, PLAN_copy_lanes_b, PLAN_pad_b,
     PLAN_pitch_b, PLAN_bytes_b, PLAN_align_b, SPEC_COPY_B},
};

enum { LEAST_ASYNC = 4 }; /* bytes of a cp.async */

bool plan_contiguous_k(const kernel_plan *p, int operand) {
  bool transposed = operand == 0 ? p->layout == LAYOUT_TN || p->layout == LAYOUT_TT
                                 : p->layout == LAYOUT_NT || p->layout == LAYOUT_TT;
  return operand == 0 ? !transposed : transposed;
}

/* Is this the guarded twin with one-element copies? */
static bool narrow(const plan_builder *b) {
  return b->variant == VARIANT_NARROW;
}

/* Width of one copy. Along k of a tile that is turned, a wide copy means registers in between. */
static int choose_width(plan_builder *b, const operand_fields *o, bool along_k, int extent) {
  kernel_plan *p = b->plan;
  const char *axis = along_k ? "k" : o->name == 'a' ? "m" : "n";
  int most = 16;
  while (most > p->element && extent * p->element % most != 0)
    most /= 2;
  if (plan_given(b, o->spec_copy)) {
    int asked = b->spec->value[o->spec_copy];
    if (asked != 4 && asked != 8 && asked != 16)
      plan_refuse(b, o->spec_copy, "copy-width", "%d is not a copy width; use 4, 8 or 16 bytes",
                  asked);
    else if (asked < p->element)
      plan_refuse(b, o->spec_copy, "copy-width", "%d bytes hold no whole %s; use %d or more", asked,
                  dtype_name(p->type_a), p->element);
    else if (asked > most)
      plan_refuse(b, o->spec_copy, "copy-width",
                  "%d bytes do not divide the tile's %d elements along %s; use %d", asked, extent,
                  axis, most);
  }
  if (narrow(b)) {
    plan_set(b, o->copy, p->element, "one element: any pointer, any leading dimension");
    return p->element;
  }
  return plan_take(b, o->copy, o->spec_copy, most, o->name == 'a' ? "ca" : "cb",
                   "widest that divides the tile's %d elements along %s, its contiguous axis",
                   extent, axis);
}

int plan_store_ways(int lanes, int vector, int pitch, int element) {
  int group = element == 8 ? 16 : 32; /* lanes whose words one pass of the banks serves */
  int words = element / 4, worst = 1;
  for (int e = 0; e < vector; ++e) {
    int used[32] = {0};
    for (int lane = 0; lane < group; ++lane) {
      int first = ((lane % lanes * vector + e) * pitch + lane / lanes) * words;
      for (int w = 0; w < words; ++w)
        ++used[(first + w) % 32];
    }
    for (int bank = 0; bank < 32; ++bank)
      if (used[bank] > worst) worst = used[bank];
  }
  return worst;
}

/* Padding of a turned operand's rows: the least, in steps of 16 bytes, at which the fewest lanes of
 * a shared store meet in one bank. */
static int choose_padding(int row, int lanes, int vector, int element, int unit) {
  int best = 0;
  for (int pad = unit; pad <= 4 * unit; pad += unit)
    if (plan_store_ways(lanes, vector, row + pad, element) <
        plan_store_ways(lanes, vector, row + best, element))
      best = pad;
  return best;
}

/* Padding of each shared row of `row` elements. */
static int take_padding(plan_builder *b, const operand_fields *o, int row, int lanes, int vector,
                        bool shared_k_rows, const plan_padding *padding) {
  const kernel_plan *p = b->plan;
  const char *key = o->name == 'a' ? "pad" : NULL;
  int element = p->element;
  if (p->swizzle) {
    plan_set(b, o->pad, 0, "swizzled instead");
    return 0;
  }
  if (plan_value(p, o->turn)) {
    int choice = choose_padding(row, lanes, vector, element, shared_k_rows ? 16 / element : 1);
    return plan_take(b, o->pad, SPEC_PADDING, choice, key,
                     "turned shared stores then meet in a bank %d ways, unpadded %d ways",
                     plan_store_ways(lanes, vector, row + choice, element),
                     plan_store_ways(lanes, vector, row, element));
  }
  if (padding != NULL)
    return plan_take(b, o->pad, SPEC_PADDING, padding->elements, key, "%s", padding->why);
  return plan_take(b, o->pad, SPEC_PADDING, 0, key,
                   "%d-byte rows are read and written in order: no conflicts", row * element);
}

void plan_copy_operand(plan_builder *b, int operand, bool shared_k_rows, bool allow_async,
                       const plan_padding *padding) {
  kernel_plan *p = b->plan;
  const operand_fields *o = &operands[operand];
  int mn = operand == 0 ? p->tile_m : p->tile_n;
  bool along_k = plan_contiguous_k(p, operand);
  bool turned = along_k == shared_k_rows;
  plan_set(b, o->turn, turned,
           turned ? "global and shared memory are contiguous along different axes"
                  : "contiguous along the same axis in global and shared memory");
  int extent = along_k ? p->tile_k : mn;
  int rows = along_k ? mn : p->tile_k;
  int width = choose_width(b, o, along_k, extent);
  if (b->result != PLAN_OK) return;
  int vector = width / p->element;
  int x = extent / vector;

  bool async = allow_async && width >= LEAST_ASYNC && (!turned || vector == 1);
  if (async)
    plan_set(b, o->path, PATH_ASYNC, "cp.async: no registers, as many stages as fit");
  else if (!b->gpu->has_cp_async)
    plan_set(b, o->path, PATH_STAGED,
             "sm_%d has no cp.async: global loads one tile ahead, then "
             "shared stores",
             b->gpu->arch);
  else if (!allow_async)
    plan_set(b, o->path, PATH_STAGED, "one stage: load, store, barrier, compute, barrier");
  else if (width < LEAST_ASYNC)
    plan_set(b, o->path, PATH_STAGED,
             "cp.async moves %d bytes or more: loads of %d into registers one tile ahead",
             LEAST_ASYNC, width);
  else
    plan_set(b, o->path, PATH_STAGED,
             "a %d-byte copy runs along k and is turned: global loads into registers one tile "
             "ahead, then %d shared stores each",
             width, vector);

  int lanes;
  if (!turned) {
    lanes = gcd_int(x, p->threads);
    plan_set(b, o->copy_lanes, lanes, "gcd of %d copies in a row and %d threads", x, p->threads);
  } else if (along_k) {
    lanes = gcd_int(x, vector > 1 ? 2 : 8);
    plan_set(b, o->copy_lanes, lanes,
             vector > 1 ? "2 along k, the warp's other lanes along %s: shared stores without "
                          "conflicts on a pitch of 4 mod 8 elements"
                        : "up to 8 along k: one 32-byte sector; the others along %s",
             operand == 0 ? "m" : "n");
  } else {
    lanes = gcd_int(x, 32);
    plan_set(b, o->copy_lanes, lanes, "a warp along the contiguous axis: coalesced");
  }
  int ty = p->threads / lanes;
  int rounds = x / lanes * ((rows + ty - 1) / ty);
  plan_set(b, o->copies, rounds, "%d x %d copies over %d x %d threads", x, rows, lanes, ty);

  /* Rows of shared memory run along m or n (shared_k_rows: one row for each k) or along k. */
  int row = shared_k_rows ? mn : p->tile_k;
  int count = shared_k_rows ? p->tile_k : mn;
  int pad = take_padding(b, o, row, lanes, vector, shared_k_rows, padding);
  plan_set(b, o->pitch, row + pad, "%d + %d", row, pad);
  int bytes = round_up(count * (row + pad) * p->element, 128);
  plan_set(b, o->bytes, bytes, "%d rows x %d x %d B, rounded up to 128", count, row + pad,
           p->element);
  bool full = b->variant == VARIANT_FULL;
  plan_set(b, o->align, width, full ? "of one copy" : "of one copy, guarded or not");
}

void plan_copy_stage(plan_builder *b) {
  kernel_plan *p = b->plan;
  int unit = 16 / p->element;
  if (p->pitch_a % unit != 0 || p->pitch_b % unit != 0)
    plan_refuse(b, SPEC_PADDING, "padding",
                "%d elements break the 16-byte alignment of shared rows; use a multiple of %d",
                p->pad_a, unit);
  SET(stage_bytes, p->bytes_a + p->bytes_b, "%d + %d", p->bytes_a, p->bytes_b);
}

void plan_copy_multiples(plan_builder *b) {
  kernel_plan *p = b->plan;
  if (b->variant == VARIANT_FULL) {
    SET(multiple_m, p->tile_m, "no row guard");
    SET(multiple_n, p->tile_n, "no column guard");
    SET(multiple_k, p->tile_k, "no tail in k");
    SET(min_k, 0, "every loop may run zero times");
    return;
  }
  int m = 1, k = 1, n = p->store_vector;
  int va = p->copy_a / p->element, vb = p->copy_b / p->element;
  if (plan_contiguous_k(p, 0))
    k = va;
  else
    m = va;
  if (plan_contiguous_k(p, 1))
    k = vb > k ? vb : k;
  else
    n = vb > n ? vb : n;
  SET(multiple_m, m, m > 1 ? "one copy of A holds this many rows" : "guarded");
  SET(multiple_n, n, n > 1 ? "one copy of B or one store of D holds this many columns" : "guarded");
  SET(multiple_k, k, k > 1 ? "one copy along k" : "the last k tile is filled with zeros");
  SET(min_k, 0, "every loop may run zero times");
}

double plan_single_copies(const kernel_plan *p, bool a, bool b, int slots, int rate) {
  enum { LANES = 128 };
  double elements = (a ? 1.0 / p->tile_n : 0) + (b ? 1.0 / p->tile_m : 0);
  return slots * elements * rate / LANES;
}
