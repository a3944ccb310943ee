#!/bin/sh
# measure.sh ROOT - tests/measure.sh with programs that only pretend: which specs and problems it
# takes, what it sums up, and that a failure shows.
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$work/build/bin"

cat >"$work/build/bin/gemmgen" <<'END'
#!/bin/sh
case $1 in *h100_int8*) echo "bad spec" && exit 1 ;; esac
mkdir -p "$3"
END
cat >"$work/build/bin/gemmbench" <<'END'
#!/bin/sh
mkdir -p "$3"
cat >"$3/gemmbench_run" <<'RUN'
#!/bin/sh
# Two problems: ratios 2 and 0.5, the second without a rival.
cp "$2" "$0.suite"
echo "name,dtype,layout,m,n,k,batch,kernel,us,ratio"
echo "fast,bf16,nt,1,1,1,1,one,1,2.0"
echo "slow,bf16,tn,1,1,1,1,two,1,0.5"
echo "alone,bf16,tn,1,1,1,1,two,1,0"
case $0 in *h100_tf32*) exit 4 ;; esac
RUN
chmod +x "$3/gemmbench_run"
END
chmod +x "$work/build/bin/gemmgen" "$work/build/bin/gemmbench"

fault() {
  echo "FAILED: $*"
  cat "$work/stdout"
  exit 1
}

"$root/tests/measure.sh" "$work/build" "$work/out" h100_bf16 h100_fp8 >"$work/stdout" || fault "exit $?"
cat >"$work/expected" <<'END'
h100_bf16: 2 problems, geometric mean of the ratios 1.000; below 1:
  slow                     tn  0.50  two
h100_fp8: 2 problems, geometric mean of the ratios 1.000; below 1:
  slow                     tn  0.50  two
END
cmp -s "$work/stdout" "$work/expected" || fault "the summary is not as expected"
awk '$2 != "e4m3" && $2 != "e5m2" { exit 1 } END { exit NR < 20 }' "$work/out/h100_fp8/build/gemmbench_run.suite" ||
  fault "problems of other types, or none"

code=0
"$root/tests/measure.sh" "$work/build" "$work/out" h100_int8 h100_tf32 >"$work/stdout" || code=$?
[ $code -eq 1 ] || fault "exit $code, expected 1"
grep -q "^h100_int8: cannot be built" "$work/stdout" || fault "a spec that cannot be built is not named"
grep -q "^h100_tf32: a problem failed" "$work/stdout" || fault "a problem that failed is not named"

rm -rf "$work/out"
MEASURE_BUILD_ONLY=1 "$root/tests/measure.sh" "$work/build" "$work/out" h100_f16 >"$work/stdout" || fault "exit $?"
[ ! -e "$work/out/h100_f16.csv" ] || fault "it ran although it was to build only"
echo "measure: as expected"
