#!/bin/sh
# vendor.sh SOURCE BUILD - a stranger's project builds from copies of runtime/ and of emitted folders,
# two prefixes in one binary; and so does the one that README.md shows. Neither finds gemmgen.
set -eu
source=$1 gemmgen=$2/bin/gemmgen
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

build() { # DIR - configures and builds without a warning
  cmake -S "$1" -B "$1/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  cmake --build "$1/build" --parallel 2 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  if grep -i 'warning:' "$work/log"; then
    echo "FAIL: the vendored sources give warnings"
    exit 1
  fi
}

stranger=$work/stranger
cp -r "$here/stranger" "$stranger"
mkdir "$stranger/third_party"
cp -r "$source/runtime" "$stranger/third_party/runtime"
"$gemmgen" "$here/kernels.lua" -o "$stranger/third_party/out"
"$gemmgen" "$here/kernels.lua" -o "$stranger/third_party/renamed" --prefix p_
build "$stranger"
"$stranger/build/stranger" | tee "$work/output"
grep -qx right "$work/output"

readme=$work/readme
mkdir -p "$readme/third_party"
cp -r "$source/runtime" "$readme/third_party/runtime"
"$gemmgen" "$here/kernels.lua" -o "$readme/third_party/out"
sh "$here/../readme/block.sh" "$source/README.md" "test: vendoring" >"$readme/CMakeLists.txt"
sh "$here/../readme/block.sh" "$source/README.md" "test: library" >"$readme/main.c"
build "$readme"
"$readme/build/app"
echo "vendor: both projects build and multiply"
