-- f32 on CUDA cores for H100 and H200: strict IEEE products and sums, no tensor cores.
--
-- Try:  gemmgen specs/h100_f32.lua -o out/
--       gemmgen check specs/h100_f32.lua
--       gemmgen explain specs/h100_f32.lua
--
-- Each gemm becomes up to three kernels a layout: full (no guards, wide copies), edge (wide copies,
-- guards outside the main loop) and narrow (any pointer, any leading dimension). The library takes
-- the one that it predicts to be fastest for a call. Tiles and layouts are paired as measured on an
-- H200 (docs/simt.md).

gpu "h100-sxm"

-- Large problems, 2048^3 and up. An operand that is contiguous in k is turned on its way to shared
-- memory and takes registers for that; where A is (nn, nt), 16 x 8 outputs a thread need the fewest
-- shared bytes (96 of 128 B/cycle) and 128 threads leave those registers.
gemm {
  family = "simt",
  dtype = "f32",
  layout = { "nn", "nt" },
  tile = { m = 128, n = 128, k = 8, thread = { m = 16, n = 8 } },
  stages = 4,
  dispatch = { split = true }, -- brings the pass that lets the library cut a long k (docs/split.md)
}

-- Where A is contiguous in m, 8 x 8 outputs on 256 threads: twice the warps hide more latency.
gemm {
  family = "simt",
  dtype = "f32",
  layout = { "tn", "tt" },
  tile = { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 } },
  stages = 3,
}

-- Around 1024^3: with half the tile there is one for each SM, and two warp groups share the k of each
-- tile so that an SM still has 8 warps.
-- speed of nn and tt: 97 % of the plan's, so that 128 x 128 is taken where its last wave is up to 3 % emptier; at
-- 8192^3 it is 10 % faster.
for _, layout in ipairs { "nn", "nt", "tn", "tt" } do
  local tall = layout == "tt"
  gemm {
    family = "simt",
    dtype = "f32",
    layout = layout,
    tile = { m = tall and 128 or 64, n = tall and 64 or 128, k = 32, thread = { m = 8, n = 8 } },
    k_slices = 2,
    stages = 3,
    dispatch = { speed = (layout == "nn" or tall) and 913 or nil },
  }
end

local turned = { nn = { a = 4 }, nt = { a = 4, b = 4 }, tt = { b = 4 } }
for _, layout in ipairs { "nn", "nt", "tn", "tt" } do
  gemm {
    family = "simt",
    dtype = "f32",
    layout = layout,
    tile = { m = 32, n = 64, k = 32, thread = { m = 4, n = 8 } },
    k_slices = 4,
    stages = 3,
    copy = turned[layout],

  }
  gemm {
    family = "simt",
    dtype = "f32",
    layout = layout,
    tile = { m = 16, n = 32, k = 64, thread = { m = 4, n = 4 } },
    k_slices = 4,
    stages = 3,
    copy = turned[layout],

  }
end
