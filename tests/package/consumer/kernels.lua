gpu "h100-sxm"
gemm { family = "naive", dtype = { a = "f32", b = "f32", d = "f32" }, layout = "nn" }
