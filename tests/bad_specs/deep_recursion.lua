gpu "h100-sxm"
local function f(n)
  return 1 + f(n + 1)
end
f(1)
--! exit 2
--! | deep_recursion.lua:3: error: calls nest more than 20000 deep; does a function call itself without end? [script-depth]
