gpu { base = "a100-sxm-80", sms = 108 }
local tiles = {}
for i, m in ipairs { 64, 128 } do
  tiles[i] = { m = m, n = 64, thread = { m = { 4, 8 }, n = 8 } }
end
sweep { family = "simt", dtype = { "f32", "f64" }, tile = tiles, stages = { 2, 4 },
  unroll = { k = { "full", 4 } }, swizzle = { 0, 128 } }
