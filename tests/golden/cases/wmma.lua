-- wmma on Turing: no cp.async, 2 stages through registers; A row-major, B column-major in shared memory.
gpu "t4"
gemm {
  family = "wmma", dtype = "f16", layout = "nt", tile = { m = 32, n = 16, k = 16, warp = { m = 32, n = 16 } },
  epilogue = { alpha = 1, beta = 0 },
}
