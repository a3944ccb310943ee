::top::
goto top
--! exit 2
--! | goto_loop.lua:2: error: the script ran more than 10000000 steps; is there a loop without end? [script-steps]
