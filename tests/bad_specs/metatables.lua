gpu "h100-sxm"
setmetatable({}, {})
--! exit 2
--! | metatables.lua:2: error: 'setmetatable' is not available in a spec; it has gpu, gemm, sweep, ipairs, type, error, tostring, tonumber and math [script-error]
