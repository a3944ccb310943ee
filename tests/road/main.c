/* Products whose operands TMA or the tensor cores cannot take as they lie, with a workspace and
 * without: the same numbers as a plain loop. Sums are small and whole, so equality is asked. */
#include <gg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const gg_kernel_table gg_table_emu;

static gg_device *device;
static gg_context *context;

static void must(gg_status status) {
  if (status == GG_OK) return;
  printf("%s: %s\n", gg_status_text(status), gg_error_detail());
  exit(1);
}

/* -1, 0 or 1 */
static int value(long long i, int seed) {
  return (int)((i * 7 + i / 13 + seed) % 3) - 1;
}

/* What is no element: a NaN of either type. */
enum { F16_ONE = 0x3c00, F16_NAN = 0x7e00, E4M3_ONE = 0x38, E4M3_NAN = 0x7f };

/* A whole number in f16 or bf16. */
static int whole(unsigned short bits, gg_dtype type) {
  int mantissa = type == GG_F16 ? 10 : 7, bias = type == GG_F16 ? 15 : 127;
  int exponent = (bits & 0x7fff) >> mantissa;
  if (exponent < bias) return exponent == 0 ? 0 : 9999;
  int shift = exponent - bias - mantissa, x = 1 << mantissa | (bits & ((1 << mantissa) - 1));
  x = shift < 0 ? x >> -shift : x << shift;
  return bits & 0x8000 ? -x : x;
}

/* An operand on the device, `skip` elements past an aligned address. */
typedef struct matrix {
  long long rows, columns, ld, batch, stride;
  int seed;
  void *memory, *at;
} matrix;

static void make(matrix *x, gg_dtype type, int skip) {
  size_t bytes = type == GG_E4M3 ? 1 : 2;
  size_t count = (size_t)(skip + (x->batch - 1) * x->stride + x->rows * x->ld);
  unsigned char *host = malloc(count * bytes);
  if (!host) exit(1);
  for (size_t i = 0; i < count; ++i) {
    unsigned short bits = type == GG_E4M3 ? E4M3_NAN : F16_NAN;
    memcpy(host + i * bytes, &bits, bytes);
  }
  for (long long b = 0; b < x->batch; ++b)
    for (long long i = 0; i < x->rows * x->columns; ++i) {
      long long place = skip + b * x->stride + i / x->columns * x->ld + i % x->columns;
      int v = value(b * x->stride + i, x->seed);
      unsigned short one = type == GG_E4M3 ? E4M3_ONE : F16_ONE;
      unsigned short sign = (unsigned short)(type == GG_E4M3 ? 0x80 : 0x8000);
      unsigned short bits = v == 0 ? 0 : v < 0 ? (unsigned short)(one | sign) : one;
      memcpy(host + (size_t)place * bytes, &bits, bytes);
    }
  must(gg_device_alloc(device, count * bytes, &x->memory));
  must(gg_device_upload(device, x->memory, host, count * bytes));
  x->at = (char *)x->memory + (size_t)skip * bytes;
  free(host);
}

static int element(const matrix *x, long long b, long long row, long long column) {
  return value(b * x->stride + row * x->columns + column, x->seed);
}

static int wrong(const gg_problem *p, const matrix *a, const matrix *b, const matrix *d,
                 const unsigned short *got, int skip) {
  for (long long batch = 0; batch < p->batch; ++batch)
    for (long long i = 0; i < p->m * p->n; ++i) {
      long long row = i / p->n, column = i % p->n;
      int sum = 0;
      for (long long k = 0; k < p->k; ++k)
        sum += (p->order_a == GG_ORDER_T ? element(a, batch, k, row) : element(a, batch, row, k)) *
               (p->order_b == GG_ORDER_T ? element(b, batch, column, k)
                                         : element(b, batch, k, column));
      int is = whole(got[skip + batch * d->stride + row * d->ld + column], p->type_d);
      if (is == sum) continue;
      printf("batch %lld, D[%lld,%lld] is %d instead of %d\n", batch, row, column, is, sum);
      return 1;
    }
  return 0;
}

/* The kernel that takes any D and wants A and B aligned and along k. */
static const char *tensor_kernel(gg_dtype type) {
  for (int i = 0; i < gg_table_emu.count; ++i) {
    const gg_kernel *row = &gg_table_emu.kernels[i];
    if (row->kind == GG_KIND_GEMM && row->type_a == type && row->align[0] == 16 &&
        row->align[3] == 2)
      return row->name;
  }
  return "none";
}

/* One run of a plan; expected: what gg_run returns. */
static int run(const gg_problem *p, const matrix *a, const matrix *b, matrix *d, int skip,
               int copies, gg_status expected) {
  gg_plan *plan;
  must(gg_plan_create(context, p, &plan));
  void *workspace = NULL;
  size_t bytes = copies ? gg_plan_workspace(plan) : 0;
  if (copies) must(gg_device_alloc(device, bytes, &workspace));
  const gg_pointers at = {.a = a->at, .b = b->at, .d = d->at};
  size_t count = (size_t)(skip + (p->batch - 1) * d->stride + p->m * d->ld);
  unsigned short *got = calloc(count, sizeof *got);
  if (!got) exit(1);
  must(gg_device_upload(device, d->memory, got, count * sizeof *got));
  gg_status status = gg_run(plan, &at, gg_scalar_f32(1), gg_scalar_f32(0), workspace, bytes, NULL);
  must(gg_device_download(device, got, d->memory, count * sizeof *got));
  int faults = status != expected || (status == GG_OK && wrong(p, a, b, d, got, skip));
  printf("  %s, %zu bytes of workspace: %s%s\n", gg_plan_kernel(plan), bytes,
         gg_status_text(status), faults ? ", WRONG" : "");
  free(got);
  if (copies) must(gg_device_free(device, workspace));
  gg_plan_destroy(plan);
  return faults;
}

/* Copies lead to the tensor cores, any kernel will do, and there is one without copies where the
 * layout is that of the kernels. */
static int run_all(gg_problem *p, const matrix *a, const matrix *b, matrix *d, int skip, int kept) {
  int faults =
      run(p, a, b, d, skip, 1, GG_OK) + run(p, a, b, d, skip, 0, kept ? GG_OK : GG_ERR_WORKSPACE);
  p->pin = tensor_kernel(p->type_a);
  return faults + run(p, a, b, d, skip, 1, GG_OK) + run(p, a, b, d, skip, 0, GG_ERR_WORKSPACE);
}

typedef struct job {
  gg_dtype type;
  const char *layout;
  int m, n, k, batch;
  int gap;           /* of every leading dimension */
  int skip;          /* elements by which every pointer misses alignment */
  int shared;        /* A's stride is 0 */
  const char *split; /* k is long, and cut where there is a workspace: part of the kernel's name */
} job;

/* The kernels take the operands as they lie; a workspace serves to cut k. */
static int run_split(const gg_problem *p, const char *kernel, const matrix *a, const matrix *b,
                     matrix *d) {
  char text[8192];
  must(gg_explain(context, p, text, sizeof text, NULL));
  const char *chosen = strstr(text, "kernel    ");
  size_t length = chosen ? strcspn(chosen, "\n") : 0;
  const char *name = chosen ? strstr(chosen, kernel) : NULL;
  int cut = name && name < chosen + length && strstr(text, "k is cut into ") &&
            strstr(text, "added up by sm90_reduce_f32_d_f16");
  if (!cut) printf("k is not cut for %s:\n%s", kernel, text);
  return !cut + run(p, a, b, d, 0, 1, GG_OK) + run(p, a, b, d, 0, 0, GG_OK);
}

static int multiply(const job *j) {
  printf("%s %s %dx%dx%d x %d, gap %d, %d off%s\n", j->type == GG_F16 ? "f16" : "e4m3", j->layout,
         j->m, j->n, j->k, j->batch, j->gap, j->skip, j->shared ? ", one A" : "");
  gg_problem p;
  gg_problem_init(&p, j->type);
  p.device = device;
  p.type_d = p.type_c = j->type == GG_F16 || j->split ? GG_F16 : GG_BF16;
  p.m = j->m, p.n = j->n, p.k = j->k, p.batch = j->batch;
  p.beta = GG_SCALAR_ZERO;
  p.order_a = j->layout[0] == 't' ? GG_ORDER_T : GG_ORDER_N;
  p.order_b = j->layout[1] == 't' ? GG_ORDER_T : GG_ORDER_N;
  gg_problem_pack(&p);
  p.lda += j->gap, p.ldb += j->gap, p.ldd += j->gap;
  matrix a = {.rows = p.order_a == GG_ORDER_T ? p.k : p.m, .batch = p.batch, .seed = 1};
  matrix b = {.rows = p.order_b == GG_ORDER_T ? p.n : p.k, .batch = p.batch, .seed = 2};
  matrix d = {.rows = p.m, .batch = p.batch, .seed = 3};
  a.columns = p.lda - j->gap, b.columns = p.ldb - j->gap, d.columns = p.ldd - j->gap;
  a.ld = p.lda, b.ld = p.ldb, d.ld = p.ldd;
  p.stride_a = a.stride = j->shared ? 0 : a.rows * a.ld + 1;
  p.stride_b = b.stride = b.rows * b.ld + 3;
  p.stride_d = d.stride = d.rows * d.ld + 5;
  make(&a, j->type, j->skip);
  make(&b, j->type, j->skip);
  make(&d, p.type_d, j->skip);
  int faults = j->split ? run_split(&p, j->split, &a, &b, &d)
                        : run_all(&p, &a, &b, &d, j->skip, strcmp(j->layout, "nt") == 0);
  must(gg_device_free(device, a.memory));
  must(gg_device_free(device, b.memory));
  must(gg_device_free(device, d.memory));
  return faults;
}

int main(void) {
  static const job jobs[] = {
      {.type = GG_F16, .layout = "nt", .m = 65, .n = 67, .k = 71, .batch = 1},
      {.type = GG_F16, .layout = "nt", .m = 64, .n = 64, .k = 64, .batch = 1, .gap = 1},
      {.type = GG_F16, .layout = "nt", .m = 70, .n = 33, .k = 130, .batch = 2, .skip = 3},
      {.type = GG_F16,
       .layout = "nt",
       .m = 64,
       .n = 72,
       .k = 128,
       .batch = 3,
       .skip = 1,
       .shared = 1},
      {.type = GG_F16, .layout = "nn", .m = 65, .n = 80, .k = 66, .batch = 1},
      {.type = GG_F16,
       .layout = "tn",
       .m = 33,
       .n = 65,
       .k = 70,
       .batch = 2,
       .gap = 1,
       .shared = 1},
      {.type = GG_F16, .layout = "tt", .m = 64, .n = 64, .k = 96, .batch = 1},
      {.type = GG_F16, .layout = "nt", .m = 72, .n = 40, .k = 2048, .batch = 1, .split = "_64x64x"},
      {.type = GG_E4M3,
       .layout = "nt",
       .m = 13,
       .n = 136,
       .k = 2048,
       .batch = 1,
       .split = "_16x64x"},
      {.type = GG_E4M3, .layout = "nn", .m = 65, .n = 67, .k = 129, .batch = 1},
      {.type = GG_E4M3, .layout = "tt", .m = 64, .n = 80, .k = 64, .batch = 2, .gap = 3, .skip = 5},
      {.type = GG_E4M3,
       .layout = "nt",
       .m = 40,
       .n = 40,
       .k = 200,
       .batch = 1,
       .gap = 1,
       .skip = 1},
  };
  const gg_kernel_table *tables[] = {&gg_table_emu};
  must(gg_device_emulated(NULL, &device));
  must(gg_context_create(tables, 1, &context));
  int faults = 0;
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; ++i)
    faults += multiply(&jobs[i]);
  gg_context_destroy(context);
  gg_device_destroy(device);
  printf("%d faults\n", faults);
  return faults ? 1 : 0;
}
