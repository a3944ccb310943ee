/* spec_scan.h - where each field of a gemm{...} or sweep{...} literal stands in the source. */
#ifndef GEN_SPEC_SCAN_H
#define GEN_SPEC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct spec_scan spec_scan;

/* Reads the whole text once. It need not be valid Lua: what is not understood has no lines.
 * NULL when memory is short. */
spec_scan *spec_scan_new(const char *text, size_t size);
void spec_scan_free(spec_scan *s); /* NULL is fine */

/* Index of the one call literal that starts on this line; -1 if there is none, or several. */
int spec_scan_call(const spec_scan *s, int line);
/* Does that call stand inside a loop or a function? */
bool spec_scan_in_loop(const spec_scan *s, int call);
/* Line of a path inside the call: "tile.m", "tile[2].m", "stages[3]"; 0 if it is not written
 * there. */
int spec_scan_line(const spec_scan *s, int call, const char *path);

#endif
