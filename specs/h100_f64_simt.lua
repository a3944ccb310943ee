-- f64 on CUDA cores for H100 and H200, for comparison with the tensor cores' DMMA: the FMA pipes give
-- 33.5 TFLOP/s, half of what DMMA gives.
--
-- An f64 accumulator takes two registers: 8 x 8 outputs a thread are the 128 that 16 x 8 are in f32,
-- and 256 threads of them fill the register file. One block of 8 warps an SM is enough: a DFMA holds
-- the pipe for two cycles.

gpu "h100-sxm"

gemm {
  family = "simt",
  dtype = "f64",
  layout = { "nn", "nt", "tn", "tt" },
  tile = { m = 128, n = 128, k = 16, thread = { m = 8, n = 8 } },
  stages = 3,
}

-- Problems with fewer than one such tile for each SM.
gemm {
  family = "simt",
  dtype = "f64",
  layout = { "nn", "nt", "tn", "tt" },
  tile = { m = 64, n = 64, k = 16, thread = { m = 8, n = 4 } },
  stages = 3,
  min_blocks = 2, -- a third would leave 168 registers a thread: the guarded kernels would spill
}
