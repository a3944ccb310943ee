#!/bin/sh
# kernels.sh GEMMGEN SOURCE - emits every spec and compiles a subset of the kernels, or all of them
# with GEMMGEN_COMPILE=all.
set -eu
gemmgen=$1 source=$2
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v nvcc >/dev/null 2>&1; then
  echo "skipped: nvcc is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# Each spec into a folder of its own: some ask for kernels that others have with other ranks.
for spec in "$source"/specs/*.lua "$here/architectures.lua" "$here/epilogues.lua"; do
  "$gemmgen" "$spec" -o "$work/$(basename "$spec" .lua)"
done
# The subset is small, and holds what is rare: a little less is asked of it than of all.
options='--estimates 85'
[ "${GEMMGEN_COMPILE:-}" != all ] || options='--all --estimates 90'
# shellcheck disable=SC2086 # several words
sh "$here/python.sh" "$here/compile.py" $options "$work"/*
