-- The classic table of block sizes: square blocks of 32, 64 and 128, k tiles of 32 and 64, on an H100 or
-- H200; bf16, family mma. docs/blocksize.md reads it: predicted TFLOP/s against arithmetic intensity.
--
-- Try:  gemmgen explain specs/blocksize_bf16.lua --sweep --problem 4096x4096x4096
--       gemmgen specs/blocksize_bf16.lua -o out/
--       gemmbench out/ --dtype bf16 --layout nt --problem 4096x4096x4096 --all     # on a card
--
-- Everything else is left to the plan: warp tiles, stages, blocks on an SM.

gpu "h100-sxm"

sweep {
  family = "mma",
  dtype = "bf16",
  layout = "nt",
  copy = { path = "async" }, -- by all threads, as the table was timed
  dispatch = { edge = false }, -- full kernels are what is studied; narrow ones take all other calls
  tile = {
    { m = 32, n = 32, k = 32 }, { m = 32, n = 32, k = 64 },
    { m = 64, n = 64, k = 32 }, { m = 64, n = 64, k = 64 },
    { m = 128, n = 128, k = 32 }, { m = 128, n = 128, k = 64 },
  },
}
