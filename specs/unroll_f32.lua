-- Unrolling, explored: f32 on CUDA cores, how much of the k loop is written out, in which order, from how
-- many sets of fragments, and with the ring written out or not. Everything else stays as it is.
--
-- Try:  gemmgen explain specs/unroll_f32.lua --sweep --problem 4096x4096x4096
--       gemmgen specs/unroll_f32.lua -o out && gemmbench out --sweep --problem 4096x4096x4096 --layout tn
--
-- What came of it: docs/model.md.

gpu "h100-sxm"

local tile = { m = 128, n = 128, k = 8, thread = { m = 16, n = 8 } }

-- Steps of k a turn, sets of fragments, order of a step's FMAs.
sweep {
  family = "simt",
  dtype = "f32",
  layout = "tn",
  tile = { tile },
  stages = 3,
  unroll = { k = { 1, 2, 4, "full" }, fragments = { 1, 2 }, order = { "serpentine", "row", "column" } },
  allow = { "rolled-loop" },
}

-- The ring rolled and written out: three and four copies of the loop's body.
sweep {
  family = "simt",
  dtype = "f32",
  layout = "tn",
  tile = { tile, { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 } } },
  stages = { 2, 3, 4 },
  unroll = { stages = { false, true } },
  allow = { "loop-code", "block-fmas" },
}
