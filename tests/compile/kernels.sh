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

# What the model chooses has names that other specs have too, with other ranks.
written=$(find "$source/specs" -name '*.lua' ! -name 'auto_*')
# shellcheck disable=SC2086 # paths of the repository, without blanks
"$gemmgen" $written "$here/architectures.lua" "$here/epilogues.lua" -o "$work/out"
"$gemmgen" "$source"/specs/auto_*.lua -o "$work/auto"
all=
[ "${GEMMGEN_COMPILE:-}" != all ] || all=--all
for folder in out auto; do
  sh "$here/python.sh" "$here/compile.py" $all --estimates 90 "$work/$folder"
done
