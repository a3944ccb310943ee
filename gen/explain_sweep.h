/* explain_sweep.h - explain --sweep: every point of the specs predicted, and set beside what was
 * measured. */
#ifndef GEN_EXPLAIN_SWEEP_H
#define GEN_EXPLAIN_SWEEP_H

#include "explain_sheet.h"

/* A point that became a kernel. */
typedef struct sweep_row {
  const kernel_spec *spec;
  char name[128];
  int registers, shared_bytes, blocks_sm, loop_bytes, stages;
  double intensity; /* of a tile: FLOP a byte of A and B */
  double seconds;   /* predicted */
  double peak_share;
  model_bound binding;
  double measured; /* seconds; 0: not measured */
} sweep_row;

typedef struct sweep_table {
  spec_set specs;
  sweep_row *rows; /* fastest prediction first */
  size_t count, refused;
  const char *problem;
  model_problem size;
  spec_field varying[SPEC_FIELD_COUNT]; /* fields in which the points differ */
  int varying_count;
} sweep_table;

/* Loads and predicts. measured: CSV of gemmbench, or NULL. false: errors in d. */
bool sweep_load(sweep_table *t, const char *const *paths, size_t count, const char *gpu,
                const char *problem, const char *measured, diag *d);
void sweep_free(sweep_table *t);

void sweep_text(const sweep_table *t, buf *out);
void sweep_json(const sweep_table *t, buf *out);
/* Heat maps over pairs of varying fields: predicted, and measured where there is any. */
void sweep_html(const sweep_table *t, buf *out);

#endif
