gpu "t4"
gemm { family = "naive", dtype = "f64" }
gemm { family = "smem", dtype = "f32", tile = { m = 16, n = 16, k = 16 } }
