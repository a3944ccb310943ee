gpu "h100-sxm"
gemm {
  family = "simt",
  dtype = "f64",
  tile = { m = 256, n = 256, k = 32 },
  stages = 8,
  padding = 0,
}
--! exit 2
--! | shared_memory.lua:6: error: stages: 8 stages of 131072 B are 1048576 B of shared memory, more than the 232448 B a block of h100-sxm may have; use fewer stages or a smaller tile.k [shared-memory]
