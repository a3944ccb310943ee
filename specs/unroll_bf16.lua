-- Unrolling, explored on tensor cores: bf16 on Hopper, by mma.sync and by wgmma: how many k steps a turn
-- of the loop holds (the k tile, or a loop over its steps), stages, a ring that is written out, sets of
-- fragments, order of the products, tiles. Everything else stays as it is.
--
-- Try:  gemmgen explain specs/unroll_bf16.lua --sweep --problem 4096x4096x4096
--       gemmgen specs/unroll_bf16.lua -o out && gemmbench out --sweep --no-run --problem 4096x4096x4096
--
-- What came of it: docs/model.md.

gpu "h100-sxm"

local function tile(k)
  return { m = 128, n = 128, k = k, warp = { m = 64, n = 32 } }
end

-- mma's copies are made by all threads, as they were timed; one block an SM (min_blocks), so that nothing else changes
-- with the registers.
local async = { path = "async" }
--
-- mma.sync: 4 and 8 k steps of 16 a turn; one set of fragments, each loaded behind its last use, or two.
sweep {
  family = "mma", dtype = "bf16", layout = "nt", copy = async,
  tile = { tile(64), tile(128) },
  stages = 3,
  min_blocks = 1,
  unroll = { fragments = { 1, 2 } },
  allow = { "ring-short", "tile-k-large" },
}

-- 2 k steps a turn.
sweep {
  family = "mma", dtype = "bf16", layout = "nt", copy = async,
  tile = tile(32),
  stages = { 3, 4 },
  min_blocks = 1,
  allow = { "ring-short" },
}

-- The k tile's steps as a loop of 1 or 2 a turn; the ring written out, 3 bodies and one for what is left.
sweep {
  family = "mma", dtype = "bf16", layout = "nt", copy = async,
  tile = tile(64),
  stages = 3,
  min_blocks = 1,
  unroll = { k = { 1, 2 }, stages = { false, true } },
  allow = { "ring-short", "tile-k-large", "rolled-loop" },
}
sweep {
  family = "mma", dtype = "bf16", layout = "nt", copy = async,
  tile = tile(64),
  stages = 3,
  min_blocks = 1,
  unroll = { stages = true },
  allow = { "ring-short", "tile-k-large" },
}

-- The order of a step's products.
sweep {
  family = "mma", dtype = "bf16", layout = "nt", copy = async,
  tile = tile(64),
  stages = 3,
  min_blocks = 1,
  unroll = { order = { "row", "column" } },
  allow = { "ring-short", "tile-k-large" },
}

-- The ring.
sweep {
  family = "mma", dtype = "bf16", layout = "nt", copy = async,
  tile = tile(64),
  stages = { 2, 4 },
  min_blocks = 1,
  allow = { "ring-short", "tile-k-large" },
}

-- wgmma: the k tile is one swizzled row, four instructions; tiles and stages are what there is to choose.
sweep {
  family = "wgmma", dtype = "bf16", layout = "nt",
  tile = { { m = 128, n = 128 }, { m = 128, n = 256 }, { m = 256, n = 128 } },
  stages = { 2, 3, 4 },
  dispatch = { edge = false },
  allow = { "ring-short" },
}
sweep {
  family = "wgmma", dtype = "bf16", layout = "nt",
  tile = { m = 128, n = 128 },
  stages = { 2, 3, 4 },
  schedule = "pingpong",
  dispatch = { edge = false },
  allow = { "ring-short" },
}
