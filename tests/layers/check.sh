#!/bin/sh
# check.sh ROOT - the borders of the house hold: who includes whom, what stands at the top, how long
# a file is, what nobody leaves behind. Prints one line per breach; exit 1 if there is any.
#
# Borders: gen -> itself, runtime/{gpu,model,gg_kernel}.h; Lua only in script, spec_load and emit.
#          runtime -> itself, never Lua; CUDA only in device_cuda, jit and tools.
#          runtime/emu -> itself and gg_kernel.h.
#          templates write no #include: an emitted kernel stands alone.
set -eu
cd "$1"

breaches=$(mktemp)
trap 'rm -f "$breaches"' EXIT INT TERM

sources() { # DIR... - C files below
  for dir in "$@"; do
    [ ! -d "$dir" ] || find "$dir" -name '*.[ch]' | sort
  done
}

names() { # DIR - base names of the headers below, separated by blanks
  find "$1" -name '*.h' -exec basename {} \; 2>/dev/null | sort -u | tr '\n' ' '
}

# -- Includes -------------------------------------------------------------------------------------

sources gen runtime | while read -r file; do
  grep -nE '^[[:space:]]*#[[:space:]]*include' "$file" | sed "s|^|$file:|" || true
done | awk -v gen="$(names gen)" -v runtime="$(names runtime)" -v emu="$(names runtime/emu)" '
  function set(text, into,   n, part, i) {
    n = split(text, part, " ")
    for (i = 1; i <= n; ++i) into[part[i]] = 1
  }
  function breach(why) { printf "%s:%s: includes %s: %s\n", file, line, header, why }
  BEGIN { set(gen, in_gen); set(runtime, in_runtime); set(emu, in_emu) }
  {
    split($0, part, ":"); file = part[1]; line = part[2]
    if (!match($0, /[<"][^>"]*[>"]/)) { header = "?"; breach("not readable"); next }
    quoted = substr($0, RSTART, 1) == "\""
    header = substr($0, RSTART + 1, RLENGTH - 2)
    name = header; sub(/.*\//, "", name)
    base = file; sub(/.*\//, "", base); sub(/\.[ch]$/, "", base)

    lua = name ~ /^(lua|lualib|lauxlib|luaconf)\.h$/
    cuda = name ~ /^(cuda.*|cublas.*|nvrtc|nvJitLink|cupti.*)\.h$/

    if (file ~ /^gen\//) {
      if (lua) {
        if (base !~ /^(script|spec_load|emit)(_|$)/) breach("only script, spec_load and emit know Lua")
      } else if (cuda) breach("the generator never needs CUDA")
      else if (quoted && !(name in in_gen) && name !~ /^(gpu|model|gg_kernel)\.h$/)
        breach("gen may use gen/ and runtime/{gpu,model,gg_kernel}.h")
    } else {
      if (lua) breach("the runtime has no Lua")
      else if (cuda && file !~ /^runtime\/tools\// && base !~ /^(device_cuda|jit)(_|$)/)
        breach("CUDA only in device_cuda, jit and tools")
      else if (file ~ /^runtime\/emu\// && quoted && !(name in in_emu) && name != "gg_kernel.h")
        breach("the emulated GPU may use runtime/emu/ and gg_kernel.h")
      else if (quoted && !(name in in_runtime)) breach("the runtime may use runtime/ only")
    }
  }' >>"$breaches"

if [ -d templates ]; then
  grep -rnE '^[[:space:]]*#[[:space:]]*include' templates |
    sed 's/$/: an emitted kernel includes nothing/' >>"$breaches" || true
fi

# -- Top level ------------------------------------------------------------------------------------

for entry in *; do
  case $entry in
    CMakeLists.txt | gen | templates | specs | out | runtime | tests | README.md) ;;
    CMakePresets.json | LICENSE | CHANGES.md | docs) ;;
    build | build-*) ;; # ignored by git
    *) echo "$entry: does not belong at the top level" >>"$breaches" ;;
  esac
done

# -- Files ----------------------------------------------------------------------------------------

# A file of more than 600 lines has more than one concern. Words are spelled apart so that this file
# passes.
left_behind="TO""DO|FIX""ME|X""XX"
for dir in gen runtime templates specs tests; do
  [ ! -d "$dir" ] || find "$dir" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.lua' \
    -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name CMakeLists.txt \) | sort
done | while read -r file; do
  lines=$(wc -l <"$file")
  # Golden kernels are as long as kernels are.
  case $file in
    tests/golden/*) ;;
    *) [ "$lines" -le 600 ] || echo "$file: $lines lines, more than 600: split it" ;;
  esac
  grep -nwE "$left_behind" "$file" | sed "s|^|$file:|; s|\$|: left behind|" || true
  grep -nE '^[[:space:]]*#[[:space:]]*if[[:space:]]+0' "$file" | sed "s|^|$file:|; s|\$|: dead code|" || true
done >>"$breaches"

if [ -s "$breaches" ]; then
  cat "$breaches"
  echo "layers: $(wc -l <"$breaches") breaches"
  exit 1
fi
echo "layers: $(sources gen runtime | wc -l) C files keep to their borders"
