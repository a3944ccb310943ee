/* test_tensor_gemm.c - whole kernels on tensor cores: right bits in any schedule, each seeded fault
 * found.
 */
#include "rig.h"
#include <math.h>

enum { M = 100, N = 136, K = 136 };

static unsigned short bf16_of(float f) {
  unsigned x;
  memcpy(&x, &f, 4);
  return (unsigned short)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

static int a_at(int m, int k) {
  return (m * 7 + k * 5) % 9 - 4;
}
static int b_at(int k, int n) {
  return (k * 3 + n * 11) % 7 - 3;
}
static float d_at(int m, int n) {
  int sum = 0;
  for (int k = 0; k < K; k++)
    sum += a_at(m, k) * b_at(k, n);
  return (float)sum;
}

/* A is M x K; B as the kernel takes it. */
static void fill(rig *r, int b_transposed) {
  unsigned short *a = gg_emu_alloc(r->emu, M * K * 2, "A"),
                 *b = gg_emu_alloc(r->emu, N * K * 2, "B");
  for (int m = 0; m < M; m++)
    for (int k = 0; k < K; k++)
      a[m * K + k] = bf16_of((float)a_at(m, k));
  for (int k = 0; k < K; k++)
    for (int n = 0; n < N; n++)
      b[b_transposed ? n * K + k : k * N + n] = bf16_of((float)b_at(k, n));
  r->args.a = a;
  r->args.b = b;
  r->args.m = M;
  r->args.n = N;
  r->args.k = K;
  r->args.lda = K;
  r->args.ldb = b_transposed ? K : N;
  r->args.ldd = N;
}

static int setup_mma(void **state) {
  static rig r;
  rig_open(&r);
  fill(&r, 0);
  r.args.d = gg_emu_alloc(r.emu, M * N * sizeof(float), "D");
  r.threads = MMA_THREADS;
  r.shared_bytes = MMA_SHARED;
  r.blocks = (M + 31) / 32 * ((N + 63) / 64);
  *state = &r;
  return 0;
}

static void encode(gg_tensor_map *to, const void *p, uint64_t inner, uint64_t outer, unsigned box) {
  char error[240];
  gg_emu_map map = {GG_EMU_MAP_BF16, 2, p, {inner, outer}, {inner * 2}, {64, box}, {0}, 3, 0};
  if (gg_emu_tensor_map_encode(to, &map, error) != 0) fail_msg("%s", error);
}

static int setup_hopper(void **state) {
  static rig r;
  rig_open(&r);
  fill(&r, 1);
  r.args.d = gg_emu_alloc(r.emu, M * N * 2, "D");
  encode(&r.args.map_a, r.args.a, K, M, 64);
  encode(&r.args.map_b, r.args.b, K, N, 32);
  encode(&r.args.map_d, r.args.d, N, M, 64);
  r.threads = HOPPER_THREADS;
  r.shared_bytes = HOPPER_SHARED;
  r.cluster = 2;
  r.blocks = 4;
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  rig_close(*state);
  return 0;
}

static void run(rig *r, kernel *k, int fault) {
  r->args.stride_bias = fault;
  memset(r->args.d, 0xff, k == mma_gemm ? M * N * 4 : M * N * 2);
  rig_run(r, k);
}

static void mma_is_right(void **state) {
  rig *r = *state;
  for (uint64_t seed = 0; seed < 101; seed++) {
    r->options.seed = seed;
    r->options.async = (gg_emu_async)(seed % 3);
    r->options.host_threads = (int)(seed % 3) + 1;
    run(r, mma_gemm, 0);
    rig_silent(r);
    const float *d = r->args.d;
    for (int m = 0; m < M; m += seed == 0 ? 1 : 7)
      for (int n = 0; n < N; n++)
        assert_true(d[m * N + n] == d_at(m, n));
  }
}

static void hopper_is_right(void **state) {
  rig *r = *state;
  for (uint64_t seed = 0; seed < 101; seed++) {
    r->options.seed = seed;
    r->options.async = (gg_emu_async)(seed % 3);
    r->options.host_threads = (int)(seed % 2) + 1;
    run(r, hopper_gemm, 0);
    rig_silent(r);
    const unsigned short *d = r->args.d;
    for (int m = 0; m < M; m += seed == 0 ? 1 : 7)
      for (int n = 0; n < N; n++)
        assert_int_equal(d[m * N + n], bf16_of(d_at(m, n)));
  }
}

/* Without check and counts the result is the same. */
static void hopper_runs_unchecked(void **state) {
  rig *r = *state;
  r->options.check = r->options.count = 0;
  run(r, hopper_gemm, 0);
  rig_silent(r);
  const unsigned short *d = r->args.d;
  for (int i = 0; i < M * N; i++)
    assert_int_equal(d[i], bf16_of(d_at(i / N, i % N)));
}

/* Counts of banks: swizzled rows meet no conflict, padded ones neither. */
static void counts(void **state) {
  rig *r = *state;
  run(r, hopper_gemm, 0);
  gg_emu_access a = rig_access(r, "h_stmatrix", 1);
  assert_string_equal(a.op, "stmatrix_x4");
  assert_int_equal(a.requests, 6 * 4 * 4);
  assert_int_equal(a.cost, a.ideal);
  assert_int_equal(a.ideal, a.requests * 4);
}

static void mma_counts(void **state) {
  rig *r = *state;
  run(r, mma_gemm, 0);
  gg_emu_access a = rig_access(r, "m_ldmatrix_a", 1);
  assert_string_equal(a.op, "ldmatrix_x4");
  assert_int_equal(a.cost, a.ideal);
  a = rig_access(r, "m_ldmatrix_b", 1);
  assert_string_equal(a.op, "ldmatrix_x4_trans");
  assert_int_equal(a.cost, a.ideal);
}

typedef struct expected {
  gg_emu_kind kind, or ;
} expected;

static void faults(rig *r, kernel *k, const expected *e, int n) {
  int missed = 0;
  r->options.max_steps = 100000;
  for (int fault = 1; fault <= n; fault++)
    for (uint64_t seed = 0; seed < 4; seed++) {
      r->options.seed = seed;
      run(r, k, fault);
      if (e[fault].kind == 0 || rig_count(r, e[fault].kind) > 0 ||
          (e[fault].or != 0 && rig_count(r, e[fault].or) > 0))
        continue;
      /* A random order may notice the same fault from its other side. */
      const gg_emu_finding *f;
      size_t found = gg_emu_findings(r->emu, &f);
      if (seed > 0 && found > 0) continue;
      print_error("fault %d, seed %llu: no %s; %zu findings, first %s: %s\n", fault,
                  (unsigned long long)seed, gg_emu_kind_name(e[fault].kind), found,
                  found > 0 ? gg_emu_kind_name(f[0].kind) : "-", found > 0 ? f[0].text : "");
      missed++;
    }
  assert_int_equal(missed, 0);
}

static void mma_faults(void **state) {
  static const expected e[MMA_FAULTS + 1] = {
      {0, 0},
      {GG_EMU_RACE, 0},          /* 1 no barrier after the wait */
      {GG_EMU_RACE, 0},          /* 2 a stage is filled before all have read it */
      {GG_EMU_MISSING_WAIT, 0},  /* 3 one group too few is waited for */
      {GG_EMU_MISSING_WAIT, 0},  /* 4 no wait */
      {GG_EMU_MISSING_WAIT, 0},  /* 5 no commit */
      {GG_EMU_MISALIGNED, 0},    /* 6 a row of A is shifted */
      {GG_EMU_UNFINISHED, 0},    /* 7 exit with copies in flight */
      {GG_EMU_OUT_OF_BOUNDS, 0}, /* 8 A's guard forgets the end of k */
      {GG_EMU_UNINITIALISED, 0}, /* 9 the last row of B is not loaded */
      {GG_EMU_MISALIGNED, 0},    /* 10 rows of ldmatrix are shifted */
      {GG_EMU_DIVERGENCE, 0},    /* 11 lanes at two mma */
      {GG_EMU_OUT_OF_BOUNDS, 0}, /* 12 D's guard lets one row too many through */
      {GG_EMU_GLOBAL_RACE, 0},   /* 13 lanes share elements of D */
  };
  faults(*state, mma_gemm, e, MMA_FAULTS);
}

static void hopper_faults(void **state) {
  static const expected e[HOPPER_FAULTS + 1] = {
      {0, 0},
      {GG_EMU_RACE, GG_EMU_BARRIER},               /* 1 no barrier after the mbarriers' init */
      {GG_EMU_MISSING_FENCE, 0},                   /* 2 no fence after it */
      {GG_EMU_RACE, GG_EMU_MISSING_WAIT},          /* 3 no wait for a free stage */
      {GG_EMU_DEADLOCK, 0},                        /* 4 that wait with the wrong parity */
      {GG_EMU_MISSING_WAIT, GG_EMU_DEADLOCK},      /* 5 too few bytes expected */
      {GG_EMU_DEADLOCK, 0},                        /* 6 too many */
      {GG_EMU_MISSING_WAIT, 0},                    /* 7 no wait for a full stage */
      {GG_EMU_MISSING_WAIT, GG_EMU_RACE},          /* 8 a stage is released before it was read */
      {GG_EMU_MISSING_FENCE, 0},                   /* 9 no wgmma fence */
      {GG_EMU_UNFINISHED, 0},                      /* 10 no last wait: accumulators in flight */
      {GG_EMU_UNFINISHED, 0},                      /* 11 no commit */
      {GG_EMU_MISSING_FENCE, 0},                   /* 12 no proxy fence before the store */
      {GG_EMU_RACE, 0},                            /* 13 no barrier before the store */
      {GG_EMU_UNFINISHED, 0},                      /* 14 exit with a store in flight */
      {GG_EMU_MISSING_WAIT, 0},                    /* 15 C is overwritten while a store reads it */
      {GG_EMU_UNFINISHED, GG_EMU_MISSING_WAIT},    /* 16 stores are not committed */
      {GG_EMU_RACE, GG_EMU_MISSING_WAIT},          /* 17 the other block's stage is not awaited */
      {GG_EMU_MISSING_WAIT, GG_EMU_RACE},          /* 18 no barrier after the wait for the store */
      {GG_EMU_EXITED, 0},                          /* 19 a block ends while the other signals it */
      {GG_EMU_DEADLOCK, 0},                        /* 20 halves of B go to their own block only */
      {GG_EMU_MISSING_WAIT, GG_EMU_UNINITIALISED}, /* 21 both halves go to one place */
      {GG_EMU_DESCRIPTOR, 0},                      /* 22 a warp has another descriptor */
      {GG_EMU_DIVERGENCE, 0},                      /* 23 a warp is at another wgmma */
      {GG_EMU_RACE, 0},                            /* 24 an accumulator is written in flight */
      {GG_EMU_DESCRIPTOR, 0},                      /* 25 a coordinate is no multiple of 16 bytes */
      {GG_EMU_MISALIGNED, 0},                      /* 26 a box lands at 64 bytes */
      {GG_EMU_DESCRIPTOR, 0},                      /* 27 a descriptor reaches outside */
      {GG_EMU_DESCRIPTOR, 0},                      /* 28 a store at a negative coordinate */
      {GG_EMU_DEADLOCK, GG_EMU_RACE},              /* 29 a stage is released twice */
  };
  faults(*state, hopper_gemm, e, HOPPER_FAULTS);
}

/* A deadlock says what each mbarrier lacks. */
static void deadlocks_tell(void **state) {
  rig *r = *state;
  const gg_emu_finding *f;
  run(r, hopper_gemm, 6);
  size_t n = gg_emu_findings(r->emu, &f), i = 0;
  while (i < n && f[i].kind != GG_EMU_DEADLOCK)
    i++;
  assert_true(i < n);
  if (strstr(f[i].text, "(0 arrivals, 16 bytes missing)") == NULL) fail_msg("%s", f[i].text);
}

static void host_threads_agree_on_findings(void **state) {
  rig *r = *state;
  for (int fault = 1; fault <= HOPPER_FAULTS; fault += 4) {
    const gg_emu_finding *f;
    static gg_emu_finding alone[256];
    r->options.max_steps = 100000;
    r->options.seed = (uint64_t)fault % 2;
    r->options.host_threads = 1;
    run(r, hopper_gemm, fault);
    size_t n = gg_emu_findings(r->emu, &f);
    assert_true(n <= 256);
    memcpy(alone, f, n * sizeof *f);
    r->options.host_threads = 2;
    run(r, hopper_gemm, fault);
    assert_int_equal(gg_emu_findings(r->emu, &f), n);
    for (size_t i = 0; i < n; i++) {
      assert_int_equal(f[i].kind, alone[i].kind);
      assert_int_equal(f[i].line, alone[i].line);
      assert_int_equal(f[i].count, alone[i].count);
      assert_string_equal(f[i].text, alone[i].text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(mma_is_right, setup_mma, teardown),
      cmocka_unit_test_setup_teardown(mma_counts, setup_mma, teardown),
      cmocka_unit_test_setup_teardown(mma_faults, setup_mma, teardown),
      cmocka_unit_test_setup_teardown(hopper_is_right, setup_hopper, teardown),
      cmocka_unit_test_setup_teardown(hopper_runs_unchecked, setup_hopper, teardown),
      cmocka_unit_test_setup_teardown(counts, setup_hopper, teardown),
      cmocka_unit_test_setup_teardown(hopper_faults, setup_hopper, teardown),
      cmocka_unit_test_setup_teardown(deadlocks_tell, setup_hopper, teardown),
      cmocka_unit_test_setup_teardown(host_threads_agree_on_findings, setup_hopper, teardown),
  };
  return cmocka_run_group_tests_name("emu_tensor_gemm", tests, NULL, NULL);
}
