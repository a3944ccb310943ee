#!/bin/sh
# pack.sh GEMMGEN SOURCE FILE.tar.gz - all kernels and what compiles them, for a machine with many processors
# (python3, nvcc, a host compiler; no network, nothing to build). There:
#
#   tar xf FILE.tar.gz
#   python3 compile_all/compile.py --all --estimates 95 --log all.log compile_all/kernels/*
#
# GEMMGEN_JOBS: kernels at a time. Interrupted, or ended by --seconds, the same command goes on. The log can be
# judged here by newer plans: GEMMGEN_COMPILE=all GEMMGEN_COMPILE_LOG=all.log ctest -R compile_kernels
set -eu
gemmgen=$1 source=$2 file=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/compile_all"
cp "$here/compile.py" "$here/cubin.py" "$here/nvrtc12.py" "$work/compile_all"
sh "$here/emit.sh" "$gemmgen" "$source" "$work/compile_all/kernels" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
tar -caf "$file" -C "$work" compile_all
echo "$file: $(wc -c <"$file") bytes, $(find "$work" -name '*.cu' | wc -l) files"
