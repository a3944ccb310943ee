gpu "h100-sxm"
local t = { m = 64 }
t.thread = t
t.lanes = t
gemm { family = "simt", tile = t }
t.self = t
gemm(t)
--! exit 2
--! | cyclic_table.lua:5: error: unknown field 'lanes'; did you mean 'tile.lanes'? [unknown-field]
--! | cyclic_table.lua:5: error: unknown field 'thread'; did you mean 'tile.thread'? [unknown-field]
--! | cyclic_table.lua:5: error: tile.lanes.m: 64 is out of range; use 1 to 32 [out-of-range]
--! | cyclic_table.lua:7: error: unknown field 'lanes'; did you mean 'tile.lanes'? (2nd gemm) [unknown-field]
--! | cyclic_table.lua:7: error: unknown field 'm'; did you mean 'tile.m'? (2nd gemm) [unknown-field]
--! | cyclic_table.lua:7: error: unknown field 'self'; known here: family, dtype, layout, tile, stages, padding, swizzle, copy, unroll, raster, cluster, schedule, persistent, programmatic, fast_accum, min_blocks, k_slices, epilogue, dispatch, budget (2nd gemm) [unknown-field]
--! | cyclic_table.lua:7: error: unknown field 'thread'; did you mean 'tile.thread'? (2nd gemm) [unknown-field]
