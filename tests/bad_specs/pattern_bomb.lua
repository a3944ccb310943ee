gpu "h100-sxm"
local s = "a"
for i = 1, 15 do
  s = s .. s
end
s.find(s, ".-.-.-.-b")
--! exit 2
--! | pattern_bomb.lua:6: error: attempt to index a string value (local 's') [script-error]
