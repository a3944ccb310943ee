-- outputs.lua - D and the matrices of its shape, C and the residual: where an epilogue finds them.

local names = use("names")
local scalars = use("scalars")
local vectors = use("vectors")

local outputs = {}

local matrices = {
  d = { type = "type_d", ld = "ldd", const = "" },
  c = { type = "type_c", ld = "ldc", const = "const " },
  residual = { type = "type_d", ld = "ld_residual", const = "const " },
}

-- Declares a pointer to matrix o's element at row and column, expressions, called as the matrix unless `name` is
-- given.
function outputs.pointer(p, o, row, column, name)
  local matrix = matrices[o]
  local T = matrix.const .. names.memory_type(p[matrix.type])
  return ("%s *const %s = (%s *)p.%s + batch * p.stride_%s + %s * p.%s + %s;"):format(T, name or o, T, o, o, row,
    matrix.ld, column)
end

-- The same for D and for those of the others that the kernel reads.
function outputs.pointers(p, row, column)
  local lines = { outputs.pointer(p, "d", row, column) }
  if scalars.reads_c(p) then lines[#lines + 1] = outputs.pointer(p, "c", row, column) end
  if p.residual then lines[#lines + 1] = outputs.pointer(p, "residual", row, column) end
  return lines
end

-- What of D lies from row and column on, where that may be less than a tile.
function outputs.left(p, row, column)
  if p.variant == "full" then return {} end
  return { ("const gg_i64 m_left = p.m - %s;"):format(row), ("const gg_i64 n_left = p.n - %s;"):format(column) }
end

-- v neighbouring accumulators that lie in shared memory: the declaration of words s0 .. for them, their load from
-- offset `from`, and a list of expressions for at.acc of steps.lua.
function outputs.sums(p, v, from)
  local suffix, c_type, n = vectors.words(p.type_acc, v)
  local list = vectors.elements(p.type_acc, v, "s")
  if p.type_acc == "s32" then
    for e = 1, v do list[e] = "(int)" .. list[e] end
  end
  return ("%s %s;"):format(c_type, names.list("s", 0, n - 1)),
    ("gg_lds_%s(%s, %s);"):format(suffix, names.list("&s", 0, n - 1), from), list
end

return outputs
