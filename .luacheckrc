-- Lua here is either a spec (a sandbox with few names) or a template module (the emitter's names).
std = "lua54"
max_line_length = 120 -- lines of emitted text stand whole

local spec = { "gpu", "gemm", "sweep" }
files["specs"] = { read_globals = spec }
files["tests"] = { read_globals = spec }
files["templates"] = { read_globals = { "use", "gg_read", "gg_compile" } }
