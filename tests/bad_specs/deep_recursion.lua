gpu "h100-sxm"
local function f(n)
  return 1 + f(n + 1)
end
f(1)
--! exit 2
--! | deep_recursion.lua:3: error: stack overflow [script-error]
