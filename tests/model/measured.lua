-- The kernels that the model's constants are fitted to, beside those of the specs that its head names in
-- docs/model.md: a spread of tiles, thread tiles, stages and layouts, good and bad ones.

gpu "h200"

-- CUDA cores, f32: thread tiles from 4 x 4 to 16 x 8, one to four stages.
for _, layout in ipairs { "tn", "nn" } do
  sweep {
    family = "simt",
    dtype = "f32",
    layout = layout,
    tile = {
      { m = 128, n = 128, k = 8, thread = { m = 8, n = 8 } },
      { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 } },
      { m = 128, n = 64, k = 16, thread = { m = 8, n = 8 } },
      { m = 64, n = 64, k = 16, thread = { m = 8, n = 8 } },
      { m = 64, n = 64, k = 16, thread = { m = 8, n = 4 } },
      { m = 64, n = 64, k = 16, thread = { m = 4, n = 4 } },
      { m = 32, n = 64, k = 16, thread = { m = 4, n = 4 } },
      { m = 128, n = 128, k = 8, thread = { m = 16, n = 8 } },
      { m = 256, n = 128, k = 8, thread = { m = 16, n = 8 } },
    },
    stages = { 1, 2, 4 },
    allow = { "ring-synchronous", "ring-short", "tile-k-large" },
  }
end

-- Slices of k for few tiles.
sweep {
  family = "simt",
  dtype = "f32",
  layout = "tn",
  tile = {
    { m = 64, n = 64, k = 32, thread = { m = 8, n = 8 } },
    { m = 32, n = 32, k = 32, thread = { m = 4, n = 4 } },
  },
  k_slices = { 1, 2, 4 },
  allow = { "ring-short", "tile-k-large" },
}

-- f64 on CUDA cores.
sweep {
  family = "simt",
  dtype = "f64",
  layout = "tn",
  tile = {
    { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 } },
    { m = 64, n = 64, k = 16, thread = { m = 8, n = 4 } },
    { m = 64, n = 64, k = 16, thread = { m = 4, n = 4 } },
  },
  stages = { 2, 3 },
  allow = { "ring-short", "tile-k-large" },
}

-- Tensor cores of Hopper: tiles small and large, short and long rings.
sweep {
  family = "wgmma",
  dtype = "bf16",
  layout = "nt",
  tile = {
    { m = 64, n = 64 }, { m = 64, n = 128 }, { m = 64, n = 256 },
    { m = 128, n = 64 }, { m = 128, n = 128 }, { m = 128, n = 192 }, { m = 128, n = 256 },
    { m = 192, n = 128 }, { m = 192, n = 192 }, { m = 256, n = 64 }, { m = 256, n = 128 },
  },
  stages = { 2, 4 },
  dispatch = { edge = false },
  allow = { "ring-short" },
}

-- The other forms: groups in turn, one tile a block, blocks that share k.
sweep {
  family = "wgmma",
  dtype = "bf16",
  layout = "nt",
  tile = { { m = 64, n = 128 }, { m = 64, n = 256 }, { m = 128, n = 128 }, { m = 128, n = 208 } },
  schedule = "pingpong",
  dispatch = { edge = false },
}
sweep {
  family = "wgmma",
  dtype = "bf16",
  layout = "nt",
  tile = {
    { m = 64, n = 64 }, { m = 64, n = 128 }, { m = 128, n = 96 }, { m = 128, n = 256 },
    { m = 192, n = 200 },
  },
  persistent = false,
  dispatch = { edge = false },
}
sweep {
  family = "wgmma",
  dtype = "bf16",
  layout = "nt",
  tile = { { m = 64, n = 64 }, { m = 128, n = 128 }, { m = 128, n = 256 } },
  cluster = { k = { 2, 4, 8 } },
  dispatch = { edge = false },
}

-- Other layouts and types.
sweep {
  family = "wgmma",
  dtype = "bf16",
  layout = "nn",
  tile = {
    { m = 64, n = 64 }, { m = 128, n = 128 }, { m = 128, n = 192 }, { m = 128, n = 256 },
    { m = 256, n = 128 },
  },
  dispatch = { edge = false },
}
sweep {
  family = "wgmma",
  dtype = { a = "e4m3", d = "bf16" },
  layout = "nt",
  tile = { { m = 64, n = 64 }, { m = 64, n = 128 }, { m = 128, n = 128 }, { m = 128, n = 256 } },
  dispatch = { edge = false },
}

-- mma.sync: tiles and rings.
sweep {
  family = "mma",
  copy = { path = "async" },
  dtype = "bf16",
  layout = "nt",
  tile = {
    { m = 128, n = 256, k = 64, warp = { m = 64, n = 64 } },
    { m = 256, n = 128, k = 64, warp = { m = 64, n = 64 } },
  },
  stages = { 3, 4 },
}
sweep {
  family = "mma",
  copy = { path = "async" },
  dtype = "bf16",
  layout = "nt",
  tile = { m = 128, n = 256, k = 64, warp = { m = 64, n = 64 } },
  stages = 4,
  unroll = { fragments = 1 },
}
sweep {
  family = "mma",
  copy = { path = "async" },
  dtype = "bf16",
  layout = "nt",
  tile = {
    { m = 128, n = 256, k = 32, warp = { m = 64, n = 64 } },
    { m = 128, n = 128, k = 32, warp = { m = 64, n = 64 } },
  },
  stages = { 4, 6 },
}
sweep {
  family = "mma",
  copy = { path = "async" },
  dtype = "bf16",
  layout = "nt",
  tile = { m = 256, n = 128, k = 32, warp = { m = 64, n = 64 } },
  stages = 5,
}
sweep {
  family = "mma",
  copy = { path = "async" },
  dtype = "bf16",
  layout = "nt",
  tile = {
    { m = 128, n = 128, k = 64, warp = { m = 64, n = 64 } },
    { m = 64, n = 256, k = 64, warp = { m = 64, n = 64 } },
  },
  stages = 3,
  allow = { "tile-k-large" },
}
sweep {
  family = "mma",
  copy = { path = "async" },
  dtype = "bf16",
  layout = "nt",
  tile = {
    { m = 128, n = 128, k = 64, warp = { m = 64, n = 32 } },
    { m = 64, n = 256, k = 32, warp = { m = 64, n = 64 } },
  },
  stages = 4,
}
