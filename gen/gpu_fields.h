/* gpu_fields.h - gpu_facts as a table: one list for the spec's gpu{}, for printing and for JSON. */
#ifndef GEN_GPU_FIELDS_H
#define GEN_GPU_FIELDS_H

#include "buf.h"
#include "gpu.h"

/* A rate is an integer that may be left out: 0, there is no such unit. So is a figure: 0, unknown.
 */
typedef enum gpu_field_kind { GPU_INT, GPU_RATE, GPU_FIGURE, GPU_BOOL, GPU_SUFFIX } gpu_field_kind;

/* Which of a card's papers a fact usually comes from. */
typedef enum gpu_origin { ORIGIN_GUIDE, ORIGIN_PAPER, ORIGIN_CARD } gpu_origin;

typedef struct gpu_field {
  const char *name;
  gpu_field_kind kind;
  size_t offset; /* in gpu_facts */
  int low, high;
  const char *unit;
  const char *text;
  gpu_origin origin;
} gpu_field;

extern const gpu_field gpu_fields[];
extern const size_t gpu_field_count;

/* Of a GPU_INT, GPU_RATE, GPU_FIGURE, GPU_BOOL (0, 1) or GPU_SUFFIX (the letter, or 0). */
int gpu_field_get(const gpu_facts *g, const gpu_field *f);
void gpu_field_set(gpu_facts *g, const gpu_field *f, int value);
/* Does a plan depend on it? The others are for the model alone, and stay out of hashes. */
bool gpu_field_planned(const gpu_field *f);
/* "132", "true", "a", "unknown". */
const char *gpu_field_value_text(const gpu_facts *g, const gpu_field *f, char scratch[16]);

/* Where a card's fact comes from: the document's name; NULL where the fact is unknown. */
const char *gpu_field_source(const gpu_facts *g, const gpu_field *f);

/* Up to four known names that look like this one, "'h100-sxm' or 'h100-pcie'"; else all names. */
void gpu_suggest(const char *name, buf *out);

#endif
