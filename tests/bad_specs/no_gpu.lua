gemm { family = "naive" }
gemm { family = "naive" }
--! exit 2
--! | no_gpu.lua:1: error: no GPU is given; write gpu "h100-sxm" before this gemm [no-gpu]
--! | no_gpu.lua:2: error: no GPU is given; write gpu "h100-sxm" before this gemm [no-gpu]
