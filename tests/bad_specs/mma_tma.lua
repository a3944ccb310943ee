-- What family mma cannot have TMA copy.
gpu "a100-sxm-80"
gemm { family = "mma", dtype = "bf16", copy = { path = "tma" } }
gpu "h100-sxm"
gemm { family = "mma", dtype = "bf16", copy = { path = "bulk" } }
gemm { family = "mma", dtype = "bf16", copy = { path = "tma", a = 16 } }
gemm { family = "mma", dtype = "bf16", copy = { path = "tma" }, padding = 8 }
gemm { family = "mma", dtype = "bf16", copy = { path = "tma" }, swizzle = 0 }
gemm { family = "mma", dtype = "bf16", copy = { path = "tma" }, unroll = { k = 2 } }
gemm { family = "mma", dtype = "bf16", layout = "nt", tile = { k = 32 }, copy = { path = "tma" } }
gemm { family = "mma", dtype = "bf16", layout = "nn", tile = { m = 64, n = 96, k = 64, warp = { m = 32, n = 96 } }, copy = { path = "tma" } }
gemm { family = "mma", dtype = "bf16", layout = "nn", tile = { m = 64, n = 192, k = 64, warp = { m = 32, n = 48 } }, copy = { path = "tma" } }
gemm { family = "mma", dtype = "bf16", layout = "nt", tile = { m = 512, n = 32, k = 64, warp = { m = 64, n = 32 } }, stages = 2, copy = { path = "tma" } }
gemm { family = "mma", dtype = "f64", layout = "nt", tile = { k = 8 }, copy = { path = "tma" } }
gemm { family = "wgmma", dtype = "bf16", copy = { path = "tma" } }
--! exit 2
--! | mma_tma.lua:3: error: copy.path: "tma" came with sm_90, a100-sxm-80 is sm_80; use "async" or leave it out [copy-path]
--! | mma_tma.lua:5: error: copy.path: unknown name 'bulk'; known: async, tma [unknown-value]
--! | mma_tma.lua:6: error: copy.a: 16 together with copy.path = "tma": TMA copies whole boxes; leave it out [copy-path]
--! | mma_tma.lua:7: error: padding: 8 together with copy.path = "tma": TMA writes rows of 128 bytes and swizzles them; leave it out [copy-path]
--! | mma_tma.lua:8: error: swizzle: 0 together with copy.path = "tma", whose rows are swizzled over 128 bytes; use 128 or leave it out [copy-path]
--! | mma_tma.lua:9: error: unroll.k: 2 together with copy.path = "tma": all k steps of a k tile stand in the text where TMA copies; leave it out [copy-path]
--! | mma_tma.lua:10: error: tile.k: 32 elements of A make rows of 64 bytes, TMA's swizzle needs multiples of 128; use 64, or copy.path = "async" [copy-path]
--! | mma_tma.lua:11: error: tile.n: 96 elements of B make rows of 192 bytes, TMA's swizzle needs multiples of 128; use 128, or copy.path = "async" [copy-path]
--! | mma_tma.lua:12: error: tile.warp.n: 48 elements are 96 bytes of a row, no multiple of 128 and no power of two: chunks could not be found by flipping bits; use 16 [copy-path]
--! | mma_tma.lua:13: error: tile.m: 512 rows are more than the 256 of one copy by TMA; use 256 or fewer [copy-path]
--! | mma_tma.lua:14: error: tile.k: 8 elements of A make rows of 64 bytes, TMA's swizzle needs multiples of 128; use 16, or copy.path = "async" [copy-path]
--! | mma_tma.lua:15: error: copy.path: family wgmma has no such field: the instruction and TMA fix it; leave it out [field-family]
