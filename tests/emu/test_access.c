/* test_access.c - what each primitive computes. */
#include "rig.h"
#include <math.h>

static void shared_forms(void **state) {
  rig *r = *state;
  const int n = 16;
  double *w = gg_emu_alloc(r->emu, 48 * sizeof *w, "W");
  r->args.workspace = w;
  r->args.n = n;
  r->threads = (unsigned)n;
  rig_run(r, access_shared);
  rig_silent(r);
  for (int t = 0; t < n; t++) {
    const float s = (float)((t + 1) % n);
    const float expected[7] = {s, s, 0.5f, s, 1.5f, 2.5f, -s};
    for (int i = 0; i < 7; i++)
      assert_true(r->d[t * 7 + i] == expected[i]);
    assert_true(w[t * 3] == s + 0.25);
    assert_true(w[t * 3 + 1] == s + 0.125);
    assert_true(w[t * 3 + 2] == -s - 0.125);
  }
}

static void global_forms(void **state) {
  rig *r = *state;
  const int n = 16;
  double b[128];
  double *in = gg_emu_alloc(r->emu, sizeof b, "B"), *w = gg_emu_alloc(r->emu, sizeof b, "W");
  float *c = gg_emu_alloc(r->emu, 128 * sizeof *c, "C");
  for (int i = 0; i < 128; i++) {
    c[i] = 1000.0f + (float)i;
    in[i] = i + 0.5;
    r->d[i] = r->d[128 + i] = 0;
    w[i] = 0;
  }
  r->args.b = in;
  r->args.c = c;
  r->args.workspace = w;
  r->args.n = n;
  r->threads = (unsigned)n;
  rig_run(r, access_global);
  rig_silent(r);
  for (int i = 0; i < n * 8; i++) {
    const int copied = i < n || i >= 2 * n; /* [n, 2 n) is nobody's */
    assert_true(r->d[i] == (copied ? (float)i : 0));
    assert_true(r->d[n * 8 + i] == (copied ? c[i] : 0));
    const int at = i % (n * 4);
    assert_true(w[i] == (at < n || at >= 2 * n ? in[i] : 0));
  }
}

static void copies(void **state) {
  rig *r = *state;
  r->threads = 32;
  for (int async = GG_EMU_LATE; async <= GG_EMU_RANDOM; async++) {
    r->options.async = (gg_emu_async)async;
    r->options.seed = async == GG_EMU_RANDOM ? 5 : 0;
    rig_run(r, access_narrow);
    rig_silent(r);
    for (int i = 0; i < 224; i++)
      assert_true(r->d[i] == (float)i);

    rig_run(r, access_zfill);
    rig_silent(r);
    static const struct { int first, words; } form[3] = {{0, 1}, {32, 2}, {96, 4}};
    for (int k = 0; k < 3; k++)
      for (int t = 0; t < 32; t++) {
        float expected[4] = {0, 0, 0, 0};
        const int at = form[k].first + t * form[k].words;
        memcpy(expected, r->a + at, (size_t)(t % (form[k].words * 4 + 1)));
        assert_memory_equal(expected, r->d + at, (size_t)form[k].words * 4);
      }

    r->threads = 1;
    rig_run(r, access_wait_groups);
    rig_silent(r);
    for (int i = 0; i < 8; i++)
      assert_true(r->d[i] == (float)i);
    r->threads = 32;
  }
}

static void roundings(void **state) {
  rig *r = *state;
  double *b = gg_emu_alloc(r->emu, 3 * sizeof *b, "B"), *w = gg_emu_alloc(r->emu, 16, "W");
  r->args.b = b;
  r->args.workspace = w;
  r->threads = 1;
  r->a[0] = r->a[1] = 1.0f + 0x1p-12f;
  r->a[2] = -1.0f;
  b[0] = b[1] = 1.0 + 0x1p-27;
  b[2] = -1.0;
  rig_run(r, access_round);
  rig_silent(r);
  assert_true(r->d[0] == 0x1p-11f + 0x1p-24f);
  assert_true(r->d[1] == 0x1p-11f);
  assert_true(w[0] == 0x1p-26 + 0x1p-54);
  assert_true(w[1] == 0x1p-26);
}

static void indices(void **state) {
  rig *r = *state;
  r->threads = 40;
  r->blocks = 3;
  rig_run(r, access_ids);
  rig_silent(r);
  for (int b = 0; b < 3; b++)
    for (int t = 0; t < 40; t++) {
      assert_true(r->d[(b * 40 + t) * 2] == (float)b);
      assert_true(r->d[(b * 40 + t) * 2 + 1] == (float)t);
    }
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
      cmocka_unit_test_setup_teardown(shared_forms, setup, teardown),
      cmocka_unit_test_setup_teardown(global_forms, setup, teardown),
      cmocka_unit_test_setup_teardown(copies, setup, teardown),
      cmocka_unit_test_setup_teardown(roundings, setup, teardown),
      cmocka_unit_test_setup_teardown(indices, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_access", tests, NULL, NULL);
}
