-- Both operands contiguous along m and n: cp.async alone, three stages.
gpu "h100-sxm"
gemm { layout = "tn", tile = { m = 8, n = 16, k = 4, thread = { m = 2, n = 2 } }, stages = 3 }
