/* script_globals.h - shared by script.c and script_globals.c: fills a fresh state with its globals.
 */
#ifndef GEN_SCRIPT_GLOBALS_H
#define GEN_SCRIPT_GLOBALS_H

#include <lua.h>

int script_open_spec(lua_State *L);     /* lua_CFunction; no arguments, no results */
int script_open_template(lua_State *L); /* the same */

#endif
