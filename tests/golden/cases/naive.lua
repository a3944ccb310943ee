-- One output a thread, no shared memory; k unrolled by 2.
gpu "h100-sxm"
gemm { family = "naive", layout = "nt", tile = { m = 8, n = 16 }, unroll = { k = 2 } }
