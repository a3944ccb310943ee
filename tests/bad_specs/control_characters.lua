gpu "h100-sxm"
gemm { family = "a\nb\tc", ["x\27[31m"] = 1 }
--! exit 2
--! | control_characters.lua:2: error: family: unknown name 'a?b?c'; known: naive, smem, simt, gemv, wmma, mma, wgmma [unknown-value]
--! | control_characters.lua:2: error: unknown field 'x?[31m'; known here: family, dtype, layout, tile, stages, padding, swizzle, copy, unroll, raster, cluster, schedule, persistent, programmatic, fast_accum, min_blocks, k_slices, epilogue, dispatch, budget [unknown-field]
