-- A bias for each row, silu in f64, C always read.
gpu "a100-sxm-40"
gemm {
  family = "smem", dtype = "f64", layout = "nn", tile = { m = 8, n = 8, k = 4 },
  epilogue = { alpha = 1, beta = 1, bias = "m", activation = "silu" },
}
