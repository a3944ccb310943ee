/* test_gemm.c - a whole kernel: right bits in any schedule and on any number of host threads, and
 * each seeded fault found.
 */
#include "rig.h"
#include <math.h>

enum { M = 45, N = 37, K = 29, LDD = 40 };

static void fill(rig *r) {
  float *a = (float *)(uintptr_t)r->args.a, *b = (float *)(uintptr_t)r->args.b, *d = r->args.d;
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(i * 7 % 17 - 8);
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i * 5 % 13 - 6);
  for (int i = 0; i < M * LDD; i++)
    d[i] = (float)(i % 11 - 5);
}

static void run(rig *r, int fault) {
  fill(r);
  r->args.stride_bias = fault;
  rig_run(r, gemm_ring);
}

static void result_is_right(void **state) {
  rig *r = *state;
  run(r, 0);
  rig_silent(r);
  const float *a = r->args.a, *b = r->args.b, *d = r->args.d;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < LDD; j++) {
      float expected = (float)((i * LDD + j) % 11 - 5), sum = 0;
      for (int k = 0; k < K && j < N; k++)
        sum = fmaf(a[i * K + k], b[k * N + j], sum);
      if (j < N) expected = fmaf(2.0f, expected, 0.5f * sum);
      assert_true(d[i * LDD + j] == expected);
    }
}

static size_t copy_accesses(const rig *r, gg_emu_access *to, size_t room) {
  const gg_emu_access *a;
  size_t n = gg_emu_accesses(r->emu, &a);
  assert_true(n <= room);
  memcpy(to, a, n * sizeof *a);
  return n;
}

static void schedules_agree(void **state) {
  rig *r = *state;
  float fixed[M * LDD];
  gg_emu_access counts[64], others[64];
  run(r, 0);
  memcpy(fixed, r->args.d, sizeof fixed);
  size_t n = copy_accesses(r, counts, 64);
  assert_true(n > 5);
  for (uint64_t seed = 1; seed <= 100; seed++) {
    r->options.seed = seed;
    r->options.async = (gg_emu_async)(seed % 3);
    r->options.host_threads = (int)(seed % 4) + 1;
    run(r, 0);
    rig_silent(r);
    assert_memory_equal(fixed, r->args.d, sizeof fixed);
    assert_int_equal(copy_accesses(r, others, 64), n);
    assert_memory_equal(counts, others, n * sizeof counts[0]);
  }
}

static void faults_are_found(void **state) {
  static const gg_emu_kind expected[GEMM_FAULTS + 1] = {
      0,
      GG_EMU_RACE,          /* 1 no barrier after the wait */
      GG_EMU_RACE,          /* 2 a stage is filled before all have read it */
      GG_EMU_MISSING_WAIT,  /* 3 one group too few is waited for */
      GG_EMU_MISSING_WAIT,  /* 4 no wait */
      GG_EMU_MISSING_WAIT,  /* 5 no commit */
      GG_EMU_OUT_OF_BOUNDS, /* 6 A's guard lets one column too many through */
      GG_EMU_OUT_OF_BOUNDS, /* 7 D's guard lets one row too many through */
      GG_EMU_MISSING_WAIT,  /* 8 B's rows overlap */
      GG_EMU_MISSING_WAIT,  /* 9 the stage in use is filled */
      GG_EMU_DIVERGENCE,    /* 10 a barrier in a branch */
      GG_EMU_BARRIER,       /* 11 thread counts of a barrier differ */
      GG_EMU_UNFINISHED,    /* 12 exit with copies in flight */
      GG_EMU_GLOBAL_RACE,   /* 13 many threads own one element of D */
      GG_EMU_OUT_OF_BOUNDS, /* 14 the last row of the last stage is shifted */
      GG_EMU_MISALIGNED,    /* 15 fragments of A are shifted */
      GG_EMU_GLOBAL_RACE,   /* 16 C, which is D, is read as constant */
      GG_EMU_GLOBAL_RACE,   /* 17 C, which is D, is read at another thread's element */
  };
  rig *r = *state;
  for (int fault = 1; fault <= GEMM_FAULTS; fault++)
    for (uint64_t seed = 0; seed < 5; seed++) {
      r->options.seed = seed;
      r->options.async = GG_EMU_LATE;
      run(r, fault);
      if (rig_count(r, expected[fault]) > 0) continue;
      /* A random order may notice the same fault from its other side. */
      const gg_emu_finding *f;
      size_t n = gg_emu_findings(r->emu, &f);
      if (seed == 0 || n == 0)
        fail_msg("fault %d, seed %llu: no %s; %zu findings, first %s", fault,
                 (unsigned long long)seed, gg_emu_kind_name(expected[fault]), n,
                 n > 0 ? f[0].text : "-");
    }
}

static void host_threads_agree_on_findings(void **state) {
  rig *r = *state;
  for (int fault = 1; fault <= GEMM_FAULTS; fault++)
    for (uint64_t seed = 0; seed < 3; seed++) {
      const gg_emu_finding *f;
      gg_emu_finding alone[256];
      r->options.seed = seed;
      r->options.host_threads = 1;
      run(r, fault);
      size_t n = gg_emu_findings(r->emu, &f);
      assert_true(n <= 256);
      memcpy(alone, f, n * sizeof *f);
      r->options.host_threads = 2;
      run(r, fault);
      assert_int_equal(gg_emu_findings(r->emu, &f), n);
      for (size_t i = 0; i < n; i++) {
        assert_int_equal(f[i].kind, alone[i].kind);
        assert_int_equal(f[i].line, alone[i].line);
        assert_int_equal(f[i].other_line, alone[i].other_line);
        assert_int_equal(f[i].count, alone[i].count);
        assert_string_equal(f[i].text, alone[i].text);
      }
    }
}

/* 2 x 2 blocks of 2 warps, 4 steps of k: the numbers of warp instructions. */
static void counts(void **state) {
  rig *r = *state;
  run(r, 0);
  gg_emu_access a = rig_access(r, "gemm_lds_a", 1);
  assert_string_equal(a.op, "lds_f32x4");
  assert_int_equal(a.requests, 4 * 2 * 4 * 8);
  assert_int_equal(a.cost, a.requests * 2); /* lanes share rows in pairs: groups merge */
  a = rig_access(r, "gemm_lds_b", 1);
  assert_int_equal(a.requests, 4 * 2 * 4 * 8);
  a = rig_access(r, "gemm_b", 1);
  assert_string_equal(a.op, "cp_async_zfill_4");
  assert_int_equal(a.requests, 4 * 2 * 4 * 4);
}

static int setup(void **state) {
  static rig r;
  rig_open(&r);
  r.args.m = M;
  r.args.n = N;
  r.args.k = K;
  r.args.batch = 1;
  r.args.lda = K;
  r.args.ldb = N;
  r.args.ldc = r.args.ldd = LDD;
  r.args.a = gg_emu_alloc(r.emu, M * K * sizeof(float), "A");
  r.args.b = gg_emu_alloc(r.emu, K * N * sizeof(float), "B");
  r.args.c = r.args.d = gg_emu_alloc(r.emu, M * LDD * sizeof(float), "D");
  r.args.alpha.f32 = 0.5f;
  r.args.beta.f32 = 2.0f;
  r.threads = GEMM_THREADS;
  r.shared_bytes = GEMM_SHARED;
  r.blocks = 4;
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  rig_close(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(result_is_right, setup, teardown),
      cmocka_unit_test_setup_teardown(schedules_agree, setup, teardown),
      cmocka_unit_test_setup_teardown(faults_are_found, setup, teardown),
      cmocka_unit_test_setup_teardown(host_threads_agree_on_findings, setup, teardown),
      cmocka_unit_test_setup_teardown(counts, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_gemm", tests, NULL, NULL);
}
