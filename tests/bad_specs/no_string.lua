gpu "h100-sxm"
local s = ("x"):rep(10)
--! exit 2
--! | no_string.lua:2: error: attempt to index a string value (constant 'x') [script-error]
