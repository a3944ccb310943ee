/* spec_load_fields.c - the table of a gemm or sweep -> every combination of values it asks for.
 *
 * A value stands at a path ("tile.m") that names one field, or at one that is the beginning of
 * several ("tile"). Each value gives a list of alternatives; a record is the cross product of its
 * keys' lists, a list the concatenation of its items'. Keys are taken in the order of the fields,
 * the first varies slowest, so the points' order does not depend on Lua's.
 *
 * Invariant: no list is longer than SPEC_MAX_POINTS, and a wrong value counts as one alternative
 * that sets nothing, so that all of a call's errors are found.
 */
#include "nearest.h"
#include "spec_load_parts.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 64, MAX_PATH = 128 };

/* Where a value stands. place has the indices that field has not: "tile[2].m" and "tile.m". */
typedef struct path {
  char field[MAX_PATH];
  char place[MAX_PATH];
} path;

static bool read_value(spec_loader *l, lua_State *L, int idx, const path *at, bool in_list,
                       point_list *out);

/* -- Names ---------------------------------------------------------------------------------- */

static int field_named(const char *name) {
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f)
    if (strcmp(spec_field_name((spec_field)f), name) == 0) return f;
  return -1;
}

/* First field below a path: "tile" -> TILE_M; -1 if the path has nothing below. */
static int first_below(const char *name) {
  size_t size = strlen(name);
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    const char *field = spec_field_name((spec_field)f);
    if (size == 0 || (strncmp(field, name, size) == 0 && field[size] == '.')) return f;
  }
  return -1;
}

/* Distinct names of the next level below a path, in the order of the fields. */
static size_t names_below(const char *name, char (*out)[32], size_t max) {
  size_t size = strlen(name), count = 0;
  for (int f = 0; f < SPEC_FIELD_COUNT && count < max; ++f) {
    const char *field = spec_field_name((spec_field)f);
    if (size && !(strncmp(field, name, size) == 0 && field[size] == '.')) continue;
    const char *next = field + size + (size ? 1 : 0);
    snprintf(out[count], 32, "%.*s", (int)strcspn(next, "."), next);
    if (!count || strcmp(out[count - 1], out[count]) != 0) ++count;
  }
  return count;
}

static void unknown_field(spec_loader *l, const path *parent, const path *at, const char *key) {
  char names[MAX_KEYS][32];
  const char *pointers[MAX_KEYS + 1];
  size_t count = names_below(parent->field, names, MAX_KEYS);
  for (size_t i = 0; i < count; ++i)
    pointers[i] = names[i];
  size_t known = count;
  if (!parent->field[0]) pointers[count++] = "allow";
  const char *near = nearest_name(key, pointers, count);
  if (near) {
    spec_load_error(l, at->place, "unknown-field", "unknown field '%.40s'; did you mean '%s%s%s'?",
                    key, parent->field, parent->field[0] ? "." : "", near);
    return;
  }
  /* The right name at the wrong level: thread = {...} beside tile. */
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    const char *field = spec_field_name((spec_field)f);
    const char *dot = strchr(field, '.');
    for (; dot; dot = strchr(dot + 1, '.')) {
      size_t size = strcspn(dot + 1, ".");
      if (strlen(key) != size || strncmp(dot + 1, key, size) != 0) continue;
      spec_load_error(l, at->place, "unknown-field", "unknown field '%s'; did you mean '%.*s'?",
                      key, (int)(dot + 1 + size - field), field);
      return;
    }
  }
  buf list = {0};
  for (size_t i = 0; i < known; ++i)
    buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
  spec_load_error(l, at->place, "unknown-field", "unknown field '%.40s'; known here: %s", key,
                  list.failed || !list.data ? "?" : list.data);
  buf_free(&list);
}

static path below(const path *parent, const char *key) {
  path p;
  const char *dot = parent->field[0] ? "." : "";
  snprintf(p.field, sizeof p.field, "%.60s%s%.60s", parent->field, dot, key);
  dot = parent->place[0] ? "." : "";
  snprintf(p.place, sizeof p.place, "%.60s%s%.60s", parent->place, dot, key);
  return p;
}

/* -- One value ------------------------------------------------------------------------------ */

static void unknown_value(spec_loader *l, const char *place, const char *given,
                          const char *const *names, size_t count) {
  char list[256] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used < sizeof list; ++i)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  const char *near = nearest_name(given, names, count);
  if (near)
    spec_load_error(l, place, "unknown-value", "unknown name '%.40s'; did you mean '%s'? known: %s",
                    given, near, list);
  else
    spec_load_error(l, place, "unknown-value", "unknown name '%.40s'; known: %s", given, list);
}

/* A value of one field; SPEC_UNSET, with an error added, if it is not one. */
static int read_leaf(spec_loader *l, lua_State *L, int idx, spec_field f, const char *place) {
  const spec_field_info *info = spec_info(f);
  char shown[80], why[160];
  const char *code;
  int value = SPEC_UNSET;
  size_t count;
  const char *const *names = spec_kind_names(info->kind, &count);
  if (names) {
    if (lua_type(L, idx) != LUA_TSTRING) {
      spec_load_error(l, place, "wrong-type", "%s where a name in quotes belongs, like \"%s\"",
                      spec_load_show(L, idx, shown), names[0]);
      return SPEC_UNSET;
    }
    const char *given = lua_tostring(L, idx);
    for (size_t i = 0; i < count; ++i)
      if (strcmp(given, names[i]) == 0) return (int)i + (info->kind == KIND_DTYPE);
    unknown_value(l, place, given, names, count);
    return SPEC_UNSET;
  }
  switch (info->kind) {
  case KIND_BOOL:
    if (lua_type(L, idx) == LUA_TBOOLEAN) return lua_toboolean(L, idx);
    spec_load_error(l, place, "wrong-type", "%s where true or false belongs",
                    spec_load_show(L, idx, shown));
    return SPEC_UNSET;
  case KIND_SCALAR:
    if (lua_type(L, idx) == LUA_TBOOLEAN)
      return lua_toboolean(L, idx) ? GG_SCALAR_ANY : GG_SCALAR_ZERO;
    if (lua_type(L, idx) == LUA_TNUMBER) {
      if (lua_tonumber(L, idx) == 0) return GG_SCALAR_ZERO;
      if (lua_tonumber(L, idx) == 1) return GG_SCALAR_ONE;
    }
    spec_load_error(l, place, "wrong-value",
                    "%s cannot be compiled in; use 0, 1, or true for a value at run time",
                    spec_load_show(L, idx, shown));
    return SPEC_UNSET;
  case KIND_UNROLL:
    if (lua_type(L, idx) == LUA_TSTRING) {
      if (strcmp(lua_tostring(L, idx), "full") == 0) return 0;
      spec_load_error(l, place, "unknown-value", "unknown name '%.40s'; use \"full\" or %d to %d",
                      lua_tostring(L, idx), info->low, info->high);
      return SPEC_UNSET;
    }
    break;
  default:
    break;
  }
  if (!spec_load_integer(L, idx, info->low, info->high, &value, why, &code)) {
    spec_load_error(l, place, code, "%s", why);
    return SPEC_UNSET;
  }
  return value;
}

static int line_of(const spec_loader *l, const char *place);

static bool append_leaf(spec_loader *l, lua_State *L, int idx, const path *at, int f,
                        point_list *out) {
  spec_point p = points_nothing();
  p.value[f] = read_leaf(l, L, idx, (spec_field)f, at->place);
  p.line[f] = line_of(l, at->place);
  return points_append(l, out, &p);
}

/* dtype = "f32": all of a, b and d; the accumulator is planned. */
static bool append_dtype(spec_loader *l, lua_State *L, int idx, const path *at, point_list *out) {
  static const spec_field same[] = {SPEC_DTYPE_A, SPEC_DTYPE_B, SPEC_DTYPE_D};
  spec_point p = points_nothing();
  int value = read_leaf(l, L, idx, SPEC_DTYPE_A, at->place);
  for (size_t i = 0; i < sizeof same / sizeof *same; ++i) {
    p.value[same[i]] = value;
    p.line[same[i]] = line_of(l, at->place);
  }
  return points_append(l, out, &p);
}

/* -- Tables --------------------------------------------------------------------------------- */

static bool read_list(spec_loader *l, lua_State *L, int idx, const path *at, bool in_list,
                      size_t count, point_list *out) {
  if (in_list) {
    spec_load_error(l, at->place, "wrong-type", "a list inside a list");
    return points_append_nothing(l, out);
  }
  bool listed = strcmp(at->field, spec_field_name(SPEC_LAYOUT)) == 0 ||
                strcmp(at->field, spec_field_name(SPEC_ACTIVATION)) == 0;
  if (!l->call.sweep && !listed) {
    spec_load_error(l, at->place, "list-in-gemm",
                    "a list where gemm takes one value; write sweep instead of gemm");
    return points_append_nothing(l, out);
  }
  if (!points_have_room(l, at->place, out->count + count)) return points_append_nothing(l, out);
  for (size_t i = 1; i <= count && !l->too_many; ++i) {
    path item = *at;
    snprintf(item.place, sizeof item.place, "%.100s[%zu]", at->place, i);
    lua_rawgeti(L, idx, (lua_Integer)i);
    bool ok = read_value(l, L, lua_gettop(L), &item, true, out);
    lua_pop(L, 1);
    if (!ok) return false;
  }
  return true;
}

/* Position of a key among the fields; unknown ones last. */
static int rank(const path *parent, const char *key) {
  path p = below(parent, key);
  int f = field_named(p.field);
  if (f < 0) f = first_below(p.field);
  return f < 0 ? SPEC_FIELD_COUNT : f;
}

static bool read_allow(spec_loader *l, lua_State *L, int idx);

static bool read_record(spec_loader *l, lua_State *L, int idx, const path *at, const char **keys,
                        size_t count, point_list *out) {
  point_list *product = points_new(l);
  if (!product || !points_append_nothing(l, product)) return false;
  /* Keys are sorted by text: fields in their order, then what is unknown. */
  int ranks[MAX_KEYS];
  for (size_t i = 0; i < count; ++i)
    ranks[i] = rank(at, keys[i]);
  for (int order = 0; order <= SPEC_FIELD_COUNT; ++order)
    for (size_t i = 0; i < count && !l->too_many; ++i) {
      if (ranks[i] != order) continue;
      path inner = below(at, keys[i]);
      lua_pushstring(L, keys[i]);
      lua_rawget(L, idx);
      bool ok = true;
      if (!at->field[0] && strcmp(keys[i], "allow") == 0) {
        ok = read_allow(l, L, lua_gettop(L));
      } else if (order == SPEC_FIELD_COUNT) {
        unknown_field(l, at, &inner, keys[i]);
      } else {
        point_list *alternatives = points_new(l);
        ok = alternatives && read_value(l, L, lua_gettop(L), &inner, false, alternatives) &&
             points_multiply(l, product, alternatives, inner.place);
      }
      lua_pop(L, 1);
      if (!ok) return false;
    }
  if (!points_have_room(l, at->place, out->count + product->count))
    return points_append_nothing(l, out);
  for (size_t i = 0; i < product->count; ++i)
    if (!points_append(l, out, &product->items[i])) return false;
  return true;
}

/* Appends the alternatives of the value at idx. false: memory is short. */
static bool read_value(spec_loader *l, lua_State *L, int idx, const path *at, bool in_list,
                       point_list *out) {
  luaL_checkstack(L, 8, NULL);
  int f = field_named(at->field);
  bool inner = first_below(at->field) >= 0; /* takes a table of named fields */
  if (lua_type(L, idx) != LUA_TTABLE) {
    if (strcmp(at->field, "dtype") == 0 && lua_type(L, idx) == LUA_TSTRING)
      return append_dtype(l, L, idx, at, out);
    if (f >= 0) return append_leaf(l, L, idx, at, f, out);
    char shown[80], names[MAX_KEYS][32];
    names_below(at->field, names, 1);
    spec_load_error(l, at->place, "wrong-type", "%s where a table belongs, like { %s = ... }",
                    spec_load_show(L, idx, shown), names[0]);
    return points_append_nothing(l, out);
  }
  const char *keys[MAX_KEYS];
  size_t count;
  switch (spec_load_shape(L, idx, keys, MAX_KEYS, &count)) {
  case TABLE_LIST:
    if (at->field[0]) return read_list(l, L, idx, at, in_list, count, out);
    spec_load_error(l, NULL, "wrong-type", "a list where named fields belong, like tile = { ... }");
    break;
  case TABLE_RECORD:
    if (inner) return read_record(l, L, idx, at, keys, count, out);
    spec_load_error(l, at->place, "wrong-type", "a table of named fields where one value belongs");
    break;
  case TABLE_EMPTY:
    if (!inner) spec_load_error(l, at->place, "wrong-type", "an empty list; give a value");
    break;
  case TABLE_MIXED:
    if (count > MAX_KEYS)
      spec_load_error(l, at->place, "wrong-type", "a table of %zu keys, more than there are fields",
                      count);
    else
      spec_load_error(
          l, at->place, "wrong-type",
          "a table with holes, or with keys that are neither all names nor all 1, 2, 3");
    break;
  }
  return points_append_nothing(l, out);
}

/* -- The call ------------------------------------------------------------------------------- */

static bool read_allow(spec_loader *l, lua_State *L, int idx) {
  size_t known = 0, count = 0;
  while (spec_warning_codes[known])
    ++known;
  if (lua_type(L, idx) == LUA_TTABLE) {
    table_shape shape = spec_load_shape(L, idx, NULL, 0, &count);
    if (shape == TABLE_EMPTY) return true;
    if (shape != TABLE_LIST || count > 64) count = 0;
  }
  if (count == 0) {
    spec_load_error(l, "allow", "wrong-type", "takes a list of warning codes, like { \"%s\" }",
                    spec_warning_codes[0]);
    return true;
  }
  for (size_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, idx, (lua_Integer)i);
    const char *given = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    size_t at = 0;
    while (at < known && strcmp(spec_warning_codes[at], given) != 0)
      ++at;
    if (at < known)
      l->call.allow |= 1u << at;
    else
      unknown_value(l, "allow", given, spec_warning_codes, known);
    lua_pop(L, 1);
  }
  return true;
}

/* Line of a place, or of the table around it, or of the call. */
static int line_of(const spec_loader *l, const char *place) {
  char part[MAX_PATH];
  snprintf(part, sizeof part, "%s", place);
  while (l->literal >= 0 && part[0]) {
    int line = spec_scan_line(l->scan, l->literal, part);
    if (line) return line;
    char *dot = strrchr(part, '.'), *index = strrchr(part, '[');
    char *cut = dot && (!index || dot > index) ? dot : index;
    if (!cut) break;
    *cut = '\0';
  }
  return l->call.line;
}

void spec_load_error(spec_loader *l, const char *place, const char *code, const char *format, ...) {
  char text[600], field[MAX_PATH] = "", note[48];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  l->bad = true;
  size_t used = 0;
  bool index = false;
  for (const char *p = place ? place : ""; *p && used + 1 < sizeof field; ++p) {
    if (*p == '[') index = true;
    if (!index) field[used++] = *p;
    if (*p == ']') index = false;
  }
  field[used] = '\0';
  bool whole = strcmp(code, "unknown-field") == 0 || !field[0]; /* the text names the field */
  diag_add(l->d, DIAG_ERROR, l->file, place ? line_of(l, place) : l->call.line,
           whole ? NULL : field, code, "%s%s", text, spec_call_note(&l->call, note));
}

point_list *spec_load_fields(spec_loader *l, lua_State *L, int idx) {
  path top = {"", ""};
  point_list *points = points_new(l);
  if (!points || !read_value(l, L, idx, &top, false, points)) return NULL;
  return points;
}
