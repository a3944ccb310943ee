gpu "h100-sxm"
local t = {}
for i = 1, 1e9 do
  t[i] = { i, { i } }
end
--! exit 2
--! | memory_table.lua:4: error: the script needs more than 64 MiB of memory; build less [script-memory]
