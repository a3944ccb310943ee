#!/bin/sh
# run.sh [FOLDER] - computes each primitive's unit on this machine's GPU (sm_90a) and on the emulated
# one and compares all words. FOLDER keeps what is built; default: a temporary one. NVCC, CC: the
# compilers. Needs a Hopper GPU, the CUDA toolkit, a C compiler; exit 77 without. The two halves may
# run on two machines: FOLDER/gpu on the one with the GPU writes the file that FOLDER/emulated reads.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runtime=$here/../../runtime
if ! command -v "${NVCC:-nvcc}" >/dev/null 2>&1 || ! nvidia-smi -L 2>/dev/null | grep -qE 'H[12]00|GH200'; then
  echo "skipped: no nvcc or no Hopper GPU"
  exit 77
fi
work=${1:-$(mktemp -d)}
mkdir -p "$work"

{
  grep -o 'gg_wgmma_m64n[a-z0-9_]*' "$here/units.inc" | sort -u
  grep -o 'gg_wmma_[a-z0-9_]*' "$runtime/emu/gg_emu_names_wmma.h"
} | "$here/products.sh" >"$work/products.cuh"
"${NVCC:-nvcc}" -std=c++17 -O1 -gencode arch=compute_90a,code=sm_90a -I"$work" -I"$here" \
  -I"$runtime" -I"$runtime/emu" "$here/device.cu" -o "$work/gpu"

for file in "$runtime"/emu/*.c; do
  "${CC:-cc}" -std=gnu11 -O2 -pthread -D_GNU_SOURCE -Wno-psabi -I"$runtime" -I"$runtime/emu" \
    -c "$file" -o "$work/$(basename "$file" .c).o"
done
"${CC:-cc}" -x c -std=gnu11 -O1 -ffp-contract=off -Wno-psabi -DGEMMGEN_EMULATE -I"$here" \
  -I"$runtime" -I"$runtime/emu" -include gg_emu_device.h -c "$here/device.cu" -o "$work/main.o"
"${CC:-cc}" -pthread "$work"/*.o -lm -o "$work/emulated"

"$work/gpu" "$work/words.bin"
"$work/emulated" "$work/words.bin"
