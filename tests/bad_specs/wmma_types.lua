-- Types that wmma has not, or not on this card, or not together.
gpu "t4"
gemm { family = "wmma", dtype = "bf16" }
gemm { family = "wmma", dtype = "f64" }
gemm { family = "wmma", dtype = "f32" }
gemm { family = "wmma", dtype = "e4m3" }
gemm { family = "wmma", dtype = "s32" }
gemm { family = "wmma", dtype = { a = "f16", b = "s8" } }
gemm { family = "wmma", dtype = { a = "u8", b = "s8" } }
gemm { family = "wmma", dtype = { a = "f16", d = "f64" } }
gemm { family = "wmma", dtype = { a = "s8", c = "f32" } }
--! exit 2
--! | wmma_types.lua:3: error: dtype.a: wmma takes bf16 from sm_80 on, t4 is sm_75; use f16 or s8 [dtype-gpu]
--! | wmma_types.lua:4: error: dtype.a: wmma takes f64 from sm_80 on, t4 is sm_75; use f16 or s8 [dtype-gpu]
--! | wmma_types.lua:5: error: dtype.a: f32 is no type of wmma; use f16, bf16, tf32, s8, u8 or f64 (tf32 is f32 with 10 bits of fraction), or family simt [dtype-family]
--! | wmma_types.lua:6: error: dtype.a: e4m3 is no type of wmma; use f16, bf16, tf32, s8, u8 or f64 [dtype-family]
--! | wmma_types.lua:7: error: dtype.a: s32 is no type of wmma; use f16, bf16, tf32, s8, u8 or f64 [dtype-family]
--! | wmma_types.lua:8: error: dtype.b: s8 does not multiply with f16 in wmma; use f16 [dtype-family]
--! | wmma_types.lua:9: error: dtype.b: s8 does not multiply with u8 in wmma; use u8 [dtype-family]
--! | wmma_types.lua:10: error: dtype.d: f64, but alpha, beta and the other steps compute in f32, which has no conversion to it; use f32 [dtype-family]
--! | wmma_types.lua:11: error: dtype.c: f32, but alpha, beta and the other steps compute in s32, which has no conversion from it; use s32 [dtype-family]
