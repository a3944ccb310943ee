-- Tiles of family wgmma with fewer rows than an instruction that cannot be.
gpu "h100-sxm"
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 12 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 16, n = 96 } }
gemm { family = "wgmma", dtype = "bf16", layout = "tn", tile = { m = 16 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 16 }, schedule = "pingpong" }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 16 }, cluster = { k = 4 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 8 }, cluster = { n = 2 } }
gemm { family = "wgmma", dtype = { a = "s8" }, layout = "nt", tile = { m = 40 } }
gemm { family = "wgmma", dtype = "tf32", layout = "nt", tile = { m = 16 } }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 16, n = 64 }, min_blocks = 4, stages = 6 }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 56, n = 128 }, min_blocks = 4 }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 16, n = 256 }, min_blocks = 3 }
gemm { family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 64, n = 64 }, min_blocks = 2 }
gemm {
  family = "wgmma", dtype = { a = "e4m3" }, layout = "nt", tile = { m = 24, n = 64 },
  epilogue = { scale = { a = "block" } },
}
gemm {
  family = "wgmma", dtype = { a = "e4m3" }, layout = "nt", tile = { m = 56, n = 64 }, min_blocks = 4,
  epilogue = { scale = { a = "group", b = "group" } },
}
--! exit 2
--! | wgmma_few.lua:3: error: tile.m: 12 is not a multiple of 8 (below 64 rows are an instruction's columns); use 16 [tile-multiple]
--! | wgmma_few.lua:4: error: tile.n: 96 is not a multiple of 64 up to 256 (wgmma's rows are columns of B); use 128 [tile-multiple]
--! | wgmma_few.lua:5: error: tile.m: A is contiguous in m (layout tn): its rows of 128 bytes are 64 of m; use 64 [tile-multiple]
--! | wgmma_few.lua:6: error: schedule: warpgroups share the columns of a tile of 16 rows (tile.m below 64); leave it out [schedule]
--! | wgmma_few.lua:7: error: cluster.k: each of 4 blocks finishes tile.m / cluster.k of 16 rows, a multiple of 8; use fewer blocks, or dispatch.split to cut k [cluster]
--! | wgmma_few.lua:8: error: tile.m: each of 2 blocks copies tile.m / 2 rows of A, a multiple of 8; use 16 [cluster]
--! | wgmma_few.lua:9: error: tile.m: 40 columns are none of an instruction of s8, which has 8, 16, 24, 32 or 48; use 48 [tile-multiple]
--! | wgmma_few.lua:10: error: tile.m: 16 is not a multiple of 64 up to 256 (wgmma); use 128 [tile-multiple]
--! | wgmma_few.lua:11: error: stages: 6 stages of 10240 B and 2048 B for D are more than the 57344 B a block of h100-sxm may have beside the others of min_blocks (2 to 5 fit); use fewer stages, fewer blocks or a smaller tile [shared-memory]
--! | wgmma_few.lua:12: error: min_blocks: 4 blocks of 384 threads leave each thread 40 registers at entry and 48 to compute with; 28 sums beside 26 others and 28 sums and scales beside 36 are more; use fewer [registers]
--! | wgmma_few.lua:13: error: min_blocks: 1 stages of 34816 B and 8192 B for D are more than the 76800 B a block of h100-sxm may have beside the others of min_blocks (less than 2 fit); use fewer stages, fewer blocks or a smaller tile [shared-memory]
--! | wgmma_few.lua:14: error: min_blocks: an SM holds one block of such tiles, whose ring and sums take its shared memory and registers, not 2; leave it out, or use tile.m below 64 [min-blocks]
--! | wgmma_few.lua:16: error: tile.m: 24 rows may lie in two blocks of 128 that have a scale of A each; use 8, 16 or 32 [tile-multiple]
--! | wgmma_few.lua:20: error: min_blocks: 4 blocks of 256 threads leave each thread 64 registers at entry and 104 to compute with; 28 sums beside 26 others and 80 sums and scales beside 36 are more; use fewer [registers]
