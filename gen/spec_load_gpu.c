/* spec_load_gpu.c - gpu "name", gpu { base = "name", sms = 114 } or gpu { every fact }.
 *
 * Invariant: l->gpu is always complete: a table that is wrong or lacks a fact leaves it as it was.
 */
#include "gpu_fields.h"
#include "nearest.h"
#include "spec_load_parts.h"
#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 64 };

static const gpu_facts *find(spec_loader *l, const char *place, const char *name) {
  const gpu_facts *g = gpu_find(name);
  if (g) return g;
  buf text = {0};
  gpu_suggest(name, &text);
  spec_load_error(l, place, "unknown-gpu", "unknown GPU '%.40s'; %s", name,
                  text.failed || !text.data ? "see gemmgen gpus" : text.data);
  buf_free(&text);
  return NULL;
}

static bool set_fact(spec_loader *l, lua_State *L, const gpu_field *f, gpu_facts *g) {
  char shown[80], why[160];
  const char *code;
  int value = 0;
  switch (f->kind) {
  case GPU_INT:
  case GPU_RATE:
  case GPU_FIGURE:
    if (!spec_load_integer(L, -1, f->low, f->high, &value, why, &code)) {
      spec_load_error(l, f->name, code, "%s", why);
      return false;
    }
    break;
  case GPU_BOOL:
    if (lua_type(L, -1) != LUA_TBOOLEAN) {
      spec_load_error(l, f->name, "wrong-type", "%s where true or false belongs",
                      spec_load_show(L, -1, shown));
      return false;
    }
    value = lua_toboolean(L, -1);
    break;
  case GPU_SUFFIX:
    if (lua_type(L, -1) != LUA_TSTRING ||
        (strcmp(lua_tostring(L, -1), "a") != 0 && lua_tostring(L, -1)[0] != '\0')) {
      spec_load_error(l, f->name, "wrong-type", "%s where \"a\" or \"\" belongs",
                      spec_load_show(L, -1, shown));
      return false;
    }
    value = lua_tostring(L, -1)[0];
    break;
  }
  gpu_field_set(g, f, value);
  return true;
}

static void unknown_fact(spec_loader *l, const char *key) {
  const char *names[MAX_KEYS] = {"base", "name"};
  size_t count = 2;
  for (size_t i = 0; i < gpu_field_count && count < MAX_KEYS; ++i)
    names[count++] = gpu_fields[i].name;
  const char *near = nearest_name(key, names, count);
  spec_load_error(l, NULL, "unknown-field",
                  near ? "unknown fact '%.40s'; did you mean '%s'?" : "unknown fact '%.40s'; %s",
                  key, near ? near : "gemmgen gpus lists them");
}

static const gpu_field *fact_named(const char *name) {
  for (size_t i = 0; i < gpu_field_count; ++i)
    if (strcmp(gpu_fields[i].name, name) == 0) return &gpu_fields[i];
  return NULL;
}

/* Without a base every number must be there. */
static bool check_complete(spec_loader *l, const bool *given) {
  buf missing = {0};
  for (size_t i = 0; i < gpu_field_count; ++i)
    if (!given[i] && gpu_fields[i].kind == GPU_INT)
      buf_printf(&missing, "%s%s", missing.size ? ", " : "", gpu_fields[i].name);
  bool complete = missing.size == 0;
  if (!complete)
    spec_load_error(l, NULL, "gpu-incomplete", "a GPU without base needs every fact; missing: %s",
                    missing.failed ? "?" : missing.data);
  buf_free(&missing);
  return complete;
}

static void read_table(spec_loader *l, lua_State *L, int idx, const char **keys, size_t count) {
  gpu_facts g = {.name = "custom", .source = "the spec", .paper = "the spec"};
  bool given[MAX_KEYS] = {false};
  bool based = false, good = true;
  lua_pushliteral(L, "base");
  if (lua_rawget(L, idx) != LUA_TNIL) {
    based = true;
    char shown[80];
    if (lua_type(L, -1) != LUA_TSTRING) {
      spec_load_error(l, "base", "wrong-type", "%s where a GPU's name belongs",
                      spec_load_show(L, -1, shown));
      good = false;
    } else {
      const gpu_facts *base = find(l, "base", lua_tostring(L, -1));
      if (base) g = *base;
      good = base != NULL;
    }
  }
  lua_pop(L, 1);
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(keys[i], "base") == 0) continue;
    lua_pushstring(L, keys[i]);
    lua_rawget(L, idx);
    const gpu_field *f = fact_named(keys[i]);
    if (f) {
      given[f - gpu_fields] = true;
      if (!set_fact(l, L, f, &g)) good = false;
    } else if (strcmp(keys[i], "name") == 0) {
      const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
      size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
      if (plain == 0 || name[plain] || plain >= sizeof g.name) {
        spec_load_error(l, "name", "wrong-value", "a GPU's name has up to %zu of a-z, 0-9 and '-'",
                        sizeof g.name - 1);
        good = false;
      } else {
        memcpy(g.name, name, plain + 1);
      }
    } else {
      unknown_fact(l, keys[i]);
      good = false;
    }
    lua_pop(L, 1);
  }
  if (good && (based || check_complete(l, given))) {
    l->gpu = g;
    l->have_gpu = true;
  }
}

void spec_load_gpu(spec_loader *l, lua_State *L, int idx) {
  char shown[80];
  if (lua_type(L, idx) == LUA_TSTRING) {
    const gpu_facts *g = find(l, NULL, lua_tostring(L, idx));
    if (g) {
      l->gpu = *g;
      l->have_gpu = true;
    }
  } else if (lua_type(L, idx) == LUA_TTABLE) {
    const char *keys[MAX_KEYS];
    size_t count;
    if (spec_load_shape(L, idx, keys, MAX_KEYS, &count) == TABLE_RECORD)
      read_table(l, L, idx, keys, count);
    else
      spec_load_error(l, NULL, "wrong-type", "gpu takes a name or a table of named facts");
  } else {
    spec_load_error(l, NULL, "wrong-type", "gpu takes a name in quotes or a table, not %s",
                    spec_load_show(L, idx, shown));
  }
}
