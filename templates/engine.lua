-- engine.lua - turns a template into Lua, runs it on a plan, returns the emitted file.
--
-- A template line that begins with "$" is Lua. Any other line is text in which ${expression} is
-- replaced; a line that is nothing but ${expression} may yield a list of lines, each written with
-- the line's indentation. One template line becomes one Lua line, so error lines stay true.
-- Templates run in a strict environment: an unknown name is an error at the template's own line.

local engine = {}

local modules, templates = {}, {}
local module_environment

local function strict(contents, what)
  return setmetatable(contents, {
    __index = function(_, key) error("unknown " .. what .. " '" .. tostring(key) .. "'", 2) end,
    __newindex = function(_, key) error("assignment to unknown name '" .. tostring(key) .. "'", 2) end,
  })
end

-- Names that modules and templates see. No pairs: nothing is ever emitted in table order.
local base = {
  string = string, table = table, math = math, ipairs = ipairs, select = select, type = type,
  error = error, assert = assert, tostring = tostring, tonumber = tonumber, setmetatable = setmetatable, next = next,
}

function base.use(name)
  if modules[name] == nil then
    local file = name .. ".lua"
    modules[name] = gg_compile(gg_read(file), file, module_environment)()
  end
  return modules[name]
end

module_environment = strict(base, "name")

-- The expression in line that starts after "${" at from: its text and the position after "}".
-- Braces inside quoted strings do not count.
local function expression(line, from, where)
  local depth, quote, at = 1, nil, from
  while at <= #line do
    local c = line:sub(at, at)
    if quote then
      if c == "\\" then at = at + 1 elseif c == quote then quote = nil end
    elseif c == '"' or c == "'" then
      quote = c
    elseif c == "{" then
      depth = depth + 1
    elseif c == "}" then
      depth = depth - 1
      if depth == 0 then return line:sub(from, at - 1), at + 1 end
    end
    at = at + 1
  end
  error(where .. ": '${' without '}'", 0)
end

local function translate_line(line, where)
  if line:sub(1, 1) == "$" and line:sub(2, 2) ~= "{" then return line:sub(2) end
  local indent, rest = line:match("^( *)(.*)$")
  if rest:sub(1, 2) == "${" then
    local inner, after = expression(rest, 3, where)
    if after == #rest + 1 then return ("__block(%q, %s)"):format(indent, inner) end
  end
  local parts, at = {}, 1
  while true do
    local open = line:find("${", at, true)
    if not open then break end
    if open > at then parts[#parts + 1] = ("%q"):format(line:sub(at, open - 1)) end
    local inner
    inner, at = expression(line, open + 2, where)
    parts[#parts + 1] = "(" .. inner .. ")"
  end
  if at <= #line then parts[#parts + 1] = ("%q"):format(line:sub(at)) end
  return "__line(" .. table.concat(parts, ", ") .. ")"
end

local function translate(text, name)
  local out, number = {}, 0
  for line in text:gmatch("([^\n]*)\n") do
    number = number + 1
    out[number] = translate_line(line, name .. ":" .. number)
  end
  return table.concat(out, "\n")
end

local function load_template(name)
  if templates[name] == nil then
    -- On one line with the template's first: lines of messages are the template's.
    local source = "return function(_ENV) " .. translate(gg_read(name), name) .. "\nend"
    templates[name] = gg_compile(source, name, {})()
  end
  return templates[name]
end

-- Runs one template; returns its sections by name: section "x" in a template starts section x.
function engine.run(name, names)
  local sections, current = {}, nil
  local environment = {
    section = function(title)
      current = {}
      sections[title] = current
    end,
    __line = function(...)
      local n = select("#", ...)
      for i = 1, n do
        if select(i, ...) == nil then error("nil value in ${}", 2) end
      end
      current[#current + 1] = n == 1 and (...) or n == 0 and "" or table.concat({ ... })
    end,
    __block = function(indent, value)
      if value == nil then error("nil value in ${}", 2) end
      if type(value) ~= "table" then value = { value } end
      local at = #current
      for i = 1, #value do
        local line = value[i]
        current[at + i] = line == "" and "" or indent .. line
      end
    end,
  }
  for key, value in next, base do environment[key] = value end
  for key, value in next, names do environment[key] = value end
  load_template(name)(strict(environment, "name"))
  return sections
end

-- plan: field -> value; job: what else the header cites. Returns the whole file.
function engine.render(plan, job)
  strict(plan, "plan field")
  strict(job, "job field")
  local sections = engine.run(job.template, { p = plan, job = job })
  local frame = base.use("frame")
  return frame.file(plan, job, sections)
end

return engine
