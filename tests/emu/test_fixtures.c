/* test_fixtures.c - the emulated GPU gives the bits of an H200: fixtures/README.md. */
#include "rig.h"

kernel unit_mma, unit_matrix, unit_copy, unit_tma, unit_tma_store;
kernel wg_bf16_128_ss, wg_bf16_128_ss_nt, wg_bf16_128_ss_tn, wg_bf16_128_ss_tt;
kernel wg_bf16_128_rs, wg_bf16_128_rs_t;

/* -- Records -- */

typedef struct record {
  char tag[57];
  size_t bytes;
  const unsigned char *data;
} record;

static unsigned char file_bytes[1 << 20];
static size_t file_size;

static void open_file(const char *name) {
  FILE *f = fopen(name, "rb");
  assert_non_null(f);
  file_size = fread(file_bytes, 1, sizeof file_bytes, f);
  fclose(f);
}

/* The record at *at, which moves on; 0: there is none. */
static int next_record(size_t *at, record *r) {
  if (*at + 64 > file_size) return 0;
  memset(r, 0, sizeof *r);
  memcpy(r->tag, file_bytes + *at, 56);
  for (int i = 7; i >= 0; i--)
    r->bytes = r->bytes << 8 | file_bytes[*at + 56 + (size_t)i];
  r->data = file_bytes + *at + 64;
  *at += 64 + r->bytes;
  assert_true(*at <= file_size);
  return 1;
}

static record find_record(const char *tag) {
  record r;
  for (size_t at = 0; next_record(&at, &r);)
    if (strcmp(r.tag, tag) == 0) return r;
  fail_msg("no record %s", tag);
  return r;
}

static uint64_t hash_of(const void *p, size_t bytes) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001b3ull;
  return h;
}

static void *device(rig *r, const void *from, size_t bytes, const char *name) {
  void *p = gg_emu_alloc(r->emu, bytes, name);
  assert_non_null(p);
  if (from != NULL) memcpy(p, from, bytes);
  return p;
}

/* In a few schedules, the outputs alike. */
static void run(rig *r, kernel *k, void *out, size_t bytes) {
  for (uint64_t seed = 0; seed < 3; seed++) {
    r->options.seed = seed;
    r->options.async = (gg_emu_async)seed;
    memset(out, 0xff, bytes);
    rig_run(r, k);
    rig_silent(r);
  }
}

/* -- mma.sync -- */

static void mma(void **state) {
  rig *r = *state;
  record rec;
  size_t count = 0;
  open_file("fixtures/mma.bin");
  for (size_t at = 0; next_record(&at, &rec); count++) {
    static const char *const kinds[] = {"mma bf16", "mma f16", "mma tf32", "mma s8"};
    static const int numbers[] = {0, 1, 2, 10}; /* in unit_mma */
    const size_t tiles = 3, words = tiles * 128 * 4;
    assert_int_equal(rec.bytes, words * 3 + words / 2);
    r->args.k = -1;
    for (int i = 0; i < 4; i++)
      if (strncmp(rec.tag, kinds[i], strlen(kinds[i])) == 0) r->args.k = numbers[i];
    assert_true(r->args.k >= 0);
    r->args.a = device(r, rec.data, words, "A");
    r->args.b = device(r, rec.data + words, words / 2, "B");
    r->args.c = device(r, rec.data + words + words / 2, words, "C");
    r->args.d = device(r, NULL, words, "D");
    r->threads = 32;
    r->blocks = (unsigned)tiles;
    run(r, unit_mma, r->args.d, words);
    const unsigned *d = r->args.d;
    for (size_t i = 0; i < words / 4; i++) {
      unsigned expected;
      memcpy(&expected, rec.data + words * 2 + words / 2 + i * 4, 4);
      if (d[i] != expected)
        fail_msg("%s: word %zu is %08x, an H200 gave %08x", rec.tag, i, d[i], expected);
    }
  }
  assert_int_equal(count, 19);
}

/* -- Matrices and copies -- */

static void same(const char *tag, const void *got) {
  record rec = find_record(tag);
  for (size_t i = 0; i < rec.bytes / 4; i++) {
    unsigned x, y;
    memcpy(&x, (const char *)got + 4 * i, 4);
    memcpy(&y, rec.data + 4 * i, 4);
    if (x != y) fail_msg("%s: word %zu is %08x, an H200 gave %08x", tag, i, x, y);
  }
}

static void matrices_and_copies(void **state) {
  rig *r = *state;
  open_file("fixtures/copies.bin");
  record words = find_record("words");
  r->args.a = device(r, words.data, words.bytes, "A");
  r->args.d = device(r, NULL, 768 * 4, "D");
  r->threads = 32;
  r->shared_bytes = 4096;
  run(r, unit_matrix, r->args.d, 768 * 4);
  same("ldmatrix stmatrix", r->args.d);
  run(r, unit_copy, r->args.d, 768 * 4);
  same("cp.async", r->args.d);
}

/* -- TMA: the tensor is made as it was for the H200 -- */

static uint64_t state;
static double uniform(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 9007199254740992.0;
}
static unsigned word(void) {
  return (unsigned)(uniform() * 4294967296.0);
}

enum { W = 96, H = 80, Z = 5 };

static void encode(gg_tensor_map *to, const gg_emu_map *map) {
  char error[240];
  if (gg_emu_tensor_map_encode(to, map, error) != 0) fail_msg("%s", error);
}

static void same_hash(const char *tag, const void *got, size_t bytes) {
  record rec = find_record(tag);
  uint64_t expected;
  assert_int_equal(rec.bytes, 8);
  memcpy(&expected, rec.data, 8);
  if (hash_of(got, bytes) != expected) fail_msg("%s: differs from an H200", tag);
}

static void load(rig *r, const char *tag, const gg_emu_map *map, unsigned off, int x, int y, int z,
                 unsigned bytes) {
  encode(&r->args.map_a, map);
  r->args.m = off;
  r->args.n = x;
  r->args.k = y;
  r->args.batch = z;
  r->args.lda = map->rank;
  r->args.ldb = bytes;
  run(r, unit_tma, r->args.d, 32768);
  same_hash(tag, r->args.d, 32768);
}

static void tma(void **state_) {
  rig *r = *state_;
  open_file("fixtures/copies.bin");
  unsigned short *g = device(r, NULL, W * H * Z * 2, "tensor");
  state = 88172645463325252ull;
  for (int i = 0; i < W * H * Z; i++)
    g[i] = (unsigned short)word();
  r->args.d = device(r, NULL, 32768, "D");
  r->threads = 128;
  r->shared_bytes = 32768 + 64;
  for (int swizzle = 0; swizzle < 4; swizzle++) {
    static const int off[] = {0, 1024, 2048, 1536}, x[] = {0, -8, 72, 16}, y[] = {0, -7, 60, 3};
    unsigned box = swizzle ? 8u << swizzle : 32;
    gg_emu_map map = {GG_EMU_MAP_BF16, 2, g, {W - 6, H}, {W * 2}, {box, 40}, {0}, swizzle, 0};
    for (int v = 0; v < 4; v++) {
      char tag[57];
      snprintf(tag, sizeof tag, "tma load 2d swz%d v%d", swizzle, v);
      load(r, tag, &map, (unsigned)off[v], x[v], y[v], 0, box * 80);
    }
  }
  gg_emu_map cube = {GG_EMU_MAP_BF16, 3, g, {W, H, Z}, {W * 2, W * H * 2}, {64, 10, 3}, {0}, 3, 0};
  load(r, "tma load 3d", &cube, 1024, 40, 74, 3, 64 * 10 * 3 * 2);
  gg_emu_map floats = {GG_EMU_MAP_F32, 2, g, {W / 2, H}, {W * 2}, {32, 40}, {0}, 3, 0};
  load(r, "tma load 2d f32", &floats, 1024, 20, 50, 0, 32 * 40 * 4);
  gg_emu_map bytes = {GG_EMU_MAP_U8, 2, g, {W * 2, H}, {W * 2}, {128, 40}, {0}, 3, 0};
  load(r, "tma load 2d u8", &bytes, 1024, 96, 50, 0, 128 * 40);

  unsigned *image = device(r, NULL, 32768, "image");
  state = 88172645463325252ull;
  for (int i = 0; i < 8192; i++)
    image[i] = word();
  gg_emu_map to = {GG_EMU_MAP_BF16, 2, g, {W - 6, H}, {W * 2}, {32, 40}, {0}, 0, 0};
  encode(&r->args.map_d, &to);
  r->args.b = image;
  r->args.m = 1024;
  r->args.n = 8;
  r->args.k = 4;
  r->args.lda = 2;
  r->args.ldc = 0;
  for (int i = 0; i < W * H * Z; i++)
    g[i] = 0x5555;
  rig_run(r, unit_tma_store);
  rig_silent(r);
  same_hash("tma store 2d swz0 v0", g, W * H * 2);
}

/* -- wgmma -- */

static float integer(unsigned char x) {
  return (float)(signed char)x;
}
static unsigned bf16_pair(const unsigned char *x) {
  unsigned out = 0;
  for (int i = 0; i < 2; i++) {
    float f = integer(x[i]);
    unsigned bits;
    memcpy(&bits, &f, 4);
    out |= bits >> 16 << 16 * i;
  }
  return out;
}

static void products(rig *r, kernel *k, const unsigned config[8], void *out) {
  r->args.residual = device(r, config, 32, "config");
  r->threads = 128;
  r->shared_bytes = 65536 + 1024;
  r->args.d = out;
  run(r, k, out, 32768);
}

static void descriptors(void **state_) {
  rig *r = *state_;
  open_file("fixtures/wgmma.bin");
  record image = find_record("image"), acc = find_record("accumulators");
  record registers = find_record("registers"), rec;
  unsigned *a = device(r, NULL, 65536, "image"), *b = device(r, NULL, 2048, "registers");
  float *c = device(r, NULL, 32768, "accumulators"), *d = device(r, NULL, 32768, "D");
  for (size_t i = 0; i < 16384; i++)
    a[i] = bf16_pair(image.data + 2 * i);
  for (size_t i = 0; i < 512; i++)
    b[i] = bf16_pair(registers.data + 2 * i);
  for (size_t i = 0; i < 8192; i++)
    c[i] = integer(acc.data[i]);
  r->args.a = a;
  r->args.b = b;
  r->args.c = c;
  size_t count = 0;
  for (size_t at = 0; next_record(&at, &rec);) {
    unsigned s[8];
    char form[3], major_a, major_b;
    if (sscanf(rec.tag, "wgmma %2s A%c%u/%u/%u/%u B%c%u/%u/%u/%u", form, &major_a, &s[3], &s[0],
               &s[1], &s[2], &major_b, &s[7], &s[4], &s[5], &s[6]) != 11)
      continue;
    s[4] += 32768;
    static kernel *const ss[2][2] = {{wg_bf16_128_ss, wg_bf16_128_ss_nt},
                                     {wg_bf16_128_ss_tn, wg_bf16_128_ss_tt}};
    kernel *k = form[0] == 'S'   ? ss[major_a == 'm'][major_b == 'm']
                : major_b == 'm' ? wg_bf16_128_rs_t
                                 : wg_bf16_128_rs;
    products(r, k, s, d);
    same_hash(rec.tag, d, 32768);
    count++;
  }
  assert_int_equal(count, 90);
}

/* Row r of 16 elements into 128-byte rows, swizzled. */
static void place_rows(unsigned char *to, const record *rec) {
  for (size_t row = 0; row < rec->bytes / 32; row++)
    for (size_t chunk = 0; chunk < 2; chunk++)
      memcpy(to + row * 128 + ((chunk ^ (row & 7)) << 4), rec->data + row * 32 + chunk * 16, 16);
}

static void random_products(void **state_) {
  static const char *const names[] = {"uniform", "wide"};
  static const unsigned config[8] = {0, 16, 1024, 1, 32768, 16, 1024, 1};
  rig *r = *state_;
  open_file("fixtures/wgmma.bin");
  for (int i = 0; i < 2; i++) {
    char tag[57];
    unsigned char *a = device(r, NULL, 65536, "image");
    unsigned *c = device(r, NULL, 32768, "accumulators"), *d = device(r, NULL, 32768, "D");
    memset(a, 0, 65536);
    memset(c, 0, 32768);
    snprintf(tag, sizeof tag, "%s A", names[i]);
    record rec = find_record(tag);
    place_rows(a, &rec);
    snprintf(tag, sizeof tag, "%s B", names[i]);
    rec = find_record(tag);
    place_rows(a + 32768, &rec);
    snprintf(tag, sizeof tag, "%s registers", names[i]);
    rec = find_record(tag);
    r->args.a = a;
    r->args.b = device(r, rec.data, rec.bytes, "registers");
    r->args.c = c;
    snprintf(tag, sizeof tag, "%s accumulators", names[i]);
    rec = find_record(tag);
    for (size_t t = 0; t < 128; t++)
      memcpy(c + t * 64, rec.data + t * 64, 64);
    for (int rs = 0; rs < 2; rs++) {
      unsigned char got[128 * 64];
      products(r, rs ? wg_bf16_128_rs : wg_bf16_128_ss, config, d);
      for (size_t t = 0; t < 128; t++)
        memcpy(got + t * 64, d + t * 64, 64);
      snprintf(tag, sizeof tag, "%s %s", names[i], rs ? "RS" : "SS");
      same(tag, got);
    }
  }
}

static int setup(void **state_) {
  static rig r;
  rig_open(&r);
  *state_ = &r;
  return 0;
}

static int teardown(void **state_) {
  rig_close(*state_);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(mma, setup, teardown),
      cmocka_unit_test_setup_teardown(matrices_and_copies, setup, teardown),
      cmocka_unit_test_setup_teardown(tma, setup, teardown),
      cmocka_unit_test_setup_teardown(descriptors, setup, teardown),
      cmocka_unit_test_setup_teardown(random_products, setup, teardown),
  };
  return cmocka_run_group_tests_name("emu_fixtures", tests, NULL, NULL);
}
