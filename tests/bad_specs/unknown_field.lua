gpu "h100-sxm"
gemm {
  family = "simt",
  tiel = { m = 64, n = 64 },
  stages = 2,
  tile = { m = 64, n = 64, thread = { mm = 4 } },
  thread = { m = 8, n = 8 },
  warps = 4,
}
--! exit 2
--! | unknown_field.lua:4: error: unknown field 'tiel'; did you mean 'tile'? [unknown-field]
--! | unknown_field.lua:6: error: unknown field 'mm'; did you mean 'tile.thread.m'? [unknown-field]
--! | unknown_field.lua:7: error: unknown field 'thread'; did you mean 'tile.thread'? [unknown-field]
--! | unknown_field.lua:8: error: unknown field 'warps'; known here: family, dtype, layout, tile, stages, padding, swizzle, copy, unroll, raster, cluster, schedule, persistent, programmatic, fast_accum, min_blocks, k_slices, epilogue, dispatch, budget [unknown-field]
