-- mma.sync with the smallest tiles: one warp, a ring of three stages.
gpu "a100-sxm-80"
gemm {
  family = "mma", dtype = "f16", layout = "nn", tile = { m = 16, n = 16, k = 32, warp = { m = 16, n = 16 } },
  stages = 3, epilogue = { alpha = 1, beta = 0 },
}
