while true do end
--! exit 2
--! | endless_while.lua:1: error: the script ran more than 10000000 steps; is there a loop without end? [script-steps]
