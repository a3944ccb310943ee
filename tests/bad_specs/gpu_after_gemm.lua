gemm { family = "naive" }
gpu "h100-sxm"
gemm { family = "naive" }
--! exit 2
--! | gpu_after_gemm.lua:1: error: no GPU is given; write gpu "h100-sxm" before this gemm [no-gpu]
