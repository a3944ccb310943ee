-- fp8: each 128 of k is summed in the tensor core, then added in f32 registers.
gpu "h100-sxm"
gemm {
  family = "wgmma", dtype = { a = "e4m3", b = "e5m2" }, layout = "nt", tile = { m = 64, n = 32 }, stages = 3,
  epilogue = { alpha = 1, beta = 0 }, dispatch = { edge = false, repack = false },
}
