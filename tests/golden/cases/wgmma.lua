-- TMA and wgmma, one warpgroup that computes; A turned by the instruction; beta compiled in as zero.
gpu "h100-sxm"
gemm {
  family = "wgmma", dtype = "f16", layout = "tt", tile = { m = 64, n = 64 }, stages = 3,
  epilogue = { alpha = 1, beta = 0 },
  dispatch = { repack = false }, -- repack.lua has the passes
}
