-- Small kernels, so that the vendored folders build fast.
gpu "h100-sxm"
gemm { family = "naive", layout = { "nn", "tn" } }
gemm { family = "simt", layout = "nn", tile = { m = 32, n = 32, thread = { m = 4, n = 2 } } }
