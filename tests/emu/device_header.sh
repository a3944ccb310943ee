#!/bin/sh
# device_header.sh RUNTIME - gg_emu_device.h compiles without warnings as C11 and C++11, with every
# compiler found here, and stands before or after the headers a file may include.
set -eu
runtime=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

cat >"$work/k.cu" <<'END'
#include "gg_kernel.h"
#include <math.h>
#ifdef __cplusplus
extern "C"
#endif
__global__ void __launch_bounds__(64) k(const __grid_constant__ gg_args p) {
  const float *__restrict__ a = (const float *)p.a;
  const unsigned t = threadIdx.x + blockIdx.x * blockDim.x + gridDim.x;
  float x, y;
  gg_ldg_f32x2(&x, &y, a + t);
  gg_sts_f32x2(t * 8, x, y);
  gg_cp_async_zfill_16(t * 16, p.b, 3);
  gg_cp_async_commit();
  gg_cp_async_wait_3();
  gg_bar_arrive(1, 64);
  gg_bar_sync(1, 64);
  gg_syncwarp();
  gg_syncthreads();
  gg_st_f32((float *)p.d + t, fmaf(x, y, gg_add_f32(gg_mul_f32(x, x), y)));

  unsigned r[8] = {0}, h[2] = {0};
  unsigned short half;
  float acc[128] = {0};
  int sum[4] = {0};
  double d[4] = {0}, e[8] = {0};
  gg_ldmatrix_x4_trans(r, t * 16);
  gg_mma_m16n8k16_bf16(acc, r, r + 4);
  gg_mma_m16n8k16_f16_acc16(h, r, r + 4);
  gg_mma_m16n8k32_s8(sum, r, r + 4);
  gg_mma_m16n8k16_f64(d, e, e);
  gg_wmma_load_a_m16n16k16_f16_row_shared(r, 0, 16);
  gg_wmma_mma_m16n16k16_f16_row_col(acc, r, r);
  gg_wmma_store_d_m16n16k16_f32_row_global(p.d, acc, 16);
  gg_ldg_u16(&half, (const unsigned short *)p.b);
  gg_setmaxnreg_dec_40();
  gg_mbar_init(0, 1);
  gg_tma_load_3d_multicast_hint(0, &p.map_a, 0, 1, 2, 0, 3, gg_policy_evict_first());
  gg_tma_store_2d(&p.map_d, 0, 0, 0);
  gg_bulk_wait_read_1();
  const unsigned long long a_desc = gg_wgmma_desc(0, 16, 1024, 1), b_desc = a_desc + 2;
  gg_wgmma_m64n256k16_bf16_ss(acc, a_desc, b_desc, 1);
  gg_wgmma_m64n8k32_e4m3_e5m2_rs(acc, r, b_desc, 0);
  gg_wgmma_m64n8k32_u8_ss(sum, a_desc, b_desc, 1);
  gg_wgmma_m64n8k16_f16_acc16_ss_tt(h, a_desc, b_desc, 1);
  gg_st_cluster_f32x2(gg_mapa(0, 1), acc[0], gg_shfl_sync_xor_f32(acc[1], 1));
  gg_st_u32((unsigned *)p.d, gg_cvt_bf16x2(acc[0], gg_max_f32(acc[1], gg_f32_from_f16(half))));
}
END

found=0
for cc in "gcc -x c -std=gnu11" "gcc -x c -std=c11" "g++ -x c++ -std=c++11" \
  "clang -x c -std=gnu11" "clang++ -x c++ -std=c++17"; do
  command -v "${cc%% *}" >/dev/null 2>&1 || continue
  found=1
  # shellcheck disable=SC2086
  $cc -O1 -Wall -Wextra -Wconversion -Wshadow -Wno-psabi -Werror -DGEMMGEN_EMULATE -I "$runtime" \
    -include "$runtime/emu/gg_emu_device.h" -c "$work/k.cu" -o "$work/k.o" || {
    echo "$cc refuses gg_emu_device.h"
    exit 1
  }
done
if [ $found = 0 ]; then
  echo "skipped: neither gcc nor clang"
  exit 77
fi
