#!/bin/sh
# readme.sh CHECK SOURCE BUILD - what README.md and docs/ say holds. CHECK is one of the functions
# below.
# shellcheck disable=SC2016 # back quotes in patterns are Markdown's
set -eu
check=$1 source=$2 build=$3
here=$(cd "$(dirname "$0")" && pwd)
gemmgen=$build/bin/gemmgen
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

block() {
  sh "$here/block.sh" "$source/README.md" "$1"
}

# same WHAT EXPECTED GOT - files; says how they differ.
same() {
  if ! diff -u "$2" "$3"; then
    echo "FAIL: $1"
    exit 1
  fi
}

# The program of the library's section compiles, runs, and prints what it expects.
library() {
  block "test: library" >"$work/main.c"
  block "test: spec" >"$work/kernels.lua"
  cat >"$work/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C)
find_package(gemmgen REQUIRED)
add_executable(app main.c)
gemmgen_add_kernels(app naive.lua EMULATE)
END
  # The spec of the README gives dozens of kernels; one is enough here.
  echo 'gpu "h100-sxm" gemm { family = "naive" }' >"$work/naive.lua"
  cmake -S "$work" -B "$work/build" "-DCMAKE_PREFIX_PATH=$build" -DCMAKE_C_FLAGS="-Wall -Wextra" \
    >"$work/log"
  cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  if grep -i warning "$work/log"; then
    echo "FAIL: the program of the README gives warnings"
    exit 1
  fi
  "$work/build/app" | tee "$work/output"
  awk '$1 == "D[7,9]" && $3 == $5 "," { good = 1 } END { exit !good }' "$work/output"
}

# The example spec gives kernels, of each layout.
spec() {
  block "test: spec" >"$work/example.lua"
  "$gemmgen" list "$work/example.lua" >"$work/list"
  for layout in nn nt tn tt; do
    grep -q "_${layout}_" "$work/list" || { echo "FAIL: no kernel for $layout"; exit 1; }
  done
  echo "$(wc -l <"$work/list") lines"
}

# The table of fields is the list in gen/spec.h, in its order.
fields() {
  sed -n '/define SPEC_FIELDS/,/^$/s/^ *X([A-Z_]*, *"\([^"]*\)".*/\1/p' "$source/gen/spec.h" >"$work/code"
  sed -n '/^## Specs/,/^## /s/^| `\([a-z._]*\)` |.*/\1/p' "$source/README.md" >"$work/text"
  same "README's fields and gen/spec.h differ" "$work/code" "$work/text"
  echo "$(wc -l <"$work/text") fields"
}

# The exit codes of README and --help agree in number.
exit_codes() {
  sed -n '/^## Exit codes/,/^## /s/^| \([0-9]\) |.*/\1/p' "$source/README.md" | tr '\n' ' ' >"$work/text"
  printf '0 1 2 3 4 5 ' >"$work/expected"
  same "README's exit codes" "$work/expected" "$work/text"
  help=$("$gemmgen" --help)
  for code in 0 1 2 3 4 5; do
    printf '%s\n' "$help" | grep -qE "(^|[^0-9])$code " ||
      { echo "FAIL: --help does not name exit code $code"; exit 1; }
  done
}

# The excerpt of a kernel is what gemmgen emits today.
excerpt() {
  block "excerpt: naive" >"$work/excerpt"
  echo 'gpu "h100-sxm" gemm { family = "naive" }' >"$work/naive.lua"
  "$gemmgen" "$work/naive.lua" -o "$work/out" 2>/dev/null
  cat "$work"/out/*_full.cu >"$work/kernel"
  while IFS= read -r line; do
    grep -qxF -- "$line" "$work/kernel" || { echo "FAIL: not emitted: $line"; exit 1; }
  done <"$work/excerpt"
}

# Relative links lead somewhere inside the repository.
links() {
  failures=0
  cd "$source"
  for file in README.md CHANGES.md docs/*.md; do
    grep -oE '\]\([^)#:]+\)' "$file" | sed 's/^](\(.*\))$/\1/' | sort -u >"$work/links" || true
    while read -r link; do
      path=$(dirname "$file")/$link
      case $(realpath -m "$path") in
        "$(realpath "$source")"/*) [ -e "$path" ] && continue ;;
      esac
      echo "FAIL: $file: $link leads nowhere"
      failures=1
    done <"$work/links"
  done
  return $failures
}

# docs/warnings.md has a section on each code that gen/ can give, and on no other.
codes() {
  sh "$here/codes.sh" "$source" >"$work/code"
  sed -n 's/^### `\([a-z0-9-]*\)`$/\1/p' "$source/docs/warnings.md" | sort >"$work/text"
  same "docs/warnings.md and the codes in gen/ differ" "$work/code" "$work/text"
  echo "$(wc -l <"$work/text") codes"
}

# docs/emulator.md explains each kind of finding of the emulated GPU and of the check.
kinds() {
  {
    sed -n '/^static .*kind_names/,/};/p' "$source/runtime/emu/report.c"
    sed -n '/define GGCHECK_[A-Z_]* /,/"/p' "$source/runtime/tools/ggcheck_report.h"
  } | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u >"$work/code"
  grep -E '^\| `' "$source/docs/emulator.md" | grep -oE '`[a-z-]+`' | tr -d '`' | sort -u >"$work/text"
  comm -23 "$work/code" "$work/text" >"$work/missing"
  if [ -s "$work/missing" ]; then
    echo "FAIL: docs/emulator.md does not explain: $(tr '\n' ' ' <"$work/missing")"
    exit 1
  fi
  echo "$(wc -l <"$work/code") kinds"
}

# The first command of the README, in a copy of the tree in another folder.
setup() {
  mkdir "$work/tree"
  cd "$source"
  if [ -e .git ] && command -v git >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
  else
    find . -path './build*' -prune -o -path './out/*' -prune -o -type f -print0
  fi | xargs -0 cp --parents -t "$work/tree"
  cd "$work/tree"
  command=$(block_of_setup | awk 'NR == 1 { print $1 }')
  "$command"
  [ -s out/gg_table.c ] || { echo "FAIL: no out/gg_table.c"; exit 1; }
}

# docs/blocksize.md has the table that its command prints: each point, its stages, blocks, bound and
# intensity as they are, its TFLOP/s within 10 % (a new fit of the model moves them a little). The last column was
# measured.
blocksize() {
  "$gemmgen" explain "$source/specs/blocksize_bf16.lua" --sweep --problem 4096x4096x4096 >"$work/sweep"
  sed -n 's/^| \([0-9]* x [0-9].*\) |$/\1/p' "$source/docs/blocksize.md" >"$work/text"
  [ "$(wc -l <"$work/text")" -eq "$(grep -c '^[0-9]* .* sm90_mma_' "$work/sweep")" ]
  while IFS='|' read -r block k intensity stages blocks tflops bound measured; do
    # shellcheck disable=SC2086 # words, without their blanks
    set -- $block $k $intensity $stages $blocks $tflops
    tile=_$1x$3x$4_
    line=$(grep -- "$tile" "$work/sweep") || { echo "FAIL: no point $tile"; exit 1; }
    printf '%s\n' "$line" | awk -v bound="$bound" -v intensity="$5" -v stages="$6" -v blocks="$7" -v tflops="$8" '
      { sub(/^ */, "", bound); sub(/ *$/, "", bound)
        near = $5 > 0.9 * tflops && $5 < 1.1 * tflops
        exit !(near && $7 == intensity && index($0, " " bound " ") && $(NF - 4) == stages && $(NF - 2) == blocks) }' ||
      { echo "FAIL: docs/blocksize.md has $block|$k|$intensity|$stages|$blocks|$tflops|$bound|$measured for $line"; exit 1; }
  done <"$work/text"
  echo "$(wc -l <"$work/text") points"
}

block_of_setup() {
  awk '/^## Set up/ { found = 1 } found && /^```sh/ { inside = 1; next } inside && /^```/ { exit } inside' \
    "$source/README.md"
}

# Exactly two commands: what stands in the first column of the set-up block.
commands() {
  block_of_setup | grep -E '^[^ #]' | awk '{ print $1 }' >"$work/text"
  printf 'tests/setup.sh\ntests/run.sh\n' >"$work/expected"
  same "README's set-up commands" "$work/expected" "$work/text"
  [ -x "$source/tests/setup.sh" ] && [ -x "$source/tests/run.sh" ]
}

"$check"
echo "readme: $check holds"
