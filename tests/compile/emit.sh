#!/bin/sh
# emit.sh GEMMGEN SOURCE DIR - what compile.py is run on: each spec in a folder of its own, since some ask
# for kernels that others have with other ranks.
set -eu
gemmgen=$1 source=$2 dir=$3
for spec in "$source"/specs/*.lua "$source"/tests/compile/architectures.lua "$source"/tests/compile/epilogues.lua; do
  "$gemmgen" "$spec" -o "$dir/$(basename "$spec" .lua)"
done
