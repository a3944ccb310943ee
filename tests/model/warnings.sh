#!/bin/sh
# warnings.sh GEMMGEN - each warning of the model appears where it should, in words, is silenced by
# `allow`, and does not appear where nothing is wrong.
set -eu
gemmgen=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
failed=0
count=0

fault() {
  echo "FAILED: $*"
  failed=$((failed + 1))
}

# warns CODE TEXT GPU FIELDS [EXPLAIN ARGUMENT...] - the spec warns so, and not with allow.
warns() {
  code=$1 text=$2 gpu=$3 fields=$4
  shift 4
  count=$((count + 1))
  echo "gpu '$gpu' gemm { $fields }" >bad.lua
  "$gemmgen" explain bad.lua "$@" >/dev/null 2>stderr || fault "$code: exit $?"
  grep -F "[$code]" stderr | grep -qF "$text" || fault "$code: not '$text' but: $(cat stderr)"
  echo "gpu '$gpu' gemm { $fields, allow = { '$code' } }" >allowed.lua
  "$gemmgen" explain allowed.lua "$@" >/dev/null 2>stderr || fault "$code allowed: exit $?"
  ! grep -qF "[$code]" stderr || fault "$code is not silenced"
}

# silent GPU FIELDS [EXPLAIN ARGUMENT...] - the spec warns of nothing.
silent() {
  gpu=$1 fields=$2
  shift 2
  count=$((count + 1))
  echo "gpu '$gpu' gemm { $fields }" >good.lua
  "$gemmgen" explain good.lua "$@" >/dev/null 2>stderr || fault "silent: exit $?"
  [ ! -s stderr ] || fault "'$fields' $*: $(cat stderr)"
}

simt="family = 'simt', dtype = 'f32'"
tile8="thread = { m = 8, n = 8 }"
warns ring-synchronous "1 stage in " h100-sxm "$simt, stages = 1"
warns ring-short "stages cover it; use more stages" h100-sxm "family = 'wgmma', dtype = 'bf16', tile = { m = 128, n = 128 }, stages = 2"
warns tile-k-large "so an SM holds 1 block where half the k tile would leave room for 2" h100-sxm \
  "$simt, layout = 'tn', tile = { m = 128, n = 128, k = 64, thread = { m = 16, n = 8 } }, unroll = { k = 8 }, stages = 2"
warns rolled-loop "64 FMAs for each branch" h100-sxm "$simt, tile = { $tile8 }, unroll = { k = 1 }"
mma="family = 'mma', dtype = 'bf16', tile = { m = 128, n = 128, warp = { m = 64, n = 32 } }"
warns rolled-loop "1 k step a turn in sm80_mma_bf16_nn_128x128x64_w64x32_s4_u1_full are about 128 cycles of products" \
  a100-sxm-80 "$mma, unroll = { k = 1 }"
warns rolled-loop "use 2 steps [" a100-sxm-80 "$mma, unroll = { k = 1 }"
warns rolled-loop "use \"full\" [" a100-sxm-80 \
  "family = 'mma', dtype = 'bf16', tile = { m = 64, n = 64, k = 32, warp = { m = 16, n = 32 } }, unroll = { k = 1 }"
warns loop-code "unroll.stages: the main loop of " a100-sxm-80 \
  "$mma, unroll = { stages = true }, budget = { loop_bytes = 8192 }"
warns no-tensor-cores "f32 without tf32 stays on CUDA cores: 66.9 TFLOP/s, where tensor cores give 494.7" \
  h100-sxm "dtype = 'f32', stages = 3"
warns no-tensor-cores "33.5 TFLOP/s on CUDA cores, where tensor cores give 66.9" h100-sxm \
  "dtype = 'f64', stages = 3"
warns no-tensor-cores "naive computes bf16 on CUDA cores" h100-sxm "family = 'naive', dtype = 'bf16'"
warns no-tensor-cores "bf16 has no tensor cores on t4" t4 "family = 'naive', dtype = { a = 'bf16', d = 'f32' }"
silent h100-sxm "$simt"
silent h100-sxm "dtype = 'f32'"
silent a100-sxm-80 "dtype = 'bf16'"
silent t4 "dtype = 'f16'"
silent rtx-3090 "dtype = 'f64'"
silent h100-sxm "$simt, tile = { $tile8 }, unroll = { k = 4 }"
silent a100-sxm-80 "$mma, unroll = { k = 2 }"
silent a100-sxm-80 "$mma, unroll = { k = 'full', stages = true }"
silent h100-sxm "family = 'wgmma', dtype = 'bf16'"

wgmma="family = 'wgmma', dtype = 'bf16', layout = 'nt'"
warns unaligned "rows of 513 elements are 1026 B, no multiple of 16" h100-sxm "$wgmma" --problem 513x513x513
warns unaligned "pad rows to 520" h100-sxm "$wgmma" --problem 513x513x513
warns few-blocks "4 blocks of " h100-sxm "$wgmma" --problem 256x512x16384
warns few-blocks "is predicted at " h100-sxm "$wgmma" --problem 1024x1024x16384
warns tail-wave "1.09 waves of " h100-sxm "$wgmma, tile = { m = 128, n = 256 }" --problem 1088x3968x8192
warns l2-reuse "raster.group = " t4 "$simt, raster = { group = 1 }" --problem 32768x32768x512
silent h100-sxm "$wgmma" --problem 4096x4096x4096
silent h100-sxm "$wgmma" --problem 264x264x264

if [ "$failed" -ne 0 ]; then
  echo "warnings: $failed faults in $count cases"
  exit 1
fi
echo "warnings: $count cases behave"
