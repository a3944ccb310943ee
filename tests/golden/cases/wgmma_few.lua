-- Fewer rows than an instruction: B is the first operand, and stmatrix turns D.
gpu "h100-sxm"
gemm {
  family = "wgmma", dtype = "bf16", layout = "nt", tile = { m = 24, n = 64 }, stages = 3, persistent = false,
  epilogue = { alpha = 1, beta = 0 }, dispatch = { edge = false, repack = false },
}
