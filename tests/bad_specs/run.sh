#!/bin/sh
# run.sh GEMMGEN [--update] [NAME...] - every spec here is wrong in one way and says how gemmgen must
# answer, in comments at its end:
#   --! args ARGUMENT...   what is run instead of the file itself
#   --! exit CODE
#   --! | TEXT             one line of stderr, in order
# Besides, nothing may stand on stdout, and the output folder must be as it was to the byte.
# --update writes the expectations anew, for a person to read before they are committed.
set -eu
gemmgen=$1
shift
update=no
if [ "${1:-}" = --update ]; then
  update=yes
  shift
fi
case $gemmgen in
  /*) ;;
  *) gemmgen=$PWD/$gemmgen ;;
esac
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

state() { # what the output folder holds
  (cd "$work/out" && find . -type f | LC_ALL=C sort | xargs cksum && ls -ld .)
}

# A folder as a good run leaves it, with a stray file.
printf 'gpu "h100-sxm"\ngemm { family = "naive", dtype = "f32" }\n' >"$work/good.lua"
"$gemmgen" "$work/good.lua" -o "$work/out" >/dev/null
echo stray >"$work/out/stray"
state >"$work/before"

failed=0 count=0
for spec in *.lua; do
  if [ $# -gt 0 ]; then
    case " $* " in *" ${spec%.lua} "*) ;; *) continue ;; esac
  fi
  count=$((count + 1))
  arguments=$(LC_ALL=C sed -n 's/^--! args //p' "$spec")
  code=0
  # shellcheck disable=SC2086 # words
  "$gemmgen" ${arguments:-"$spec"} -o "$work/out" >"$work/stdout" 2>"$work/stderr" || code=$?
  {
    [ -z "$arguments" ] || echo "--! args $arguments"
    echo "--! exit $code"
    sed 's/^/--! | /' "$work/stderr"
  } >"$work/got"
  if [ $update = yes ]; then
    LC_ALL=C grep -av '^--! ' "$spec" >"$work/text" || true
    cat "$work/text" "$work/got" >"$spec"
  fi
  LC_ALL=C grep -a '^--! ' "$spec" >"$work/expected" || true
  if ! diff -u "$work/expected" "$work/got" >"$work/diff"; then
    echo "$spec: not as expected (-) but (+):"
    tail -n +4 "$work/diff"
    failed=$((failed + 1))
  elif [ "$code" -eq 0 ] || [ -s "$work/stdout" ]; then
    echo "$spec: passed as a good spec"
    failed=$((failed + 1))
  fi
  state >"$work/after"
  if ! cmp -s "$work/before" "$work/after"; then
    echo "$spec: the output folder was touched"
    failed=$((failed + 1))
    cp "$work/after" "$work/before"
  fi
done
# Every code that users see is explained.
LC_ALL=C sed -n 's/^--! | .* \[\([a-z-]*\)\]$/\1/p' ./*.lua | sort -u >"$work/codes"
while read -r code; do
  if ! grep -qF "### \`$code\`" ../../docs/warnings.md; then
    echo "docs/warnings.md does not explain $code"
    failed=$((failed + 1))
  fi
done <"$work/codes"

if [ "$count" -eq 0 ] || [ "$failed" -ne 0 ]; then
  echo "bad_specs: $failed of $count failed"
  exit 1
fi
echo "bad_specs: $count specs refused as expected"
