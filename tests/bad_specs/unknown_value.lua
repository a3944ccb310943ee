gpu "h100-sxm"
gemm {
  family = "smit",
  dtype = { a = "fp32", b = "f32", d = "f32x" },
  layout = "xx",
  unroll = { order = "serpentin", k = "all" },
  raster = { along = "k" },
}
--! exit 2
--! | unknown_value.lua:3: error: family: unknown name 'smit'; did you mean 'simt'? known: naive, smem, simt, gemv, wmma, mma, wgmma [unknown-value]
--! | unknown_value.lua:4: error: dtype.a: unknown name 'fp32'; did you mean 'f32'? known: f64, f32, tf32, f16, bf16, e4m3, e5m2, s8, u8, s32 [unknown-value]
--! | unknown_value.lua:4: error: dtype.d: unknown name 'f32x'; did you mean 'f32'? known: f64, f32, tf32, f16, bf16, e4m3, e5m2, s8, u8, s32 [unknown-value]
--! | unknown_value.lua:5: error: layout: unknown name 'xx'; known: nn, nt, tn, tt [unknown-value]
--! | unknown_value.lua:6: error: unroll.k: unknown name 'all'; use "full" or 1 to 1024 [unknown-value]
--! | unknown_value.lua:6: error: unroll.order: unknown name 'serpentin'; did you mean 'serpentine'? known: row, column, serpentine [unknown-value]
--! | unknown_value.lua:7: error: raster.along: unknown name 'k'; known: m, n [unknown-value]
