#!/bin/sh
# package.sh find_package|add_subdirectory SOURCE BUILD GENERATOR - a consumer's project builds from
# an empty folder and runs; a spec edit that adds a kernel reaches the program; a build after it has
# nothing to do.
set -eu
entry=$1 source=$2 build=$3 generator=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

cp -r "$here/consumer" "$work/consumer"
case $entry in
  find_package)
    cmake --install "$build" --prefix "$work/first" >"$work/install.log"
    # An installed tree may be moved.
    mv "$work/first" "$work/prefix"
    set -- "-DCMAKE_PREFIX_PATH=$work/prefix"
    ;;
  add_subdirectory) set -- "-DGEMMGEN_SOURCE=$source" ;;
  *) exit 2 ;;
esac

run() { # EXPECTED - builds, runs, compares
  cmake --build "$work/build" --parallel 2 >"$work/build.log" 2>&1 || {
    cat "$work/build.log"
    echo "FAIL: the consumer does not build"
    exit 1
  }
  output=$("$work/build/consumer") || true
  echo "$output"
  if [ "$output" != "$1" ]; then
    echo "FAIL: expected: $1"
    exit 1
  fi
}

cmake -S "$work/consumer" -B "$work/build" -G "$generator" "$@" >"$work/configure.log" 2>&1 || {
  cat "$work/configure.log"
  echo "FAIL: the consumer does not configure"
  exit 1
}
run "right, kernels for B as written"

sed -i 's/layout = "nn"/layout = { "nn", "nt" }/' "$work/consumer/kernels.lua"
run "right, kernels for B as written and transposed"

cmake --build "$work/build" >"$work/again.log" 2>&1
if grep -q 'gemmgen: kernels of' "$work/again.log"; then
  echo "FAIL: a build without a change generated again"
  exit 1
fi
echo "package: $entry with $generator holds"
