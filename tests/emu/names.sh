#!/bin/sh
# names.sh PART [FILE] - writes the header that names wgmma, one a line. PART wide: 16-bit operands,
# gg_emu_names_wide.h; narrow: all others and setmaxnreg, gg_emu_names_narrow.h; wmma: that.
# With FILE: fails unless that is what it holds.
set -eu

wmma() {
  awk 'BEGIN {
    split("m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4", shapes, " ")
    split("row col", layouts, " ")
    split("f32 f16 s32 f64", accs, " ")
    for (s = 0; s < 5; s++) {
      count = split(s == 4 ? "f64" : s == 3 ? "tf32" : "f16 bf16 s8 u8", types, " ")
      for (t = 1; t <= count; t++)
        for (l = 0; l < 2; l++)
          for (r = 0; r < 2; r++)
            load(shapes[s + 1] "_" types[t], s, s == 4 ? 3 : "GGD_T_" toupper(types[t]), r, l)
      for (c = s == 4 ? 3 : 0; c < (s == 4 ? 4 : s == 3 ? 1 : 3); c++)
        for (l = 0; l < 2; l++) {
          load(shapes[s + 1] "_" accs[c + 1], s, c, 2, l)
          name = "#define gg_wmma_store_d_" shapes[s + 1] "_" accs[c + 1] "_" layouts[l + 1]
          print name "_shared(off, r, ld) GGD_WMMA_SS(off, r, ld, " s ", " c ", " l ")"
          print name "_global(p, r, ld) GGD_WMMA_GS(p, r, ld, " s ", " c ", " l ")"
        }
      for (t = 1; t <= count; t++) {
        mma(s, types[t], types[t] ~ /8$/ ? 2 : 0)
        if (types[t] == "f16") mma(s, "f16", 1)
      }
    }
  }
  function load(what, s, type, role, l,   name) {
    name = "#define gg_wmma_load_" substr("abc", role + 1, 1) "_" what "_" layouts[l + 1]
    print name "_shared(r, off, ld) GGD_WMMA_S(r, off, ld, " s ", " type ", " role ", " l ")"
    print name "_global(r, p, ld) GGD_WMMA_G(r, p, ld, " s ", " type ", " role ", " l ")"
  }
  function mma(s, type, acc,   a, b) {
    for (a = 0; a < 2; a++)
      for (b = 0; b < 2; b++)
        print "#define gg_wmma_mma_" shapes[s + 1] "_" type (acc == 1 ? "_acc16" : "") "_" \
              layouts[a + 1] "_" layouts[b + 1] "(d, a, b) GGD_WMMA_" (type == "f64" \
              ? "F64(d, a, b, " : "MMA(d, a, b, " s ", GGD_T_" toupper(type) ", " acc ", ") \
              a + 2 * b ")"
  }'
}

names() {
  echo "/* Included by gg_emu_device_tensor.h. Written by tests/emu/names.sh $1. */"
  echo "/* clang-format off */"
  if [ "$1" = wmma ]; then
    wmma
    return
  fi
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
