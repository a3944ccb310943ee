/* script_globals.c - the names that scripts see.
 *
 * Invariant of a spec's state: no library table but math is reachable, strings have no metatable,
 * and no name leads to code that runs long without counting steps or swallows an error. Names are
 * an allow-list: what a later Lua adds stays out.
 */
#include "script_globals.h"
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

/* Numbers, strings and booleans only: a table's text would be its address, another each run. */
static int spec_tostring(lua_State *L) {
  int type = lua_type(L, 1);
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN)
    return luaL_error(L, "tostring takes a number, a string or a boolean, not a %s",
                      luaL_typename(L, 1));
  luaL_tolstring(L, 1, NULL);
  return 1;
}

static int spec_error(lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING)
    return luaL_error(L, "error takes a string, not a %s", luaL_typename(L, 1));
  int level = lua_type(L, 2) == LUA_TNUMBER ? (int)luaL_checknumber(L, 2) : 1;
  lua_settop(L, 1);
  if (level > 0 && level < 100) {
    luaL_where(L, level);
    lua_pushvalue(L, 1);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* __index of the globals: a forgotten quote must not pass as a field left out. */
static int unknown_name(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  static const char *const absent[] = {
      "assert", "collectgarbage", "coroutine",    "debug",    "dofile",  "getmetatable",
      "io",     "load",           "loadfile",     "next",     "os",      "package",
      "pairs",  "pcall",          "print",        "rawequal", "rawget",  "rawlen",
      "rawset", "require",        "select",       "string",   "table",   "utf8",
      "xpcall", "loadstring",     "setmetatable", "_G",       "_VERSION"};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; ++i)
    if (strcmp(name, absent[i]) == 0)
      return luaL_error(L,
                        "'%s' is not available in a spec; it has gpu, gemm, sweep, ipairs, type, "
                        "error, tostring, tonumber and math",
                        name);
  return luaL_error(L, "unknown name '%s'; write \"%s\" in quotes if it is a value", name, name);
}

static void copy_names(lua_State *L, int from, int to, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    lua_getfield(L, from, names[i]);
    lua_setfield(L, to, names[i]);
  }
}

static void call_opener(lua_State *L, lua_CFunction open, const char *name) {
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
}

int script_open_spec(lua_State *L) {
  static const char *const base[] = {"ipairs", "type", "tonumber"};
  static const char *const math[] = {
      "abs",  "acos", "asin", "atan",      "ceil",       "cos",  "deg", "exp",        "floor",
      "fmod", "huge", "log",  "max",       "maxinteger", "min",  "pi",  "mininteger", "modf",
      "rad",  "sin",  "sqrt", "tointeger", "tan",        "type", "ult"};
  lua_createtable(L, 0, 16); /* the new globals */
  int names = lua_gettop(L);
  call_opener(L, luaopen_base, LUA_GNAME); /* into the old globals, which go away below */
  copy_names(L, lua_gettop(L), names, base, sizeof base / sizeof *base);
  lua_pop(L, 1);
  call_opener(L, luaopen_math, LUA_MATHLIBNAME);
  lua_createtable(L, 0, sizeof math / sizeof *math);
  copy_names(L, lua_gettop(L) - 1, lua_gettop(L), math, sizeof math / sizeof *math);
  lua_setfield(L, names, "math");
  lua_pop(L, 1);
  lua_pushcfunction(L, spec_tostring);
  lua_setfield(L, names, "tostring");
  lua_pushcfunction(L, spec_error);
  lua_setfield(L, names, "error");
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, unknown_name);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, names);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  return 0;
}

int script_open_template(lua_State *L) {
  static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                       {LUA_STRLIBNAME, luaopen_string},
                                       {LUA_TABLIBNAME, luaopen_table},
                                       {LUA_MATHLIBNAME, luaopen_math}};
  static const char *const removed[] = {"dofile", "load", "loadfile", "print", "collectgarbage"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
  for (size_t i = 0; i < sizeof removed / sizeof *removed; ++i) {
    lua_pushnil(L);
    lua_setglobal(L, removed[i]);
  }
  lua_getglobal(L, LUA_MATHLIBNAME);
  lua_pushnil(L);
  lua_setfield(L, -2, "random");
  lua_pushnil(L);
  lua_setfield(L, -2, "randomseed");
  lua_pop(L, 1);
  return 0;
}
