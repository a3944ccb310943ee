-- mma.sync fed by TMA: two warps, rows along k of A and boxes of 64 columns of B.
gpu "h100-sxm"
gemm {
  family = "mma", dtype = "bf16", layout = "nn", tile = { m = 32, n = 64, k = 64, warp = { m = 16, n = 64 } },
  stages = 3, copy = { path = "tma" }, dispatch = { edge = false }, epilogue = { alpha = 1, beta = 0 },
  allow = { "ring-short", "tile-k-large" },
}
