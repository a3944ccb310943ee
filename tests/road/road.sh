#!/bin/sh
# road.sh BUILD - a program with the kernels of kernels.lua: operands of every order, odd pitches and
# odd addresses reach the tensor cores through copies.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

cp "$here/app/CMakeLists.txt" "$here/main.c" "$here/kernels.lua" "$work"
cmake -S "$work" -B "$work/build" "-DCMAKE_PREFIX_PATH=$build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_FLAGS="-Wall -Wextra" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" --parallel 2 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/road"
