#!/bin/sh
# single.sh BUILD - one .cu, no table and no library, launched by the lines of its section 5: pasted
# into a program that is compiled and linked with nvcc, without a warning, and multiplies where there
# is a GPU.
set -eu
gemmgen=$1/bin/gemmgen
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v nvcc >/dev/null 2>&1; then
  echo "skipped: nvcc is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

"$gemmgen" "$here/kernels.lua" -o "$work/out"
for kernel in "$work"/out/*naive*_nn_*_full.cu "$work"/out/*simt*_nn_*_full.cu; do
  # The lines of the comment; the first declares p, what it points to is the caller's.
  awk '/^\/\/ ---- 5 / { found = 1 } found && /^\/\/   / { print substr($0, 3) }' "$kernel" >"$work/launch"
  {
    cat "$kernel"
    echo '#include <cuda_runtime.h>'
    echo 'cudaError_t run(const gg_args *call, cudaStream_t stream) {'
    sed -n 1p "$work/launch"
    echo '  p = *call;'
    sed -n '2,$p' "$work/launch"
    echo '  return cudaGetLastError();'
    echo '}'
    cat "$here/single_main.cu"
  } >"$work/single.cu"
  grep -q 'cudaLaunchKernelExC' "$work/launch"
  arch=$(basename "$kernel" | sed 's/^sm\([0-9]*a*\)_.*/\1/')
  nvcc -gencode "arch=compute_$arch,code=sm_$arch" -Werror all-warnings \
    -Xcompiler -Wall,-Wextra,-Werror -o "$work/single" "$work/single.cu"
  "$work/single"
  echo "vendor: $(basename "$kernel") is launched by its own section 5"
done
