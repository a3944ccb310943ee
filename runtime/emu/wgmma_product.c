/* wgmma_product.c - what one wgmma computes: 64 x n sums from operands in shared memory or
 * registers.
 *
 * Pure. Registers of A are those of mma.sync, warp w of the group holding rows 16 w and on.
 */
#include "emu_tensor.h"
#include <string.h>

typedef struct kind {
  emu_format a, b;
  int k;
  emu_sum sum;
} kind;

/* ORDER TYPE (gg_emu_device.h). fp8 has 13 bits of fraction, in the result too. All as on an H200:
 * tests/device. clang-format off */
static const kind kinds[] = {{EMU_BF16, EMU_BF16, 16, {-126, -126, 25, 23}},
                             {EMU_F16, EMU_F16, 16, {-14, -14, 25, 23}},
                             {EMU_TF32, EMU_TF32, 8, {-126, -126, 25, 23}},
                             {EMU_E4M3, EMU_E4M3, 32, {-6, -6, 13, 13}},
                             {EMU_E5M2, EMU_E5M2, 32, {-14, -14, 13, 13}},
                             {EMU_S8, EMU_S8, 32, {0, 0, 0, 0}},
                             {EMU_U8, EMU_U8, 32, {0, 0, 0, 0}},
                             {EMU_E4M3, EMU_E5M2, 32, {-6, -14, 13, 13}},
                             {EMU_E5M2, EMU_E4M3, 32, {-14, -6, 13, 13}},
                             {EMU_S8, EMU_U8, 32, {0, 0, 0, 0}},
                             {EMU_U8, EMU_S8, 32, {0, 0, 0, 0}}};
/* clang-format on */

static const kind *kind_of(unsigned spec) {
  return &kinds[spec >> 16 & 255];
}
int ggi_emu_product_n(unsigned spec) {
  return (int)(spec & 0xffff);
}
int ggi_emu_product_acc(unsigned spec) {
  return (int)(spec >> 28);
}

emu_operand ggi_emu_product_a(const emu_product *o) {
  const kind *k = kind_of(o->spec);
  return (emu_operand){
      o->da, k->a, EMU_PRODUCT_ROWS, k->k, ggi_emu_format_bytes(k->a), o->spec >> 24 & 1};
}
emu_operand ggi_emu_product_b(const emu_product *o) {
  const kind *k = kind_of(o->spec);
  return (emu_operand){
      o->db, k->b, ggi_emu_product_n(o->spec), k->k, ggi_emu_format_bytes(k->b), o->spec >> 25 & 1};
}

static void registers_a(const emu_product *o, float *a) {
  const kind *way = kind_of(o->spec);
  int e = 4 / ggi_emu_format_bytes(way->a);
  for (int lane = 0; lane < EMU_PRODUCT_LANES; lane++)
    for (int q = 0; q < 4; q++) {
      float x[4];
      ggi_emu_unpack(way->a, o->a[lane][q], x);
      int row = lane / EMU_WARP * 16 + lane % EMU_WARP / 4 + q % 2 * 8;
      for (int i = 0; i < e; i++)
        a[row * way->k + e * (lane % 4) + i + q / 2 * 4 * e] = x[i];
    }
}

void ggi_emu_product(const emu_product *o, const uint8_t *shared, size_t room, float *c, float *a,
                     float *b) {
  const kind *way = kind_of(o->spec);
  emu_operand of_a = ggi_emu_product_a(o), of_b = ggi_emu_product_b(o);
  int n = ggi_emu_product_n(o->spec), k = way->k;
  emu_sum sum = way->sum;
  if (ggi_emu_product_acc(o->spec) == EMU_ACC_F16) sum.kept = 10;
  if (o->a != NULL)
    registers_a(o, a);
  else
    ggi_emu_operand_load(&of_a, shared, room, a, 0);
  ggi_emu_operand_load(&of_b, shared, room, b, 1);
  if (!o->scale) memset(c, 0, sizeof(float) * EMU_PRODUCT_ROWS * (size_t)n);
  if (ggi_emu_product_acc(o->spec) == EMU_ACC_S32)
    ggi_emu_sum_integers(c, n, a, k, b, n, EMU_PRODUCT_ROWS, n, k);
  else
    ggi_emu_sum(&sum, c, n, a, k, b, n, EMU_PRODUCT_ROWS, n, k);
}
