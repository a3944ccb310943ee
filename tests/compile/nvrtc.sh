#!/bin/sh
# nvrtc.sh GEMMGEN SOURCE NVRTC_COMPILE - the shortest kernel of each family and type compiles with
# NVRTC.
set -eu
gemmgen=$1 source=$2 nvrtc_compile=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
"$gemmgen" "$source/specs/h100_f32.lua" "$source/specs/h100_f64_simt.lua" \
  "$source/specs/ladder_f32.lua" -o "$work/out"
cd "$work/out"
# Names start with sm<arch>_<family>_<type>_.
chosen=$(wc -c sm90*.cu | sort -n | awk '$2 ~ /\.cu$/ {
  split($2, part, "_"); key = part[2] " " part[3]
  if (!(key in seen)) print $2; seen[key] = 1
}')
# shellcheck disable=SC2086 # a list of words
exec "$nvrtc_compile" 90 $chosen
