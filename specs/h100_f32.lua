-- f32 on CUDA cores for H100 and H200: strict IEEE products and sums, no tensor cores.
--
-- Try:  gemmgen specs/h100_f32.lua -o out/
--       gemmgen check specs/h100_f32.lua
--       gemmgen explain specs/h100_f32.lua
--
-- Each gemm below becomes three kernels a layout: full (no guards, 16-byte copies), edge (16-byte
-- copies, guards outside the main loop) and narrow (any pointer, any leading dimension). The library
-- takes the first that a call allows, large tiles first.

gpu "h100-sxm"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems. 16 x 8 outputs a thread need 96 of the 128 bytes a cycle that shared memory gives,
-- 128 threads leave room for two blocks a SM; 8 k steps are 1024 FMAs of straight code, 18 KB.
gemm {
  family = "simt",
  dtype = "f32",
  layout = all,
  tile = { m = 128, n = 128, k = 8, thread = { m = 16, n = 8 } },
  stages = 3,
}

-- Problems around 1024^3: with tiles half as large there is one for each SM, and two warp groups
-- share the k of each tile so that the SM has enough warps.
gemm {
  family = "simt",
  dtype = "f32",
  layout = all,
  tile = { m = 128, n = 64, k = 32, thread = { m = 8, n = 8 } },
  stages = 3,
  k_slices = 2,
  dispatch = { min_fill = 75 },
}

-- Smaller ones: more tiles of less work.
gemm {
  family = "simt",
  dtype = "f32",
  layout = all,
  tile = { m = 64, n = 64, k = 16, thread = { m = 8, n = 4 } },
  stages = 3,
}
