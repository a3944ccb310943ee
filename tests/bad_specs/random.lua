gpu "h100-sxm"
gemm { family = "naive", tile = { m = math.random(64) } }
--! exit 2
--! | random.lua:2: error: attempt to call a nil value (field 'random') [script-error]
