gpu "h100-sxm"
gemm { family = simt }
--! exit 2
--! | unquoted.lua:2: error: unknown name 'simt'; write "simt" in quotes if it is a value [script-error]
