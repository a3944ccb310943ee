#!/bin/sh
# golden.sh GEMMGEN [--update]
#
# For each cases/NAME.lua: the plan and the kernels that gemmgen makes of it equal cases/NAME/, byte for
# byte. The tiles are tiny so that the files can be reviewed like code. --update rewrites cases/NAME/
# (only on purpose: look at the difference before you commit it).
#
# Also: the same bytes from another working directory and from another path.
set -eu
gemmgen=$1
update=${2:-}
cases=$(cd "$(dirname "$0")/cases" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
failed=0
count=0

for spec in "$cases"/*.lua; do
  name=$(basename "$spec" .lua)
  made=$folder/$name
  "$gemmgen" "$spec" -o "$made" >/dev/null 2>&1
  "$gemmgen" "$spec" -o "$folder/dump" --dump plan >"$made/plan.txt"
  rm -rf "$folder/dump"
  rm -f "$made/manifest.json" "$made/CMakeLists.txt"
  # The table belongs to the case as well; full and narrow kernels are enough to review.
  rm -f "$made"/*_edge.cu
  # Family wgmma's narrow kernels are mma's, with tiles that are not tiny; case mma has one to review.
  case $name in wgmma*) rm -f "$made"/*_mma_*_narrow.cu ;; esac
  if [ "$update" = --update ]; then
    rm -rf "${cases:?}/$name"
    cp -R "$made" "$cases/$name"
    echo "updated $name"
  elif ! diff -ru "$cases/$name" "$made"; then
    echo "golden: $name differs; if that is meant, run: $0 $gemmgen --update"
    failed=$((failed + 1))
  fi
  count=$((count + 1))
done

# Bytes do not depend on where the spec lies or where the command runs.
mkdir -p "$folder/elsewhere/deep"
cp "$cases/simt_turned.lua" "$folder/elsewhere/deep/"
(cd "$folder/elsewhere/deep" && "$gemmgen" simt_turned.lua -o here >/dev/null 2>&1)
(cd / && "$gemmgen" "$cases/simt_turned.lua" -o "$folder/elsewhere/there" >/dev/null 2>&1)
if ! diff -r "$folder/elsewhere/deep/here" "$folder/elsewhere/there"; then
  echo "golden: bytes depend on the folder"
  failed=$((failed + 1))
fi

echo "$((count + 1 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
