-- One layout of each family, with the tiles that users have.
gpu "h100-sxm"
local f32 = { a = "f32", b = "f32", d = "f32", acc = "f32" }
gemm { family = "naive", dtype = f32, layout = "nn" }
gemm { family = "smem", dtype = f32, layout = "nn" }
local square = { m = 64, n = 64, k = 8, thread = { m = 8, n = 8 } }
gemm { family = "simt", dtype = f32, layout = "nn", tile = square, stages = 3 }
local large = { m = 128, n = 128, k = 8, thread = { m = 16, n = 8 } }
gemm { family = "simt", dtype = f32, layout = "tn", tile = large, stages = 3 }
