pcall(function() while true do end end)
--! exit 2
--! | no_pcall.lua:1: error: 'pcall' is not available in a spec; it has gpu, gemm, sweep, ipairs, type, error, tostring, tonumber and math [script-error]
