gpu "h100-sxm"
local function tile(m)
  if m % 64 ~= 0 then
    error("tile " .. tostring(m) .. " is not built from 64", 2)
  end
  return { m = m, n = m }
end
gemm { family = "simt", tile = tile(96) }
--! exit 2
--! | error_string.lua:8: error: tile 96 is not built from 64 [script-error]
