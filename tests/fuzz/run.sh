#!/bin/sh
# run.sh ROOT WORK - builds the libFuzzer target with clang and runs it on a copy of the corpus for
# GEMMGEN_FUZZ_SECONDS (60). Exit 77 without clang; then the test fuzz_corpus has run the same corpus
# as a plain program.
set -eu
root=$1
work=$2
seconds=${GEMMGEN_FUZZ_SECONDS:-60}

if ! command -v clang >/dev/null 2>&1; then
  echo "skipped: clang is not installed; fuzz_corpus runs the corpus as a plain program"
  exit 77
fi
mkdir -p "$work"
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n){(void)d;return n<0;}' |
  clang -x c -fsanitize=fuzzer,address - -o "$work/probe" 2>"$work/probe.log"; then
  echo "skipped: this clang has no libFuzzer; fuzz_corpus runs the corpus as a plain program"
  exit 77
fi
lua="lua5.4"
pkg-config --exists "$lua" || lua="lua-5.4"

sources=
for file in "$root"/gen/*.c; do
  case ${file##*/} in
    buf.c | diag.c | nearest.c | sha256.c | gpu_fields.c | script*.c | spec*.c | plan*.c)
      sources="$sources $file"
      ;;
  esac
done
# shellcheck disable=SC2086,SC2046 # words
clang -std=c11 -D_DEFAULT_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined -I"$root/gen" -I"$root/runtime" $(pkg-config --cflags "$lua") \
  "$root/tests/fuzz/fuzz_spec.c" $sources "$root/runtime/gpu.c" "$root"/runtime/model*.c \
  -o "$work/fuzz_spec" $(pkg-config --libs "$lua") -lm

rm -rf "$work/corpus"
for folder in tests/fuzz/corpus tests/bad_specs specs; do
  mkdir -p "$work/corpus/$folder"
  cp "$root/$folder"/*.lua "$work/corpus/$folder" 2>/dev/null || true # specs may be none
done
cd "$work"
./fuzz_spec -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -max_len=4096 -verbosity=0 \
  -print_final_stats=1 -dict="$root/tests/fuzz/spec.dict" corpus
