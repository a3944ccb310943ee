/* spec_load_parts.h - what the files of the spec loader share: one load in progress. */
#ifndef GEN_SPEC_LOAD_PARTS_H
#define GEN_SPEC_LOAD_PARTS_H

#include "script.h"
#include "spec.h"
#include "spec_scan.h"

/* A combination of values, some fields still unset; the line of each that is set. */
typedef struct spec_point {
  int value[SPEC_FIELD_COUNT];
  int line[SPEC_FIELD_COUNT];
} spec_point;

/* Alternatives. Owned by the loader until the call ends: a Lua error may jump over their user. */
typedef struct point_list {
  struct point_list *next;
  spec_point *items;
  size_t count, capacity;
} point_list;

typedef struct spec_loader {
  spec_set *set;
  diag *d;
  const char *file;
  const spec_scan *scan;
  size_t first_spec; /* set->count before this file */
  gpu_facts gpu;     /* of the calls that follow */
  bool have_gpu;
  bool gpu_failed; /* the last gpu call was wrong, and told so */
  bool stopped;    /* the script was ended by us, with the reason told */
  int calls[2];    /* gemms and sweeps so far */
  bool memory;     /* C code ran out of memory */

  /* The call in progress. */
  kernel_spec call;
  int literal;       /* in scan; -1: unknown */
  bool bad;          /* something in it was wrong */
  bool too_many;     /* combinations; the script is stopped */
  point_list *lists; /* all of this call */
} spec_loader;

/* Adds an error at a path inside the call in progress: "tile[2].m" is the place, and without its
 * indices the field. NULL: the call itself. */
void spec_load_error(spec_loader *l, const char *path, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the table at idx, the argument of gemm or sweep: all its combinations, at least one; NULL
 * when memory is short. Errors set l->bad. */
point_list *spec_load_fields(spec_loader *l, lua_State *L, int idx);

/* An empty list, owned by the loader; NULL when memory is short. */
point_list *points_new(spec_loader *l);
/* Frees the lists of the call in progress. */
void spec_load_drop_lists(spec_loader *l);
/* These return false when memory is short. */
bool points_append(spec_loader *l, point_list *list, const spec_point *p);
bool points_append_nothing(spec_loader *l, point_list *list); /* a point that sets no field */
/* into = into x with. Beyond the cap an error is told and into keeps what it has. */
bool points_multiply(spec_loader *l, point_list *into, const point_list *with, const char *place);
spec_point points_nothing(void);
/* false, with an error told, where a list would grow beyond the cap. */
bool points_have_room(spec_loader *l, const char *place, size_t wanted);

/* The argument of gpu, a name or a table; sets l->gpu. Errors set l->bad. */
void spec_load_gpu(spec_loader *l, lua_State *L, int idx);

/* What a table is. */
typedef enum table_shape {
  TABLE_EMPTY,
  TABLE_RECORD, /* keys are strings */
  TABLE_LIST,   /* keys are 1 .. length */
  TABLE_MIXED   /* anything else */
} table_shape;

/* keys: up to max names of a record, *count of them, sorted; they live as long as the table is not
 * changed. A record of more is TABLE_MIXED with *count > max. NULL where only the shape is asked.
 */
table_shape spec_load_shape(lua_State *L, int idx, const char **keys, size_t max, size_t *count);

/* "\"abc\"", "12", "nan", "true", "a table": for messages. */
const char *spec_load_show(lua_State *L, int idx, char scratch[80]);

/* A whole number low .. high at idx, 128.0 included; else false and why not in words, with a code.
 */
bool spec_load_integer(lua_State *L, int idx, int low, int high, int *out, char why[160],
                       const char **code);

#endif
