-- One plain kernel of each family for architectures that no spec in specs/ is for.
gpu "v100-sxm2-32"
gemm { family = "simt", dtype = { a = "f32", b = "f32", d = "f32" }, layout = "nn" }
