gpu "h100-sxm"
gemm { family = "naive", allow = { "loop-cod", 3 } }
gemm { family = "naive", allow = "loop-code" }
--! exit 2
--! | allow_unknown.lua:2: error: allow: unknown name 'loop-cod'; did you mean 'loop-code'? known: loop-code, block-fmas, bank-conflict, ring-synchronous, ring-short, tile-k-large, rolled-loop, no-tensor-cores, unaligned, few-blocks, tail-wave, l2-reuse, f16-sums [unknown-value]
--! | allow_unknown.lua:2: error: allow: unknown name ''; known: loop-code, block-fmas, bank-conflict, ring-synchronous, ring-short, tile-k-large, rolled-loop, no-tensor-cores, unaligned, few-blocks, tail-wave, l2-reuse, f16-sums [unknown-value]
--! | allow_unknown.lua:3: error: allow: takes a list of warning codes, like { "loop-code" } [wrong-type]
