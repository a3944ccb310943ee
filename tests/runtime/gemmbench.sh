#!/bin/sh
# gemmbench.sh BUILD - gemmbench builds a folder that gemmgen wrote and says what is wrong with what
# it is given. Needs nvcc; measures a tiny problem where there is a GPU.
set -eu
bin=$1/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

fail() {
  echo "gemmbench.sh: $1"
  exit 1
}

# expect CODE TEXT COMMAND... - the command's exit code, and a text in what it prints.
expect() {
  code=0
  wanted=$1
  text=$2
  shift 2
  "$@" >output 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || { cat output; fail "'$*' returned $code, not $wanted"; }
  grep -qF -e "$text" output || { cat output; fail "'$*' did not say '$text'"; }
}

cat >tiny.lua <<'SPEC'
gpu "h100-sxm"
gemm { family = "naive", dtype = { a = "f32", b = "f32", d = "f32", acc = "f32" }, layout = "nn",
       tile = { m = 16, n = 16 } }
SPEC
"$bin/gemmgen" tiny.lua -o out --prefix t_ >/dev/null
touch stamp

expect 0 "usage: gemmbench DIR" "$bin/gemmbench" --help
expect 1 "no folder is given" "$bin/gemmbench"
expect 1 "--build-only needs --build" "$bin/gemmbench" out --build-only
expect 2 "holds no gg_table.c" "$bin/gemmbench" .

expect 0 "build/gemmbench_run" "$bin/gemmbench" out --build build --build-only
run=build/gemmbench_run
expect 1 "no problem: give --suite or --problem" $run
expect 1 "--problem is not MxNxK or MxNxKxBATCH: 5" $run --problem 5
expect 1 "unknown option: --fast" $run --fast 1
expect 1 "a step has no such value: q" $run --bias q --problem 8x8x8
expect 1 "--type-d is unknown: f99" $run --type-d f99 --problem 8x8x8
expect 1 "exclude each other" $run --all --kernel x --problem 8x8x8
expect 2 "missing.txt" $run --suite missing.txt
printf 'a f32 nn 1 2 3\n' >bad.txt
expect 2 "bad.txt:1: not of the form" $run --suite bad.txt

# The folder stays as it was.
[ "$(find out -newer stamp | wc -l)" -eq 0 ] || fail "gemmbench wrote into its folder"

code=0
$run --problem 64x64x64 --repeats 1 --min-ms 1 --json >output 2>&1 || code=$?
case $code in
0) grep -q '"right": true' output || fail "no result" ;;
3) grep -q "CUDA" output || fail "no reason" ;;
*) cat output; fail "measuring returned $code" ;;
esac
echo "gemmbench.sh: good"
