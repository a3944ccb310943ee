-- mma.sync: k steps as a loop of one a turn, and a ring of two stages written out.
gpu "a100-sxm-80"
gemm {
  family = "mma", dtype = "f16", layout = "nt", tile = { m = 16, n = 16, k = 64, warp = { m = 16, n = 16 } },
  stages = 2, unroll = { k = 1, stages = true }, epilogue = { alpha = 1, beta = 0 }, allow = { "rolled-loop" },
}
