gpu "h100-sxm"
gemm { ["family\0"] = "naive" }
--! exit 2
--! | zero_byte_name.lua:2: error: a table with holes, or with keys that are neither all names nor all 1, 2, 3 [wrong-type]
