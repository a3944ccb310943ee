/* test_race.c - order between threads: each wrong kernel gives its one finding, each right one
 * none, under the fixed schedule and under random ones.
 */
#include "rig.h"

#define RACE        (int)GG_EMU_RACE
#define GLOBAL_RACE (int)GG_EMU_GLOBAL_RACE
#define WAIT        (int)GG_EMU_MISSING_WAIT
#define UNINIT      (int)GG_EMU_UNINITIALISED

static void shared_races(void **state) {
  rig *r = *state;
  rig_expect(r, raw, RACE, "raw_read", "raw_write", 0);
  /* Each side notices some: the last to meet is the first to go on. */
  rig_expect(r, war, RACE, "war_write", "war_read", RACE, "war_read", "war_write", 0);
  rig_expect(r, waw, RACE, "waw", "waw", 0);
  rig_expect(r, uninitialised, UNINIT, "uninitialised", NULL, 0);
  rig_expect(r, uninitialised_part, UNINIT, "uninitialised_part", NULL, 0);
}

static void warp_and_named_barriers(void **state) {
  rig *r = *state;
  rig_expect(r, warp_exchange, RACE, "exchange_read", "exchange_write", 0);
  rig_expect(r, producer_late_write, RACE, "late_write_read", "late_write", 0);
  rig_expect(r, late_read, RACE, "late_read_write", "late_read", 0);
}

static void copies(void **state) {
  rig *r = *state;
  rig_expect(r, copy_no_wait, WAIT, "no_wait_read", "no_wait_copy", 0);
  rig_expect(r, copy_too_few, WAIT, "too_few_read", "too_few_copy", 0);
  rig_expect(r, copy_no_commit, WAIT, "no_commit_read", "no_commit_copy", 0);
  rig_expect(r, copy_no_barrier, RACE, "no_barrier_read", "no_barrier_copy", 0);
  rig_expect(r, copy_onto_read, RACE, "onto_copy", "onto_read", RACE, "onto_read", "onto_copy", 0);
  const gg_emu_finding *f;
  rig_run(r, copy_twice);
  assert_int_equal(gg_emu_findings(r->emu, &f), 1);
  assert_int_equal(f[0].kind, GG_EMU_MISSING_WAIT);
  assert_int_equal(f[0].line, line_of("twice"));
  assert_int_equal(f[0].other_line, line_of("twice") - 1);
  assert_int_equal(f[0].count, 64);
  rig_expect(r, copy_source, WAIT, "source_write", "source_copy", GLOBAL_RACE, "source_write",
             "source_copy", 0);
  rig_run(r, copy_of_nothing);
  rig_silent(r);
}

static void global_races(void **state) {
  rig *r = *state;
  rig_expect(r, global_two_writers, GLOBAL_RACE, "two_writers", "two_writers", 0);
  r->threads = 1; /* across blocks */
  r->blocks = 2;
  rig_expect(r, global_two_writers, GLOBAL_RACE, "two_writers", "two_writers", 0);
  r->threads = 64;
  r->blocks = 1;
  rig_expect(r, global_reader, GLOBAL_RACE, "global_write", "global_read", 0);
  rig_expect(r, global_ldg_own, GLOBAL_RACE, "ldg_write", "ldg_read", 0);
  rig_expect(r, global_copy_own, GLOBAL_RACE, "copy_own_write", "copy_own", 0);
}

static kernel *const sound[] = {raw_ok,           war_ok,      neighbours_ok, split_ok,
                                warp_exchange_ok, producer_ok, copy_ok,       global_own_ok};

static void sound_kernels_are_silent(void **state) {
  rig *r = *state;
  for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++) {
    float fixed[RIG_FLOATS];
    for (uint64_t seed = 0; seed < 50; seed++) {
      r->options.seed = seed;
      r->options.async = (gg_emu_async)(seed % 3);
      for (int k = 0; k < RIG_FLOATS; k++)
        r->d[k] = 0;
      rig_run(r, sound[i]);
      rig_silent(r);
      if (seed == 0) memcpy(fixed, r->d, sizeof fixed);
      assert_memory_equal(fixed, r->d, sizeof fixed);
    }
  }
}

/* Whatever the schedule, a fault is found; which side notices may differ. */
static void faults_are_found_in_any_order(void **state) {
  static const struct {
    kernel *run;
    gg_emu_kind kind;
  } faults[] = {{war, GG_EMU_RACE},
                {waw, GG_EMU_RACE},
                {producer_late_write, GG_EMU_RACE},
                {copy_no_wait, GG_EMU_MISSING_WAIT},
                {copy_too_few, GG_EMU_MISSING_WAIT},
                {copy_onto_read, GG_EMU_RACE},
                {uninitialised, GG_EMU_UNINITIALISED},
                {global_reader, GG_EMU_GLOBAL_RACE}};
  rig *r = *state;
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    for (uint64_t seed = 1; seed < 20; seed++) {
      r->options.seed = seed;
      r->options.async = (gg_emu_async)(seed % 3);
      rig_run(r, faults[i].run);
      if (rig_count(r, faults[i].kind) == 0)
        fail_msg("fault %zu of seed %llu", i, (unsigned long long)seed);
    }
}

static void values_move_late_or_early(void **state) {
  rig *r = *state;
  rig_run(r, copy_no_wait);
  assert_true(r->d[5] != r->d[5]); /* late: what was read is the initial NaN */
  r->options.async = GG_EMU_EARLY;
  rig_run(r, copy_no_wait);
  assert_true(r->d[5] == 5.0f);
  rig_run(r, copy_source);
}

static void unchecked_runs_find_no_races(void **state) {
  rig *r = *state;
  r->options.check = 0;
  rig_run(r, raw);
  rig_silent(r);
  rig_run(r, global_reader);
  rig_silent(r);
}

static int setup(void **state) {
  static rig r;
  rig_open(&r);
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  rig_close(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(shared_races, setup, teardown),
      cmocka_unit_test_setup_teardown(warp_and_named_barriers, setup, teardown),
      cmocka_unit_test_setup_teardown(copies, setup, teardown),
      cmocka_unit_test_setup_teardown(global_races, setup, teardown),
      cmocka_unit_test_setup_teardown(sound_kernels_are_silent, setup, teardown),
      cmocka_unit_test_setup_teardown(faults_are_found_in_any_order, setup, teardown),
      cmocka_unit_test_setup_teardown(values_move_late_or_early, setup, teardown),
      cmocka_unit_test_setup_teardown(unchecked_runs_find_no_races, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_race", tests, NULL, NULL);
}
