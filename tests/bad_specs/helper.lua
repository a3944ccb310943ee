gpu "h100-sxm"
local function kernel(t)
  t.family = "naive"
  gemm(t)
end
kernel { dtype = "f32" }
kernel { dtype = "f33" }
--! exit 2
--! | helper.lua:4: error: dtype: unknown name 'f33'; did you mean 'f32'? known: f64, f32, tf32, f16, bf16, e4m3, e5m2, s8, u8, s32 (2nd gemm) [unknown-value]
