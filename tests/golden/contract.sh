#!/bin/sh
# contract.sh SOURCE: what stands in two places is equal.
#   gg_args in runtime/gg_kernel.h and in templates/contract.lua;
#   the primitives that templates define and those that the emulated GPU's header defines.
set -eu
cd "$1"
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n '/gg_args: begin/,/gg_args: end/p' runtime/gg_kernel.h | sed '1d;$d' >"$work/header"
sed -n '/\[\[$/,/^\]\]/p' templates/contract.lua | sed '1d;$d' >"$work/template"
if ! diff -u "$work/header" "$work/template"; then
  echo "contract: gg_args differs between runtime/gg_kernel.h and templates/contract.lua"
  failed=$((failed + 1))
fi

# Every primitive call of every emitted golden kernel exists in the emulated GPU's header.
cat tests/golden/cases/*/*.cu | sed 's://.*::' | grep -o 'gg_[a-z0-9_]*(' | sort -u |
  grep -v '^gg_shared(' >"$work/used"
while IFS= read -r call; do
  name=${call%(}
  if ! cat runtime/emu/gg_emu_*.h | grep -q "\b$name\b"; then
    echo "contract: the emulated GPU does not define $name"
    failed=$((failed + 1))
  fi
done <"$work/used"
[ -s "$work/used" ] || failed=$((failed + 1))

echo "$((2 - (failed > 0))) passed, $failed failed"
[ "$failed" = 0 ]
