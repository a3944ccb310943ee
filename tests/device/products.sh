#!/bin/sh
# products.sh - reads names of wgmma products (gg_wgmma_m64n128k16_bf16_ss_tn ...), one a line, and
# writes each as inline PTX.
set -eu
awk '
function list(prefix, from, n, suffix,   i, s) {
  for (i = 0; i < n; i++) s = s (i ? ", " : "") prefix (from + i) suffix
  return s
}
{
  name = $1
  split(name, part, "_")
  shape = part[3]
  match(shape, /n[0-9]+/)
  n = substr(shape, RSTART + 1, RLENGTH - 1)
  rest = name
  sub(/^gg_wgmma_[a-z0-9]+_/, "", rest)
  half = rest ~ /acc16/
  sub(/_acc16/, "", rest)
  form = rest ~ /_ss/ ? "ss" : "rs"
  trans = rest
  sub(/.*_(ss|rs)_?/, "", trans)
  types = rest
  sub(/_(ss|rs).*/, "", types)
  count = split(types, t, "_")
  a = t[1]
  b = count > 1 ? t[2] : t[1]
  integers = a ~ /8$/
  words = half ? n / 4 : n / 2
  ctype = half ? "unsigned" : integers ? "int" : "float"
  constraint = half || integers ? "r" : "f"
  acc = half ? "f16" : integers ? "s32" : "f32"
  wide = a ~ /16$/
  tail = integers ? "p" : "p, 1, 1"
  if (wide && form == "ss") tail = tail ", " (trans ~ /^t/ ? 1 : 0) ", " (trans ~ /t$/ && length(trans) == 2 ? 1 : 0)
  if (wide && form == "rs") tail = tail ", " (trans == "t" ? 1 : 0)
  printf "__device__ __forceinline__ void %s(%s *d, %s, unsigned long long b, int s) {\n", name, ctype, \
    form == "ss" ? "unsigned long long a" : "const unsigned *a"
  extra = form == "ss" ? 1 : 4
  operand = form == "ss" ? "%" words : "{" list("%", words, 4, "") "}"
  printf "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.%s.%s.%s.%s {%s}, %s, %%%d, %s;\\n}\"\n", \
    words + extra + 1, shape, acc, a, b, list("%", 0, words, ""), operand, words + extra, tail
  printf "    : %s\n", list("\"+" constraint "\"(d[", 0, words, "])")
  printf "    : %s, \"l\"(b), \"r\"(s) : \"memory\");\n}\n", \
    form == "ss" ? "\"l\"(a)" : "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])"
}'
