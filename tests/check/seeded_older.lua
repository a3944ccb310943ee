-- Cards without cp.async: copies pass through registers.
gpu "t4"
gemm { family = "mma", dtype = "f16", layout = "nn", tile = { m = 32, n = 32, k = 32, warp = { m = 16, n = 32 } } }
gemm {
  family = "mma", dtype = { a = "s8" }, layout = "tn", tile = { m = 32, n = 32, k = 64, warp = { m = 16, n = 32 } },
  dispatch = { edge = false },
}
