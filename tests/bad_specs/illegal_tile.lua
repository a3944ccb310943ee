gpu "h100-sxm"
gemm {
  family = "simt",
  dtype = "f32",
  tile = { m = 96, n = 100 },
}
--! exit 2
--! | illegal_tile.lua:5: error: tile.m: no thread tile serves; 2x2, the largest tried: 96x100 outputs at 2x2 a thread take 2400 threads; a block has at most 1024; use a smaller tile or a larger thread tile [threads]
