gpu "h100-sxm"
load("gemm { family = 'naive' }")()
--! exit 2
--! | load_text.lua:2: error: 'load' is not available in a spec; it has gpu, gemm, sweep, ipairs, type, error, tostring, tonumber and math [script-error]
