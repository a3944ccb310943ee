-- The name says what differs from the plan's own choice; the GPU's clock it does not say.
gpu "h100-sxm"
gemm { family = "naive", dtype = "f32" }
gpu { base = "h100-sxm", registers_sm = 32768 }
gemm { family = "naive", dtype = "f32" }
--! exit 2
--! | duplicate_name.lua:5: error: kernel sm90_naive_f32_nn_16x16_full is also that of duplicate_name.lua:3, which differs in blocks_sm (8 there, 4 here); keep one, or write each to a folder of its own with --prefix [duplicate-name]
