#!/bin/sh
# setup.sh - from a fresh Debian machine to verified kernels: installs what is missing, builds into
# build/, generates specs/h100_bf16.lua into out/, checks every kernel on the emulated GPU.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/packages.sh
. tests/packages.sh

need_build
install_missing setup

choose_generator build
echo "setup: building into build/"
cmake --preset default
cmake --build build --parallel "$(jobs)"

echo "setup: gemmgen specs/h100_bf16.lua -o out/"
build/bin/gemmgen specs/h100_bf16.lua -o out/

echo "setup: gemmgen check out/ (every kernel on the emulated GPU)"
build/bin/gemmgen check out/

kernels=$(find out -maxdepth 1 -name '*.cu' | wc -l)
echo "setup: done: build/bin/gemmgen; $kernels kernels and their table in out/, all verified"
