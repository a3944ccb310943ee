gpu "h100-sxm"
error({})
--! exit 2
--! | error_table.lua:2: error: error takes a string, not a table [script-error]
