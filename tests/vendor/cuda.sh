#!/bin/sh
# cuda.sh SOURCE BUILD - the two projects of README.md, changed for CUDA as its comments say, compile
# and link with nvcc: a vendored folder, and gemmgen_add_kernels. Where there is no GPU the programs
# must say so and do no more.
set -eu
source=$1 gemmgen=$2/bin/gemmgen
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v nvcc >/dev/null 2>&1; then
  echo "skipped: nvcc is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

block() { # NAME - a block of the README, for CUDA
  sh "$here/../readme/block.sh" "$source/README.md" "test: $1" |
    sed 's/set(GEMMGEN_EMULATE ON)/set(GEMMGEN_CUDA ON)/; s/gg_table_emu/gg_table/g
         s/gg_device_emulated(NULL, /gg_device_cuda(0, /'
}

try() { # DIR PROGRAM
  cmake -S "$1" -B "$1/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  cmake --build "$1/build" --parallel 2 --target app >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  "$1/build/app" >"$work/output" 2>&1 || true
  cat "$work/output"
  grep -qE 'D\[7,9\] = 240, expected 240|there is no such device' "$work/output"
}

vendored=$work/vendored
mkdir -p "$vendored/third_party"
cp -r "$source/runtime" "$vendored/third_party/runtime"
"$gemmgen" "$here/kernels.lua" -o "$vendored/third_party/out"
block vendoring >"$vendored/CMakeLists.txt"
block library >"$vendored/main.c"
try "$vendored"

added=$work/added
mkdir "$added"
block library >"$added/main.c"
cp "$here/kernels.lua" "$added/kernels.lua"
cat >"$added/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C)
set(GEMMGEN_CUDA ON)
add_subdirectory("$source" gemmgen)
add_executable(app main.c)
gemmgen_add_kernels(app kernels.lua)
END
try "$added"
echo "vendor: both projects build for CUDA"
