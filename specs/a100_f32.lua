-- f32 on CUDA cores for A100: the same kernels as for H100 fit, compiled for sm_80.
--
-- An A100 SM issues 64 f32 FMAs a cycle where an H100 SM issues 128, with the same shared-memory
-- port: a thread tile of 8 x 8 needs 64 bytes a cycle here, half of what the port gives, so the
-- smaller accumulator tile and its 16 warps a SM are the better trade.

gpu "a100-sxm-80"

local all = { "nn", "nt", "tn", "tt" }

gemm {
  family = "simt",
  dtype = "f32",
  layout = all,
  tile = { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 } },
  stages = 3,
  dispatch = { split = true }, -- brings the pass that lets the library cut a long k (docs/split.md)
}

gemm {
  family = "simt",
  dtype = "f32",
  layout = all,
  tile = { m = 64, n = 64, k = 16, thread = { m = 8, n = 4 } },
  stages = 3,
}
