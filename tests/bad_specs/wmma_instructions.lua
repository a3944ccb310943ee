-- Shapes that wmma has not, or whose fragments would not be aligned.
gpu "h100-sxm"
gemm { family = "wmma", dtype = "f16", tile = { inst = { m = 8, n = 8 } } }
gemm { family = "wmma", dtype = "f16", tile = { inst = { m = 64 } } }
gemm { family = "wmma", dtype = "bf16", tile = { inst = { k = 8 } } }
gemm { family = "wmma", dtype = "tf32", tile = { inst = { m = 32, n = 8 } } }
gemm { family = "wmma", dtype = "f64", tile = { inst = { n = 16 } } }
gemm { family = "wmma", dtype = { a = "s8" }, tile = { inst = { m = 16, n = 8, k = 32 } } }
gemm { family = "wmma", dtype = "f16", layout = "tn", tile = { inst = { m = 8 } } }
gemm { family = "wmma", dtype = "f16", layout = "nn", tile = { inst = { n = 8 } } }
--! exit 2
--! | wmma_instructions.lua:3: error: tile.inst.m: wmma has no 8x8x16 for f16; use 16x16x16 or 32x8x16 or 8x32x16 [instruction]
--! | wmma_instructions.lua:4: error: tile.inst.m: wmma has no 64x16x16 for f16; use 16x16x16 or 32x8x16 or 8x32x16 [instruction]
--! | wmma_instructions.lua:5: error: tile.inst.k: wmma has no 16x16x8 for bf16; use 16x16x16 or 32x8x16 or 8x32x16 [instruction]
--! | wmma_instructions.lua:6: error: tile.inst.m: wmma has no 32x8x8 for tf32; use 16x16x8 [instruction]
--! | wmma_instructions.lua:7: error: tile.inst.n: wmma has no 8x16x4 for f64; use 8x8x4 [instruction]
--! | wmma_instructions.lua:8: error: tile.inst.m: wmma has no 16x8x32 for s8; use 16x16x16 or 32x8x16 or 8x32x16 [instruction]
--! | wmma_instructions.lua:9: error: tile.inst.m: fragments of 8 f16 along m lie 16 bytes apart in layout tn, wmma.load asks for 32; use 16x16x16, or a layout with A contiguous along k [instruction]
--! | wmma_instructions.lua:10: error: tile.inst.n: fragments of 8 f16 along n lie 16 bytes apart in layout nn, wmma.load asks for 32; use 16x16x16, or a layout with B contiguous along k [instruction]
