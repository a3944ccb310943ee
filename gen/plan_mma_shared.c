/* plan_mma_shared.c - shared memory of family mma: how fragments are read, in which rows the
 * operands lie so that no two lanes meet in a bank, who copies what, and the way out for D.
 *
 * Operands keep their order from global to shared memory, so copies are as wide as they can be;
 * what has to be turned is turned on the way to registers.
 */
#include "plan_epilogue.h"
#include "plan_mma.h"

#include <limits.h>
#include <stdio.h>

enum { LANES = 32, ROW_BITS = 4, NO_BIT = 15, MOST_PADDING = 8 /* chunks */, CHUNK = 16 };
enum { MOST_STORES = 8, BATCH_INSTRUCTIONS = 256 };

typedef struct operand_fields {
  char name, axis;
  plan_field load, flip, path, copy, copies, copy_lanes, pitch;
} operand_fields;

static const operand_fields operands[2] = {
    {'A', 'm', PLAN_load_a, PLAN_flip_a, PLAN_path_a, PLAN_copy_a, PLAN_copies_a, PLAN_copy_lanes_a,
     PLAN_pitch_a},
    {'B', 'n', PLAN_load_b, PLAN_flip_b, PLAN_path_b, PLAN_copy_b, PLAN_copies_b, PLAN_copy_lanes_b,
     PLAN_pitch_b},
};

static int extent_of(const kernel_plan *p, int operand) {
  return operand == 0 ? p->tile_m : p->tile_n;
}

static int warp_of(const kernel_plan *p, int operand) {
  return operand == 0 ? p->warp_m : p->warp_n;
}

static int row_bytes(const kernel_plan *p, int operand) {
  return p->element * (plan_contiguous_k(p, operand) ? p->tile_k : extent_of(p, operand));
}

static void choose_load(plan_builder *b, int operand) {
  const kernel_plan *p = b->plan;
  plan_field f = operands[operand].load;
  bool both = plan_contiguous_k(p, 0) && plan_contiguous_k(p, 1);
  if (p->type_a == GG_F64)
    plan_set(b, f, LOAD_LDS,
             "ldmatrix moves 16 bits at a time where it turns, f64 has no use of it");
  else if (plan_contiguous_k(p, operand) && p->element == 4 && !both && plan_mma_by_tma(b))
    plan_set(b, f, LOAD_LDS, "lanes take k in the order in which the other operand's meet no bank");
  else if (plan_contiguous_k(p, operand))
    plan_set(b, f, LOAD_LDMATRIX, "rows along k: 16 bytes of a row go to four lanes, as mma wants");
  else if (p->element == 2)
    plan_set(b, f, LOAD_TRANS, "rows along %c: ldmatrix turns 16-bit elements on the way",
             operands[operand].axis);
  else if (p->element == 1)
    plan_set(b, f, LOAD_TRANS_BYTES,
             "rows along %c: ldmatrix turns pairs of bytes, two prmt sort a pair of registers",
             operands[operand].axis);
  else
    plan_set(b, f, LOAD_LDS, "rows along %c: ldmatrix would tear 32-bit elements apart",
             operands[operand].axis);
}

/* Row, and byte in it, that a lane reads in the first load of a fragment, as templates/mma.lua
 * spells it. Returns the bytes a lane takes. */
static int lane_place(const kernel_plan *p, int operand, int lane, int *row, int *byte) {
  bool along_k = plan_contiguous_k(p, operand);
  bool tma = plan_value(p, operands[operand].path) == PATH_TMA;
  int k = !tma ? lane % 4 : p->element == 8 ? lane % 4 * 5 : lane % 4 * 5 % 8;
  switch (plan_value(p, operands[operand].load)) {
  case LOAD_LDMATRIX:
    *row = operand == 0 ? lane % 16 : lane / 16 * 8 + lane % 8;
    *byte = (operand == 0 ? lane / 16 : lane / 8 % 2) * CHUNK;
    return CHUNK;
  case LOAD_TRANS:
    *row = operand == 0 ? lane / 16 * 8 + lane % 8 : lane % 16;
    *byte = (operand == 0 ? lane / 8 % 2 : lane / 16) * CHUNK;
    return CHUNK;
  case LOAD_TRANS_BYTES:
    *row = lane / 16 * 16 + (lane / 8 + (tma ? lane % 8 / 4 : 0)) % 2 * 2 + lane % 8 / 2 * 4 +
           lane % 2;
    *byte = 0;
    return CHUNK;
  default:
    *row = along_k ? lane / 4 : k;
    *byte = (along_k ? k : lane / 4) * p->element;
    return p->element;
  }
}

/* The most lanes that meet in a bank: lanes whose words one pass serves are 128 bytes' worth. */
static int bank_ways(const int address[LANES], int width) {
  int pass = width <= 4 ? LANES : 128 / width, worst = 1;
  for (int first = 0; first < LANES; first += pass) {
    int used[32] = {0};
    for (int lane = first; lane < first + pass; ++lane) {
      bool again = false; /* one word serves all who want it */
      for (int other = first; other < lane; ++other)
        again |= width <= 4 && address[other] / 4 == address[lane] / 4;
      for (int word = 0; word < (width + 3) / 4 && !again; ++word)
        ++used[(address[lane] / 4 + word) % 32];
    }
    for (int bank = 0; bank < 32; ++bank)
      if (used[bank] > worst) worst = used[bank];
  }
  return worst;
}

static int flip_of(int code, int row) {
  int flip = 0;
  for (int j = 0; j < 3; ++j) {
    int bit = code >> 4 * j & 15;
    if (bit != NO_BIT) flip |= (row >> bit & 1) << j;
  }
  return flip;
}

static int read_ways(const kernel_plan *p, int operand, int pitch, int code) {
  int address[LANES], width = 0;
  for (int lane = 0; lane < LANES; ++lane) {
    int row, byte;
    width = lane_place(p, operand, lane, &row, &byte);
    address[lane] = row * pitch + (byte ^ flip_of(code, row) * CHUNK);
  }
  return bank_ways(address, width);
}

int plan_mma_read_ways(const kernel_plan *p, int operand) {
  int pitch = (operand == 0 ? p->pitch_a : p->pitch_b) * p->element;
  int flip = operand == 0 ? p->flip_a : p->flip_b;
  return read_ways(p, operand, pitch, p->swizzle ? flip : NO_BIT | NO_BIT << 4 | NO_BIT << 8);
}

/* Which bits of a row's number flip the bits of its chunks' numbers, four bits each: the first
 * choice without conflicts, so that none takes a bit in which the rows of one load do not differ.
 * Rows of less than 128 bytes have fewer chunks to flip. */
static int find_flip(const kernel_plan *p, int operand, int *ways) {
  int pitch = row_bytes(p, operand), best = NO_BIT | NO_BIT << 4 | NO_BIT << 8;
  *ways = read_ways(p, operand, pitch, best);
  for (int x = 0; x < 125 && *ways > 1; ++x) {
    int code = 0;
    for (int j = 0; j < 3; ++j) {
      int choice = j == 0 ? x / 25 : j == 1 ? x / 5 % 5 : x % 5;
      int bit = choice == 0 || 2 * CHUNK << j > pitch ? NO_BIT : choice - 1;
      code |= bit << 4 * j;
    }
    int now = read_ways(p, operand, pitch, code);
    if (now < *ways) *ways = now, best = code;
  }
  return best;
}

static bool power_of_two(int x) {
  return x > 0 && (x & (x - 1)) == 0;
}

/* Bits that are flipped must be a thread's own: the steps from one of its copies or fragments to
 * the next lie in other bits. NULL, or what stands in the way. */
static const char *no_swizzle(const kernel_plan *p, int operand) {
  int bytes = row_bytes(p, operand), warp = warp_of(p, operand) * p->element;
  if (!(bytes < 128 ? power_of_two(bytes) : bytes % 128 == 0))
    return "rows that are no multiple of 128 bytes and no power of two";
  if (!plan_contiguous_k(p, operand) && warp % 128 != 0 && !power_of_two(warp))
    return "warps whose rows are no multiple of 128 bytes and no power of two";
  if (!power_of_two(p->threads)) return "a number of threads that is no power of two";
  if (p->unroll_k * p->step_k < p->tile_k && !power_of_two(p->unroll_k))
    return "turns of k steps that are no power of two";
  return NULL;
}

static void choose_swizzle(plan_builder *b) {
  kernel_plan *p = b->plan;
  int asked = plan_asked(b, SPEC_SWIZZLE, plan_given(b, SPEC_PADDING) ? 0 : 128);
  if (asked != 0 && asked != 128) {
    plan_refuse(b, SPEC_SWIZZLE, "swizzle",
                "%d; the XOR works on 16-byte chunks of 128 bytes; use 128, or padding", asked);
    return;
  }
  if (plan_asked(b, SPEC_SWIZZLE, 0) > 0 && plan_asked(b, SPEC_PADDING, 0) > 0)
    plan_refuse(b, SPEC_SWIZZLE, "swizzle", "128 together with padding; use one of them");
  const char *trouble = NULL;
  for (int operand = 0; operand < 2 && trouble == NULL; ++operand)
    trouble = no_swizzle(p, operand);
  if (trouble != NULL && plan_asked(b, SPEC_SWIZZLE, 0) > 0)
    plan_refuse(b, SPEC_SWIZZLE, "swizzle", "128 does not go with %s; use padding", trouble);
  bool swizzle = asked > 0 && trouble == NULL;
  SET(swizzle, swizzle,
      swizzle           ? "no bytes, and neither copies nor fragments meet in a bank"
      : trouble != NULL ? "padding instead: %s"
                        : "padding asked by the spec",
      trouble);
  if (swizzle != (trouble == NULL)) buf_puts(&b->suffix, "_padded");
  if (!swizzle) return;
  for (int operand = 0; operand < 2; ++operand) {
    int ways, code = find_flip(p, operand, &ways);
    plan_set(b, operands[operand].flip, code,
             "bits of a row's number that flip its chunks, 15 none: %d lanes then meet in a bank, "
             "unflipped %d",
             ways, read_ways(p, operand, row_bytes(p, operand), 0xfff));
  }
}

/* Padding after which the fewest lanes meet, in whole chunks. */
static plan_padding find_padding(const kernel_plan *p, int operand) {
  int bytes = row_bytes(p, operand), best = 0, least = read_ways(p, operand, bytes, 0xfff);
  for (int chunks = 1; chunks <= MOST_PADDING && least > 1; ++chunks) {
    int ways = read_ways(p, operand, bytes + chunks * CHUNK, 0xfff);
    if (ways < least) least = ways, best = chunks;
  }
  plan_padding padding = {.elements = best * CHUNK / p->element};
  snprintf(padding.why, sizeof padding.why, "%d lanes of a fragment load then meet in a bank",
           least);
  return padding;
}

bool plan_mma_gathers(const plan_builder *b) {
  return b->variant == VARIANT_NARROW && b->plan->element < 4;
}

/* Single elements, collected into words: lanes side by side along the contiguous axis. */
static void choose_gather(plan_builder *b, int operand) {
  const kernel_plan *p = b->plan;
  const operand_fields *o = &operands[operand];
  int units = row_bytes(p, operand) / 4;
  int rows = plan_contiguous_k(p, operand) ? extent_of(p, operand) : p->tile_k;
  int lanes = gcd_int(units, p->threads);
  int down = p->threads / lanes;
  plan_set(b, o->copy_lanes, lanes, "gcd of %d words in a row and %d threads", units, p->threads);
  plan_set(b, o->copies, units / lanes * ((rows + down - 1) / down),
           "%d x %d words of %d elements over %d x %d threads", units, rows, 4 / p->element, lanes,
           down);
}

void plan_mma_shared(plan_builder *b) {
  kernel_plan *p = b->plan;
  for (int operand = 0; operand < 2; ++operand)
    choose_load(b, operand);
  if (plan_mma_by_tma(b)) {
    plan_mma_tma(b);
    return;
  }
  choose_swizzle(b);
  if (b->result != PLAN_OK) return;
  for (int operand = 0; operand < 2; ++operand) {
    plan_padding padding = find_padding(p, operand);
    bool async = b->gpu->has_cp_async && plan_asked(b, SPEC_STAGES, 2) > 1;
    plan_copy_operand(b, operand, !plan_contiguous_k(p, operand), async, &padding);
    if (b->result != PLAN_OK) return;
    if (plan_mma_gathers(b)) choose_gather(b, operand);
    int pitch = plan_value(p, operands[operand].pitch) * p->element;
    if (pitch % CHUNK != 0)
      plan_refuse(b, SPEC_PADDING, "padding",
                  "%d elements break the 16-byte alignment of shared rows; use a multiple of %d",
                  plan_asked(b, SPEC_PADDING, 0), CHUNK / p->element);
  }
  SET(stage_bytes, p->bytes_a + p->bytes_b, "%d + %d", p->bytes_a, p->bytes_b);
}

/* Ways of the stores by which a warp puts elements of so many bytes into rows of `pitch` bytes. */
static int put_ways(const kernel_plan *p, int element, int pitch) {
  int run = p->load_b == LOAD_TRANS_BYTES ? 4 : 2;
  int width = run * element, address[LANES];
  for (int lane = 0; lane < LANES; ++lane)
    address[lane] = lane / 4 * pitch + lane % 4 * width;
  return bank_ways(address, width > CHUNK ? CHUNK : width);
}

/* The same for the loads of `vector` elements a lane that take them out again, whole rows at a
 * time.
 */
static int get_ways(const kernel_plan *p, int element, int vector, int pitch) {
  int width = vector * element, across = p->warp_n / vector, address[LANES];
  for (int lane = 0; lane < LANES; ++lane)
    address[lane] = lane / across * pitch + lane % across * width;
  return bank_ways(address, width);
}

/* Sets the pitch of staged rows: the least at which the fewest lanes meet. Returns it in bytes. */
static int choose_pitch(plan_builder *b, plan_field f, int element, int vector) {
  const kernel_plan *p = b->plan;
  int row = p->warp_n * element, best = 0, least = INT_MAX;
  for (int chunks = 0; chunks <= MOST_PADDING; ++chunks) {
    int pitch = row + chunks * CHUNK;
    int ways = put_ways(p, element, pitch) + get_ways(p, element, vector, pitch);
    if (ways < least) least = ways, best = chunks;
  }
  int pitch = row + best * CHUNK;
  plan_set(b, f, pitch / element, "%d + %d: %d lanes of a store and %d of a load meet in a bank",
           p->warp_n, best * CHUNK / element, put_ways(p, element, pitch),
           get_ways(p, element, vector, pitch));
  return pitch;
}

/* Stores of `vector` elements that a lane makes of the rows that are staged at once: the text has
 * one batch of them, in a loop where there are more. steps: instructions of each element. */
static void choose_batch(plan_builder *b, plan_field f, int vector, int steps) {
  const kernel_plan *p = b->plan;
  int stores = p->d_rows * p->warp_n / vector / LANES, fit = MOST_STORES;
  /* A batch's sums and C, 4 registers each, and two addresses: beside 128 of f64's sums 8 of them
   * spill (CUDA 13.0). */
  bool doubles = p->type_acc == GG_F64 && p->warp_m * p->warp_n / LANES * 2 >= 128;
  if (f == PLAN_sum_batch && doubles) fit /= 2;
  int most = fit;
  while (most > 1 && most * vector * steps > BATCH_INSTRUCTIONS)
    --most;
  int batch = stores < most ? stores : most;
  while (stores % batch != 0)
    --batch;
  plan_set(b, f, batch, "of %d; at most %d and %d instructions of steps", stores, fit,
           BATCH_INSTRUCTIONS);
}

/* What a ring fed by TMA leaves of shared memory to D: at most a stage's worth. */
static int beside_ring(const plan_builder *b) {
  const kernel_plan *p = b->plan;
  int stages = plan_asked(b, SPEC_STAGES, plan_mma_usual_stages(b));
  int room =
      plan_mma_share(b, plan_asked(b, SPEC_MIN_BLOCKS, 1)) - stages * (p->stage_bytes + MBARRIERS);
  return room < p->stage_bytes ? room : p->stage_bytes;
}

void plan_mma_staging(plan_builder *b) {
  kernel_plan *p = b->plan;
  int pitch_d = choose_pitch(b, PLAN_pitch_d, p->element_d, p->store_vector);
  int pitch_sums = choose_pitch(b, PLAN_pitch_sums, dtype_bytes(p->type_acc), p->sum_vector);
  bool steps = p->bias || p->activation || p->residual || p->scale_a || p->scale_b || p->scale_d ||
               p->absmax;
  int pitch = steps || (p->beta != GG_SCALAR_ZERO && pitch_sums > pitch_d) ? pitch_sums : pitch_d;
  int warps = p->threads / LANES;
  bool tma = plan_mma_by_tma(b);
  int room = tma ? beside_ring(b) : p->stage_bytes;
  /* Rows that 8-bit operands interleave go eight by eight. */
  int rows = p->load_a == LOAD_TRANS_BYTES ? 8 : p->warp_m;
  while (rows > 8 && (p->warp_m % rows != 0 || warps * rows * pitch > room))
    rows -= 8;
  int bytes = warps * rows * pitch;
  if (tma)
    SET(d_reuses, 0, "all stages are on their way to the next tile, or read by slower warps");
  else
    SET(d_reuses, bytes <= p->stage_bytes,
        bytes <= p->stage_bytes ? "the others hold the next tile's first k tiles"
                                : "%d B, more than a stage's %d",
        bytes, p->stage_bytes);
  SET(d_rows, rows, "of each of %d warps: what %s room for, at least 8", warps,
      tma ? "the ring leaves" : "a stage has");
  SET(d_bytes, bytes, "%d warps x %d rows x %d", warps, rows, pitch);
  choose_batch(b, PLAN_store_batch, p->store_vector, 0);
  choose_batch(b, PLAN_sum_batch, p->sum_vector, plan_step_instructions(p));
}
