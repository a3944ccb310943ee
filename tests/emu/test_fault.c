/* test_fault.c - addresses outside or misaligned, barriers that do not fit, unfinished exits. */
#include "rig.h"

#define OUTSIDE    (int)GG_EMU_OUT_OF_BOUNDS
#define MISALIGNED (int)GG_EMU_MISALIGNED
#define BARRIER    (int)GG_EMU_BARRIER
#define UNFINISHED (int)GG_EMU_UNFINISHED

static const gg_emu_finding *first(const rig *r) {
  const gg_emu_finding *f;
  assert_true(gg_emu_findings(r->emu, &f) > 0);
  return f;
}

static void shared_addresses(void **state) {
  rig *r = *state;
  rig_expect(r, shared_outside, OUTSIDE, "shared_write_outside", NULL, OUTSIDE,
             "shared_read_outside", NULL, 0);
  assert_int_equal(first(r)[0].count, 1); /* the last thread's */
  assert_int_equal(first(r)[1].count, 64);
  assert_true(r->d[0] != r->d[0]); /* refused reads give NaN */
  rig_expect(r, shared_misaligned, MISALIGNED, "shared_write_misaligned", NULL, MISALIGNED,
             "shared_read_misaligned", NULL, 0);
  assert_int_equal(first(r)->count, 1);
  assert_true(r->d[5] != r->d[5]);
  assert_true(r->d[6] == 1.0f);
}

static void global_addresses(void **state) {
  rig *r = *state;
  r->d[9] = 3.0f;
  rig_expect(r, global_outside, OUTSIDE, "ldg_outside", NULL, OUTSIDE, "st_outside", NULL, OUTSIDE,
             "ld_outside", NULL, 0);
  assert_non_null(strstr(first(r)->text, "A"));
  assert_true(r->d[9] == 3.0f);
  assert_true(r->d[63] != r->d[63]);
  rig_expect(r, global_below, OUTSIDE, "below", NULL, 0);
  assert_non_null(strstr(first(r)->text, "bytes -4 to -1 of A, which has 1024"));
  rig_expect(r, global_misaligned, MISALIGNED, "ldg_misaligned", NULL, MISALIGNED, "st_misaligned",
             NULL, 0);
  assert_int_equal(first(r)->count, 1);
}

static void copies(void **state) {
  rig *r = *state;
  rig_expect(r, copy_outside, OUTSIDE, "copy_from_outside", NULL, OUTSIDE, "copy_to_outside", NULL,
             0);
  rig_expect(r, copy_misaligned, MISALIGNED, "copy_to_misaligned", NULL, MISALIGNED,
             "copy_from_misaligned", NULL, (int)GG_EMU_RACE, "copy_from_misaligned",
             "copy_to_misaligned", 0);
  rig_expect(r, copy_bytes, OUTSIDE, "copy_bytes", NULL, 0);
  rig_run(r, copy_zero_ok);
  rig_silent(r);
  for (int i = 0; i < 64; i++)
    assert_true(r->d[i] == 0.0f);
}

/* An odd pointer: the allocation starts where it was asked to. */
static void odd_pointers(void **state) {
  rig *r = *state;
  float *odd = gg_emu_alloc_at(r->emu, 64 * sizeof(float), 12, "odd");
  assert_non_null(odd);
  assert_int_equal((uintptr_t)odd % 256, 12);
  r->args.c = r->args.d = odd;
  for (int i = 0; i < 64; i++)
    odd[i] = (float)i;
  rig_run(r, global_own_ok);
  rig_silent(r);
  assert_true(odd[63] == 65.0f);
  r->blocks = 2;
  rig_run(r, global_own_ok);
  assert_int_equal(rig_count(r, GG_EMU_OUT_OF_BOUNDS), 4);
}

static void divergence(void **state) {
  rig *r = *state;
  rig_expect(r, warp_divergence, (int)GG_EMU_DIVERGENCE, "odd_lanes", "even_lanes",
             (int)GG_EMU_DIVERGENCE, "even_lanes", "odd_lanes", 0);
  rig_expect(r, barrier_divergence, (int)GG_EMU_DIVERGENCE, "lane_40", "other_lanes",
             (int)GG_EMU_DIVERGENCE, "other_lanes", "lane_40", 0);
}

static void deadlocks(void **state) {
  rig *r = *state;
  r->blocks = 3; /* a block given up does not stop the others */
  rig_expect(r, deadlock, (int)GG_EMU_DEADLOCK, "deadlock_1", "deadlock_2", 0);
  assert_int_equal(first(r)->count, 3);
  char who[160];
  snprintf(who, sizeof who,
           "32 from thread 0 at gg_bar_sync, line %d; 32 from thread 32 at gg_bar_sync, line %d",
           line_of("deadlock_1"), line_of("deadlock_2"));
  assert_non_null(strstr(first(r)->text, who));
}

static void barriers(void **state) {
  rig *r = *state;
  rig_expect(r, bar_counts, BARRIER, "bar_32", "bar_64", (int)GG_EMU_DEADLOCK, "bar_32", NULL, 0);
  rig_expect(r, bar_bad_id, BARRIER, "bar_0", NULL, BARRIER, "bar_16", NULL, 0);
  rig_expect(r, bar_bad_count, BARRIER, "bar_48", NULL, 0);
  rig_expect(r, bar_pending, BARRIER, "bar_pending", NULL, 0);
  rig_run(r, early_exit_ok);
  rig_silent(r);
  assert_true(r->d[0] == 39.0f);
  r->threads = 48;
  rig_run(r, half_warp_ok);
  rig_silent(r);
  assert_true(r->d[47] == 46.0f);
}

static void exits(void **state) {
  rig *r = *state;
  rig_expect(r, exit_uncommitted, UNFINISHED, "uncommitted", NULL, 0);
  assert_non_null(strstr(first(r)->text, "never committed"));
  rig_expect(r, exit_unwaited, UNFINISHED, "unwaited", NULL, 0);
  assert_int_equal(first(r)->count, 64);
  rig_run(r, exit_empty_ok);
  rig_silent(r);
}

static void endless_loops(void **state) {
  rig *r = *state;
  r->blocks = 3;
  r->options.max_steps = 1000;
  rig_expect(r, endless, (int)GG_EMU_ENDLESS, "endless", NULL, 0);
  assert_int_equal(first(r)->count, 1);
  assert_true(r->d[0] == 1.0f);
  assert_true(r->d[64] != r->d[64]);
  assert_true(r->d[128] == 1.0f);
}

/* Only a launch that may overlap the one before has to wait. */
static void kernel_before_not_waited_for(void **state) {
  rig *r = *state;
  rig_run(r, early);
  rig_silent(r);
  r->programmatic = 1;
  rig_expect(r, early, (int)GG_EMU_MISSING_WAIT, "early", NULL, 0);
  assert_int_equal(first(r)->count, 32);
}

static void findings_add_up_until_reset(void **state) {
  rig *r = *state;
  gg_emu_launch l = {.name = "waw",
                     .entry = (gg_entry)waw,
                     .grid_x = 1,
                     .grid_y = 1,
                     .grid_z = 1,
                     .block_x = 64,
                     .shared_bytes = 1024};
  const gg_emu_finding *f;
  assert_int_equal(gg_emu_run(r->emu, &l, &r->args, NULL), 0);
  assert_int_equal(gg_emu_findings(r->emu, &f), 1);
  uint64_t once = f[0].count;
  assert_int_equal(gg_emu_run(r->emu, &l, &r->args, NULL), 0);
  assert_int_equal(gg_emu_findings(r->emu, &f), 1);
  assert_int_equal(f[0].count, once * 2);
  gg_emu_reset(r->emu);
  assert_int_equal(gg_emu_findings(r->emu, &f), 0);
}

static int setup(void **state) {
  static rig r;
  rig_open(&r);
  for (int i = 0; i < RIG_FLOATS; i++)
    memset(&r.d[i], 0xff, sizeof r.d[i]);
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  rig_close(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(shared_addresses, setup, teardown),
      cmocka_unit_test_setup_teardown(global_addresses, setup, teardown),
      cmocka_unit_test_setup_teardown(copies, setup, teardown),
      cmocka_unit_test_setup_teardown(odd_pointers, setup, teardown),
      cmocka_unit_test_setup_teardown(divergence, setup, teardown),
      cmocka_unit_test_setup_teardown(deadlocks, setup, teardown),
      cmocka_unit_test_setup_teardown(barriers, setup, teardown),
      cmocka_unit_test_setup_teardown(exits, setup, teardown),
      cmocka_unit_test_setup_teardown(endless_loops, setup, teardown),
      cmocka_unit_test_setup_teardown(kernel_before_not_waited_for, setup, teardown),
      cmocka_unit_test_setup_teardown(findings_add_up_until_reset, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_fault", tests, NULL, NULL);
}
