-- tf32 that lies MN-major: nn, B through registers and D transposed; tn, A through registers and B turned by
-- the warpgroup that copies.
gpu "h100-sxm"
gemm {
  family = "wgmma", dtype = "tf32", layout = "nn", tile = { m = 64, n = 64 }, stages = 3,
  epilogue = { alpha = 1, beta = 0 }, dispatch = { edge = false, repack = false },
}
gemm {
  family = "wgmma", dtype = "tf32", layout = "tn", tile = { m = 64, n = 128 }, stages = 3,
  epilogue = { alpha = 1, beta = 0 }, dispatch = { repack = false },
}
