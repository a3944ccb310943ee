os.execute("touch pwned")
--! exit 2
--! | no_os.lua:1: error: 'os' is not available in a spec; it has gpu, gemm, sweep, ipairs, type, error, tostring, tonumber and math [script-error]
