/* diag.h - diagnostics, collected: file:line: error|warning: field: text; remedy [code].
 *
 * Up to DIAG_MAX errors and as many warnings are kept, twins once; a closing line says how many
 * more there were. Of warnings with one code at one place (a sweep has thousands) the first is kept
 * and the others are counted. Control characters in file, field and text are shown as '?'.
 */
#ifndef GEN_DIAG_H
#define GEN_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { DIAG_MAX = 20 };

typedef enum diag_level { DIAG_WARNING, DIAG_ERROR } diag_level;

typedef struct diag_item {
  diag_level level;
  char *file;       /* as the user wrote it; NULL: no place */
  int line;         /* 1-based; 0: no line */
  char *field;      /* dotted spec field, or NULL */
  char *text;       /* value and reason; remedy after "; " */
  const char *code; /* static string, pinned: "tile-multiple" */
  size_t more;      /* warnings of the same code and place that differ only in text */
} diag_item;

typedef struct diag diag;

diag *diag_new(void);    /* NULL when memory is short */
void diag_free(diag *d); /* NULL is fine */

/* Adds one. field may be NULL; code is a static string out of diag_codes. */
void diag_add(diag *d, diag_level level, const char *file, int line, const char *field,
              const char *code, const char *format, ...) __attribute__((format(printf, 7, 8)));

size_t diag_errors(const diag *d); /* added, not only kept */
size_t diag_warnings(const diag *d);
size_t diag_count(const diag *d); /* kept */
const diag_item *diag_at(const diag *d, size_t i);
bool diag_has(const diag *d, const char *code); /* is one with this code kept? */

/* All items, one line each: in the order added, but those of one file by line. */
void diag_print(const diag *d, FILE *to);

#endif
