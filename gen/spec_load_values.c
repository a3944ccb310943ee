/* spec_load_values.c - untrusted Lua values, looked at without changing or running anything.
 *
 * Only raw access: a spec has no metatables, and nothing here depends on that.
 */
#include "spec_load_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

table_shape spec_load_shape(lua_State *L, int idx, const char **keys, size_t max, size_t *count) {
  size_t strings = 0, others = 0, whole = 0;
  lua_Integer largest = 0;
  idx = lua_absindex(L, idx);
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) {
      size_t size;
      const char *key = lua_tolstring(L, -1, &size);
      if (strlen(key) != size) ++others; /* a zero byte: no name looks like that */
      if (keys && strings < max) keys[strings] = key;
      ++strings;
    } else if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1) {
      ++whole;
      if (lua_tointeger(L, -1) > largest) largest = lua_tointeger(L, -1);
    } else {
      ++others;
    }
  }
  *count = strings ? strings : whole;
  if (!strings && !others && !whole) return TABLE_EMPTY;
  if (!strings && !others) return (lua_Integer)whole == largest ? TABLE_LIST : TABLE_MIXED;
  if (whole || others || (keys && strings > max)) return TABLE_MIXED;
  if (keys) qsort(keys, strings, sizeof *keys, by_text);
  return TABLE_RECORD;
}

const char *spec_load_show(lua_State *L, int idx, char scratch[80]) {
  switch (lua_type(L, idx)) {
  case LUA_TSTRING: {
    const char *text = lua_tostring(L, idx);
    snprintf(scratch, 80, strlen(text) > 40 ? "\"%.40s...\"" : "\"%.40s\"", text);
    return scratch;
  }
  case LUA_TNUMBER:
    if (lua_isinteger(L, idx)) {
      snprintf(scratch, 80, "%lld", (long long)lua_tointeger(L, idx));
    } else {
      double x = lua_tonumber(L, idx);
      if (isnan(x)) return "nan"; /* its sign differs between machines */
      snprintf(scratch, 80, "%.14g", x);
    }
    return scratch;
  case LUA_TBOOLEAN:
    return lua_toboolean(L, idx) ? "true" : "false";
  case LUA_TNIL:
    return "nothing";
  default:
    snprintf(scratch, 80, "a %s", lua_typename(L, lua_type(L, idx)));
    return scratch;
  }
}

bool spec_load_integer(lua_State *L, int idx, int low, int high, int *out, char why[160],
                       const char **code) {
  char shown[80];
  spec_load_show(L, idx, shown);
  if (lua_type(L, idx) != LUA_TNUMBER) {
    *code = "wrong-type";
    snprintf(why, 160, "%s where a number belongs; use %d to %d", spec_load_show(L, idx, shown),
             low, high);
    return false;
  }
  double x = lua_tonumber(L, idx);
  if (!lua_isinteger(L, idx) && !(floor(x) == x && isfinite(x))) {
    *code = "not-integer";
    snprintf(why, 160, "%s is not a whole number; use %d to %d", spec_load_show(L, idx, shown), low,
             high);
    return false;
  }
  if (!(x >= low && x <= high)) {
    *code = "out-of-range";
    snprintf(why, 160, "%s is out of range; use %d to %d", spec_load_show(L, idx, shown), low,
             high);
    return false;
  }
  *out = (int)x;
  return true;
}
