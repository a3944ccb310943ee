-- fp8 with scales for each 128 of k, on a card without fp8: conversions and the reduction of absmax are
-- spelled without the instructions that it lacks.
gpu "t4"
gemm {
  family = "naive", dtype = { a = "e4m3", b = "e5m2", d = "e4m3" }, layout = "nt", tile = { m = 8, n = 16 },
  unroll = { k = 2 }, epilogue = { scale = { a = "group", b = "block", d = "tensor" }, absmax = true },
}
