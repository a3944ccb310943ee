-- Each comparison reads megabytes but is one step: the processor's time is what ends it.
gpu "h100-sxm"
local s = "x"
for i = 1, 23 do
  s = s .. s
end
local a, b = s .. "y", s .. "z"
for i = 1, 1e6 do local smaller = a < b end
--! exit 2
--! | slow_comparisons.lua:8: error: the script ran longer than 5 s; do less [script-time]
