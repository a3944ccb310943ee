#!/bin/sh
# kernels.sh GEMMGEN SOURCE - emits every spec and compiles a subset of the kernels, or all of them
# with GEMMGEN_COMPILE=all. GEMMGEN_COMPILE_LOG: compile.py's log, GEMMGEN_JOBS: kernels at a time.
set -eu
gemmgen=$1 source=$2
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v nvcc >/dev/null 2>&1; then
  echo "skipped: nvcc is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

sh "$here/emit.sh" "$gemmgen" "$source" "$work"
# The subset is small, and holds what is rare: a little less is asked of it than of all.
options='--estimates 90'
[ "${GEMMGEN_COMPILE:-}" != all ] || options='--all --estimates 95'
[ -z "${GEMMGEN_COMPILE_LOG:-}" ] || options="$options --log $GEMMGEN_COMPILE_LOG"
# shellcheck disable=SC2086 # several words
sh "$here/python.sh" "$here/compile.py" $options "$work"/*
