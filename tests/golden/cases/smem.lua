-- One stage of shared memory; A turned on its way, f64, beta compiled in as zero.
gpu "a100-sxm-80"
gemm {
  family = "smem", layout = "tn", dtype = "f64", tile = { m = 8, n = 8, k = 4 },
  epilogue = { alpha = 1, beta = 0 },
}
