-- bf16 on Hopper's tensor cores (H100, H200): TMA feeds wgmma, f32 sums, bf16 out.
--
-- Try:  gemmgen specs/h100_bf16.lua -o out/
--       gemmgen explain specs/h100_bf16.lua
--
-- Each gemm becomes two kernels a layout: one for every call that TMA can address (bases, leading
-- dimensions and strides that are multiples of 16 bytes; any m, n, k), and a narrow one for the rest.
-- The library takes the one that it predicts to be fastest for a call. Measured in docs/wgmma.md.

gpu "h100-sxm"

local all = { "nn", "nt", "tn", "tt" }

-- Large problems: the widest instruction, two warpgroups that share B; all of D is staged, so the next
-- tile's products start while its stores run.
gemm {
  family = "wgmma",
  dtype = "bf16",
  layout = all,
  tile = { m = 128, n = 256 },
  stages = 3,
}

-- Fewer than one such tile for each SM: half the tile, twice the ring.
gemm {
  family = "wgmma",
  dtype = "bf16",
  layout = all,
  tile = { m = 128, n = 128 },
}

-- Small ones: more tiles of less work.
gemm {
  family = "wgmma",
  dtype = "bf16",
  layout = all,
  tile = { m = 64, n = 64 },
}
