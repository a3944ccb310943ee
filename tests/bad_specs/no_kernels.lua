gpu "h100-sxm"
--! exit 2
--! | no_kernels.lua:1: error: the file asks for no kernel; write gemm { ... } [no-kernels]
