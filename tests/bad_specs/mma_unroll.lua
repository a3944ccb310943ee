-- Turns of k steps and rings that family mma cannot write.
gpu "a100-sxm-80"
gemm { family = "mma", dtype = "bf16", tile = { k = 64 }, unroll = { k = 3 } }
gemm { family = "mma", dtype = "bf16", tile = { k = 64 }, unroll = { k = 8 } }
gemm { family = "mma", dtype = "bf16", tile = { k = 64 }, unroll = { k = 1, fragments = 2 } }
gemm { family = "mma", dtype = "bf16", tile = { k = 96 }, swizzle = 128, unroll = { k = 3 } }
gemm { family = "mma", dtype = "bf16", tile = { k = 192 }, swizzle = 128, unroll = { k = 6 } }
gemm { family = "mma", dtype = "bf16", unroll = { k = 1025 } }
gemm { family = "mma", dtype = "bf16", unroll = { k = -1 } }
gemm { family = "mma", dtype = "bf16", unroll = { k = "some" } }
gemm { family = "mma", dtype = "bf16", unroll = { stages = 3 } }
gemm { family = "mma", dtype = "bf16", stages = 1, unroll = { stages = true } }
gpu "rtx-4090"
gemm { family = "mma", dtype = { a = "e4m3" }, unroll = { stages = true } }
gemm { family = "mma", dtype = { a = "e4m3" }, unroll = { stages = true }, epilogue = { scale = { a = "block" } } }
gpu "h100-sxm"
gemm { family = "mma", dtype = { a = "e5m2" }, fast_accum = true, unroll = { stages = true } }
gpu "t4"
gemm { family = "mma", dtype = { a = "s8" }, tile = { k = 64, inst = { m = 16 } } }
gemm { family = "mma", dtype = { a = "s8" }, stages = 3 }
gemm { family = "wmma", dtype = "f16", unroll = { k = 2 } }
--! exit 2
--! | mma_unroll.lua:3: error: unroll.k: 3 steps do not divide the 4 of a k tile (16 elements each); use a divisor, or "full" [unroll]
--! | mma_unroll.lua:4: error: unroll.k: 8 steps do not divide the 4 of a k tile (16 elements each); use a divisor, or "full" [unroll]
--! | mma_unroll.lua:5: error: unroll.fragments: 2 sets alternate, which needs an even number of unrolled k steps, not 1; use 1 [fragments]
--! | mma_unroll.lua:6: error: swizzle: 128 does not go with rows that are no multiple of 128 bytes and no power of two; use padding [swizzle]
--! | mma_unroll.lua:7: error: swizzle: 128 does not go with turns of k steps that are no power of two; use padding [swizzle]
--! | mma_unroll.lua:8: error: unroll.k: 1025 is out of range; use 1 to 1024 [out-of-range]
--! | mma_unroll.lua:9: error: unroll.k: -1 is out of range; use 1 to 1024 [out-of-range]
--! | mma_unroll.lua:10: error: unroll.k: unknown name 'some'; use "full" or 1 to 1024 [unknown-value]
--! | mma_unroll.lua:11: error: unroll.stages: 3 where true or false belongs [wrong-type]
--! | mma_unroll.lua:12: error: stages: 1; rings here have 2 to 8 stages; use 2 [stages]
--! | mma_unroll.lua:14: error: unroll.stages: true: sums of two stages' parts of 128 of k would live at once, and spill; use false, or fast_accum [unroll]
--! | mma_unroll.lua:15: error: unroll.stages: true: sums of two stages' parts of 128 of k would live at once, and spill; use false [unroll]
--! | mma_unroll.lua:17: error: unroll.stages: true: the compiler widens fp8 for sm_90, of two stages at once, and spills; use false [unroll]
--! | mma_unroll.lua:19: error: tile.inst.m: t4 has no such shape of mma.sync for s8; use 8x8x16 [instruction]
--! | mma_unroll.lua:20: error: stages: 3 stages need cp.async (sm_80 and later), t4 is sm_75; use 2 [stages]
--! | mma_unroll.lua:21: error: unroll.k: family wmma has no such field: warps hold fragments, whose registers wmma lays out; leave it out [field-family]
