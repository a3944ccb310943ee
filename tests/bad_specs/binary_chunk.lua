Lua compiled
--! exit 2
--! | binary_chunk.lua:1: error: compiled Lua is not accepted; give the source text [binary-chunk]
