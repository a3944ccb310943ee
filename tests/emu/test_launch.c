/* test_launch.c - memory and launches as the host sees them. */
#include "rig.h"

static void wrong_launches_are_refused(void **state) {
  rig *r = *state;
  const gg_emu_launch good = {.name = "kernel",
                              .entry = (gg_entry)raw_ok,
                              .grid_x = 1,
                              .grid_y = 1,
                              .grid_z = 1,
                              .block_x = 64,
                              .cluster_x = 1,
                              .shared_bytes = 1024};
  gg_emu_launch l[10];
  for (int i = 0; i < 10; i++)
    l[i] = good;
  l[0].entry = NULL;
  l[1].block_x = 0;
  l[2].block_x = 1025;
  l[3].shared_bytes = 232449;
  l[4].grid_x = 0;
  l[5].grid_x = 1u << 31;
  l[6].grid_y = 65536;
  l[7].grid_z = 65536;
  l[8].cluster_x = 2;
  char error[240];
  for (int i = 0; i < 9; i++) {
    error[0] = 0;
    assert_int_equal(gg_emu_run(r->emu, &l[i], &r->args, error), -1);
    assert_non_null(strstr(error, "kernel"));
    assert_int_equal(gg_emu_run(r->emu, &l[i], &r->args, NULL), -1);
  }
  assert_int_equal(gg_emu_run(r->emu, &good, NULL, error), -1);
  assert_int_equal(gg_emu_run(r->emu, &good, &r->args, error), 0);
}

static void memory(void **state) {
  rig *r = *state;
  unsigned char *p = gg_emu_alloc(r->emu, 100, "P");
  assert_non_null(p);
  assert_int_equal((uintptr_t)p % 256, 0);
  for (int i = 0; i < 100; i++)
    assert_int_equal(p[i], 0xff);
  assert_true(gg_emu_contains(r->emu, p, 100));
  assert_true(gg_emu_contains(r->emu, p + 99, 1));
  assert_false(gg_emu_contains(r->emu, p, 101));
  assert_false(gg_emu_contains(r->emu, p - 1, 1));
  assert_false(gg_emu_contains(r->emu, &r, 1));
  assert_int_equal(gg_emu_free(r->emu, p + 1), -1);
  assert_int_equal(gg_emu_free(r->emu, p), 0);
  assert_int_equal(gg_emu_free(r->emu, p), -1);
  assert_false(gg_emu_contains(r->emu, p, 1));
  void *empty = gg_emu_alloc(r->emu, 0, "nothing");
  assert_non_null(empty);
  assert_false(gg_emu_contains(r->emu, empty, 1));
  assert_null(gg_emu_alloc(r->emu, SIZE_MAX / 2 + 1, "all"));
  gg_emu_destroy(NULL);
}

/* Offsets beyond 32 bits, in memory that is there only where it is touched. */
static void sparse_memory(void **state) {
  rig *r = *state;
  const size_t bytes = (size_t)6 << 30;
  float *p = gg_emu_alloc_sparse(r->emu, bytes, 4, "sparse");
  assert_non_null(p);
  assert_int_equal((uintptr_t)p % 256, 4);
  assert_true(gg_emu_contains(r->emu, p, bytes));
  assert_false(gg_emu_contains(r->emu, p, bytes + 1));
  float *last = p + bytes / sizeof *p - 64;
  r->args.c = r->args.d = last;
  rig_run(r, global_own_ok);
  rig_silent(r);
  for (int i = 0; i < 64; i++)
    assert_true(last[i] == 2.0f);
  rig_run(r, global_two_writers);
  assert_int_equal(rig_count(r, GG_EMU_GLOBAL_RACE), 1);
  r->blocks = 2;
  rig_run(r, global_own_ok);
  assert_int_equal(rig_count(r, GG_EMU_OUT_OF_BOUNDS), 4);
  assert_int_equal(gg_emu_free(r->emu, p), 0);
}

/* Fibers, shadow and counts fit themselves to each launch. */
static void geometries_change(void **state) {
  rig *r = *state;
  float *d = gg_emu_alloc(r->emu, 3 * 1024 * sizeof(float), "large");
  r->args.c = r->args.d = d;
  static const unsigned threads[] = {64, 1024, 1, 33, 1024, 64};
  for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
    r->threads = threads[i];
    r->blocks = 3;
    r->options.host_threads = (int)(i % 3) + 1;
    r->shared_bytes = (unsigned)(i * 40000);
    for (int k = 0; k < 3 * 1024; k++)
      d[k] = 0;
    rig_run(r, global_own_ok);
    rig_silent(r);
    for (unsigned k = 0; k < 3 * 1024; k++)
      assert_true(d[k] == (k < 3 * threads[i] ? 2.0f : 0.0f));
  }
}

static void kind_names(void **state) {
  (void)state;
  assert_string_equal(gg_emu_kind_name(GG_EMU_RACE), "race");
  assert_string_equal(gg_emu_kind_name(GG_EMU_MISSING_WAIT), "missing-wait");
  assert_string_equal(gg_emu_kind_name(GG_EMU_UNFINISHED), "unfinished");
  assert_string_equal(gg_emu_kind_name(GG_EMU_ENDLESS), "endless");
  for (int k = 1; k < GG_EMU_KIND_COUNT; k++)
    assert_string_not_equal(gg_emu_kind_name((gg_emu_kind)k), "unknown");
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
      cmocka_unit_test_setup_teardown(wrong_launches_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(memory, setup, teardown),
      cmocka_unit_test_setup_teardown(sparse_memory, setup, teardown),
      cmocka_unit_test_setup_teardown(geometries_change, setup, teardown),
      cmocka_unit_test_setup_teardown(kind_names, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_launch", tests, NULL, NULL);
}
