/* ncu.c - reads Nsight Compute's CSV.
 *
 * Lines before the header (ncu prints "==PROF== ..." there) are passed over. Numbers may have
 * thousands separators; units are those of the row, or of the second line of the raw page.
 */
#include "ncu.h"

#include <stdlib.h>
#include <string.h>

/* Names of each figure: in the details page, and raw. ORDER FIGURE */
static const struct {
  ncu_figure figure;
  const char *name;
} names[] = {
    {NCU_SECONDS, "Duration"},
    {NCU_SECONDS, "gpu__time_duration.sum"},
    {NCU_COMPUTE, "Compute (SM) Throughput"},
    {NCU_COMPUTE, "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {NCU_MEMORY, "Memory Throughput"},
    {NCU_MEMORY, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {NCU_DRAM, "DRAM Throughput"},
    {NCU_DRAM, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {NCU_DRAM, "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {NCU_SM_BUSY, "SM Busy"},
    {NCU_SM_BUSY, "sm__instruction_throughput.avg.pct_of_peak_sustained_active"},
    {NCU_TENSOR, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    {NCU_OCCUPANCY, "Achieved Occupancy"},
    {NCU_OCCUPANCY, "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {NCU_DRAM_READ, "dram__bytes_read.sum"},
    {NCU_DRAM_WRITTEN, "dram__bytes_write.sum"},
    {NCU_REGISTERS, "Registers Per Thread"},
    {NCU_REGISTERS, "launch__registers_per_thread"},
    {NCU_LOCAL, "smsp__inst_executed_op_local.sum"},
    {NCU_LOCAL, "smsp__sass_inst_executed_op_local.sum"},
    {NCU_CONFLICTS, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
    {NCU_WAVEFRONTS, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    {NCU_L2_HITS, "L2 Hit Rate"},
    {NCU_L2_HITS, "lts__t_sector_hit_rate.pct"},
};

/* Of smsp__average_warps_issue_stalled_NAME_per_issue_active.ratio. */
static const struct {
  ncu_figure figure;
  const char *name;
} stalls[] = {
    {NCU_STALL_LONG, "long_scoreboard"},      {NCU_STALL_SHORT, "short_scoreboard"},
    {NCU_STALL_MIO, "mio_throttle"},          {NCU_STALL_LG, "lg_throttle"},
    {NCU_STALL_BARRIER, "barrier"},           {NCU_STALL_WAIT, "wait"},
    {NCU_STALL_MATH, "math_pipe_throttle"},   {NCU_STALL_NO_INSTRUCTION, "no_instruction"},
    {NCU_STALL_NOT_SELECTED, "not_selected"}, {NCU_STALL_SLEEPING, "sleeping"},
};

static int figure_of(const char *name) {
  static const char head[] = "smsp__average_warps_issue_stalled_";
  static const char tail[] = "_per_issue_active.ratio";
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i].name, name) == 0) return (int)names[i].figure;
  size_t size = strlen(name), ends = sizeof head + sizeof tail - 2;
  if (size <= ends || strncmp(name, head, sizeof head - 1) != 0 ||
      strcmp(name + size - (sizeof tail - 1), tail) != 0)
    return -1;
  for (size_t i = 0; i < sizeof stalls / sizeof *stalls; ++i)
    if (strlen(stalls[i].name) == size - ends &&
        strncmp(stalls[i].name, name + sizeof head - 1, size - ends) == 0)
      return (int)stalls[i].figure;
  /* "selected" is the instruction itself. */
  return strncmp("selected", name + sizeof head - 1, size - ends) == 0 ? -1 : (int)NCU_STALL_OTHER;
}

/* What one of the unit is in seconds or bytes. */
static double unit_of(const char *unit) {
  static const struct {
    const char *name;
    double value;
  } units[] = {{"nsecond", 1e-9}, {"ns", 1e-9},   {"usecond", 1e-6}, {"us", 1e-6},
               {"msecond", 1e-3}, {"ms", 1e-3},   {"second", 1},     {"s", 1},
               {"byte", 1},       {"Kbyte", 1e3}, {"Mbyte", 1e6},    {"Gbyte", 1e9},
               {"KB", 1e3},       {"MB", 1e6},    {"GB", 1e9},       {"Tbyte", 1e12}};
  for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
    if (strcmp(units[i].name, unit) == 0) return units[i].value;
  return 1;
}

/* -- CSV ------------------------------------------------------------------------------------------
 */

enum { MOST_COLUMNS = 8192 }; /* --set full has some 2200 */

/* Splits a line in place; quotes are taken off, "" is a quote. */
static int split(char *line, char **fields) {
  int n = 0;
  char *at = line;
  while (n < MOST_COLUMNS) {
    char *to = at;
    fields[n++] = at;
    bool quoted = *at == '"';
    if (quoted) ++at;
    while (*at && (quoted || *at != ',')) {
      if (quoted && *at == '"') {
        if (at[1] != '"') {
          quoted = false;
          ++at;
          continue;
        }
        ++at;
      }
      *to++ = *at++;
    }
    bool more = *at == ',';
    if (more) ++at;
    *to = '\0';
    if (!more) break;
  }
  return n;
}

static int column(char **fields, int count, const char *name) {
  for (int i = 0; i < count; ++i)
    if (strcmp(fields[i], name) == 0) return i;
  return -1;
}

/* "1,234.5" -> 1234.5; false: no number. */
static bool number(const char *text, double *value) {
  char plain[64];
  size_t n = 0;
  for (; *text && n + 1 < sizeof plain; ++text)
    if (*text != ',') plain[n++] = *text;
  plain[n] = '\0';
  char *end;
  *value = strtod(plain, &end);
  return n > 0 && *end == '\0';
}

/* -- Kernels --------------------------------------------------------------------------------------
 */

static ncu_kernel *kernel_of(ncu_profile *p, const char *name) {
  for (size_t i = 0; i < p->count; ++i)
    if (strcmp(p->kernels[i].name, name) == 0) return &p->kernels[i];
  ncu_kernel *grown = realloc(p->kernels, (p->count + 1) * sizeof *grown);
  if (!grown) return NULL;
  p->kernels = grown;
  ncu_kernel *k = &grown[p->count++];
  *k = (ncu_kernel){.name = ""};
  snprintf(k->name, sizeof k->name, "%s", name);
  return k;
}

static void put_figure(ncu_kernel *k, const char *name, const char *unit, const char *text) {
  int figure = figure_of(name);
  double value;
  if (figure < 0 || !number(text, &value)) return;
  value *= unit_of(unit);
  /* Several stalls make up the rest. */
  if (figure == NCU_STALL_OTHER && k->known[figure]) value += k->value[figure];
  /* The details page calls bytes a second "Memory Throughput" too: per cents are meant. */
  bool percent = figure == NCU_COMPUTE || figure == NCU_MEMORY || figure == NCU_DRAM;
  if (percent && strcmp(unit, "%") != 0 && *unit) return;
  k->value[figure] = value;
  k->known[figure] = true;
}

typedef struct reader {
  ncu_profile *p;
  char *fields[MOST_COLUMNS], *heads[MOST_COLUMNS], *units[MOST_COLUMNS];
  int count, kernel, metric, unit, value; /* columns of the header; metric -1: the raw page */
  bool header, units_read, memory;
} reader;

static void read_header(reader *r, int n) {
  int kernel = column(r->fields, n, "Kernel Name");
  if (kernel < 0) return;
  memcpy(r->heads, r->fields, (size_t)n * sizeof *r->heads);
  r->count = n;
  r->kernel = kernel;
  r->metric = column(r->fields, n, "Metric Name");
  r->unit = column(r->fields, n, "Metric Unit");
  r->value = column(r->fields, n, "Metric Value");
  r->header = true;
}

static void read_row(reader *r, int n) {
  if (n != r->count) return;
  bool raw = r->metric < 0;
  if (raw && !r->units_read) {
    memcpy(r->units, r->fields, (size_t)n * sizeof *r->units);
    r->units_read = true;
    return;
  }
  ncu_kernel *k = kernel_of(r->p, r->fields[r->kernel]);
  if (!k) {
    r->memory = true;
    return;
  }
  if (raw) {
    if (k->known[NCU_STALL_OTHER]) k->known[NCU_STALL_OTHER] = false; /* a later launch */
    for (int i = 0; i < n; ++i)
      put_figure(k, r->heads[i], r->units[i], r->fields[i]);
  } else if (r->unit >= 0 && r->value >= 0) {
    put_figure(k, r->fields[r->metric], r->fields[r->unit], r->fields[r->value]);
  }
}

bool ncu_load(ncu_profile *p, const char *path, diag *d) {
  buf text = {0};
  *p = (ncu_profile){0};
  reader *r = calloc(1, sizeof *r);
  if (!r || !buf_read_file_max(&text, path, 256 << 20) || !text.data) {
    diag_add(d, DIAG_ERROR, path, 0, "--ncu", "unreadable", "it cannot be read, or is empty");
    buf_free(&text);
    free(r);
    return false;
  }
  r->p = p;
  for (char *row = text.data, *next; row && *row; row = next) {
    next = strchr(row, '\n');
    if (next) *next++ = '\0';
    row[strcspn(row, "\r")] = '\0';
    int n = split(row, r->fields);
    if (r->header)
      read_row(r, n);
    else
      read_header(r, n);
  }
  bool good = r->header && p->count > 0 && !r->memory;
  if (r->memory)
    diag_add(d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
  else if (!good)
    diag_add(d, DIAG_ERROR, path, 0, "--ncu", "wrong-value",
             "no kernel and no column 'Kernel Name'; give the output of `ncu --csv` or `ncu --csv "
             "--page "
             "raw`");
  buf_free(&text);
  free(r);
  return good;
}

void ncu_free(ncu_profile *p) {
  free(p->kernels);
  *p = (ncu_profile){0};
}

const ncu_kernel *ncu_find(const ncu_profile *p, const char *name) {
  size_t size = strlen(name);
  for (size_t i = 0; i < p->count; ++i) {
    const char *full = p->kernels[i].name;
    if (strncmp(full, name, size) == 0 && (full[size] == '\0' || full[size] == '('))
      return &p->kernels[i];
  }
  return NULL;
}
