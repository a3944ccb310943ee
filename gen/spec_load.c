/* spec_load.c - a spec file -> its points: runs the script and collects what gemm and sweep are
 * given.
 *
 * Invariant: set only ever holds whole points; a call with any error adds none. Errors in a table
 * do not stop the script, so that one run finds the faults of all calls; a fault of the script
 * itself, or more errors than are shown, does.
 */
#include "spec_load_parts.h"
#include <errno.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 20 };

typedef enum call_kind { CALL_GEMM, CALL_SWEEP, CALL_GPU } call_kind;

static spec_loader *loader_of(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* Line of the script function that called us. */
static int caller_line(lua_State *L) {
  lua_Debug ar;
  for (int level = 1; lua_getstack(L, level, &ar); ++level)
    if (lua_getinfo(L, "l", &ar) && ar.currentline > 0) return ar.currentline;
  return 1;
}

static void begin_call(spec_loader *l, lua_State *L, call_kind kind) {
  kernel_spec *c = &l->call;
  memset(c, 0, sizeof *c);
  c->file = l->file;
  c->line = caller_line(L);
  c->sweep = kind == CALL_SWEEP;
  l->bad = false;
  l->literal = -1;
  if (kind == CALL_GPU) return;
  c->call = ++l->calls[kind];
  l->literal = spec_scan_call(l->scan, c->line);
  /* A call that is not a literal, like that of a helper, may come again: say which one it was. */
  c->in_loop = l->literal < 0 || spec_scan_in_loop(l->scan, l->literal);
}

/* Ends a call from the script. */
static int end_call(spec_loader *l, lua_State *L) {
  spec_load_drop_lists(l);
  bool enough = diag_errors(l->d) > DIAG_MAX;
  if (l->memory || l->too_many || enough) {
    l->stopped = true;
    lua_pushliteral(L, "stopped");
    return lua_error(L);
  }
  return 0;
}

static void one_argument(spec_loader *l, lua_State *L, const char *name, const char *like) {
  int count = lua_gettop(L);
  lua_settop(L, 1);
  if (count > 1)
    spec_load_error(l, NULL, "wrong-type", "%s takes one argument, not %d; write %s", name, count,
                    like);
}

static bool add_points(spec_loader *l, const point_list *points) {
  spec_set *set = l->set;
  if (set->count - l->first_spec + points->count > SPEC_MAX_POINTS) {
    l->too_many = true;
    spec_load_error(l, NULL, "too-many-points",
                    "more than %d combinations in one file; split the file", SPEC_MAX_POINTS);
    return true;
  }
  size_t wanted = set->count + points->count;
  if (wanted > set->capacity) {
    size_t capacity = set->capacity ? set->capacity : 16;
    while (capacity < wanted)
      capacity *= 2;
    kernel_spec *grown = realloc(set->specs, capacity * sizeof *grown);
    if (!grown) return false;
    set->specs = grown;
    set->capacity = capacity;
  }
  for (size_t i = 0; i < points->count; ++i) {
    kernel_spec *s = &set->specs[set->count++];
    *s = l->call;
    for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
      s->value[f] = points->items[i].value[f];
      s->source_line[f] = points->items[i].line[f] ? points->items[i].line[f] : s->line;
    }
  }
  return true;
}

static int call_points(lua_State *L, call_kind kind) {
  spec_loader *l = loader_of(L);
  const char *name = kind == CALL_GEMM ? "gemm" : "sweep";
  char shown[80];
  begin_call(l, L, kind);
  one_argument(l, L, name, kind == CALL_GEMM ? "gemm { ... }" : "sweep { ... }");
  if (l->set->gpu)
    l->call.gpu = *l->set->gpu;
  else if (l->have_gpu)
    l->call.gpu = l->gpu;
  else if (!l->gpu_failed)
    spec_load_error(l, NULL, "no-gpu", "no GPU is given; write gpu \"h100-sxm\" before this %s",
                    name);
  if (lua_type(L, 1) != LUA_TTABLE) {
    spec_load_error(l, NULL, "wrong-type", "%s takes a table, not %s; write %s { ... }", name,
                    spec_load_show(L, 1, shown), name);
    return end_call(l, L);
  }
  point_list *points = spec_load_fields(l, L, 1);
  if (points && !l->bad && !l->gpu_failed && !add_points(l, points)) l->memory = true;
  return end_call(l, L);
}

static int call_gemm(lua_State *L) {
  return call_points(L, CALL_GEMM);
}

static int call_sweep(lua_State *L) {
  return call_points(L, CALL_SWEEP);
}

static int call_gpu(lua_State *L) {
  spec_loader *l = loader_of(L);
  begin_call(l, L, CALL_GPU);
  one_argument(l, L, "gpu", "gpu \"h100-sxm\"");
  spec_load_gpu(l, L, 1);
  l->gpu_failed = l->bad;
  return end_call(l, L);
}

static int add_calls(lua_State *L) {
  static const luaL_Reg calls[] = {{"gemm", call_gemm}, {"sweep", call_sweep}, {"gpu", call_gpu}};
  void *l = lua_touserdata(L, 1);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    lua_pushlightuserdata(L, l);
    lua_pushcclosure(L, calls[i].func, 1);
    lua_setglobal(L, calls[i].name);
  }
  return 0;
}

static void run(spec_loader *l, const char *text, size_t size) {
  script_fault fault;
  script *s = script_new(SCRIPT_SPEC, l->set->limits ? l->set->limits : &script_spec_limits);
  if (!s) {
    l->memory = true;
    return;
  }
  bool ok = script_run(s, add_calls, l, &fault) && script_load(s, "spec", text, size, &fault) &&
            script_call(s, 0, 0, &fault);
  spec_load_drop_lists(l);
  if (!ok && !l->stopped)
    diag_add(l->d, DIAG_ERROR, l->file, fault.line > 0 ? fault.line : 1, NULL, fault.code, "%s",
             fault.text);
  script_free(s);
}

/* The set's own copy of a file's name. */
static const char *keep_name(spec_set *set, const char *path) {
  char **grown = realloc(set->files, (set->file_count + 1) * sizeof *grown);
  if (!grown) return NULL;
  set->files = grown;
  size_t size = strlen(path) + 1;
  char *name = malloc(size);
  if (!name) return NULL;
  memcpy(name, path, size);
  return set->files[set->file_count++] = name;
}

bool spec_load_text(const char *path, const char *text, size_t size, spec_set *set, diag *d) {
  if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
    text += 3;
    size -= 3;
  }
  size_t errors = diag_errors(d);
  spec_loader l = {.set = set, .d = d, .first_spec = set->count};
  spec_scan *scan = spec_scan_new(text, size);
  l.scan = scan;
  l.file = keep_name(set, path);
  if (scan && l.file)
    run(&l, text, size);
  else
    l.memory = true;
  spec_scan_free(scan);
  if (l.memory) diag_add(d, DIAG_ERROR, path, 1, NULL, "out-of-memory", "memory is short");
  if (diag_errors(d) == errors && set->count == l.first_spec)
    diag_add(d, DIAG_ERROR, path, 1, NULL, "no-kernels",
             "the file asks for no kernel; write gemm { ... }");
  return diag_errors(d) == errors;
}

bool spec_load(const char *path, spec_set *set, diag *d) {
  buf text = {0};
  bool ok = buf_read_file_max(&text, path, MAX_FILE);
  if (ok) {
    ok = spec_load_text(path, text.data ? text.data : "", text.size, set, d);
  } else if (errno == EFBIG) {
    diag_add(d, DIAG_ERROR, path, 1, NULL, "file-size", "the file is larger than %d KiB",
             MAX_FILE / 1024);
  } else if (errno == ENOMEM) {
    diag_add(d, DIAG_ERROR, path, 1, NULL, "out-of-memory", "memory is short");
  } else {
    diag_add(d, DIAG_ERROR, path, 1, NULL, "unreadable", "cannot be read: %s", strerror(errno));
  }
  buf_free(&text);
  return ok;
}
