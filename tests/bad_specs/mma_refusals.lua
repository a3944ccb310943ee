-- What family mma cannot do.
gpu "rtx-4090"
gemm { family = "mma", dtype = "f32" }
gemm { family = "mma", dtype = { a = "e4m3" }, tile = { k = 96 } }
gemm { family = "mma", dtype = { a = "e4m3" }, fast_accum = true, epilogue = { scale = { a = "block" } } }
gemm { family = "mma", dtype = "bf16", fast_accum = true }
gemm { family = "mma", dtype = { a = "e4m3" }, tile = { n = 96, warp = { n = 48 } }, epilogue = { scale = { b = "block" } } }
gemm { family = "mma", dtype = { a = "s8" }, epilogue = { scale = { a = "group" } } }
gemm { family = "mma", dtype = { a = "bf16", b = "f16" } }
--! exit 2
--! | mma_refusals.lua:3: error: dtype.a: mma.sync does not multiply f32 by f32 with sums in f32; use bf16, f16, tf32 or f64 alike, e4m3 and e5m2, or s8 and u8, or family simt [dtype-family]
--! | mma_refusals.lua:4: error: tile.k: 96 does not divide the 128 of k after which sums of fp8 are promoted; use 32, 64 or 128, or fast_accum [tile-multiple]
--! | mma_refusals.lua:5: error: epilogue.scale.a: block: scales every 128 of k, where family mma forms one sum over all of k; use "tensor" or "vector", or family naive [scaling]
--! | mma_refusals.lua:6: error: fast_accum: sums of bf16 have one precision: only those of e4m3 and e5m2 may be fast; leave it out [field-family]
--! | mma_refusals.lua:7: error: tile.warp.n: 48 does not divide the 128 rows (columns) that have a scale; use 16 [tile-multiple]
--! | mma_refusals.lua:8: error: epilogue.scale.a: group: scales every 128 of k, where family mma forms one sum over all of k; use "tensor" or "vector", or family naive [scaling]
--! | mma_refusals.lua:9: error: dtype.a: mma.sync does not multiply bf16 by f16 with sums in f32; use bf16, f16, tf32 or f64 alike, e4m3 and e5m2, or s8 and u8, or family simt [dtype-family]
