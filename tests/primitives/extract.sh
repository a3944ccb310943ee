#!/bin/sh
# extract.sh GEMMGEN SPEC FOLDER HEADER - emits SPEC and writes the conversions that its kernels spell
# without the instruction into HEADER, under names that begin with older_ instead of gg_.
set -eu
"$1" "$2" -o "$3" --force >/dev/null 2>&1
cat "$3"/*_full.cu | awk '
  # A function that holds no asm statement, but is one of the conversions.
  /^static __device__/ && / gg_(cvt|f32_from)_(e4m3|e5m2|bf16)\(/ {
    text = $0 "\n"
    sub(/ gg_/, " older_", text)
    plain = 1
    while ((getline line) > 0) {
      if (line ~ /asm/) plain = 0
      text = text line "\n"
      if (line == "}") break
    }
    name = text
    sub(/\(.*/, "", name)
    if (plain && !seen[name]++) printf "%s\n", text
  }' >"$4.new"
mv "$4.new" "$4"
