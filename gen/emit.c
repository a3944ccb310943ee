/* emit.c - plan -> template -> bytes.
 *
 * One Lua state serves all kernels of a run: it loads engine.lua, which reads templates and modules
 * through gg_read (embedded, or from a directory) and keeps them compiled. Templates see a copy of
 * the plan as a table: numbers, booleans and names; they cannot change the plan itself.
 */
#include "emit.h"

#include "model.h"
#include "plan_build.h"
#include "script.h"
#include "version.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emitter {
  script *script;
  char *directory;
  int engine; /* registry reference of engine.lua's table */
};

/* gg_read(name): text of a template or module. */
static int read_template(lua_State *lua) {
  const emitter *e = lua_touserdata(lua, lua_upvalueindex(1));
  const char *name = luaL_checkstring(lua, 1);
  if (e->directory == NULL) {
    for (size_t i = 0; i < embedded_template_count; ++i) {
      if (strcmp(embedded_templates[i].name, name) == 0) {
        lua_pushlstring(lua, embedded_templates[i].text, embedded_templates[i].size);
        return 1;
      }
    }
    return luaL_error(lua, "%s:1: no such template", name);
  }
  lua_pushfstring(lua, "%s/%s", e->directory, name);
  buf text = {0};
  if (!buf_read_file(&text, lua_tostring(lua, -1))) {
    int error = errno;
    buf_free(&text);
    return luaL_error(lua, "%s:1: cannot be read: %s", name, strerror(error));
  }
  lua_pushlstring(lua, text.data ? text.data : "", text.size);
  buf_free(&text);
  return 1;
}

/* gg_compile(source, name, environment): the function that source is; it sees environment alone. */
static int compile_template(lua_State *lua) {
  size_t size;
  const char *source = luaL_checklstring(lua, 1, &size);
  const char *name = lua_pushfstring(lua, "=%s", luaL_checkstring(lua, 2));
  if (luaL_loadbufferx(lua, source, size, name, "t") != LUA_OK) return lua_error(lua);
  lua_pushvalue(lua, 3);
  lua_setupvalue(lua, -2, 1); /* _ENV */
  return 1;
}

/* Splits "file:line: text" and adds it. */
static void report(diag *d, const char *message) {
  char file[256];
  int line = 1;
  const char *text = message;
  const char *colon = strchr(message, ':');
  if (colon != NULL && colon[1] >= '0' && colon[1] <= '9') {
    char *end;
    line = (int)strtol(colon + 1, &end, 10);
    if (*end == ':' && (size_t)(colon - message) < sizeof file) {
      memcpy(file, message, (size_t)(colon - message));
      file[colon - message] = '\0';
      text = end + 1;
      while (*text == ' ')
        ++text;
      diag_add(d, DIAG_ERROR, file, line, NULL, "template", "%s", text);
      return;
    }
  }
  diag_add(d, DIAG_ERROR, "templates", 1, NULL, "template", "%s", text);
}

static int load_engine(lua_State *lua) {
  emitter *e = lua_touserdata(lua, 1);
  lua_pushlightuserdata(lua, e);
  lua_pushcclosure(lua, read_template, 1);
  lua_setglobal(lua, "gg_read");
  lua_pushcfunction(lua, compile_template);
  lua_setglobal(lua, "gg_compile");
  lua_pushcfunction(lua, compile_template);
  lua_getglobal(lua, "gg_read");
  lua_pushliteral(lua, "engine.lua");
  lua_call(lua, 1, 1);
  lua_pushliteral(lua, "engine.lua");
  lua_pushglobaltable(lua);
  lua_call(lua, 3, 1);
  lua_call(lua, 0, 1);
  e->engine = luaL_ref(lua, LUA_REGISTRYINDEX);
  return 0;
}

/* A message raised for a caller names another place than the fault, which is the engine's. */
static bool has_place(const char *message) {
  const char *colon = strchr(message, ':');
  return colon != NULL && memchr(message, ' ', (size_t)(colon - message)) == NULL &&
         colon[1] >= '0' && colon[1] <= '9';
}

static void report_fault(diag *d, const script_fault *f) {
  char message[600];
  if (has_place(f->text) || f->source[0] == '\0')
    snprintf(message, sizeof message, "%s", f->text);
  else
    snprintf(message, sizeof message, "%s:%d: %s", f->source, f->line, f->text);
  report(d, message);
}

emitter *emitter_new(const char *directory, diag *d) {
  emitter *e = calloc(1, sizeof *e);
  if (e == NULL) return NULL;
  e->script = script_new(SCRIPT_TEMPLATE, &script_template_limits);
  if (directory != NULL) e->directory = strdup(directory);
  if (e->script == NULL || (directory != NULL && e->directory == NULL)) {
    emitter_free(e);
    return NULL;
  }
  script_fault fault;
  if (!script_run(e->script, load_engine, e, &fault)) {
    report_fault(d, &fault);
    emitter_free(e);
    return NULL;
  }
  return e;
}

void emitter_free(emitter *e) {
  if (e == NULL) return;
  script_free(e->script);
  free(e->directory);
  free(e);
}

typedef struct emit_job {
  emitter *e;
  const kernel_plan *plan;
  const char *command, *specs, *prefix;
  buf *out;
} emit_job;

static void push_plan(lua_State *lua, const kernel_plan *p) {
  lua_createtable(lua, 0, PLAN_FIELD_COUNT + 1);
  for (int i = 0; i < PLAN_FIELD_COUNT; ++i) {
    plan_field f = (plan_field)i;
    if (p->why[f] == NULL) continue;
    char scratch[32];
    const char *text = plan_value_text(p, f, scratch);
    if (strcmp(plan_field_unit(f), "bool") == 0)
      lua_pushboolean(lua, plan_value(p, f));
    else if (text == scratch)
      lua_pushinteger(lua, plan_value(p, f));
    else
      lua_pushstring(lua, text);
    lua_setfield(lua, -2, plan_field_name(f));
  }
  lua_pushstring(lua, p->name);
  lua_setfield(lua, -2, "name");
}

static void set_string(lua_State *lua, const char *name, const char *value) {
  lua_pushstring(lua, value);
  lua_setfield(lua, -2, name);
}

static void set_integer(lua_State *lua, const char *name, lua_Integer value) {
  lua_pushinteger(lua, value);
  lua_setfield(lua, -2, name);
}

static void push_job(lua_State *lua, const emit_job *job) {
  const gpu_facts *g = &job->plan->spec->gpu;
  char hash[65];
  plan_hash(job->plan, hash);
  lua_newtable(lua);
  set_string(lua, "version", GEMMGEN_VERSION);
  set_string(lua, "command", job->command);
  set_string(lua, "specs", job->specs);
  set_string(lua, "prefix", job->prefix);
  set_string(lua, "hash", hash);
  set_string(lua, "template", plan_template(job->plan));
  set_string(lua, "gpu", g->name);
  set_integer(lua, "shared_block", g->shared_block);
  gpu_unit unit = plan_unit(job->plan);
  set_string(lua, "unit", gpu_unit_name(unit));
  lua_pushnumber(lua, model_ridge(g, unit));
  lua_setfield(lua, -2, "ridge");
}

static int render(lua_State *lua) {
  emit_job *job = lua_touserdata(lua, 1);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, job->e->engine);
  lua_getfield(lua, -1, "render");
  push_plan(lua, job->plan);
  push_job(lua, job);
  lua_call(lua, 2, 1);
  size_t size;
  const char *text = luaL_checklstring(lua, -1, &size);
  buf_add(job->out, text, size);
  return 0;
}

bool emit_kernel(emitter *e, const kernel_plan *p, const char *command, const char *specs,
                 const char *prefix, buf *out, diag *d) {
  emit_job job = {e, p, command, specs, prefix, out};
  script_fault fault;
  if (script_run(e->script, render, &job, &fault)) return true;
  report_fault(d, &fault);
  return false;
}
