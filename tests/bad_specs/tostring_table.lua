gpu "h100-sxm"
local x = tostring({})
--! exit 2
--! | tostring_table.lua:2: error: tostring takes a number, a string or a boolean, not a table [script-error]
