-- scalars.lua - alpha and beta: read at run time or compiled in; what they mean for loads.

local names = use("names")

local scalars = {}

-- Declarations of alpha, beta and k. With alpha = 0 the product is not computed: A and B stay unread.
function scalars.declare(p)
  local t, lines = p.type_epilogue, {}
  local function add(text) lines[#lines + 1] = text end
  if p.alpha == "any" then
    add(("const %s alpha = p.alpha.%s;"):format(names.c_type(t), t))
    add(("const gg_i64 k = alpha == %s ? 0 : p.k; // alpha = 0: A and B are not read"):format(names.zero(t)))
  else
    add("const gg_i64 k = p.k;")
  end
  if p.beta == "any" then add(("const %s beta = p.beta.%s;"):format(names.c_type(t), t)) end
  return lines
end

-- alpha * x, as an expression.
function scalars.scaled(p, x)
  if p.alpha == "one" then return x end
  return ("gg_mul_%s(alpha, %s)"):format(p.type_epilogue, x)
end

-- x + beta * c, as an expression of names x (already scaled) and c.
function scalars.plus_c(p, x, c)
  if p.beta == "one" then return ("gg_add_%s(%s, %s)"):format(p.type_epilogue, x, c) end
  return ("%s(beta, %s, %s)"):format(names.fma(p.type_epilogue), c, x)
end

-- Condition under which C is read: nil for never, "" for always.
function scalars.reads_c(p)
  if p.beta == "zero" then return nil end
  if p.beta == "one" then return "" end
  return "beta != " .. names.zero(p.type_epilogue)
end

return scalars
