-- activation.lua - gelu, gelu_tanh and silu as device functions: polynomials spelled in primitives,
-- no libm, so that every compiler gives the same bits. Bounds and their proof: docs/epilogue.md;
-- tests/activation holds them for every float.
--
-- Coefficients are the nearest numbers of the type to those of the best polynomial (Remez exchange
-- in 240 and more bits), constant first; docs/epilogue.md says which error each one minimises.

local activation = {}

-- exp2: (2^f - 1) / f for |f| <= 1/2. log_head + log_tail: log2 e. magic: adding it leaves the
-- nearest whole number in the low bits. limit: 2^-n of exp -limit is still normal. reciprocal: of d
-- in 1 .. 2. edge: beyond it erf(x / sqrt 2) is 1. erf: erf(x / sqrt 2) / x in s = 2 (x / edge)^2 - 1.
local types = {
  f32 = {
    c = "float", fma = "fmaf", suffix = "f", bits = "u32", one = "1.0f", zero = "0.0f", half = "0.5f",
    shift = 23, roundoff = "2^-24", magic = "12582912.0f", limit = "86.5f", reach = "10.0f",
    log_head = "1.44269502f", log_tail = "1.92596303e-08f", newton = 2,
    exp2 = { "0.693147242", "0.240226522", "0.0555031039", "0.00961769279", "0.00134066446", "0.000155946182" },
    reciprocal = { "2.12121773", "-1.4545511", "0.323233575" },
    tanh_linear = "1.59576917f", tanh_cubic = "0.0713548139f",
    edge = "5.4375f", edge_scale = "0.0676443353f",
    erf = {
      "0.260053903", "-0.129781261", "0.0964267105", "-0.0781073794", "0.0642160028", "-0.0517816618", "0.0398380607",
      "-0.0284931231", "0.0197669715", "-0.0140942894", "0.00798257906", "-0.00244784751", "0.00166632363",
      "-0.00228251098", "0.000945617328",
    },
  },
  f64 = {
    c = "double", fma = "fma", suffix = "", bits = "u64", one = "1.0", zero = "0.0", half = "0.5",
    shift = 52, roundoff = "2^-53", magic = "6755399441055744.0", limit = "708.0", reach = "21.0",
    log_head = "1.4426950408889634", log_tail = "2.0355273740931032e-17", newton = 3,
    exp2 = {
      "0.6931471805599457", "0.24022650695910097", "0.05550410866479039", "0.009618129107607003",
      "0.0013333558153439666", "0.00015403530441570593", "1.5252727385452212e-05", "1.3215442676079093e-06",
      "1.0180647556780211e-07", "7.072570300645868e-09", "4.0780874157855424e-10",
    },
    reciprocal = { "2.82842287694974", "-2.9393414211438475", "1.3310225303292894", "-0.2218370883882149" },
    tanh_linear = "1.5957691216057308", tanh_cubic = "0.07135481627260025",
    edge = "8.1875", edge_scale = "0.0298350911951518",
    erf = {
      "0.17272837281044495", "-0.08636416538387917", "0.06477294789178288", "-0.05397647257803953",
      "0.04722529084985719", "-0.042488943610783106", "0.03890960240485712", "-0.0360379424564044",
      "0.033592001081887375", "-0.03136532883783623", "0.029192998994310188", "-0.026945804378297557",
      "0.024537811206074428", "-0.021936655853006776", "0.019169772762700082", "-0.016317784516198395",
      "0.013486869479953279", "-0.010789600925061957", "0.008360162899289324", "-0.006301078843803739",
      "0.00456524201120266", "-0.0031027694370826544", "0.0020879095966957134", "-0.001526575255545398",
      "0.0009788106070128034", "-0.00037320097948394514", "0.00020205133295746894", "-0.0003502535697452987",
      "0.0002119968107482021", "6.73472770797604e-05", "-4.68355538013366e-05", "-7.732267398250184e-05",
      "4.33779262433704e-05", "1.7432728762322378e-05", "-9.550247888872555e-06", "-4.458818048147389e-06",
      "2.149827182609856e-06",
    },
  },
}

-- Lines of Horner's rule: y = c0 + x (c1 + x (...)).
local function polynomial(lines, t, y, x, coefficients)
  lines[#lines + 1] = ("  %s %s = %s%s;"):format(t.c, y, coefficients[#coefficients], t.suffix)
  for i = #coefficients - 1, 1, -1 do
    lines[#lines + 1] = ("  %s = %s(%s, %s, %s%s);"):format(y, t.fma, y, x, coefficients[i], t.suffix)
  end
end

-- Adds text in which @name stands for what the type has of that name, else for a primitive.
local function add(lines, dtype, text)
  local t = types[dtype]
  text = text:gsub("@([%l_]+)", function(name)
    if t[name] == nil then return ("gg_%s_%s"):format(name, dtype) end
    return t[name]
  end)
  for line in text:gmatch("[^\n]+") do lines[#lines + 1] = "  " .. line end
end

-- Lines that leave e = exp(-w) of a w in 0 .. limit, and r = 1 / (1 + e).
local function sigmoid(lines, dtype)
  local t = types[dtype]
  add(lines, dtype, [[
// e = exp(-w) = 2^n 2^f: n whole, in the low bits of turns; |f| <= 1/2
const @c turns = @fma(w, -@log_head, @magic);
const @c n = @add(turns, -@magic);
@c f = @fma(w, -@log_head, -n);
f = @fma(w, -@log_tail, f);]])
  local exp2 = { "1.0", table.unpack(t.exp2) }
  polynomial(lines, t, "e", "f", exp2)
  lines[#lines + 1] = ("  e = gg_as_%s(gg_as_%s(e) + (gg_as_%s(turns) << %d));"):format(dtype, t.bits, t.bits, t.shift)
  add(lines, dtype, [[
// r = 1 / d: a polynomial, then Newton's iteration
const @c d = @add(@one, e);]])
  polynomial(lines, t, "r", "d", t.reciprocal)
  for _ = 1, t.newton do add(lines, dtype, "r = @fma(r, @fma(-d, r, @one), r);") end
end

local bodies = {}

function bodies.silu(lines, dtype)
  add(lines, dtype, "const @c w = @min(@abs(x), @limit);")
  sigmoid(lines, dtype)
  add(lines, dtype, [[
const @c q = x < @zero ? @mul(x, e) : x;
return x < -@limit ? @zero : @mul(q, r);]])
end

function bodies.gelu_tanh(lines, dtype)
  add(lines, dtype, [[
// w = 2 sqrt(2 / pi) (|x| + 0.044715 |x|^3): tanh(w / 2) = 2 / (1 + exp -w) - 1
const @c a = @min(@abs(x), @reach);
const @c u = @mul(a, @fma(@mul(a, a), @tanh_cubic, @tanh_linear));
const @c w = @min(u, @limit);]])
  sigmoid(lines, dtype)
  add(lines, dtype, [[
const @c q = x < @zero ? @mul(x, e) : x;
return x < -@reach ? @zero : @mul(q, r);]])
end

function bodies.gelu(lines, dtype)
  local t = types[dtype]
  add(lines, dtype, [[
const @c low = x < -@edge ? -@edge : x; // NaN stays
const @c a = @min(low, @edge);
const @c s = @fma(@mul(a, a), @edge_scale, -@one);]])
  polynomial(lines, t, "q", "s", t.erf)
  add(lines, dtype, [[
const @c e = @max(@min(@mul(a, q), @one), -@one); // erf(x / sqrt 2)
const @c h = @mul(@half, low);
return @fma(h, e, h);]])
end

local formulas = {
  silu = "x / (1 + exp -x)",
  gelu = "x/2 (1 + erf(x / sqrt 2))",
  gelu_tanh = "x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))",
}

-- The text of one function; nothing for relu and none, which need none.
function activation.lines(name, dtype)
  if bodies[name] == nil then return {} end
  local t = types[dtype]
  local lines = {
    ("// %s; |error| <= 3 * %s |x|"):format(formulas[name], t.roundoff),
    ("static __device__ __forceinline__ %s %s(%s x) {"):format(t.c, name, t.c),
  }
  bodies[name](lines, dtype)
  lines[#lines + 1] = "}"
  lines[#lines + 1] = ""
  return lines
end

return activation
