/* script.h - the Lua host: a state with limits, and faults that know their line.
 *
 * Two kinds of script run here. Specs are untrusted: they see an allow-list of names and no
 * libraries, and have caps on memory, steps and time. Templates are ours: they have the string,
 * table and math libraries and a cap on memory. Nothing here ends the program: what a script does
 * wrong, lack of memory included, comes back as a script_fault.
 */
#ifndef GEN_SCRIPT_H
#define GEN_SCRIPT_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct script_limits {
  size_t memory;   /* bytes of the whole state; 0: no limit */
  size_t block;    /* bytes of one string or array; 0: no limit */
  long long steps; /* virtual machine instructions; 0: no limit */
  double seconds;  /* of processor time, for work that steps do not measure; 0: no limit */
} script_limits;

extern const script_limits script_spec_limits;
extern const script_limits script_template_limits;

/* Which globals a state has. */
typedef enum script_kind {
  SCRIPT_SPEC,    /* ipairs type error tostring tonumber, math without random; unknown: an error */
  SCRIPT_TEMPLATE /* base without loaders, string, table, math */
} script_kind;

typedef struct script_fault {
  const char *code; /* "syntax", "script-error", "script-memory", "script-steps", "script-time",
                       "script-depth", "binary-chunk", "out-of-memory" */
  char source[64];  /* name of the chunk where it happened, "" if in none */
  int line;         /* in that chunk; 0 if unknown */
  char text[400];   /* what, without place */
  char trace[400];  /* "name:line < name:line", innermost first; "" if there is no stack */
} script_fault;

typedef struct script script;

/* NULL when memory is short. limits are copied. */
script *script_new(script_kind kind, const script_limits *limits);
void script_free(script *s); /* NULL is fine */
lua_State *script_state(script *s);

/* Compiles text (never a binary chunk) and leaves the function on the stack. name is what faults
 * and messages call it; it is shortened to 59 bytes. The function's globals are the state's. */
bool script_load(script *s, const char *name, const char *text, size_t size, script_fault *fault);

/* lua_pcall: calls the function below `arguments` values. On a fault nothing is left on the stack.
 * Steps and time count from here. */
bool script_call(script *s, int arguments, int results, script_fault *fault);

/* Runs f(L) with one light userdata argument under script_call: for C code that uses the API. */
bool script_run(script *s, lua_CFunction f, void *argument, script_fault *fault);

#endif
