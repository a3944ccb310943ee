/* ggcheck_sum.c - by how much a kernel's accumulator may miss the sum of its products.
 *
 * FMAs. A kernel's accumulator starts at zero and takes one FMA per step of k, in order. An FMA
 * rounds once, after the addition, so a product passes one rounding for its own step and one for
 * each later step: t = k, and the error is at most gamma_t P with P = sum |a||b| (see
 * ggcheck_reference.c). Steps beyond k multiply zeros that a guard filled in and are exact. With s
 * k-slices each slice sums its ceil(k / tile_k) * tile_k / s steps, then the s sums are added in
 * fixed order: t = that + s - 1. Where a cluster's blocks share a tile (cluster_k of them), each
 * sums a part of k and their sums are added: t grows by cluster_k - 1. Since adding zero is exact,
 * t never exceeds k either: a sum of k products has at most k - 1 additions that round, and one
 * rounding of the first product. f64 tensor cores add by FMAs in some order, for which this holds
 * as well.
 *
 * Tensor cores (families wmma, mma, wgmma) with an f32 or f16 accumulator. One sum takes K elements
 * of k and the former accumulator c:
 *   the products are exact; they and c are aligned to the largest exponent among them; each is cut
 *   off F bits behind the point there; what is left is summed exactly and cut to the accumulator's
 *   fraction.
 * The structure: Fasi, Higham, Mikaitis, Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ
 * Computer Science 7:e330, 2021. On sm_90 F = 25: measured on an H200, which the emulated GPU
 * equals. fp8 keeps about 14 bits (DeepSeek-V3 Technical Report, arXiv 2412.19437, 3.3.2, of the
 * H800): F = 13 here, for the sum as well. K is an instruction's; the bound is larger for a smaller
 * one, so the least is taken that there is: 8 (f16, bf16), 4 (tf32), 16 (fp8).
 *
 * With P_j = sum |a||b| over the j-th K elements and S_j = P_1 + ... + P_j,
 *   c_j = (c_(j-1) + p_j + x_j)(1 + d_j)
 *   |d_j| <= D = 2^-min(F, fraction of c)        truncation of the sum
 *   |x_j| <= (K + 1) 2^-F max(|c_(j-1)|, P_j)    truncation of its terms
 * for each of at most K + 1 terms loses less than 2^-F of a power of two that the largest of them
 * reaches. So with e = D + (K + 1) 2^-F (1 + D), by induction over j,
 *   |c_j| <= (1 + e)^j S_j
 *   |c_j - s_j| <= |c_(j-1) - s_(j-1)| + e (|c_(j-1)| + P_j)
 * and after T = ceil(k / K) sums, in whatever order they take the elements of k,
 *   |c_T - s_T| <= ((1 + e)^T - 1) P <= theta P,   theta = T e / (1 - T e).
 * The s - 1 additions of k-slices and cluster_k - 1 of a cluster, s' together, round by less than e
 * each: T grows by as much. Where theta would exceed 1/2 the bound says nothing and is P.
 *
 * fp8 that is promoted every promote_k = q elements. The sum of each q elements starts at zero and
 * is added in f32, u = 2^-24, to the sum outside the tensor core. Of the b = ceil(k / q) parts each
 * has an error of at most theta_q P_b, with theta_q as above for k = q, and what is added is at
 * most (1 + theta_q) P_b large. The additions round b times at most (the first adds to zero), those
 * of slices and clusters s' times: |c - s| <= theta_q P + gamma_(b + s') (1 + theta_q) P
 *
 * Scales of GROUP and BLOCK hold for 128 of k. Each 128 are summed as above, multiplied by their
 * scale and added by an FMA to an accumulator of the epilogue's type: with sigma the error of 128
 * steps, (1 + sigma)(1 + gamma_t) - 1 where t = k / 128 rounded up, and the additions of slices and
 * clusters. The multiplication by scales is counted with the epilogue's.
 */
#include "ggcheck_reference.h"

#include "epilogue.h"
#include "ggcheck_number.h"

#include <math.h>
#include <string.h>

enum { PART = 128 }; /* of k, that one scale of GROUP or BLOCK holds for */

double ggcheck_gamma(double roundings, double u) {
  return roundings * u / (1 - roundings * u);
}

int64_t ggcheck_roundings(const gg_kernel *row, int64_t k) {
  int64_t slices = row->k_slices > 1 ? row->k_slices : 1;
  int64_t tile = row->tile_k > 0 ? row->tile_k : 1;
  int64_t parts = row->cluster_k > 1 ? row->cluster_k : 1;
  int64_t steps = (k + tile - 1) / tile * ((tile + slices - 1) / slices) + slices - 1 + parts - 1;
  return steps < k ? steps : k;
}

static bool on_tensor_cores(const gg_kernel *row) {
  static const char *const families[] = {"wmma", "mma", "wgmma"};
  for (size_t i = 0; row->family && i < sizeof families / sizeof families[0]; i++)
    if (strcmp(row->family, families[i]) == 0) return true;
  return false;
}

/* Of parts of k that are summed apart. */
static int64_t additions(const gg_kernel *row) {
  return (row->k_slices > 1 ? row->k_slices - 1 : 0) +
         (row->cluster_k > 1 ? row->cluster_k - 1 : 0);
}

static double theta(const gg_kernel *row, int64_t k) {
  bool fp8 = row->type_a == GG_E4M3 || row->type_a == GG_E5M2;
  int width = row->type_a == GG_TF32 ? 4 : fp8 ? 16 : 8;
  int bits = fp8 ? 13 : 25;
  double cut = ldexp(1, -bits);
  double d = fmax(2 * ggcheck_roundoff(row->type_acc), cut);
  double e = d + (width + 1) * cut * (1 + d);
  int64_t inside = row->promote_k > 0 && k > row->promote_k ? row->promote_k : k;
  int64_t sums = (inside + width - 1) / width + (row->promote_k > 0 ? 0 : additions(row));
  double t = (double)sums * e;
  double part = t < 1.0 / 3 ? t / (1 - t) : 1;
  if (row->promote_k <= 0) return part;
  int64_t parts = (k + row->promote_k - 1) / row->promote_k;
  double added = ggcheck_gamma((double)(parts + additions(row)), ggcheck_roundoff(row->type_acc));
  return part + added * (1 + part);
}

/* Of k steps in one accumulator. */
static double plain_error(const gg_kernel *row, int64_t k) {
  bool narrow = row->type_acc == GG_F32 || row->type_acc == GG_F16;
  if (narrow && on_tensor_cores(row)) return theta(row, k);
  return ggcheck_gamma((double)ggcheck_roundings(row, k), ggcheck_roundoff(row->type_acc));
}

static bool by_parts(gg_scaling scaling) {
  return scaling == GG_SCALING_GROUP || scaling == GG_SCALING_BLOCK;
}

double ggcheck_sum_error(const gg_kernel *row, int64_t k) {
  if (!by_parts(row->scaling_a) && !by_parts(row->scaling_b)) return plain_error(row, k);
  int64_t parts = (k + PART - 1) / PART;
  double part = plain_error(row, k < PART ? k : PART);
  double outside =
      ggcheck_gamma((double)(parts + additions(row)), ggcheck_roundoff(ggi_row_epilogue(row)));
  return (1 + part) * (1 + outside) - 1;
}
