-- A kernel of raw sums and the pass that adds parts of k up and takes the epilogue's steps.
gpu "h200"
gemm {
  family = "naive", dtype = { a = "f32", d = "bf16" }, layout = "tn", tile = { m = 8, n = 16 }, unroll = { k = 2 },
  epilogue = { beta = 0, bias = "m", activation = "relu", absmax = true }, dispatch = { split = true },
}
