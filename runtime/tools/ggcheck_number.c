/* ggcheck_number.c - one table of formats, one rounding for all of them.
 *
 * Formats: IEEE 754-2019 (f64, f32, f16); bf16 and tf32 as in PTX ISA 9.0, 5.2.3; e4m3 and e5m2 as
 * in OCP 8-bit Floating Point Specification 1.0 (e4m3 has no infinity and one NaN, S.1111.111).
 */
#include "ggcheck_number.h"
#include "dtype.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct format {
  int exponent, fraction; /* bits; exponent 0: integer */
  double least, most;     /* finite numbers; least is counted for integers only */
  bool infinity;          /* there is one */
  bool saturates;         /* beyond `most` a conversion gives `most` */
  bool known;
} format;

static const format formats[] = {
    [GG_NONE] = {.known = false},
    [GG_F64] = {11, 52, 0, 0x1.fffffffffffffp1023, true, false, true},
    [GG_F32] = {8, 23, 0, 0x1.fffffep127, true, false, true},
    [GG_TF32] = {8, 10, 0, 0x1.ffcp127, true, false, true},
    [GG_F16] = {5, 10, 0, 65504, true, false, true},
    [GG_BF16] = {8, 7, 0, 0x1.fep127, true, false, true},
    [GG_E4M3] = {4, 3, 0, 448, false, true, true},
    [GG_E5M2] = {5, 2, 0, 57344, true, true, true},
    [GG_S8] = {0, 0, -128, 127, false, true, true},
    [GG_U8] = {0, 0, 0, 255, false, true, true},
    [GG_S32] = {0, 0, -2147483648.0, 2147483647.0, false, true, true},
};

static const format *format_of(gg_dtype type) {
  bool inside = (int)type >= 0 && (size_t)type < sizeof formats / sizeof formats[0];
  return &formats[inside ? type : GG_NONE];
}

static int bias(const format *f) {
  return (1 << (f->exponent - 1)) - 1;
}

bool ggcheck_type_known(gg_dtype type) {
  return format_of(type)->known;
}

bool ggcheck_is_integer(gg_dtype type) {
  return format_of(type)->exponent == 0;
}

bool ggcheck_has_infinity(gg_dtype type) {
  return format_of(type)->infinity;
}

int ggcheck_fraction_bits(gg_dtype type) {
  return format_of(type)->fraction;
}

double ggcheck_roundoff(gg_dtype type) {
  const format *f = format_of(type);
  return f->exponent ? ldexp(1, -f->fraction - 1) : 0;
}

double ggcheck_tiny(gg_dtype type) {
  const format *f = format_of(type);
  return f->exponent ? ldexp(1, 1 - bias(f) - f->fraction) : 1;
}

double ggcheck_largest(gg_dtype type) {
  return format_of(type)->most;
}

double ggcheck_least(gg_dtype type) {
  const format *f = format_of(type);
  return f->exponent ? -f->most : f->least;
}

/* ldexp and ilogb of normal numbers: millions are asked for, and the library's are calls. */
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

static int exponent_of(double size) {
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  return (int)(bits >> 52 & 2047) - 1023;
}

/* Exponent of the binade that `size`, a finite number, lies in, subnormals counted to the lowest.
 */
static int binade(const format *f, double size) {
  int least = 1 - bias(f);
  return size < power_of_two(least) ? least : exponent_of(size);
}

double ggcheck_half_ulp(gg_dtype type, double size) {
  const format *f = format_of(type);
  if (!f->exponent) return 0.5;
  if (!isfinite(size)) return INFINITY;
  return ldexp(1, binade(f, size) - f->fraction - 1);
}

double ggcheck_round(gg_dtype type, double value) {
  const format *f = format_of(type);
  if (isnan(value)) return f->exponent ? value : 0;
  if (!f->exponent) return fmin(fmax(rint(value), f->least), f->most);
  double size = fabs(value);
  if (isfinite(size) && type != GG_F64) {
    int shift = f->fraction - binade(f, size);
    size = rint(size * power_of_two(shift)) * power_of_two(-shift);
  }
  if (size > f->most) size = f->saturates ? f->most : (double)INFINITY;
  return copysign(size, value);
}

/* Sign, exponent and fraction of a number of the type, in its low bits. f64 is not asked for. */
static uint32_t pack(const format *f, double value) {
  uint32_t sign = (uint32_t)(signbit(value) != 0) << (f->exponent + f->fraction);
  uint32_t ones = (1u << f->exponent) - 1;
  double size = fabs(value);
  if (isnan(value)) /* quiet; all ones where there is but one */
    return f->infinity ? ones << f->fraction | 1u << (f->fraction - 1)
                       : ones << f->fraction | ((1u << f->fraction) - 1);
  if (isinf(value)) return sign | ones << f->fraction;
  int e = binade(f, size);
  /* The leading one of a normal number adds 1 to the exponent field below it. */
  uint32_t digits = (uint32_t)(size * power_of_two(f->fraction - e));
  return sign | (((uint32_t)(e + bias(f) - 1) << f->fraction) + digits);
}

static double unpack(const format *f, uint32_t bits) {
  uint32_t ones = (1u << f->exponent) - 1, all = (1u << f->fraction) - 1;
  uint32_t e = bits >> f->fraction & ones, digits = bits & all;
  double sign = bits >> (f->exponent + f->fraction) & 1 ? -1 : 1;
  if (e == ones && f->infinity) return digits ? (double)NAN : sign * (double)INFINITY;
  if (e == ones && digits == all) return (double)NAN;
  double value = e ? (double)(digits + all + 1) : (double)digits;
  return sign * value * power_of_two((int)(e ? e : 1) - bias(f) - f->fraction);
}

double ggcheck_load(gg_dtype type, const void *at) {
  const format *f = format_of(type);
  int bytes = ggi_dtype_bytes(type);
  double wide;
  float narrow;
  int32_t whole;
  unsigned char one;
  uint16_t two;
  switch (bytes) {
  case 8:
    memcpy(&wide, at, sizeof wide);
    return wide;
  case 4:
    memcpy(&whole, at, sizeof whole);
    memcpy(&narrow, at, sizeof narrow);
    return f->exponent ? (double)narrow : (double)whole;
  case 2:
    memcpy(&two, at, sizeof two);
    return unpack(f, two);
  default:
    memcpy(&one, at, sizeof one);
    if (f->exponent) return unpack(f, one);
    return type == GG_S8 && one > 127 ? (double)one - 256 : (double)one;
  }
}

void ggcheck_store(gg_dtype type, void *at, double value) {
  const format *f = format_of(type);
  double number = isinf(value) && f->infinity ? value : ggcheck_round(type, value);
  float narrow = (float)number;
  int32_t whole = f->exponent ? 0 : (int32_t)number;
  uint16_t two;
  unsigned char one;
  switch (ggi_dtype_bytes(type)) {
  case 8:
    memcpy(at, &number, sizeof number);
    break;
  case 4:
    if (f->exponent)
      memcpy(at, &narrow, sizeof narrow);
    else
      memcpy(at, &whole, sizeof whole);
    break;
  case 2:
    two = (uint16_t)pack(f, number);
    memcpy(at, &two, sizeof two);
    break;
  default:
    one = (unsigned char)(f->exponent ? pack(f, number) : (uint32_t)whole);
    memcpy(at, &one, sizeof one);
    break;
  }
}
