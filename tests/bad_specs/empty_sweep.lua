gpu "h100-sxm"
sweep {
  family = "simt",
  dtype = "f32",
  tile = { { m = 96, n = 100 }, { m = 36, n = 100 } },
}
--! exit 2
--! | empty_sweep.lua:5: error: tile.m: none of the 2 combinations is legal; the first: no thread tile serves; 2x2, the largest tried: 96x100 outputs at 2x2 a thread take 2400 threads; a block has at most 1024; use a smaller tile or a larger thread tile [empty-sweep]
