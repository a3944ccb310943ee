-- steps.lua - the epilogue's steps between an accumulator and D, for every family. Their order and
-- meaning stand in runtime/gg_kernel.h, their precision in docs/epilogue.md.
--
-- How a family uses it (E is p.type_epilogue, the type that the steps are computed in):
--   steps.functions(p)       device functions that stand before the kernel; frame.signature writes them
--   scalars.declare(p)       alpha, beta and k, at the kernel's start, as ever
--   steps.declare(p)         once a thread, before its first tile: scales of "tensor", absmax
--   steps.row(p, i, row, guard), steps.column(p, j, column, guard)
--                            for each row and column of D that a thread owns, inside the tile (`batch`
--                            is known): loads what belongs to it. i and j are suffixes of the names
--                            (numbers, or "" where there is one); row and column are expressions of
--                            D's row and column; guard, if not nil, is the condition under which they
--                            lie in D: without it nothing is loaded
--   steps.has_rows(p), steps.has_columns(p)   whether these yield anything
--   steps.element(p, x, at)  lines that leave in x, a variable of E, what D is before it is rounded.
--                            at.acc: the accumulator, of type at.acc_type, p.type_acc if left out (f16: low
--                            half of an integer); without at.acc it is x. at.row, at.column: the suffixes.
--                            at.c, at.residual: expressions of C's and the residual's element in memory,
--                            given where they are read. at.inside: the condition under which x is an
--                            element of D, where it may be none: absmax must not see what a bias made of
--                            a guard's zeros
--   steps.scaled, steps.plus_c, steps.rest   the three parts of steps.element, where C is read under a
--                            condition and the other steps should not stand in the text twice
--   names.narrowed(p.type_d, x, p.type_epilogue)   x as D's element
--   steps.finish(p)          once a thread, after its last tile, by whole warps: absmax reaches memory
-- When is what read? C: scalars.reads_c(p), as ever. The residual: always, by gg_ld (it may be D),
-- from (const T *)p.residual + batch * p.stride_residual + row * p.ld_residual + column; T is D's type.
-- Its alignment is that which the row asks of D; of bias and scales only that of an element is known.
-- Scales of "group" and "block" belong to the main loop, which sums 128 of k at a time:
--   steps.has_parts(p)       whether it must
--   steps.part_scale(p, kb, row, column)   lines that declare scale: the factor of k block kb; kb, row
--                            and column are names or in parentheses
-- and adds part * scale to the accumulator by one FMA in E.

local activation = use("activation")
local names = use("names")
local scalars = use("scalars")

local steps = {}

local function epilogue_type(p) return names.c_type(p.type_epilogue) end

-- The bias is of D's type where that is a float of 16 bits or more, else f32.
local function bias_type(p)
  local t = p.type_d
  return (t == "f64" or t == "f16" or t == "bf16") and t or "f32"
end

-- Lines that declare `name` of E, loaded from `address` (elements of dtype) where guard holds.
local function load(p, name, dtype, address, guard)
  local E, lines = epilogue_type(p), {}
  local raw = dtype == p.type_epilogue and name or name .. "_raw"
  local condition = guard and ("if (%s) "):format(guard) or ""
  lines[1] = ("%s %s%s;"):format(names.memory_type(dtype), raw, guard and " = " .. names.memory_zero(dtype) or "")
  lines[2] = ("%sgg_ldg_%s(&%s, %s);"):format(condition, names.memory_name(dtype), raw, address)
  if raw ~= name then
    lines[3] = ("const %s %s = %s;"):format(E, name, names.widened(dtype, raw, p.type_epilogue))
  end
  return lines
end

local function pointer(dtype, operand) return ("(const %s *)p.%s"):format(names.memory_type(dtype), operand) end

local function by_block(scaling) return scaling == "group" or scaling == "block" end

function steps.has_parts(p) return by_block(p.scale_a) or by_block(p.scale_b) end
function steps.has_rows(p) return p.bias == "m" or p.scale_a == "vector" end
function steps.has_columns(p) return p.bias == "n" or p.scale_b == "vector" end

-- Anything besides alpha and beta after the last k?
function steps.any(p)
  return p.bias ~= "none" or p.activation ~= "none" or p.residual or p.absmax or p.scale_d ~= "none"
    or p.scale_a ~= "none" or p.scale_b ~= "none"
end

-- "D = alpha * acc + beta * C", with what else there is: the epilogue in one line.
function steps.formula(p)
  local acc = { "acc" }
  for _, o in ipairs { "a", "b" } do
    local scaling = p["scale_" .. o]
    if scaling == "tensor" or scaling == "vector" then acc[#acc + 1] = "scale_" .. o end
  end
  local text = ("alpha * %s + beta * C"):format(table.concat(acc, " * "))
  if p.bias ~= "none" then text = text .. " + bias" end
  if p.activation ~= "none" then text = ("%s(%s)"):format(p.activation, text) end
  if p.residual then text = text .. " + residual" end
  if p.scale_d ~= "none" then
    text = (p.residual or p.activation == "none") and ("(%s) * scale_d"):format(text) or text .. " * scale_d"
  end
  return "D = " .. text .. (p.absmax and "; absmax of what scale_d multiplies" or "")
end

function steps.functions(p) return activation.lines(p.activation, p.type_epilogue) end

function steps.declare(p)
  local lines = {}
  for _, o in ipairs { "a", "b", "d" } do
    if p["scale_" .. o] == "tensor" then
      names.append(lines, load(p, "scale_" .. o, "f32", pointer("f32", "scale_" .. o)))
    end
  end
  if p.absmax then
    lines[#lines + 1] = "unsigned absmax = 0; // bits of the largest |x| so far; those of NaN are larger"
  end
  return lines
end

function steps.row(p, i, row, guard)
  local lines = {}
  if p.scale_a == "vector" then
    names.append(lines, load(p, "scale_a" .. i, "f32", ("%s + batch * p.m + %s"):format(pointer("f32", "scale_a"), row),
      guard))
  end
  if p.bias == "m" then
    local t = bias_type(p)
    names.append(lines, load(p, "bias" .. i, t, ("%s + batch * p.stride_bias + %s"):format(pointer(t, "bias"), row),
      guard))
  end
  return lines
end

function steps.column(p, j, column, guard)
  local lines = {}
  if p.scale_b == "vector" then
    names.append(lines, load(p, "scale_b" .. j, "f32",
      ("%s + batch * p.n + %s"):format(pointer("f32", "scale_b"), column), guard))
  end
  if p.bias == "n" then
    local t = bias_type(p)
    names.append(lines, load(p, "bias" .. j, t, ("%s + batch * p.stride_bias + %s"):format(pointer(t, "bias"), column),
      guard))
  end
  return lines
end

-- Scales lie k block after k block, and matrix after matrix.
function steps.part_scale(p, kb, row, column)
  local lines, factors = {}, {}
  for _, o in ipairs { "a", "b" } do
    local scaling, extent = p["scale_" .. o], o == "a" and "p.m" or "p.n"
    if by_block(scaling) then
      local index = o == "a" and row or column
      if scaling == "block" then extent, index = ("((%s + 127) / 128)"):format(extent), ("%s / 128"):format(index) end
      names.append(lines, load(p, "scale_" .. o, "f32", ("%s + (batch * ((p.k + 127) / 128) + %s) * %s + %s"):format(
        pointer("f32", "scale_" .. o), kb, extent, index)))
      factors[#factors + 1] = "scale_" .. o
    end
  end
  local product = #factors == 1 and factors[1] or ("gg_mul_%s(%s, %s)"):format(p.type_epilogue, factors[1], factors[2])
  lines[#lines + 1] = ("const %s scale = %s;"):format(epilogue_type(p), product)
  return lines
end

-- The accumulator times the scales that hold for all of k.
local function scaled(p, x, at)
  local t = p.type_epilogue
  for _, o in ipairs { "a", "b" } do
    local scaling, suffix = p["scale_" .. o], o == "a" and at.row or at.column
    if scaling == "tensor" or scaling == "vector" then
      x = ("gg_mul_%s(%s, scale_%s%s)"):format(t, x, o, scaling == "vector" and suffix or "")
    end
  end
  return x
end

local function magnitude(p, x)
  local single = p.type_epilogue == "f64" and ("gg_f32_from_f64(%s)"):format(x) or x
  return ("gg_as_u32(%s) & 0x7fffffffu"):format(single)
end

-- acc * scales * alpha, as an expression.
function steps.scaled(p, x, at)
  local t = p.type_epilogue
  local acc = at.acc and names.from_accumulator(at.acc_type or p.type_acc, at.acc, t) or x
  return scalars.scaled(p, scaled(p, acc, at))
end

-- x + beta * C, as an expression; c is C's element in memory.
function steps.plus_c(p, x, c) return scalars.plus_c(p, x, names.widened(p.type_c, c, p.type_epilogue)) end

-- The steps behind C.
function steps.rest(p, x, at)
  local t, lines = p.type_epilogue, {}
  local function set(format, ...) lines[#lines + 1] = ("%s = %s;"):format(x, format:format(...)) end
  if p.bias ~= "none" then set("gg_add_%s(%s, bias%s)", t, x, p.bias == "n" and at.column or at.row) end
  if p.activation == "relu" then
    set("%s < %s ? %s : %s", x, names.zero(t), names.zero(t), x) -- NaN stays
  elseif p.activation ~= "none" then
    set("%s(%s)", p.activation, x)
  end
  if p.residual then set("gg_add_%s(%s, %s)", t, x, names.widened(p.type_d, at.residual, t)) end
  if p.absmax then
    local condition = at.inside and ("if (%s) "):format(at.inside) or ""
    lines[#lines + 1] = ("%sabsmax = gg_max_u32(absmax, %s);"):format(condition, magnitude(p, x))
  end
  if p.scale_d == "tensor" then set("gg_mul_%s(%s, scale_d)", t, x) end
  return lines
end

function steps.element(p, x, at)
  local value, lines = steps.scaled(p, x, at), {}
  if at.c then value = steps.plus_c(p, value, at.c) end
  if value ~= x then lines[1] = ("%s = %s;"):format(x, value) end
  return names.append(lines, steps.rest(p, x, at))
end

-- The warp's largest, then one atomic maximum: bits of floats that are not negative keep their order.
function steps.finish(p)
  if not p.absmax then return {} end
  return {
    "absmax = gg_redux_max_u32(absmax);",
    "if (threadIdx.x % 32 == 0) gg_red_max_u32((unsigned *)p.absmax, absmax);",
  }
end

return steps
