/* plan_simt_registers.c - registers of a kernel of family simt: what decides how many blocks an SM
 * is to hold, and with it the launch bound, and what ptxas then allots.
 *
 * The two differ on purpose. The first errs upward, so that no bound makes a kernel spill; the
 * second is to be right, since the model's residency and its warnings rest on it.
 */
#include "plan_epilogue.h"
#include "plan_simt.h"

#include <stdio.h>

/* Registers beside accumulators, fragments and staged copies: addresses, bounds, loop state. */
enum { OTHER_REGISTERS = 34, MANY_STAGED = 32 };

int plan_simt_tile_registers(const plan_builder *b, int m, int n) {
  return b->plan->element / 4 * (m * n + 2 * (m + n)) + OTHER_REGISTERS;
}

static int staged_registers(const kernel_plan *p) {
  int words = p->element / 4, sum = 0;
  if (p->path_a == PATH_STAGED) sum += p->copies_a * (p->copy_a / p->element) * words;
  if (p->path_b == PATH_STAGED) sum += p->copies_b * (p->copy_b / p->element) * words;
  return sum;
}

/* Pointers that the copies keep: clamped ones are one for each row (k-contiguous) or column. */
static int pointer_registers(const kernel_plan *p, int operand) {
  int extent = operand == 0 ? p->tile_m : p->tile_n;
  int lanes = operand == 0 ? p->copy_lanes_a : p->copy_lanes_b;
  if (plan_contiguous_k(p, operand)) return 2 * ((extent * lanes + p->threads - 1) / p->threads);
  return 4;
}

/* What leaves a thread enough registers. */
static const char *registers_remedy(const plan_builder *b, int staged) {
  if (plan_given(b, SPEC_MIN_BLOCKS) && b->plan->min_blocks > 1)
    return "fewer min_blocks or a smaller thread tile";
  if (b->plan->threads > 256) return "a smaller tile (fewer threads) or a smaller thread tile";
  return staged > 32 ? "a smaller thread tile, or a smaller tile.k (fewer staged registers)"
                     : "a smaller thread tile";
}

/* Registers of an epilogue with steps that reads C and residual of `rows` rows at once:
 * accumulators, what belongs to columns, the rows' elements (16-bit types in pairs), a polynomial's
 * values. */
static int epilogue_registers(const kernel_plan *p, int rows) {
  int words = p->element / 4;
  int columns = (p->bias == GG_BIAS_N) + (p->scale_b == GG_SCALING_VECTOR);
  int row =
      (p->residual ? p->element_d : 0) + (p->beta == GG_SCALAR_ZERO ? 0 : dtype_bytes(p->type_c));
  return words * p->thread_n * (p->thread_m + columns) + rows * p->thread_n * row / 4 +
         plan_step_registers(p) + OTHER_REGISTERS - 8;
}

void plan_simt_epilogue_rows(plan_builder *b) {
  kernel_plan *p = b->plan;
  int rows = p->vector;
  while (rows > 1 && epilogue_registers(p, rows) > p->register_limit - 8)
    rows /= 2;
  SET(epilogue_rows, rows, "about %d of %d registers", epilogue_registers(p, rows),
      p->register_limit);
}

/* Do some threads sit out the last round of an operand's copies? */
static bool partial(const kernel_plan *p, int operand) {
  int lanes = operand == 0 ? p->copy_lanes_a : p->copy_lanes_b;
  int side = operand == 0 ? p->tile_m : p->tile_n;
  return (plan_contiguous_k(p, operand) ? side : p->tile_k) % (p->threads / lanes) != 0;
}

/* What ptxas allots, for the residency of the kernel as it will be; the launch bound follows from
 * the estimate above. Constants are fitted to half of the kernels of specs/ (docs/model.md). */
static void expect_registers(plan_builder *b, int accumulators, int fragments, int staged,
                             int pointers) {
  kernel_plan *p = b->plan;
  int words = p->element / 4, copies = p->copies_a + p->copies_b;
  /* With one stage what is staged and the fragments are never held at once. */
  int held = p->stages > 1 ? fragments + staged : fragments > staged ? fragments : staged;
  /* Vectors of 4 registers leave gaps between the sums. */
  int other = 18 + accumulators / 16;
  /* Steps so short that loads of several are in flight. */
  int ahead = p->thread_m * p->thread_n <= 16 ? 12 : 0;
  /* One set: part of the next step's begins before the last product of this one. */
  if (p->fragments == 1 && p->unroll_k > 1) ahead += 3 * words * (p->thread_m + p->thread_n) / 8;
  int guards = p->variant == VARIANT_FULL ? 0 : 9 + copies / 4;
  /* A ring written out: guards of single elements of the next stage stand ready in this one. */
  if (p->variant == VARIANT_NARROW && p->unroll_stages) guards += copies / 2;
  int stores = 0;
  bool staged_a = p->path_a == PATH_STAGED, staged_b = p->path_b == PATH_STAGED;
  /* cp.async beside copies through registers: two offsets into the ring, two distances ahead. */
  if (staged_a != staged_b) stores += 7;
  /* Behind its last store cp.async alone is in the way of f64's pairs: a step is loaded ahead. */
  if (staged_a != staged_b && p->element == 8) stores += words * (p->thread_m + p->thread_n);
  /* Stores that some threads leave out are branches; a step's loads move up before all of them. */
  if ((staged_a && partial(p, 0)) || (staged_b && partial(p, 1))) stores += 5 * staged / 8;
  int slices = p->k_slices > 1 ? 4 : 0; /* the slice, its rows of the stage */
  int total = accumulators + held + pointers + other + ahead + guards + stores + slices;
  const struct {
    int registers;
    const char *what;
  } parts[] = {{ahead, "loads ahead"},
               {guards, "guards"},
               {stores, "around staged copies"},
               {slices, "k slices"}};
  char some[96] = "";
  for (size_t i = 0, at = 0; i < sizeof parts / sizeof *parts; ++i)
    if (parts[i].registers > 0)
      at += (size_t)snprintf(some + at, sizeof some - at, " + %d %s", parts[i].registers,
                             parts[i].what);
  SET(registers, total < p->register_limit ? total : p->register_limit,
      "%d accumulators + %d fragments and staged + %d pointers + %d other%s%s", accumulators, held,
      pointers, other, some, total > p->register_limit ? "; the limit is less" : "");
}

void plan_simt_residency(plan_builder *b) {
  kernel_plan *p = b->plan;
  int words = p->element / 4;
  int accumulators = words * p->thread_m * p->thread_n;
  int fragments = words * p->fragments * (p->thread_m + p->thread_n);
  int staged = staged_registers(p);
  int pointers = pointer_registers(p, 0) + pointer_registers(p, 1);
  int total = accumulators + fragments + staged + pointers + OTHER_REGISTERS - 8;
  int epilogue = plan_step_registers(p) > 0 ? epilogue_registers(p, 1) : 0;
  SET(registers, total > epilogue ? total : epilogue,
      "%d accumulators + %d fragments + %d staged + %d pointers + %d other%s", accumulators,
      fragments, staged, pointers, OTHER_REGISTERS - 8,
      epilogue > total ? "; the epilogue needs more" : "");
  total = p->registers;
  /* Guards want a few registers at times where their estimate has none to spare; so do many
   * copies through registers, which ptxas keeps longer: a quarter of them, all beside few sums. */
  int kept = staged < MANY_STAGED ? 0 : accumulators < staged ? staged : staged / 4;
  int wanted = round_up(b->variant == VARIANT_FULL ? total + kept : total + kept + 8, 8);
  int blocks = 1;
  while (blocks + 1 <= plan_blocks_by_registers(b, wanted) &&
         (blocks + 1) * p->threads <= b->gpu->threads_sm &&
         (blocks + 1) * (p->shared_bytes + b->gpu->shared_reserved) <= b->gpu->shared_sm &&
         blocks < 8)
    ++blocks;
  TAKE(min_blocks, MIN_BLOCKS, blocks, "mb", "as many as %d registers x %d threads allow", wanted,
       p->threads);
  plan_register_limit(b);
  int limit = p->register_limit;
  /* Measured: no spill up to 24 above the limit where nothing is guarded; guards take what the
   * estimate has to spare, but for pairs of f64, whose second set of fragments dies early. */
  bool pairs = p->element == 8 && p->fragments == 2 && p->vector == 2;
  int slack = b->variant == VARIANT_FULL ? 24 : pairs ? 12 : 0;
  if (total > limit + slack)
    plan_refuse(b, plan_given(b, SPEC_MIN_BLOCKS) ? SPEC_MIN_BLOCKS : SPEC_THREAD_M, "registers",
                "about %d registers a thread (%d accumulators, %d fragments, %d staged), the limit "
                "is %d: the kernel would spill; use %s",
                total, accumulators, fragments, staged, limit, registers_remedy(b, staged));
  expect_registers(b, accumulators, fragments, staged, pointers);
}
