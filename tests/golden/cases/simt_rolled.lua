-- No cp.async (sm_75): one stage, the k loop rolled, swizzled rows.
gpu "t4"
gemm {
  layout = "nt", tile = { m = 32, n = 32, k = 8, thread = { m = 2, n = 4 } }, stages = 1, swizzle = 128,
  unroll = { k = 8, order = "row", fragments = 1 },
}
