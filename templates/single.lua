-- single.lua - the epilogue of families with one output a thread (naive, smem).

local names = use("names")
local scalars = use("scalars")
local steps = use("steps")

local single = {}

-- Must threads outside D stay to the end? The reduction of absmax takes whole warps.
function single.all_stay(p) return p.absmax and p.variant ~= "full" end

local function inside(row, column) return ("%s < p.m && %s < p.n"):format(row, column) end

-- Lines that let threads outside D go, if they may.
function single.leave(p, row, column)
  if p.variant == "full" or single.all_stay(p) then return {} end
  return { ("if (%s >= p.m || %s >= p.n) return;"):format(row, column) }
end

-- What follows the sum: acc is the accumulator, of acc_type; row and column name the output's place. guard: the
-- condition under which the thread has one; nil: it has, unless it had to stay.
function single.epilogue(p, acc, acc_type, row, column, guard)
  guard = guard or single.all_stay(p) and inside(row, column)
  local lines, indent = {}, ""
  local function add(text) lines[#lines + 1] = indent .. text end
  local function each(list)
    for _, line in ipairs(list) do add(line) end
  end
  local function load(name, operand, stride, ld, dtype)
    local T = names.memory_type(dtype)
    add(("%s %s;"):format(T, name))
    add(("gg_ld_%s(&%s, (const %s *)p.%s + batch * p.%s + %s * p.%s + %s);"):format(names.memory_name(dtype), name, T,
      operand, stride, row, ld, column))
  end
  each(steps.declare(p))
  if guard then
    add(("if (%s) {"):format(guard))
    indent = "  "
  end
  each(steps.row(p, "", row))
  each(steps.column(p, "", column))
  local at = { acc = acc, acc_type = acc_type, row = "", column = "", c = "c", residual = "residual" }
  add(("%s x = %s;"):format(names.c_type(p.type_epilogue), steps.scaled(p, "x", at)))
  local reads = scalars.reads_c(p)
  if reads then
    local outer = indent
    add(reads == "" and "{" or "if (" .. reads .. ") {")
    indent = outer .. "  "
    load("c", "c", "stride_c", "ldc", p.type_c)
    add(("x = %s;"):format(steps.plus_c(p, "x", "c")))
    indent = outer
    add("}")
  end
  if p.residual then load("residual", "residual", "stride_residual", "ld_residual", p.type_d) end
  each(steps.rest(p, "x", at))
  add(("gg_st_%s((%s *)p.d + batch * p.stride_d + %s * p.ldd + %s, %s);"):format(names.memory_name(p.type_d),
    names.memory_type(p.type_d), row, column, names.narrowed(p.type_d, "x", p.type_epilogue)))
  indent = ""
  if guard then add("}") end
  each(steps.finish(p))
  return lines
end

return single
