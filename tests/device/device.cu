/* device.cu - runs each kernel of kernels.cu on seeded data and writes what it computed, or
 * compares.
 *
 *   device FILE      on a GPU (built by nvcc): writes all words to FILE
 *                    emulated (built by a C compiler with -DGEMMGEN_EMULATE): compares with FILE
 *   device -w FILE   writes, in either build
 *   device -s FILE   one line for each case instead of words: their 64-bit FNV-1a hash and its name
 *
 * h200.txt holds the lines of one H200. A case prints one line; exit 1 when any differs. In the
 * common subset of C11 and C++17.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUDACC__
#include "ptx.cuh"
#include "products.cuh"
#endif
#include "kernels.cu"
#include "gg_emu.h"
#include "backend.h"

typedef void unit(gg_args);

/* -- Words -- */

static uint64_t state;

static void seed(const char *name) {
  state = 0xcbf29ce484222325ull;
  for (; *name; name++)
    state = (state ^ (unsigned char)*name) * 0x100000001b3ull;
}
static uint32_t word(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32);
}
static uint32_t float_bits(float f) {
  uint32_t x;
  memcpy(&x, &f, 4);
  return x;
}

/* Operands by kind of element: small integers (wild = 0), any exponents (1), for fp8 with
 * infinities and NaN here and there (2). */
enum { BF16, F16, TF32, E4M3, E5M2, BYTES };

static uint32_t element(int kind, int wild) {
  uint32_t r = word();
  if (kind == BYTES) return r & 255;
  if (wild) {
    if (kind == BF16) return (r & 0x81ff) + (110 << 7) + (word() % 34 << 7);
    if (kind == F16) return (r & 0x83ff) | (word() % 30) << 10;
    if (kind == TF32) return (r & 0x807fffff) | (110 + word() % 34) << 23;
    if (wild == 2 && word() % 64 == 0) return (r & 0x83) | 0x7c;
    return (r & 127) >= 0x78 ? r & 0x87 : r & 255; /* fp8 without infinities and NaN */
  }
  int v = (int)(r % 17) - 8;
  uint32_t f = float_bits((float)v);
  int exponent = (int)(f >> 23 & 255) - 127;
  if (kind == BF16) return f >> 16;
  if (kind == TF32) return f;
  if (v == 0) return 0;
  if (kind == F16) return (f >> 16 & 0x8000) | (uint32_t)(exponent + 15) << 10 | (f >> 13 & 0x3ff);
  if (kind == E4M3) return (f >> 24 & 0x80) | (uint32_t)(exponent + 7) << 3 | (f >> 20 & 7);
  v = v / 4 * 4 + (v % 4 ? 1 : 0); /* e5m2 has 2 bits of fraction */
  f = float_bits((float)(v == 0 ? 1 : v));
  exponent = (int)(f >> 23 & 255) - 127;
  return (f >> 24 & 0x80) | (uint32_t)(exponent + 15) << 2 | (f >> 21 & 3);
}
static uint32_t operand_word(int kind, int wild) {
  int n = kind == TF32 ? 1 : kind <= F16 ? 2 : 4;
  uint32_t x = 0;
  for (int i = 0; i < n; i++)
    x |= element(kind, wild) << (n == 1 ? 0 : 32 / n * i);
  return x;
}

/* -- Results -- */

static FILE *file;
static int writing, hashing, differing, cases;

/* The next line of the file against what was computed. */
static void finish_hash(const char *name, const void *got, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  char line[128], stored[128];
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ ((const unsigned char *)got)[i]) * 0x100000001b3ull;
  snprintf(line, sizeof line, "%016llx %s\n", (unsigned long long)hash, name);
  if (writing) {
    if (fputs(line, file) < 0) exit(3);
  } else if (fgets(stored, sizeof stored, file) == NULL || strcmp(stored + 16, line + 16) != 0) {
    printf("%-40s not in the file, and what follows neither\n", name);
    exit(1);
  } else if (strcmp(stored, line) != 0) {
    printf("%-40s differs\n", name);
    differing++;
  }
}

static void finish_words(const char *name, const uint32_t *got, size_t bytes) {
  uint32_t *expected = (uint32_t *)malloc(bytes);
  char tag[64] = {0}, stored[64] = {0};
  snprintf(tag, 56, "%s", name);
  uint64_t n = bytes;
  memcpy(tag + 56, &n, 8);
  if (writing) {
    if (fwrite(tag, 1, 64, file) != 64 || fwrite(got, 1, bytes, file) != bytes) exit(3);
  } else if (fread(stored, 1, 64, file) != 64 || memcmp(tag, stored, 64) != 0 ||
             fread(expected, 1, bytes, file) != bytes) {
    printf("%-40s not in the file, and what follows neither\n", name);
    exit(1);
  } else {
    size_t wrong = 0, first = 0;
    for (size_t i = bytes / 4; i-- > 0;)
      if (got[i] != expected[i]) wrong++, first = i;
    if (wrong) {
      printf("%-40s %zu of %zu words differ; %zu: GPU %08x, emulated %08x\n", name, wrong,
             bytes / 4, first, expected[first], got[first]);
      differing++;
    } else {
      printf("%-40s %zu words alike\n", name, bytes / 4);
    }
  }
  free(expected);
}

static void finish(const char *name, const void *from, size_t bytes) {
  uint32_t *got = (uint32_t *)malloc(bytes);
  memory_get(got, from, bytes);
  cases++;
  if (hashing)
    finish_hash(name, got, bytes);
  else
    finish_words(name, got, bytes);
  free(got);
  memory_free_all();
}

static uint32_t *host; /* 256 KiB, filled before each put */

static void *put_words(size_t words, const char *name) {
  void *p = memory_new(words * 4, name);
  memory_put(p, host, words * 4);
  return p;
}

static gg_args args_new(void) {
  gg_args p;
  memset(&p, 0, sizeof p);
  return p;
}

/* -- Cases -- */

static void mma_cases(void) {
  static const struct {
    const char *name;
    int a, b, integers; /* 2: packed halves */
  } list[] = {{"mma bf16", BF16, BF16, 0},        {"mma f16", F16, F16, 0},
              {"mma tf32", TF32, TF32, 0},        {"mma k8 f16", F16, F16, 0},
              {"mma f16 acc16", F16, F16, 2},     {"mma k8 f16 acc16", F16, F16, 2},
              {"mma e4m3", E4M3, E4M3, 0},        {"mma e5m2", E5M2, E5M2, 0},
              {"mma e4m3 e5m2", E4M3, E5M2, 0},   {"mma e5m2 e4m3", E5M2, E4M3, 0},
              {"mma s8", BYTES, BYTES, 1},        {"mma u8", BYTES, BYTES, 1},
              {"mma s8 u8", BYTES, BYTES, 1},     {"mma u8 s8", BYTES, BYTES, 1},
              {"mma k16 s8", BYTES, BYTES, 1},    {"mma k16 u8", BYTES, BYTES, 1},
              {"mma k16 s8 u8", BYTES, BYTES, 1}, {"mma k16 u8 s8", BYTES, BYTES, 1},
              {"mma m8 s8", BYTES, BYTES, 1},     {"mma m8 u8", BYTES, BYTES, 1},
              {"mma m8 s8 u8", BYTES, BYTES, 1},  {"mma m8 u8 s8", BYTES, BYTES, 1}};
  static const char *const suffix[] = {"", " wild", " special"};
  enum { TILES = 64 };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    for (int wild = 0; wild < (list[i].a == E4M3 || list[i].a == E5M2 ? 3 : 2); wild++) {
      char name[56];
      snprintf(name, sizeof name, "%s%s", list[i].name, suffix[wild]);
      seed(name);
      gg_args p = args_new();
      for (int j = 0; j < TILES * 128; j++)
        host[j] = operand_word(list[i].a, wild);
      p.a = put_words(TILES * 128, "A");
      for (int j = 0; j < TILES * 64; j++)
        host[j] = operand_word(list[i].b, wild);
      p.b = put_words(TILES * 64, "B");
      for (int j = 0; j < TILES * 128; j++)
        host[j] = list[i].integers == 1   ? word()
                  : list[i].integers == 2 ? operand_word(F16, 0)
                                          : element(TF32, wild);
      p.c = put_words(TILES * 128, "C");
      p.d = memory_new(TILES * 128 * 4, "D");
      p.k = (int64_t)i;
      launch(unit_mma, TILES, 32, 1024, 1, &p, name);
      finish(name, p.d, TILES * 128 * 4);
    }
  for (int k = 0; k < 4; k++) {
    char name[56];
    snprintf(name, sizeof name, "mma f64 %d", k);
    seed(name);
    gg_args p = args_new();
    const void *in[3];
    for (int o = 0; o < 3; o++) {
      for (int j = 0; j < 2048; j++) {
        double fraction = (double)word() / 4294967296.0 - 0.5;
        double d = fraction * (double)(1u << word() % 20);
        memcpy(&host[2 * j], &d, 8);
      }
      in[o] = put_words(4096, "operand");
    }
    p.a = in[0];
    p.b = in[1];
    p.c = in[2];
    p.d = memory_new(8 * 32 * 4 * 8, "D");
    p.k = k;
    launch(unit_mma_f64, 8, 32, 1024, 1, &p, name);
    finish(name, p.d, 8 * 32 * 4 * 8);
  }
}

static void one(const char *name, unit *k, size_t in, size_t out, unsigned threads,
                unsigned blocks) {
  gg_args p = args_new();
  seed(name);
  for (size_t j = 0; j < in; j++)
    host[j] = word();
  p.a = put_words(in, "A");
  for (size_t j = 0; j < in; j++)
    host[j] = word() % 3 ? word() : float_bits((float)(int)(word() % 2000) / 7.0f - 140.0f);
  p.b = put_words(in, "B");
  p.d = memory_new(out * 4, "D");
  launch(k, blocks, threads, 8192, 1, &p, name);
  finish(name, p.d, out * 4);
}

/* Conversions of all exponents with fractions near where formats round, NaN among them. */
static void convert_case(void) {
  static const uint32_t fraction[16] = {0,        1,        0xfff,    0x1000,   0x1001,   0x3000,
                                        0x8000,   0x18000,  0x200000, 0x300000, 0x400000, 0x480000,
                                        0x500000, 0x7fefff, 0x7ff000, 0x7fffff};
  enum { WORDS = 8192 };
  gg_args p = args_new();
  for (uint32_t j = 0; j < WORDS; j++)
    host[j] = j << 31 | (j >> 5) << 23 | fraction[j >> 1 & 15];
  p.a = put_words(WORDS, "A");
  for (uint32_t j = 0; j < WORDS; j++)
    host[j] = (j >> 1) << 31 | ((j * 37 + 11) & 255) << 23 | fraction[j >> 8 & 15];
  p.b = put_words(WORDS, "B");
  p.d = memory_new(WORDS * 20 * 4, "D");
  launch(unit_convert, WORDS / 128, 128, 8192, 1, &p, "convert special");
  finish("convert special", p.d, WORDS * 20 * 4);
}

static void tma_cases(void) {
  enum { W = 96, H = 80, Z = 5 };
  static const int x[] = {0, -8, 72, 16}, y[] = {0, -7, 60, 3}, off[] = {0, 1024, 2048, 1536};
  char name[56];
  for (int swizzle = 0; swizzle < 4; swizzle++)
    for (int v = 0; v < 4; v++)
      for (int rank = 2; rank < 5; rank++) {
        unsigned inner = swizzle ? 8u << swizzle : 32, outer = rank == 2 ? 40 : 10;
        gg_args p = args_new();
        snprintf(name, sizeof name, "tma load %dd swizzle %d %d", rank, swizzle, v);
        seed(name);
        for (int j = 0; j < W * H * Z / 2; j++)
          host[j] = word();
        p.a = put_words(W * H * Z / 2, "tensor");
        gg_emu_map m = {GG_EMU_MAP_BF16,
                        rank,
                        p.a,
                        {W - 6, rank == 4 ? H / 4u : H + 0u, Z, 4},
                        {W * 2, rank == 4 ? W * H / 2u : W * H * 2u, W * H / 2 * Z},
                        {inner, outer, rank > 2 ? 3u : 1u, 1},
                        {0},
                        swizzle,
                        0};
        map_encode(&p.map_a, &m);
        p.m = off[v];
        p.n = x[v];
        p.k = y[v];
        p.batch = v;
        p.lda = rank;
        p.ldb = inner * 2 * outer * (rank > 2 ? 3 : 1);
        p.d = memory_new(32768, "D");
        launch(unit_tma, 1, 128, 32768 + 64, 1, &p, name);
        finish(name, p.d, 32768);
      }
  gg_args p = args_new();
  seed("bulk");
  for (int j = 0; j < 8192; j++)
    host[j] = word();
  p.a = put_words(8192, "A");
  p.d = memory_new(32768, "D");
  p.m = 2064;
  p.n = 48;
  p.lda = 1;
  p.ldb = 1008;
  launch(unit_tma, 1, 128, 32768 + 64, 1, &p, "bulk load");
  finish("bulk load", p.d, 32768);
}

/* One element of D, or of what is added to it: random bits where they are only moved. */
static uint32_t store_word(int type, int add) {
  if (type == GG_EMU_MAP_F32) return element(TF32, 1);
  if (type == GG_EMU_MAP_BF16 || type == GG_EMU_MAP_F16)
    return operand_word(type == GG_EMU_MAP_BF16 ? BF16 : F16, 0);
  if (type == GG_EMU_MAP_F64 && add) return 0x3fd00000u + (word() & 0xfffff); /* both halves */
  return word();
}

static void store_cases(void) {
  static const int types[] = {GG_EMU_MAP_BF16, GG_EMU_MAP_F32, GG_EMU_MAP_F16,
                              GG_EMU_MAP_U32,  GG_EMU_MAP_F64, GG_EMU_MAP_U8};
  static const int bytes[] = {2, 4, 2, 4, 8, 1};
  static const int x[] = {8, 0, 72}, y[] = {4, 50, 60};
  char name[56];
  for (int add = 0; add < 2; add++)
    for (int t = 0; t < (add ? 5 : 6); t++)
      for (int swizzle = 0; swizzle < 4; swizzle++)
        for (int v = 0; v < 3; v++)
          for (int rank = 2; rank < (add ? 4 : 5); rank++) {
            const int w = 192 / bytes[t], h = 80, z = 4;
            const unsigned inner = (swizzle ? 16u << swizzle : 64u) / (unsigned)bytes[t];
            gg_args p = args_new();
            snprintf(name, sizeof name, "tma %s %dd type %d swizzle %d %d", add ? "add" : "store",
                     rank, types[t], swizzle, v);
            seed(name);
            for (int j = 0; j < 8192; j++)
              host[j] = store_word(types[t], add);
            p.b = put_words(8192, "image");
            for (int j = 0; j < 48 * h * z; j++)
              host[j] = store_word(types[t], add);
            p.d = put_words((size_t)(48 * h * z), "D");
            /* Rows end inside 16 bytes: 6 elements, of f64 3, before the pitch does. */
            gg_emu_map m = {types[t],
                            rank,
                            p.d,
                            {(uint64_t)w - (bytes[t] == 8 ? 3 : 6), rank == 4 ? 20u : 80u, 4, 4},
                            {192, rank == 4 ? 192 * 20u : 192 * 80u, 192 * 80},
                            {inner, rank == 2 ? 40u : 10u, rank > 2 ? 3u : 1u, 1},
                            {0},
                            swizzle,
                            0};
            map_encode(&p.map_d, &m);
            p.m = 1024;
            p.n = x[v] * 2 / bytes[t];
            p.k = y[v];
            p.batch = v;
            p.lda = rank;
            p.ldc = add;
            launch(unit_tma_store, 1, 128, 32768 + 64, 1, &p, name);
            finish(name, p.d, (size_t)(192 * h * z));
          }
  gg_args p = args_new();
  seed("bulk store");
  for (int j = 0; j < 8192; j++)
    host[j] = word();
  p.b = put_words(8192, "image");
  p.d = put_words(8192, "D");
  p.m = 2064;
  p.n = 48;
  p.lda = 1;
  p.ldb = 1008;
  launch(unit_tma_store, 1, 128, 32768 + 64, 1, &p, "bulk store");
  finish("bulk store", p.d, 32768);
}

static void cluster_case(void) {
  gg_args p = args_new();
  seed("cluster");
  for (int j = 0; j < 1024; j++)
    host[j] = word();
  p.a = put_words(1024, "A");
  p.d = memory_new(8200, "D");
  gg_emu_map m = {GG_EMU_MAP_U32, 2, p.a, {32, 32}, {128}, {32, 16}, {0}, 0, 0};
  map_encode(&p.map_a, &m);
  launch(unit_cluster, 2, 128, 8208 + 512, 2, &p, "cluster");
  finish("cluster", p.d, 8200);
}

/* -- wgmma -- */

typedef struct product {
  const char *name;
  unit *k;
  int words;
  const char *form;
  int acc; /* 0 f32, 1 f16, 2 s32 */
} product;

#define LIST_F32(NAME, WORDS, FORM, PRODUCT) {#PRODUCT, NAME, WORDS, #FORM, 0},
#define LIST_F16(NAME, WORDS, FORM, PRODUCT) {#PRODUCT, NAME, WORDS, #FORM, 1},
#define LIST_S32(NAME, WORDS, FORM, PRODUCT) {#PRODUCT, NAME, WORDS, #FORM, 2},
static const product products[] = {UNITS(LIST_F32, LIST_F16, LIST_S32)};

static int kind_of(const char *name, int second) {
  const char *e4m3 = strstr(name, "_e4m3"), *e5m2 = strstr(name, "_e5m2");
  if (strstr(name, "8_s8") || strstr(name, "_s8") || strstr(name, "_u8")) return BYTES;
  if (e4m3 && e5m2) return (e4m3 < e5m2) != second ? E4M3 : E5M2;
  return e4m3                   ? E4M3
         : e5m2                 ? E5M2
         : strstr(name, "bf16") ? BF16
         : strstr(name, "tf32") ? TF32
                                : F16;
}

/* Major-ness, by the suffix: see docs/primitives.md. */
static int is_mn_major(const product *w, int b) {
  const char *s = strstr(w->name, w->form[0] == 'S' ? "_ss_" : "_rs_");
  if (s == NULL) return 0;
  return w->form[0] == 'S' ? s[4 + b] == 't' : b && s[4] == 't';
}

static void wgmma_cases(void) {
  static const uint32_t k_major[][3] = {{16, 1024, 1}, {16, 512, 2}, {16, 256, 3}, {128, 256, 0}};
  static const uint32_t mn_major[][3] = {
      {8192, 1024, 1}, {4096, 512, 2}, {1024, 256, 3}, {128, 256, 0}};
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
    for (int wild = 0; wild < 2; wild++) {
      const product *w = &products[i];
      const int ka = kind_of(w->name, 0), kb = kind_of(w->name, 1);
      gg_args p = args_new();
      seed(w->name + wild);
      for (int j = 0; j < 16384; j++)
        host[j] = operand_word(j < 8192 ? ka : kb, wild);
      p.a = put_words(16384, "image");
      for (int j = 0; j < 512; j++)
        host[j] = operand_word(ka, wild);
      p.b = put_words(512, "registers");
      for (int j = 0; j < 128 * w->words; j++)
        host[j] = w->acc == 2 ? word() : w->acc == 1 ? operand_word(F16, 0) : element(TF32, wild);
      p.c = put_words((size_t)(128 * w->words), "accumulators");
      for (int c = 0; c < 4; c++) {
        const uint32_t *a = is_mn_major(w, 0) ? mn_major[c] : k_major[c];
        const uint32_t *b = is_mn_major(w, 1) ? mn_major[c] : k_major[c];
        const uint32_t s[8] = {0, a[0], a[1], a[2], 32768, b[0], b[1], b[2]};
        memcpy(host + c * 8, s, sizeof s);
      }
      p.residual = put_words(32, "descriptors");
      p.d = memory_new((size_t)(4 * 128 * w->words * 4), "D");
      char name[56];
      snprintf(name, sizeof name, "%s%s", w->name + 3, wild ? " wild" : "");
      launch(w->k, 4, 128, 98304, 1, &p, name);
      finish(name, p.d, (size_t)(4 * 128 * w->words * 4));
    }
}

/* -- wmma -- */

typedef struct matrices {
  const char *name;
  unit *k;
  const char *type, *sums;
} matrices;

#define LIST_WMMA(NAME, T, IN, SHAPE, TYPE, SUMS, ACC, A, B) {#NAME, NAME, #TYPE, #ACC},
static const matrices wmmas[] = {WMMA_UNITS(LIST_WMMA)};

static uint32_t wmma_word(const char *type, int wild, int at) {
  if (strcmp(type, "f64") == 0) { /* the low half of a double, or the high one */
    if (at % 2 == 0) return wild ? word() : 0;
    uint32_t exponent = word() % 40 << 20;
    return (0x3ff00000u + exponent) ^ word() << 31;
  }
  int kind = strcmp(type, "f16") == 0           ? F16
             : strcmp(type, "bf16") == 0        ? BF16
             : type[0] == 's' || type[0] == 'u' ? BYTES
                                                : TF32; /* tf32 and sums in f32 */
  return operand_word(kind, wild);
}

static void wmma_cases(void) {
  enum { TILES = 8 };
  for (size_t i = 0; i < sizeof wmmas / sizeof wmmas[0]; i++)
    for (int wild = 0; wild < 2; wild++) {
      const matrices *m = &wmmas[i];
      char name[56];
      snprintf(name, sizeof name, "%s%s", m->name, wild ? " wild" : "");
      seed(name);
      gg_args p = args_new();
      for (int j = 0; j < TILES * 1024; j++)
        host[j] = wmma_word(m->type, wild, j);
      p.a = put_words(TILES * 1024, "A");
      for (int j = 0; j < TILES * 1024; j++)
        host[j] = wmma_word(m->type, wild, j);
      p.b = put_words(TILES * 1024, "B");
      for (int j = 0; j < TILES * 2048; j++)
        host[j] = strcmp(m->sums, "s32") == 0 ? word() : wmma_word(m->sums, wild, j);
      p.c = put_words(TILES * 2048, "C");
      p.d = memory_new(TILES * 4096 * 4, "D");
      launch(m->k, TILES, 32, 16384, 1, &p, name);
      finish(name, p.d, TILES * 4096 * 4);
    }
}

int main(int argc, char **argv) {
#ifdef __CUDACC__
  writing = 1;
#endif
  int at = 1;
  for (; argc > at + 1; at++) {
    if (strcmp(argv[at], "-w") == 0) writing = 1;
    if (strcmp(argv[at], "-s") == 0) hashing = 1;
  }
  if (argc != at + 1) {
    fprintf(stderr, "usage: device [-w] [-s] FILE\n");
    return 2;
  }
  file = fopen(argv[at], writing ? "wb" : "rb");
  host = (uint32_t *)calloc(65536, 4);
  if (file == NULL || host == NULL) {
    perror(argv[at]);
    return 3;
  }
  mma_cases();
  one("matrix", unit_matrix, 512, 768, 32, 1);
  one("matrix small", unit_matrix_small, 512, 704, 32, 1);
  one("copy", unit_copy, 512, 224, 32, 1);
  one("bar.arrive", unit_bar_arrive, 16, 64, 64, 1);
  one("convert", unit_convert, 128 * 64, 128 * 64 * 20, 128, 64);
  convert_case();
  tma_cases();
  cluster_case();
  wgmma_cases();
  wmma_cases();
  store_cases(); /* last: one that a GPU refuses ends the run */
  if (fclose(file) != 0) return 3;
  int faults = 0;
#ifndef __CUDACC__
  gg_emu_destroy(emulated);
  faults = findings;
#endif
  printf("%d cases, %s\n", cases, writing ? "written" : differing ? "some differ" : "all alike");
  return differing != 0 || faults != 0;
}
