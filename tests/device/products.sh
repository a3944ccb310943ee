#!/bin/sh
# products.sh - reads names of wgmma products (gg_wgmma_m64n128k16_bf16_ss_tn ...) and of anything of
# wmma (gg_wmma_load_a_m16n16k16_f16_row_shared ...), one a line, and writes each as inline PTX.
set -eu
awk '
function list(prefix, from, n, suffix,   i, s) {
  for (i = 0; i < n; i++) s = s (i ? ", " : "") prefix (from + i) suffix
  return s
}
# Registers of a fragment: role a, b, or c for the sums.
function registers(role, shape, type) {
  if (type == "f64") return role == "c" ? 2 : 1
  if (role == "c") return type == "f16" ? 4 : 8
  if (type == "f16") return 8
  if (type == "tf32") return 4
  n = shape ~ /n16/ ? 4 : (shape ~ /m32/) == (role == "a") ? 8 : 2
  return type == "bf16" ? n : n / 2
}
function letter(type) {
  return type == "f64" ? "d" : type == "f32" ? "f" : "r"
}
function ctype(type) {
  return type == "f64" ? "double" : type == "f32" ? "float" : type == "s32" ? "int" : "unsigned"
}
# gg_wmma_load_a_SHAPE_TYPE_LAYOUT_SPACE, store_d: the pointer or offset comes before the registers.
function wmma_move(part,   loads, role, shape, type, space, n, x, at, address) {
  loads = part[3] == "load"
  role = part[4] == "d" ? "c" : part[4]
  shape = part[5]
  type = part[6]
  space = part[8]
  n = registers(role, shape, type)
  x = letter(type) "\"(r["
  at = space == "shared" ? "unsigned at" : loads ? "const void *at" : "void *at"
  address = space == "shared" ? "\"r\"(gg_at(at))" : "\"l\"(at)"
  printf "__device__ __forceinline__ void %s(%s, unsigned ld) {\n", $1, \
    loads ? ctype(type) " *r, " at : at ", const " ctype(type) " *r"
  printf "  asm volatile(\"wmma.%s.%s.sync.aligned.%s.%s.%s.%s ", part[3], part[4], part[7], shape, space, type
  if (loads) {
    printf "{%s}, [%%%d], %%%d;\"\n    : %s\n    : %s, \"r\"(ld) : \"memory\");\n}\n", list("%", 0, n, ""), n, \
      n + 1, list("\"=" x, 0, n, "])"), address
  } else {
    printf "[%%%d], {%s}, %%%d;\"\n    :: %s, %s, \"r\"(ld) : \"memory\");\n}\n", n, list("%", 0, n, ""), n + 1, \
      list("\"" x, 0, n, "])"), address
  }
}
# gg_wmma_mma_SHAPE_TYPE[_acc16]_ALAYOUT_BLAYOUT
function wmma_product(part, count,   shape, type, sums, kinds, na, nb, nc, a) {
  shape = part[4]
  type = part[5]
  sums = part[6] == "acc16" ? "f16" : type ~ /8$/ ? "s32" : type == "f64" ? "f64" : "f32"
  kinds = type == "f16" ? sums "." sums : sums "." type "." type "." sums
  na = registers("a", shape, type)
  nb = registers("b", shape, type)
  nc = registers("c", shape, sums)
  a = type == "f64" ? "double" : "unsigned"
  printf "__device__ __forceinline__ void %s(%s *d, const %s *a, const %s *b) {\n", $1, ctype(sums), a, a
  printf "  asm volatile(\"wmma.mma.sync.aligned.%s.%s.%s.%s {%s}, {%s}, {%s}, {%s};\"\n", part[count - 1], part[count], \
    shape, kinds, list("%", 0, nc, ""), list("%", nc, na, ""), list("%", nc + na, nb, ""), list("%", 0, nc, "")
  printf "    : %s\n    : %s, %s);\n}\n", list("\"+" letter(sums) "\"(d[", 0, nc, "])"), \
    list("\"" letter(type == "f64" ? type : "") "\"(a[", 0, na, "])"), \
    list("\"" letter(type == "f64" ? type : "") "\"(b[", 0, nb, "])")
}
/^gg_wmma/ {
  count = split($1, part, "_")
  if (part[3] == "mma") wmma_product(part, count)
  else wmma_move(part)
  next
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
  kind = half ? "unsigned" : integers ? "int" : "float"
  constraint = half || integers ? "r" : "f"
  acc = half ? "f16" : integers ? "s32" : "f32"
  wide = a ~ /16$/
  tail = integers ? "p" : "p, 1, 1"
  if (wide && form == "ss") tail = tail ", " (trans ~ /^t/ ? 1 : 0) ", " (trans ~ /t$/ && length(trans) == 2 ? 1 : 0)
  if (wide && form == "rs") tail = tail ", " (trans == "t" ? 1 : 0)
  printf "__device__ __forceinline__ void %s(%s *d, %s, unsigned long long b, int s) {\n", name, kind, \
    form == "ss" ? "unsigned long long a" : "const unsigned *a"
  extra = form == "ss" ? 1 : 4
  operand = form == "ss" ? "%" words : "{" list("%", words, 4, "") "}"
  printf "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.%s.%s.%s.%s {%s}, %s, %%%d, %s;\\n}\"\n", \
    words + extra + 1, shape, acc, a, b, list("%", 0, words, ""), operand, words + extra, tail
  printf "    : %s\n", list("\"+" constraint "\"(d[", 0, words, "])")
  printf "    : %s, \"l\"(b), \"r\"(s) : \"memory\");\n}\n", \
    form == "ss" ? "\"l\"(a)" : "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])"
}'
