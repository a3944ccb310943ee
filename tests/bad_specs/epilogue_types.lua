-- Types that the epilogue, or the sums, cannot be in.
gpu "h100-sxm"
gemm { family = "naive", dtype = { a = "f32", d = "f64" } }
gemm { family = "naive", dtype = { a = "s8", b = "s8", d = "s32", c = "f32" } }
gemm { family = "naive", dtype = { a = "s32" } }
gemm { family = "naive", dtype = { a = "f64", acc = "f32", d = "f32" } }
gemm { family = "naive", dtype = { a = "bf16", acc = "s32" } }
gemm { family = "smem", dtype = { a = "bf16" } }
gemm { family = "smem", dtype = { a = "f64", d = "f16" } }
gemm { family = "simt", dtype = { a = "f32", d = "e4m3" } }
gemm { family = "simt", dtype = { a = "f32", acc = "f64" } }
--! exit 2
--! | epilogue_types.lua:3: error: dtype.d: f64, but alpha, beta and the other steps compute in f32, which has no conversion to it; use f32 [dtype-family]
--! | epilogue_types.lua:4: error: dtype.c: f32, but alpha, beta and the other steps compute in s32, which has no conversion from it; use s32 [dtype-family]
--! | epilogue_types.lua:5: error: dtype.a: s32 is a type of sums, not of operands; use s8 or u8 [dtype-family]
--! | epilogue_types.lua:6: error: dtype.a: f64 loses digits in sums of f32; use dtype.acc = f64 [dtype-family]
--! | epilogue_types.lua:7: error: dtype.a: bf16 has fractions, the sums are s32; use s8, u8 or dtype.acc = f32 [dtype-family]
--! | epilogue_types.lua:8: error: dtype.a: bf16 is not served by CUDA-core FMAs in family smem; use f32, f64 or family naive [dtype-family]
--! | epilogue_types.lua:9: error: dtype.d: f16, but alpha, beta and the other steps compute in f64, which has no conversion to it; use f64 [dtype-family]
--! | epilogue_types.lua:10: error: dtype.d: e4m3 is not stored by family simt; use f32, f16, bf16, or family smem [dtype-family]
--! | epilogue_types.lua:11: error: dtype.acc: f64 where family simt with dtype.a = f32 computes in f32; use that, or family naive [dtype-family]
