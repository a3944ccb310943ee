#!/bin/sh
# measure.sh BUILD OUT [SPEC...] - every figure that the docs give of a card, in one go.
#
# BUILD: a build with preset cuda. For each spec (specs/NAME.lua without .lua; default: those of this
# repository that suit an H100 or H200) the kernels are generated and built in OUT/NAME, checked, and
# timed beside cuBLASLt on the problems of runtime/tools/suite*.txt of the spec's type: OUT/NAME.csv.
# OUT/summary.txt has, for each spec, the geometric mean of the ratios and every problem below 1.
#   MEASURE_OPTIONS="--repeats 2 --min-ms 60"   how long (docs/measuring.md)
#   MEASURE_BUILD_ONLY=1                        stop before the first run: for a machine without a GPU
# Exit: 0 done, 1 something was wrong or could not be built or run.
set -eu
if [ $# -lt 2 ]; then
  echo "usage: $0 BUILD OUT [SPEC...]" >&2
  exit 1
fi
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- h100_bf16 h100_f16 h100_fp8 h100_int8 h100_tf32 h100_f64 h100_f32 a100_bf16
options=${MEASURE_OPTIONS:---repeats 2 --min-ms 60}
failed=0

# The types of A whose problems a spec is timed on.
types_of() {
  case $1 in
  *_f16) echo f16 ;;
  *_fp8) echo 'e4m3|e5m2' ;;
  *_int8) echo 's8|u8' ;;
  *_tf32) echo tf32 ;;
  *_f64*) echo f64 ;;
  *_f32) echo f32 ;;
  *) echo bf16 ;;
  esac
}

for spec; do
  if ! "$build/bin/gemmgen" "$here/specs/$spec.lua" -o "$out/$spec" >"$out/$spec.log" 2>&1 ||
    ! "$build/bin/gemmbench" "$out/$spec" --build "$out/$spec/build" --build-only >>"$out/$spec.log" 2>&1; then
    echo "$spec: cannot be built, see $out/$spec.log"
    failed=1
  fi
done
if [ -n "${MEASURE_BUILD_ONLY:-}" ]; then
  exit $failed
fi

: >"$out/summary.txt"
for spec; do
  program=$out/$spec/build/gemmbench_run
  [ -x "$program" ] || continue
  cat "$here"/runtime/tools/suite*.txt |
    awk -v types="^($(types_of "$spec"))$" '!/^#/ && $2 ~ types' >"$out/$spec.txt"
  # shellcheck disable=SC2086 # words
  if ! "$program" --suite "$out/$spec.txt" --baseline cublas $options --csv \
    >"$out/$spec.csv" 2>>"$out/$spec.log"; then
    echo "$spec: a problem failed, see $out/$spec.log" | tee -a "$out/summary.txt"
    failed=1
  fi
  awk -F, -v spec="$spec" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    {
      ratio = $column["ratio"]
      if (ratio + 0 <= 0) next
      sum += log(ratio); ++count
      if (ratio < 1) below = below sprintf("  %-24s %s  %.2f  %s\n", $column["name"], $column["layout"], ratio, $column["kernel"])
    }
    END {
      if (count) printf "%s: %d problems, geometric mean of the ratios %.3f; below 1:\n%s", spec, count, exp(sum / count), below
      else printf "%s: no ratios\n", spec
    }' "$out/$spec.csv" >>"$out/summary.txt"
done
cat "$out/summary.txt"
exit $failed
