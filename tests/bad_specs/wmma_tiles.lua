-- Tiles that are no whole number of warps, warps that are no whole number of fragments, and what does not fit.
gpu "h100-sxm"
gemm { family = "wmma", dtype = "f16", tile = { m = 100 } }
gemm { family = "wmma", dtype = "f16", tile = { m = 128, warp = { m = 24 } } }
gemm { family = "wmma", dtype = "f16", tile = { n = 96, warp = { n = 64 } } }
gemm { family = "wmma", dtype = "f16", tile = { inst = { n = 32 }, warp = { n = 16 } } }
gemm { family = "wmma", dtype = "f16", tile = { k = 24 } }
gemm { family = "wmma", dtype = "f16", tile = { m = 256, n = 256, warp = { m = 32, n = 32 } } }
gemm { family = "wmma", dtype = "f16", tile = { m = 256, n = 128, warp = { m = 128, n = 64 } } }
gemm { family = "wmma", dtype = "f16", tile = { k = 128 }, stages = 4 }
gemm { family = "wmma", dtype = "f16", min_blocks = 4 }
gemm { family = "wmma", dtype = "f16", stages = 12 }
gemm { family = "wmma", dtype = "f16", padding = 4 }
gemm { family = "wmma", dtype = "f16", copy = { a = 2 } }
gemm { family = "wmma", dtype = "f16", swizzle = 128 }
gemm { family = "wmma", dtype = "f16", tile = { thread = { m = 8 } } }
gemm { family = "wmma", dtype = "f16", unroll = { k = 2 } }
gemm { family = "wmma", dtype = "f16", cluster = { m = 2 } }
--! exit 2
--! | wmma_tiles.lua:3: error: tile.m: 100 is no multiple of the instruction's 16 along m; use 112 [tile-multiple]
--! | wmma_tiles.lua:4: error: tile.warp.m: 24 is no multiple of the instruction's 16 along m; use 32 [tile-multiple]
--! | wmma_tiles.lua:5: error: tile.warp.n: a tile of 96 is no multiple of a warp's 64 along n; use 48 [tile-multiple]
--! | wmma_tiles.lua:6: error: tile.warp.n: 16 is no multiple of the instruction's 32 along n; use 32 [tile-multiple]
--! | wmma_tiles.lua:7: error: tile.k: 24 is no multiple of the instruction's 16; use 32 [tile-multiple]
--! | wmma_tiles.lua:8: error: tile.warp.m: 8 x 8 warps are 2048 threads, a block has at most 1024; use a larger warp tile or a smaller tile [threads]
--! | wmma_tiles.lua:9: error: tile.warp.m: about 358 registers a thread (256 accumulators, 48 fragments, 0 staged), the limit is 255: the kernel would spill; use a smaller warp tile [registers]
--! | wmma_tiles.lua:10: error: stages: 4 stages of 69632 B are 278528 B of shared memory, more than the 232448 B a block of h100-sxm may have; use fewer stages or a smaller tile.k [shared-memory]
--! | wmma_tiles.lua:11: error: min_blocks: about 118 registers a thread (64 accumulators, 24 fragments, 0 staged), the limit is 64: the kernel would spill; use fewer min_blocks or a smaller warp tile [registers]
--! | wmma_tiles.lua:12: error: stages: 12; cp.async rings here have 1 to 8 stages [stages]
--! | wmma_tiles.lua:13: error: padding: 4 elements break the 16-byte alignment of shared rows; use a multiple of 8 [padding]
--! | wmma_tiles.lua:14: error: copy.a: 2 is not a copy width; use 4, 8 or 16 bytes [copy-width]
--! | wmma_tiles.lua:15: error: swizzle: family wmma has no such field: warps hold fragments, whose registers wmma lays out; leave it out [field-family]
--! | wmma_tiles.lua:16: error: tile.thread.m: family wmma has no such field: warps hold fragments, whose registers wmma lays out; leave it out [field-family]
--! | wmma_tiles.lua:17: error: unroll.k: family wmma has no such field: warps hold fragments, whose registers wmma lays out; leave it out [field-family]
--! | wmma_tiles.lua:18: error: cluster.m: family wmma has no such field: warps hold fragments, whose registers wmma lays out; leave it out [field-family]
