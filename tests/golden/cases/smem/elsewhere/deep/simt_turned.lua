-- A contiguous along k: staged through registers, two k slices.
gpu "h100-sxm"
gemm {
  layout = "nn", tile = { m = 8, n = 16, k = 8, thread = { m = 2, n = 2 } }, stages = 2, k_slices = 2,
}
