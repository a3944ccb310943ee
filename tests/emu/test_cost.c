/* test_cost.c - counts of shared wavefronts, measured on an H200 with Nsight Compute, and of global
 * sectors. One warp executes one primitive with the addresses of a pattern.
 */
#include "rig.h"
#include "gg_emu_device.h"

/* ORDER PRIMITIVE (access_pattern in kernels_access.c) */
enum { LDS4, LDS8, LDS16, STS4, STS8, STS16, CP4, CP16, LDG4, LDG16 };
static const char *const words[] = {"lds4",  "lds8", "lds16", "sts4", "sts8",
                                    "sts16", "cp4",  "cp16",  "ldg4", "ldg16"};
static const int widths[] = {4, 8, 16, 4, 8, 16, 4, 16, 4, 16};

typedef enum shape {
  STRIDE, /* lane * p */
  DIV,    /* lane / p, in accesses */
  MOD,    /* lane % p, in accesses */
  HALVES, /* half warps p apart, contiguous inside */
  ROWS80, /* rows of p accesses, 80 bytes apart */
  FRAG,   /* 8 rows of 4 accesses, p apart */
  CHUNKS, /* rows of g accesses, p apart, chunks xor-ed with the row's bits in x; global rows 1024
           */
  TRANS   /* g columns stored as rows p apart; global rows 1024 */
} shape;

typedef struct pattern {
  int primitive;
  shape shape;
  int p, g, x;
  unsigned wavefronts;
} pattern;

static const pattern patterns[] = {
    {LDS4, STRIDE, 4, 0, 0, 1},    {LDS4, STRIDE, 8, 0, 0, 2},    {LDS4, STRIDE, 16, 0, 0, 4},
    {LDS4, STRIDE, 128, 0, 0, 32}, {LDS4, STRIDE, 132, 0, 0, 1},  {LDS4, MOD, 1, 0, 0, 1},
    {LDS4, DIV, 2, 0, 0, 1},

    {LDS8, STRIDE, 8, 0, 0, 2},    {LDS8, STRIDE, 16, 0, 0, 4},   {LDS8, STRIDE, 24, 0, 0, 2},
    {LDS8, STRIDE, 32, 0, 0, 8},   {LDS8, DIV, 2, 0, 0, 1},       {LDS8, DIV, 4, 0, 0, 1},
    {LDS8, MOD, 16, 0, 0, 2},      {LDS8, MOD, 8, 0, 0, 2},       {LDS8, MOD, 1, 0, 0, 1},
    {LDS8, HALVES, 264, 0, 0, 2},  {LDS8, FRAG, 272, 0, 0, 4},    {LDS8, FRAG, 288, 0, 0, 2},

    {LDS16, STRIDE, 16, 0, 0, 4},  {LDS16, STRIDE, 32, 0, 0, 8},  {LDS16, STRIDE, 48, 0, 0, 4},
    {LDS16, STRIDE, 64, 0, 0, 16}, {LDS16, STRIDE, 80, 0, 0, 4},  {LDS16, STRIDE, 128, 0, 0, 32},
    {LDS16, DIV, 2, 0, 0, 2},      {LDS16, DIV, 4, 0, 0, 2},      {LDS16, DIV, 8, 0, 0, 2},
    {LDS16, DIV, 16, 0, 0, 2},     {LDS16, MOD, 2, 0, 0, 2},      {LDS16, MOD, 4, 0, 0, 4},
    {LDS16, MOD, 8, 0, 0, 4},      {LDS16, MOD, 16, 0, 0, 4},     {LDS16, MOD, 1, 0, 0, 2},

    {STS4, STRIDE, 4, 0, 0, 1},    {STS4, STRIDE, 8, 0, 0, 2},    {STS4, STRIDE, 128, 0, 0, 32},
    {STS8, STRIDE, 8, 0, 0, 2},    {STS8, STRIDE, 16, 0, 0, 4},   {STS8, STRIDE, 24, 0, 0, 2},
    {STS8, FRAG, 272, 0, 0, 4},    {STS8, FRAG, 288, 0, 0, 2},    {STS16, STRIDE, 16, 0, 0, 4},
    {STS16, STRIDE, 32, 0, 0, 8},  {STS16, STRIDE, 48, 0, 0, 4},  {STS16, STRIDE, 128, 0, 0, 32},
    {STS16, ROWS80, 4, 0, 0, 8},

    {CP16, CHUNKS, 512, 32, 0, 4}, {CP16, CHUNKS, 256, 16, 0, 4}, {CP16, CHUNKS, 272, 16, 0, 8},
    {CP16, CHUNKS, 128, 8, 0, 4},  {CP16, CHUNKS, 144, 8, 0, 10}, {CP16, CHUNKS, 128, 8, 7, 4},
    {CP16, CHUNKS, 64, 4, 0, 8},   {CP16, CHUNKS, 80, 4, 0, 15},  {CP16, CHUNKS, 96, 4, 0, 10},
    {CP16, CHUNKS, 64, 4, 3, 8},   {CP16, CHUNKS, 32, 2, 0, 16},  {CP16, CHUNKS, 48, 2, 0, 24},
    {CP16, CHUNKS, 512, 16, 0, 4}, {CP16, CHUNKS, 160, 8, 0, 7},  {CP16, CHUNKS, 288, 16, 0, 6},

    {CP4, TRANS, 4, 32, 0, 1},     {CP4, TRANS, 528, 8, 0, 4},    {CP4, TRANS, 512, 8, 0, 11},
    {CP4, TRANS, 132, 32, 0, 1},   {CP4, TRANS, 528, 4, 0, 9},    {CP4, TRANS, 4, 1, 0, 32},
};

static int shared_address(const pattern *p, int lane) {
  const int w = widths[p->primitive];
  switch (p->shape) {
  case STRIDE:
    return lane * p->p;
  case DIV:
    return lane / p->p * w;
  case MOD:
    return lane % p->p * w;
  case HALVES:
    return lane / 16 * p->p + lane % 16 * w;
  case ROWS80:
    return lane / p->p * 80 + lane % p->p * w;
  case FRAG:
    return lane / 4 * p->p + lane % 4 * w;
  case CHUNKS: {
    const int row = lane / p->g, bits = p->g == 4 ? row / 2 : row;
    return row * p->p + (lane % p->g ^ (bits & p->x)) * w;
  }
  case TRANS:
    return lane % p->g * p->p + lane / p->g * w;
  }
  return 0;
}

static int global_address(const pattern *p, int lane) {
  const int w = widths[p->primitive];
  return p->shape == CHUNKS || p->shape == TRANS ? lane / p->g * 1024 + lane % p->g * w : lane * w;
}

/* One warp of `lanes`; what its pattern_line cost. */
static gg_emu_access cost(rig *r, int primitive, int shared) {
  r->args.k = primitive;
  rig_run(r, access_pattern);
  return rig_access(r, words[primitive], shared);
}

static void wavefronts(void **state) {
  rig *r = *state;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    const pattern *p = &patterns[i];
    for (int lane = 0; lane < 32; lane++) {
      r->a[lane * 2] = (float)shared_address(p, lane);
      r->a[lane * 2 + 1] = (float)global_address(p, lane);
    }
    gg_emu_access a = cost(r, p->primitive, 1);
    if (a.cost != p->wavefronts)
      fail_msg("pattern %zu (%s, shape %d, p %d, g %d, x %d): %llu wavefronts, measured %u", i,
               words[p->primitive], (int)p->shape, p->p, p->g, p->x, (unsigned long long)a.cost,
               p->wavefronts);
    assert_int_equal(a.requests, 1);
    assert_true(a.ideal <= a.cost);
  }
}

static void sectors(void **state) {
  rig *r = *state;
  static const struct {
    int primitive, stride, first;
    unsigned lanes, sectors, ideal;
  } rows[] = {
      {LDG4, 4, 0, 32, 4, 4},   {LDG4, 4, 4, 32, 5, 4},     {LDG4, 0, 8, 32, 1, 1},
      {LDG4, 32, 0, 32, 32, 4}, {LDG4, 1024, 0, 32, 32, 4}, {LDG4, 4, 0, 10, 2, 2},
      {LDG4, 8, 0, 32, 8, 4},   {LDG16, 16, 0, 32, 16, 16}, {LDG16, 32, 0, 32, 32, 16},
      {LDG16, 0, 0, 32, 1, 1},  {LDG4, -4, 1024, 32, 5, 4}, {CP4, 4, 0, 32, 4, 4},
      {CP16, 16, 0, 7, 4, 4},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int lane = 0; lane < 32; lane++) {
      r->a[lane * 2] = (float)(lane * 16);
      r->a[lane * 2 + 1] = (float)(rows[i].first + lane * rows[i].stride);
    }
    r->threads = rows[i].lanes;
    gg_emu_access a = cost(r, rows[i].primitive, 0);
    if (a.cost != rows[i].sectors || a.ideal != rows[i].ideal)
      fail_msg("row %zu: %llu sectors, ideal %llu", i, (unsigned long long)a.cost,
               (unsigned long long)a.ideal);
    assert_int_equal(a.requests, 1);
  }
}

/* -- wmma: fixtures/wmma.csv -- */

static unsigned position(const char *word, const char *const *list) {
  unsigned i = 0;
  while (list[i] != NULL && strcmp(word, list[i]) != 0)
    i++;
  assert_non_null(list[i]);
  return i;
}

/* "load_a_m16n16k16_bf16_row_shared": GGD_WMMA, and more. */
static unsigned spec_of(const char *name, int *shared, int *store) {
  static const char *const roles[] = {"a", "b", "c", "d", NULL};
  static const char *const shapes[] = {"m16n16k16", "m32n8k16", "m8n32k16",
                                       "m16n16k8",  "m8n8k4",   NULL};
  static const char *const types[] = {"bf16", "f16", "tf32", "e4m3", "e5m2",
                                      "s8",   "u8",  "f64",  NULL};
  static const char *const sums[] = {"f32", "f16", "s32", "f64", NULL};
  char does[8], role[4], tile[16], type[8], layout[8], space[8];
  assert_int_equal(sscanf(name, "%7[^_]_%3[^_]_%15[^_]_%7[^_]_%7[^_]_%7[^_]", does, role, tile,
                          type, layout, space),
                   6);
  *shared = strcmp(space, "shared") == 0;
  *store = strcmp(does, "store") == 0;
  unsigned of = position(role, roles), is_sum = of >= 2;
  return GGD_WMMA(position(tile, shapes), position(type, is_sum ? sums : types), is_sum ? 2 : of,
                  strcmp(layout, "col") == 0);
}

static void wmma_accesses(void **state) {
  rig *r = *state;
  char line[80], name[48];
  unsigned ld, count;
  int cases = 0;
  FILE *f = fopen("fixtures/wmma.csv", "r");
  assert_non_null(f);
  r->args.d = gg_emu_alloc(r->emu, 65536, "matrix");
  while (fgets(line, sizeof line, f) != NULL) {
    int shared, store;
    if (sscanf(line, "%47[^,],%u,%u", name, &ld, &count) != 3) continue;
    r->args.k = spec_of(name, &shared, &store);
    r->args.lda = ld;
    r->args.m = shared;
    r->args.n = store;
    rig_run(r, wmma_access);
    gg_emu_access a = rig_access(r, store ? "wmma_store" : "wmma_load", shared);
    if (a.cost != count)
      fail_msg("%s, ld %u: %llu, not %u", name, ld, (unsigned long long)a.cost, count);
    assert_true(a.ideal > 0 && a.ideal <= a.cost);
    cases++;
  }
  fclose(f);
  assert_int_equal(cases, 256);
}

/* Lanes leave a long loop at different times; no lane's execution is lost or counted twice. */
static void long_loops(void **state) {
  rig *r = *state;
  r->threads = 64;
  for (uint64_t seed = 0; seed < 3; seed++) {
    r->options.seed = seed;
    rig_run(r, spin_ok);
    gg_emu_access a = rig_access(r, "spin", 0);
    assert_int_equal(a.requests, 2 * 5100);
    assert_string_equal(a.op, "ldg_f32");
  }
}

static void counting_can_be_off(void **state) {
  rig *r = *state;
  const gg_emu_access *a;
  r->options.count = 0;
  rig_run(r, access_pattern);
  assert_int_equal(gg_emu_accesses(r->emu, &a), 0);
}

static int setup(void **state) {
  static rig r;
  rig_open(&r);
  r.args.b = gg_emu_alloc(r.emu, 40000, "B");
  r.threads = 32;
  r.shared_bytes = 32768;
  r.options.check = 0; /* the patterns read what nobody wrote */
  *state = &r;
  return 0;
}

static int teardown(void **state) {
  rig_close(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(wavefronts, setup, teardown),
      cmocka_unit_test_setup_teardown(sectors, setup, teardown),
      cmocka_unit_test_setup_teardown(wmma_accesses, setup, teardown),
      cmocka_unit_test_setup_teardown(long_loops, setup, teardown),
      cmocka_unit_test_setup_teardown(counting_can_be_off, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_cost", tests, NULL, NULL);
}
