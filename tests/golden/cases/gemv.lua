-- A few rows: one of B a block, its k shared by the threads.
gpu "h200"
gemm { family = "gemv", dtype = "f16", layout = "nt", tile = { m = 2 }, epilogue = { alpha = 1, beta = 0 } }
