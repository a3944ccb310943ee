/* script.c - Lua states with limits.
 *
 * Invariant: every use of the Lua API that can fail happens under a protected call, so a fault is
 * always a returned value. Which limit was hit is remembered where it was hit: Lua's own message
 * for lack of memory has neither place nor cause, and nothing a script does can change the record.
 */
#include "script.h"
#include "script_globals.h"
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Often, as one step may copy or compare a string of many MiB. */
enum { HOOK_STEPS = 100, MAX_DEPTH = 20000 };

typedef enum limit {
  LIMIT_NONE,
  LIMIT_MEMORY,
  LIMIT_BLOCK,
  LIMIT_STEPS,
  LIMIT_SECONDS,
  LIMIT_DEPTH
} limit;

struct script {
  lua_State *L;
  script_limits limits;
  size_t used; /* bytes the state holds */
  limit hit;   /* of the call in progress */
  int hit_line;
  char hit_source[64];
  long long steps;
  clock_t start;
  script_fault *fault; /* of the call in progress */
};

/* A spec of 4096 points needs about 3 MiB and 10^5 steps. A block of 24 MiB is what Lua's own limit
 * of calls needs, so that deep recursion is called by its name. */
const script_limits script_spec_limits = {64u << 20, 24u << 20, 10 * 1000 * 1000, 5};
const script_limits script_template_limits = {512u << 20, 0, 0, 0};

static script *script_of(lua_State *L) {
  return *(script **)lua_getextraspace(L);
}

/* The innermost function that is a script, and its line. Reads only, allocates nothing: also called
 * from inside the allocator. */
static void find_place(lua_State *L, char source[64], int *line) {
  lua_Debug ar;
  source[0] = '\0';
  *line = 0;
  for (int level = 0; lua_getstack(L, level, &ar); ++level) {
    if (!lua_getinfo(L, "Sl", &ar) || ar.currentline <= 0) continue;
    snprintf(source, 64, "%s", ar.short_src);
    *line = ar.currentline;
    return;
  }
}

/* Lua ends deep recursion by its stack or by our memory, whichever is first: the same fault. */
static bool is_deep(lua_State *L) {
  lua_Debug ar;
  return lua_getstack(L, MAX_DEPTH, &ar) != 0;
}

static void note_limit(script *s, limit which) {
  s->hit = s->L && is_deep(s->L) ? LIMIT_DEPTH : which;
  if (s->L) find_place(s->L, s->hit_source, &s->hit_line);
}

static void *allocate(void *data, void *block, size_t old_size, size_t size) {
  script *s = data;
  if (!block) old_size = 0; /* then it is a type tag */
  if (size == 0) {
    free(block);
    s->used -= old_size;
    return NULL;
  }
  if (size > old_size) {
    if (s->limits.memory && s->used - old_size + size > s->limits.memory) {
      note_limit(s, LIMIT_MEMORY);
      return NULL;
    }
    if (s->limits.block && size > s->limits.block) {
      note_limit(s, LIMIT_BLOCK);
      return NULL;
    }
  }
  void *grown = realloc(block, size);
  if (!grown && size <= old_size) grown = block; /* Lua counts on shrinking to work */
  if (!grown) return NULL;
  s->used = s->used - old_size + size;
  return grown;
}

static void count_steps(lua_State *L, lua_Debug *ar) {
  (void)ar;
  script *s = script_of(L);
  s->steps += HOOK_STEPS;
  if (s->limits.steps && s->steps > s->limits.steps)
    note_limit(s, LIMIT_STEPS);
  else if (s->limits.seconds > 0 &&
           (double)(clock() - s->start) > s->limits.seconds * CLOCKS_PER_SEC)
    note_limit(s, LIMIT_SECONDS);
  else
    return;
  lua_pushliteral(L, "limit");
  lua_error(L);
}

/* "spec:12: text" -> 12 and "text"; other messages stay whole. */
static const char *split_place(const char *message, const char *source, int *line) {
  size_t length = strlen(source);
  if (!length || strncmp(message, source, length) != 0 || message[length] != ':') return message;
  char *end;
  long value = strtol(message + length + 1, &end, 10);
  if (end == message + length + 1 || *end != ':' || value < 0 || value > 1 << 30) return message;
  *line = (int)value;
  ++end;
  return *end == ' ' ? end + 1 : end;
}

static void add_trace(lua_State *L, char *trace, size_t size) {
  lua_Debug ar;
  size_t used = 0;
  int shown = 0;
  trace[0] = '\0';
  for (int level = 0; shown < 8 && lua_getstack(L, level, &ar); ++level) {
    if (!lua_getinfo(L, "Sl", &ar) || ar.currentline <= 0) continue;
    int wrote = snprintf(trace + used, size - used, "%s%s:%d", shown ? " < " : "", ar.short_src,
                         ar.currentline);
    if (wrote < 0 || (size_t)wrote >= size - used) break;
    used += (size_t)wrote;
    ++shown;
  }
  trace[used] = '\0';
}

/* Message handler: runs where the error happened, while its stack still stands. */
static int handle_error(lua_State *L) {
  script *s = script_of(L);
  script_fault *f = s->fault;
  find_place(L, f->source, &f->line);
  add_trace(L, f->trace, sizeof f->trace);
  f->code = "script-error";
  if (is_deep(L))
    note_limit(s, LIMIT_DEPTH);
  else if (lua_type(L, 1) == LUA_TSTRING)
    snprintf(f->text, sizeof f->text, "%s", split_place(lua_tostring(L, 1), f->source, &f->line));
  else
    snprintf(f->text, sizeof f->text, "the error value is a %s, not a string",
             lua_typename(L, lua_type(L, 1)));
  return 1;
}

/* One step of words for every limit. */
static void word_limit(const script *s, script_fault *f) {
  const double mib = 1 << 20;
  snprintf(f->source, sizeof f->source, "%s", s->hit_source);
  f->line = s->hit_line;
  switch (s->hit) {
  case LIMIT_MEMORY:
    f->code = "script-memory";
    snprintf(f->text, sizeof f->text, "the script needs more than %.0f MiB of memory; build less",
             (double)s->limits.memory / mib);
    break;
  case LIMIT_BLOCK:
    f->code = "script-memory";
    snprintf(f->text, sizeof f->text, "one string or table needs more than %.0f MiB; build less",
             (double)s->limits.block / mib);
    break;
  case LIMIT_STEPS:
    f->code = "script-steps";
    snprintf(f->text, sizeof f->text,
             "the script ran more than %lld steps; is there a loop without end?", s->limits.steps);
    break;
  case LIMIT_SECONDS:
    f->code = "script-time";
    snprintf(f->text, sizeof f->text, "the script ran longer than %.0f s; do less",
             s->limits.seconds);
    break;
  case LIMIT_DEPTH:
    f->code = "script-depth";
    snprintf(f->text, sizeof f->text,
             "calls nest more than %d deep; does a function call itself without end?", MAX_DEPTH);
    break;
  case LIMIT_NONE:
    f->code = "out-of-memory";
    snprintf(f->text, sizeof f->text, "memory is short");
    break;
  }
}

script *script_new(script_kind kind, const script_limits *limits) {
  script *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->limits = *limits;
  s->L = lua_newstate(allocate, s);
  if (!s->L) {
    free(s);
    return NULL;
  }
  *(script **)lua_getextraspace(s->L) = s;
  script_fault fault;
  if (!script_run(s, kind == SCRIPT_SPEC ? script_open_spec : script_open_template, NULL, &fault)) {
    script_free(s);
    return NULL;
  }
  return s;
}

void script_free(script *s) {
  if (!s) return;
  lua_close(s->L);
  free(s);
}

lua_State *script_state(script *s) {
  return s->L;
}

bool script_load(script *s, const char *name, const char *text, size_t size, script_fault *fault) {
  char chunk[61];
  snprintf(chunk, sizeof chunk, "=%s", name);
  memset(fault, 0, sizeof *fault);
  if (size && text[0] == LUA_SIGNATURE[0]) {
    fault->code = "binary-chunk";
    fault->line = 1;
    snprintf(fault->source, sizeof fault->source, "%s", name);
    snprintf(fault->text, sizeof fault->text, "compiled Lua is not accepted; give the source text");
    return false;
  }
  s->hit = LIMIT_NONE;
  s->hit_line = 0;
  int status = luaL_loadbufferx(s->L, text, size, chunk, "t");
  if (status == LUA_OK) return true;
  if (status == LUA_ERRMEM) {
    word_limit(s, fault);
  } else {
    fault->code = "syntax";
    snprintf(fault->source, sizeof fault->source, "%s", chunk + 1);
    const char *message = lua_type(s->L, -1) == LUA_TSTRING ? lua_tostring(s->L, -1) : "?";
    snprintf(fault->text, sizeof fault->text, "%s",
             split_place(message, fault->source, &fault->line));
  }
  lua_pop(s->L, 1);
  return false;
}

bool script_call(script *s, int arguments, int results, script_fault *fault) {
  lua_State *L = s->L;
  memset(fault, 0, sizeof *fault);
  script_fault *outer = s->fault;
  s->fault = fault;
  s->hit = LIMIT_NONE;
  s->hit_line = 0;
  s->steps = 0;
  s->start = clock();
  if (s->limits.steps || s->limits.seconds > 0)
    lua_sethook(L, count_steps, LUA_MASKCOUNT, HOOK_STEPS);
  int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, handle_error);
  lua_insert(L, handler);
  int status = lua_pcall(L, arguments, results, handler);
  lua_sethook(L, NULL, 0, 0);
  s->fault = outer;
  if (status == LUA_OK) {
    lua_remove(L, handler);
    return true;
  }
  lua_settop(L, handler - 1);
  if (s->hit >= LIMIT_STEPS || status == LUA_ERRMEM)
    word_limit(s, fault);
  else if (!fault->code) { /* the handler itself had no room */
    fault->code = "script-error";
    snprintf(fault->text, sizeof fault->text, "stack overflow");
  }
  return false;
}

bool script_run(script *s, lua_CFunction f, void *argument, script_fault *fault) {
  lua_pushcfunction(s->L, f);
  lua_pushlightuserdata(s->L, argument);
  return script_call(s, 1, 0, fault);
}
