/* tensor.c - number formats and the sums of tensor cores.
 *
 * One instruction step adds K exact products and the accumulator at once: all are aligned to the
 * largest exponent among them, each is cut towards zero below `fraction` bits, the sum is exact and
 * is cut towards zero to the accumulator's format. A product's exponent is the sum of its factors',
 * not normalised; a subnormal factor has the least exponent of its format; zeros take no part.
 * A NaN, inf * 0 and inf - inf give 0x7fffffff. Equal to an H200 to the bit for bf16, f16 and tf32
 * with f32 accumulators (tests/emu/fixtures); other rows of the tables that use this are a model.
 */
#include "emu_tensor.h"
#include <math.h>
#include <string.h>

/* -- Bits -- */

static float from_bits(uint32_t x) {
  float f;
  memcpy(&f, &x, sizeof f);
  return f;
}
static uint32_t to_bits(float f) {
  uint32_t x;
  memcpy(&x, &f, sizeof x);
  return x;
}
static double power_of_two(int e) {
  uint64_t x = (uint64_t)(e + 1023) << 52;
  double d;
  memcpy(&d, &x, sizeof d);
  return d;
}

/* -- Formats -- */

/* sign, `exponent` bits, `fraction` bits: value without infinities or NaN. */
static float small_float(unsigned x, unsigned exponent, unsigned fraction) {
  unsigned e = x >> fraction & ((1u << exponent) - 1), m = x & ((1u << fraction) - 1);
  int bias = (1 << (exponent - 1)) - 1;
  float v = e == 0 ? ldexpf((float)m, 1 - bias - (int)fraction)
                   : ldexpf((float)(m | 1u << fraction), (int)e - bias - (int)fraction);
  return (x >> (exponent + fraction) & 1) != 0 ? -v : v;
}

float ggi_emu_from_f16(unsigned h) {
  uint32_t sign = (h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 1023;
  if (e == 31) return from_bits(sign | 0x7f800000u | m << 13);
  if (e != 0) return from_bits(sign | (e + 112) << 23 | m << 13);
  return from_bits(sign | to_bits((float)m * 0x1p-24f));
}

static float from_e4m3(unsigned x) {
  return (x & 0x7f) == 0x7f ? from_bits(0x7fffffff) : small_float(x, 4, 3);
}
static float from_e5m2(unsigned x) {
  return ggi_emu_from_f16((x & 0xff) << 8);
}

int ggi_emu_format_bytes(emu_format f) {
  static const int bytes[] = {2, 2, 4, 1, 1, 1, 1};
  return bytes[f];
}

void ggi_emu_unpack(emu_format f, unsigned x, float out[4]) {
  switch (f) {
  case EMU_BF16:
    out[0] = from_bits(x << 16);
    out[1] = from_bits(x & 0xffff0000u);
    return;
  case EMU_F16:
    out[0] = ggi_emu_from_f16(x & 0xffff);
    out[1] = ggi_emu_from_f16(x >> 16);
    return;
  case EMU_TF32:
    out[0] = from_bits(x & 0xffffe000u);
    return;
  case EMU_E4M3:
    for (int i = 0; i < 4; i++)
      out[i] = from_e4m3(x >> 8 * i & 255);
    return;
  case EMU_E5M2:
    for (int i = 0; i < 4; i++)
      out[i] = from_e5m2(x >> 8 * i & 255);
    return;
  case EMU_S8:
    for (int i = 0; i < 4; i++)
      out[i] = (float)(int8_t)(uint8_t)(x >> 8 * i & 255);
    return;
  case EMU_U8:
    for (int i = 0; i < 4; i++)
      out[i] = (float)(x >> 8 * i & 255);
  }
}

unsigned ggi_emu_to_bf16(float f) {
  uint32_t x = to_bits(f);
  if ((x & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

unsigned ggi_emu_to_f16(float f) {
  uint32_t x = to_bits(f), sign = x >> 16 & 0x8000, m = x & 0x7fffffff;
  if (m > 0x7f800000) return 0x7fff;
  if (m >= 0x477ff000) return sign | 0x7c00; /* 65520 and more round to infinity */
  if (m < 0x38800000)                        /* below 2^-14: steps of 2^-24, to nearest even */
    return sign | (unsigned)lrintf(from_bits(m) * 0x1p24f);
  m += 0xfff + (m >> 13 & 1);
  return sign | (m - 0x38000000) >> 13;
}

/* -- Sums -- */

/* A zero times an infinity is special too. */
enum { NOTHING = -2000, SPECIAL = 5000, SURELY_SPECIAL = 1000, SURELY_NOTHING = -900 };

static int exponent_of(float f, int least) {
  uint32_t x = to_bits(f) & 0x7fffffff;
  int e = (int)(x >> 23);
  if (x == 0) return NOTHING;
  if (e == 255) return SPECIAL;
  return e - 127 < least ? least : e - 127;
}

/* An infinity or a NaN takes part. */
static float special_sum(float c, const float *a, const float *b, int ldb, int k) {
  int nan = isnan(c), up = isinf(c) && c > 0, down = isinf(c) && c < 0;
  for (int i = 0; i < k; i++) {
    float x = a[i], y = b[i * ldb];
    if (isnan(x) || isnan(y)) {
      nan = 1;
    } else if (isinf(x) || isinf(y)) {
      if (x == 0 || y == 0)
        nan = 1;
      else if (signbit(x) != signbit(y))
        down = 1;
      else
        up = 1;
    }
  }
  return from_bits(nan || (up && down) ? 0x7fffffffu : up ? 0x7f800000u : 0xff800000u);
}

static float zero_sum(float c, const float *a, const float *b, int ldb, int k) {
  int negative = signbit(c) != 0;
  for (int i = 0; i < k && negative; i++)
    negative = signbit(a[i]) != signbit(b[i * ldb]);
  return negative ? -0.0f : 0.0f;
}

/* v, cut towards zero to f32 with `kept` bits of fraction. */
static float cut(double v, int kept) {
  if (fabs(v) >= 0x1p128) return v < 0 ? -INFINITY : INFINITY;
  float f = (float)v;
  if (fabs((double)f) > fabs(v)) f = from_bits(to_bits(f) - 1);
  return kept < 23 ? from_bits(to_bits(f) & ~((1u << (23 - kept)) - 1)) : f;
}

/* The accumulator is f16: to nearest even. */
static float rounded_f16(double v, double scale) {
  double x = v * scale, step = fabs(x) < 0x1p-14 ? 0x1p-24 : 0;
  if (step == 0) {
    int e;
    (void)frexp(x, &e);
    step = power_of_two(e - 11);
  }
  return ggi_emu_from_f16(ggi_emu_to_f16((float)(rint(x / step) * step)));
}

static float result(double sum, int largest, const emu_sum *s) {
  double scale = power_of_two(largest - s->fraction);
  return s->kept == 10 ? rounded_f16(sum, scale) : cut(sum * scale, s->kept);
}

/* One element, any values. */
static float any_sum(const emu_sum *s, float c, const float *a, const float *b, int ldb, int k) {
  int largest = exponent_of(c, -126);
  for (int i = 0; i < k; i++) {
    int e = exponent_of(a[i], s->least_a) + exponent_of(b[i * ldb], s->least_b);
    if (e > largest) largest = e;
  }
  if (largest >= SURELY_SPECIAL) return special_sum(c, a, b, ldb, k);
  if (largest <= SURELY_NOTHING) return zero_sum(c, a, b, ldb, k);
  double scale = power_of_two(s->fraction - largest), sum = trunc((double)c * scale);
  for (int i = 0; i < k; i++)
    sum += trunc((double)a[i] * (double)b[i * ldb] * scale);
  return result(sum, largest, s);
}

enum { WIDE = 8 }; /* columns at a time */

/* Columns whose terms are exact in f32 and in int once scaled: `largest` lies in the middle. */
static void fast_sums(const emu_sum *s, float *c, const float *a, float b[][WIDE], int k,
                      const int largest[WIDE]) {
  float scale[WIDE];
  int sum[2][WIDE];
  for (int n = 0; n < WIDE; n++) {
    scale[n] = from_bits((uint32_t)(s->fraction - largest[n] + 127) << 23);
    sum[0][n] = (int)(c[n] * scale[n]);
    sum[1][n] = 0;
  }
  /* 17 terms below 2^27 fit an int; more are summed in two halves. */
  for (int h = 0; h < 2; h++)
    for (int i = h * (k / 2); i < (h + 1) * (k / 2); i++)
      for (int n = 0; n < WIDE; n++)
        sum[h][n] += (int)(a[i] * b[i][n] * scale[n]);
  for (int n = 0; n < WIDE; n++) {
    double total = (double)sum[0][n] + (double)sum[1][n];
    if (s->kept == 10) {
      c[n] = result(total, largest[n], s);
      continue;
    }
    total *= power_of_two(largest[n] - s->fraction);
    uint64_t x;
    memcpy(&x, &total, sizeof x);
    x &= ~((1ull << (52 - s->kept)) - 1);
    memcpy(&total, &x, sizeof x);
    c[n] = (float)total;
  }
}

void ggi_emu_sum(const emu_sum *s, float *c, int ldc, const float *a, int lda, const float *b,
                 int ldb, int m, int n, int k) {
  int a_exponent[64][EMU_K_MOST];
  for (int i = 0; i < m; i++)
    for (int j = 0; j < k; j++)
      a_exponent[i][j] = exponent_of(a[i * lda + j], s->least_a);
  for (int n0 = 0; n0 < n; n0 += WIDE) {
    int b_exponent[EMU_K_MOST][WIDE];
    float columns[EMU_K_MOST][WIDE];
    for (int j = 0; j < k; j++)
      for (int l = 0; l < WIDE; l++) {
        columns[j][l] = b[j * ldb + n0 + l];
        b_exponent[j][l] = exponent_of(columns[j][l], s->least_b);
      }
    for (int i = 0; i < m; i++) {
      float *to = c + (size_t)i * (size_t)ldc + n0;
      int largest[WIDE], low = SPECIAL, high = NOTHING;
      for (int l = 0; l < WIDE; l++)
        largest[l] = exponent_of(to[l], -126);
      for (int j = 0; j < k; j++) {
        int e = a_exponent[i][j];
        for (int l = 0; l < WIDE; l++) {
          int sum = e + b_exponent[j][l];
          largest[l] = largest[l] > sum ? largest[l] : sum;
        }
      }
      for (int l = 0; l < WIDE; l++) {
        low = low < largest[l] ? low : largest[l];
        high = high > largest[l] ? high : largest[l];
      }
      if (low >= -95 && high <= 100) {
        fast_sums(s, to, a + i * lda, columns, k, largest);
        continue;
      }
      for (int l = 0; l < WIDE; l++)
        to[l] = any_sum(s, to[l], a + i * lda, &columns[0][l], WIDE, k);
    }
  }
}
