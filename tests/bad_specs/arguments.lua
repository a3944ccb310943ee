gpu "h100-sxm"
gemm("simt")
gemm()
gemm({ family = "naive" }, 2)
sweep(nil)
--! exit 2
--! | arguments.lua:2: error: gemm takes a table, not "simt"; write gemm { ... } (1st gemm) [wrong-type]
--! | arguments.lua:3: error: gemm takes a table, not nothing; write gemm { ... } (2nd gemm) [wrong-type]
--! | arguments.lua:4: error: gemm takes one argument, not 2; write gemm { ... } [wrong-type]
--! | arguments.lua:5: error: sweep takes a table, not nothing; write sweep { ... } (1st sweep) [wrong-type]
