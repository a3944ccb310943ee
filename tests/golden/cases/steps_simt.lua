-- Every step that is not a matter of 128 of k, D in pairs of bf16.
gpu "h100-sxm"
gemm {
  family = "simt", dtype = { a = "f32", d = "bf16" }, layout = "tn",
  tile = { m = 8, n = 16, k = 4, thread = { m = 2, n = 2 } }, stages = 3,
  epilogue = {
    bias = "n", activation = "gelu", residual = true, absmax = true,
    scale = { a = "vector", b = "tensor", d = "tensor" },
  },
}
