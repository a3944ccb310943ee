/* explain_sweep.h - explain --sweep: every point of the specs predicted, and set beside what was
 * measured. */
#ifndef GEN_EXPLAIN_SWEEP_H
#define GEN_EXPLAIN_SWEEP_H

#include "explain_sheet.h"

/* What gemmbench --sweep says of a kernel besides its time. ORDER FIGURE (explain_sweep_measured)
 */
typedef enum sweep_figure {
  FIGURE_REGISTERS,
  FIGURE_SPILLS,
  FIGURE_CODE,
  FIGURE_COMPILE,
  FIGURE_WAVES,
  FIGURE_IDEAL,
  FIGURE_SASS,
  FIGURE_COUNT
} sweep_figure;

/* A point that became a kernel. */
typedef struct sweep_row {
  const kernel_spec *spec;
  char name[128];
  int registers, shared_bytes, blocks_sm, loop_bytes, stages;
  double intensity; /* of a tile: FLOP a byte of A and B */
  double seconds;   /* predicted */
  double peak_share;
  model_bound binding;
  double measured;              /* seconds; 0: not measured */
  double figures[FIGURE_COUNT]; /* -1: unknown */
} sweep_row;

typedef struct sweep_table {
  spec_set specs;
  sweep_row *rows; /* fastest prediction first */
  size_t count, refused;
  const char *problem;
  model_problem size;
  spec_field varying[SPEC_FIELD_COUNT]; /* fields in which the points differ */
  int varying_count;
  bool has_times, has_figures; /* of some rows */
} sweep_table;

/* Loads and predicts. measured: CSV of gemmbench, or NULL. false: errors in d. */
bool sweep_load(sweep_table *t, const char *const *paths, size_t count, const char *gpu,
                const char *problem, const char *measured, diag *d);
/* Reads gemmbench's CSV into the rows of its kernels. false: errors in d. */
bool sweep_load_measured(sweep_table *t, const char *path, diag *d);
/* Heading of a figure's column, and its value as text; "-" where it is unknown. */
const char *sweep_figure_name(sweep_figure f);
const char *sweep_figure_text(const sweep_row *r, sweep_figure f, char scratch[32]);
void sweep_free(sweep_table *t);

void sweep_text(const sweep_table *t, buf *out);
void sweep_json(const sweep_table *t, buf *out);
/* Heat maps over pairs of varying fields: predicted, and measured where there is any. */
void sweep_html(const sweep_table *t, buf *out);

#endif
