-- primitives_numbers.lua - arithmetic that never fuses, bits, and conversions between number formats
-- (docs/primitives.md). Where an architecture lacks an instruction, the same bits are formed without.

-- static __device__ __forceinline__ RESULT gg_NAME(PARAMETERS) with one asm statement.
local function instruction(result, name, parameters, asm, constraints)
  local output, inputs = constraints:match("^(%S+) *(.*)$")
  return ([[
static __device__ __forceinline__ %s %s(%s) {
  %s d;
  asm("%s" : "=%s"(d) : %s);
  return d;
}]]):format(result, name, parameters, result, asm, output, inputs)
end

local function floats(define)
  for _, t in ipairs {
    { name = "f32", c = "float", k = "f", bits = "u32", word = "unsigned", r = "r", size = 32 },
    { name = "f64", c = "double", k = "d", bits = "u64", word = "gg_u64", r = "l", size = 64 },
  } do
    local two, c = ("%s a, %s b"):format(t.c, t.c), t.c
    for _, op in ipairs { "mul", "add", "min", "max" } do
      local name = ("gg_%s_%s"):format(op, t.name)
      local rounded = (op == "mul" or op == "add") and ".rn" or ""
      define(name, {}, instruction(c, name, two, ("%s%s.%s %%0, %%1, %%2;"):format(op, rounded, t.name),
        ('%s "%s"(a), "%s"(b)'):format(t.k, t.k, t.k)))
    end
    define("gg_abs_" .. t.name, {}, instruction(c, "gg_abs_" .. t.name, c .. " x", ("abs.%s %%0, %%1;"):format(t.name),
      ('%s "%s"(x)'):format(t.k, t.k)))
    define("gg_as_" .. t.bits, {}, instruction(t.word, "gg_as_" .. t.bits, c .. " x",
      ("mov.b%d %%0, %%1;"):format(t.size), ('%s "%s"(x)'):format(t.r, t.k)))
    define("gg_as_" .. t.name, {}, instruction(c, "gg_as_" .. t.name, t.word .. " x",
      ("mov.b%d %%0, %%1;"):format(t.size), ('%s "%s"(x)'):format(t.k, t.r)))
  end
end

-- Whole numbers wrap.
local function integers(define)
  for _, op in ipairs { { "mul", "mul.lo" }, { "add", "add" } } do
    local name = ("gg_%s_s32"):format(op[1])
    define(name, {}, instruction("int", name, "int a, int b", op[2] .. ".s32 %0, %1, %2;", 'r "r"(a), "r"(b)'))
  end
  define("gg_mad_s32", {}, instruction("int", "gg_mad_s32", "int a, int b, int c", "mad.lo.s32 %0, %1, %2, %3;",
    'r "r"(a), "r"(b), "r"(c)'))
  define("gg_max_u32", {}, instruction("unsigned", "gg_max_u32", "unsigned a, unsigned b", "max.u32 %0, %1, %2;",
    'r "r"(a), "r"(b)'))
  define("gg_cvt_s8", {}, instruction("int", "gg_cvt_s8", "float x", "cvt.rni.sat.s8.f32 %0, %1;", 'r "f"(x)'))
  define("gg_cvt_u8", {}, instruction("int", "gg_cvt_u8", "float x", "cvt.rni.sat.u8.f32 %0, %1;", 'r "f"(x)'))
  define("gg_cvt_s32", {}, instruction("int", "gg_cvt_s32", "float x", "cvt.rni.s32.f32 %0, %1;", 'r "f"(x)'))
  define("gg_f32_from_s32", {}, instruction("float", "gg_f32_from_s32", "int x", "cvt.rn.f32.s32 %0, %1;", 'f "r"(x)'))
  define("gg_f32_from_f64", {}, instruction("float", "gg_f32_from_f64", "double x", "cvt.rn.f32.f64 %0, %1;",
    'f "d"(x)'))
end

local function halves(define)
  local short = "unsigned short"
  define("gg_f32_from_f16", {}, instruction("float", "gg_f32_from_f16", short .. " x", "cvt.f32.f16 %0, %1;",
    'f "h"(x)'))
  define("gg_f32_from_bf16", {}, instruction("float", "gg_f32_from_bf16", short .. " x", "mov.b32 %0, {0, %1};",
    'f "h"(x)'))
  define("gg_cvt_f16", {}, instruction(short, "gg_cvt_f16", "float x", "cvt.rn.f16.f32 %0, %1;", 'h "f"(x)'))
  define("gg_cvt_bf16", {}, instruction(short, "gg_cvt_bf16", "float x", "cvt.rn.bf16.f32 %0, %1;", 'h "f"(x)'), {
    arch = 80,
    uses = { "gg_as_u32" },
    text = [[
// To nearest even, by adding a half less one bit, and that bit where the last one kept is odd.
static __device__ __forceinline__ unsigned short gg_cvt_bf16(float x) {
  const unsigned u = gg_as_u32(x);
  return (unsigned short)(x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}]],
  })
  for _, t in ipairs { "f16", "bf16" } do
    local name = ("gg_cvt_%sx2"):format(t)
    local asm = ("cvt.rn.%sx2.f32 %%0, %%1, %%2;"):format(t)
    define(name, {}, instruction("unsigned", name, "float low, float high", asm, 'r "f"(high), "f"(low)'), {
      arch = 80,
      uses = { "gg_cvt_" .. t },
      text = ([[
static __device__ __forceinline__ unsigned %s(float low, float high) {
  return gg_cvt_%s(low) | (unsigned)gg_cvt_%s(high) << 16;
}]]):format(name, t, t),
    })
  end
end

-- e4m3 and e5m2. Older cards: numbers below the least normal one are rounded by adding a number whose
-- last place is theirs, the others as bf16 is.
local function bytes(define)
  for _, t in ipairs {
    { name = "e4m3", drop = 20, most = "448.0f", normal = "0.015625f", step = "16384.0f", bias = "(127 - 7) << 3" },
    { name = "e5m2", drop = 21, most = "57344.0f", normal = "6.103515625e-05f", step = "128.0f",
      bias = "(127 - 15) << 2" },
  } do
    local name = t.name
    define("gg_cvt_" .. name, {}, ([[
static __device__ __forceinline__ unsigned char gg_cvt_%s(float x) {
  unsigned short y;
  asm("cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;" : "=h"(y) : "f"(0.0f), "f"(x));
  return (unsigned char)y;
}]]):format(name, name), {
      arch = 89,
      uses = { "gg_as_u32", "gg_as_f32", "gg_add_f32", "gg_min_f32" },
      text = ([[
static __device__ __forceinline__ unsigned char gg_cvt_%s(float x) {
  const unsigned sign = gg_as_u32(x) >> 24 & 0x80;
  const float a = gg_min_f32(gg_as_f32(gg_as_u32(x) & 0x7fffffff), %s);
  const unsigned u = gg_as_u32(a);
  const unsigned small = gg_as_u32(gg_add_f32(a, %s)) - gg_as_u32(%s);
  const unsigned normal = ((u + 0x%x + (u >> %d & 1)) >> %d) - (%s);
  return (unsigned char)(x != x ? 0x7f : sign | (a < %s ? small : normal));
}]]):format(name, t.most, t.step, t.step, (1 << t.drop - 1) - 1, t.drop, t.drop, t.bias, t.normal),
    })
    define(("gg_cvt_%sx2"):format(name), {}, ([[
static __device__ __forceinline__ unsigned short gg_cvt_%sx2(float low, float high) {
  unsigned short y;
  asm("cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;" : "=h"(y) : "f"(high), "f"(low));
  return y;
}]]):format(name, name), {
      arch = 89,
      uses = { "gg_cvt_" .. name },
      text = ([[
static __device__ __forceinline__ unsigned short gg_cvt_%sx2(float low, float high) {
  return (unsigned short)(gg_cvt_%s(low) | gg_cvt_%s(high) << 8);
}]]):format(name, name, name),
    })
    define("gg_f32_from_" .. name, { "gg_f32_from_f16" }, ([[
static __device__ __forceinline__ float gg_f32_from_%s(unsigned x) {
  unsigned y;
  asm("cvt.rn.f16x2.%sx2 %%0, %%1;" : "=r"(y) : "h"((unsigned short)(x & 0xff)));
  return gg_f32_from_f16((unsigned short)y);
}]]):format(name, name), name == "e5m2" and {
      arch = 89,
      uses = { "gg_f32_from_f16" },
      text = [[
// The upper half of an f16.
static __device__ __forceinline__ float gg_f32_from_e5m2(unsigned x) {
  return gg_f32_from_f16((unsigned short)(x << 8));
}]],
    } or {
      arch = 89,
      uses = { "gg_as_f32", "gg_as_u32", "gg_mul_f32" },
      text = [[
// Its bits where those of an f32 lie, and 2^(127 - 7) for the other bias: exact, subnormals too.
static __device__ __forceinline__ float gg_f32_from_e4m3(unsigned x) {
  const float size = gg_mul_f32(gg_as_f32((x & 0x7f) << 20), 1.329227995784916e+36f);
  const unsigned magnitude = (x & 0x7f) == 0x7f ? 0x7fffffff : gg_as_u32(size);
  return gg_as_f32(magnitude | (x & 0x80) << 24);
}]],
    })
  end
end

local function warps(define)
  define("gg_redux_max_u32", {}, [[
static __device__ __forceinline__ unsigned gg_redux_max_u32(unsigned x) {
  unsigned y;
  asm volatile("redux.sync.max.u32 %0, %1, -1;" : "=r"(y) : "r"(x));
  return y;
}]], {
    arch = 80,
    uses = { "gg_max_u32" },
    text = [[
static __device__ __forceinline__ unsigned gg_redux_max_u32(unsigned x) {
  unsigned y;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(y) : "r"(x), "r"(lanes));
    x = gg_max_u32(x, y);
  }
  return x;
}]],
  })
  define("gg_red_max_u32", {}, [[
static __device__ __forceinline__ void gg_red_max_u32(unsigned *p, unsigned x) {
  asm volatile("red.global.max.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
}]])
end

return function(define)
  floats(define)
  integers(define)
  halves(define)
  bytes(define)
  warps(define)
end
