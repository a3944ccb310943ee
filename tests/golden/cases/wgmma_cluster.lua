-- A cluster of 2 x 2 blocks: rows of A and k of B are copied in halves and multicast.
gpu "h100-sxm"
gemm {
  family = "wgmma", dtype = "bf16", layout = "nn", tile = { m = 64, n = 64 }, stages = 3, cluster = { m = 2, n = 2 },
  epilogue = { alpha = 1, beta = 0 }, dispatch = { edge = false, repack = false },
}
