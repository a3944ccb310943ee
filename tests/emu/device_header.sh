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
