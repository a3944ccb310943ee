#!/bin/sh
# names.sh PART [FILE] - writes the header that names wgmma, one a line. PART wide: 16-bit operands,
# gg_emu_names_wide.h; narrow: all others and setmaxnreg, gg_emu_names_narrow.h.
# With FILE: fails unless that is what it holds.
set -eu

names() {
  echo "/* Included by gg_emu_device_tensor.h. Written by tests/emu/names.sh $1. */"
  echo "/* clang-format off */"
  awk -v part="$1" 'BEGIN {
    split("bf16 f16 f16_acc16", wide, " ")
    split("ss ss_tn ss_nt ss_tt rs rs_t", forms, " ")
    split("0 1 2 3 0 2", trans, " ")
    split("e4m3 e5m2 e4m3_e5m2 e5m2_e4m3", fp8, " ")
    split("s8 u8 s8_u8 u8_s8", int8, " ")
    for (r = 24; r <= 256 && part == "narrow"; r += 8) {
      print "#define gg_setmaxnreg_inc_" r "() ((void)0)"
      print "#define gg_setmaxnreg_dec_" r "() ((void)0)"
    }
    for (n = 8; n <= 256; n += 8) {
      for (t = 1; t <= 3 && part == "wide"; t++)
        for (f = 1; f <= 6; f++)
          one(n, 16, wide[t], forms[f], trans[f], t == 3 ? "f16" : "f32")
      if (part == "wide") continue
      both(n, 8, "tf32", "f32")
      for (t = 1; t <= 4; t++) both(n, 32, fp8[t], "f32")
      for (t = 1; t <= 4 && (n <= 24 || n % 16 == 0); t++) both(n, 32, int8[t], "s32")
    }
  }
  function both(n, k, type, acc) {
    one(n, k, type, "ss", 0, acc)
    one(n, k, type, "rs", 0, acc)
  }
  function one(n, k, type, form, trans, acc,   plain) {
    plain = type
    sub(/_acc16/, "", plain)
    print "#define gg_wgmma_m64n" n "k" k "_" type "_" form "(d, a, b, s) GGD_" \
          toupper(substr(form, 1, 2)) "(" acc ", " n ", " toupper(plain) ", " trans ", d, a, b, s)"
  }'
}

if [ $# = 1 ]; then
  names "$1"
elif ! names "$1" | cmp -s - "$2"; then
  echo "names: $2 is not what names.sh $1 writes"
  exit 1
fi
