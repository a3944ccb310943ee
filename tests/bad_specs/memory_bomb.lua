gpu "h100-sxm"
local s = "x"
for i = 1, 100 do
  s = s .. s
end
--! exit 2
--! | memory_bomb.lua:4: error: one string or table needs more than 24 MiB; build less [script-memory]
