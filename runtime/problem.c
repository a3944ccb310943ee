/* problem.c - defaults and checks of gg_problem.
 *
 * After ggi_problem_check every byte offset into an operand fits 62 bits, which the launcher and
 * the overlap test rely on. What is never read (A and B where alpha is stated zero, C where beta
 * is) is not checked.
 */
#include "problem.h"
#include "detail.h"
#include "dtype.h"
#include "epilogue.h"

#include <stdio.h>
#include <string.h>

void gg_problem_init_sized(gg_problem *problem, size_t size, gg_dtype type) {
  if (!problem || size < sizeof(gg_problem)) return;
  memset(problem, 0, size);
  problem->size = size;
  problem->type_a = problem->type_b = problem->type_d = type;
  problem->batch = 1;
  problem->align_a = problem->align_b = problem->align_c = problem->align_d = 16;
  problem->align_residual = 16;
}

/* The stored shape of an operand. */
typedef struct shape {
  const char *name;
  const char *field; /* ends the names of its leading dimension and stride */
  gg_dtype type;
  gg_i64 rows, columns, ld, stride;
  int align;
  bool used;
} shape;

/* One row of values, the batch's one after the other or `stride` apart. */
static shape values(const char *name, const char *field, gg_dtype type, gg_i64 count, gg_i64 stride,
                    bool used) {
  return (shape){name, field, type, 1, count, count, stride, ggi_dtype_bytes(type), used};
}

static void shapes(const gg_problem *p, shape s[GGI_OPERANDS]) {
  bool turn_a = p->order_a == GG_ORDER_T, turn_b = p->order_b == GG_ORDER_T;
  bool ab = p->alpha != GG_SCALAR_ZERO, c = p->beta != GG_SCALAR_ZERO;
  s[GGI_A] = (shape){
      "A",         "a",        p->type_a, turn_a ? p->k : p->m, turn_a ? p->m : p->k, p->lda,
      p->stride_a, p->align_a, ab};
  s[GGI_B] = (shape){
      "B",         "b",        p->type_b, turn_b ? p->n : p->k, turn_b ? p->k : p->n, p->ldb,
      p->stride_b, p->align_b, ab};
  s[GGI_C] = (shape){"C", "c", p->type_c, p->m, p->n, p->ldc, p->stride_c, p->align_c, c};
  s[GGI_D] = (shape){"D", "d", p->type_d, p->m, p->n, p->ldd, p->stride_d, p->align_d, true};
  s[GGI_RESIDUAL] = (shape){.name = "the residual",
                            .field = "_residual",
                            .type = p->type_d,
                            .rows = p->m,
                            .columns = p->n,
                            .ld = p->ld_residual,
                            .stride = p->stride_residual,
                            .align = p->align_residual,
                            .used = p->residual != 0};
  s[GGI_BIAS] = values("the bias", "_bias", ggi_bias_type(p->type_d),
                       p->bias == GG_BIAS_M ? p->m : p->n, p->stride_bias, p->bias != GG_BIAS_NONE);
  const struct {
    ggi_operand operand;
    const char *name;
    gg_scaling scaling;
    gg_i64 extent;
  } scales[3] = {{GGI_SCALE_A, "A's scales", p->scaling_a, p->m},
                 {GGI_SCALE_B, "B's scales", p->scaling_b, p->n},
                 {GGI_SCALE_D, "D's scale", p->scaling_d, p->m}};
  for (int i = 0; i < 3; ++i)
    s[scales[i].operand] = values(
        scales[i].name, "", GG_F32, ggi_scale_count(scales[i].scaling, scales[i].extent, p->k),
        ggi_scale_stride(scales[i].scaling, scales[i].extent, p->k), scales[i].scaling != 0);
  s[GGI_ABSMAX] = values("absmax", "", GG_F32, 1, 0, p->absmax != 0);
}

const char *ggi_operand_name(ggi_operand operand) {
  static const char *const names[GGI_OPERANDS] = {
      "a", "b", "c", "d", "bias", "residual", "scale_a", "scale_b", "scale_d", "absmax"};
  return names[operand];
}

gg_dtype ggi_operand_type(const gg_problem *p, ggi_operand operand) {
  const gg_dtype types[GGI_BIAS] = {p->type_a, p->type_b, p->type_c, p->type_d};
  if (operand < GGI_BIAS) return types[operand];
  if (operand == GGI_BIAS) return ggi_bias_type(p->type_d);
  return operand == GGI_RESIDUAL ? p->type_d : GG_F32;
}

void gg_problem_pack(gg_problem *problem) {
  if (!problem) return;
  shape s[GGI_OPERANDS];
  shapes(problem, s);
  const struct {
    ggi_operand operand;
    gg_i64 *ld, *stride;
  } fields[] = {{GGI_A, &problem->lda, &problem->stride_a},
                {GGI_B, &problem->ldb, &problem->stride_b},
                {GGI_C, &problem->ldc, &problem->stride_c},
                {GGI_D, &problem->ldd, &problem->stride_d},
                {GGI_RESIDUAL, &problem->ld_residual, &problem->stride_residual}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    const shape *x = &s[fields[i].operand];
    *fields[i].ld = x->columns;
    /* A size whose product overflows is refused by the check of the problem. */
    if (__builtin_mul_overflow(x->rows, x->columns, fields[i].stride))
      *fields[i].stride = INT64_MAX;
  }
  problem->stride_bias = s[GGI_BIAS].columns;
}

static gg_status check_types(gg_problem *p) {
  if (p->type_c == GG_NONE) p->type_c = p->type_d;
  if (p->type_acc == GG_NONE) p->type_acc = ggi_dtype_accumulator(p->type_a);
  const gg_dtype types[5] = {p->type_a, p->type_b, p->type_c, p->type_d, p->type_acc};
  static const char *const names[5] = {"type_a", "type_b", "type_c", "type_d", "type_acc"};
  for (int i = 0; i < 5; ++i)
    if (ggi_dtype_bytes(types[i]) == 0)
      return ggi_fail(GG_ERR_TYPE, "%s: %d is no element type; use one of gg_dtype", names[i],
                      (int)types[i]);
  p->type_c = ggi_dtype_memory(p->type_c);
  p->type_d = ggi_dtype_memory(p->type_d);
  const gg_dtype acc = p->type_acc;
  if (acc != GG_F64 && acc != GG_F32 && acc != GG_F16 && acc != GG_S32)
    return ggi_fail(GG_ERR_TYPE, "type_acc: nothing accumulates in %s; use f64, f32, f16 or s32",
                    ggi_dtype_name(acc));
  return GG_OK;
}

static gg_status check_orders(const gg_problem *p) {
  const int orders[4] = {(int)p->order_a, (int)p->order_b, (int)p->order_c, (int)p->order_d};
  for (int i = 0; i < 4; ++i) {
    if (orders[i] != GG_ORDER_N && orders[i] != GG_ORDER_T)
      return ggi_fail(GG_ERR_ARGUMENT, "order_%c: %d is no order; use GG_ORDER_N or GG_ORDER_T",
                      "abcd"[i], orders[i]);
    if (i >= 2 && orders[i] == GG_ORDER_T)
      return ggi_fail(GG_ERR_UNSUPPORTED,
                      "order_%c: %c is row-major only in this version; swap A and B instead",
                      "abcd"[i], "ABCD"[i]);
  }
  return GG_OK;
}

static gg_status check_scalars(const gg_problem *p) {
  const int classes[2] = {(int)p->alpha, (int)p->beta};
  for (int i = 0; i < 2; ++i)
    if (classes[i] < GG_SCALAR_ANY || classes[i] > GG_SCALAR_ONE)
      return ggi_fail(GG_ERR_ARGUMENT, "%s: %d is no scalar class; use one of gg_scalar_class",
                      i ? "beta" : "alpha", classes[i]);
  return GG_OK;
}

static gg_status check_epilogue(const gg_problem *p) {
  const struct {
    const char *field, *type;
    int value, last;
  } enums[] = {{"bias", "gg_bias", (int)p->bias, GG_BIAS_M},
               {"activation", "gg_activation", (int)p->activation, GG_ACTIVATION_GELU_TANH},
               {"scaling_a", "gg_scaling", (int)p->scaling_a, GG_SCALING_BLOCK},
               {"scaling_b", "gg_scaling", (int)p->scaling_b, GG_SCALING_BLOCK},
               {"scaling_d", "gg_scaling", (int)p->scaling_d, GG_SCALING_BLOCK}};
  for (size_t i = 0; i < sizeof enums / sizeof enums[0]; ++i)
    if (enums[i].value < 0 || enums[i].value > enums[i].last)
      return ggi_fail(GG_ERR_ARGUMENT, "%s: %d is none of %s", enums[i].field, enums[i].value,
                      enums[i].type);
  if (p->scaling_d > GG_SCALING_TENSOR)
    return ggi_fail(GG_ERR_UNSUPPORTED,
                    "scaling_d: D has one scale or none, not one for each %s; use "
                    "GG_SCALING_TENSOR",
                    p->scaling_d == GG_SCALING_VECTOR ? "row" : ggi_scaling_name(p->scaling_d));
  const int flags[2] = {p->residual, p->absmax};
  for (int i = 0; i < 2; ++i)
    if (flags[i] != 0 && flags[i] != 1)
      return ggi_fail(GG_ERR_ARGUMENT, "%s: %d is neither 0 nor 1", i ? "absmax" : "residual",
                      flags[i]);
  return GG_OK;
}

static gg_status check_sizes(const gg_problem *p) {
  const gg_i64 sizes[4] = {p->m, p->n, p->k, p->batch};
  static const char *const names[4] = {"m", "n", "k", "batch"};
  for (int i = 0; i < 4; ++i)
    if (sizes[i] < 0)
      return ggi_fail(GG_ERR_SIZE, "%s: %lld is negative; use 0 or more", names[i], sizes[i]);
  return GG_OK;
}

/* rows, columns, ld and stride are >= 0. true: the last byte's offset is below 2^62. */
static bool extent_fits(const shape *s, gg_i64 batch) {
  gg_i64 rows = 0, matrices = 0, total, bytes;
  if (s->rows > 1 && __builtin_mul_overflow(s->rows - 1, s->ld, &rows)) return false;
  if (batch > 1 && __builtin_mul_overflow(batch - 1, s->stride, &matrices)) return false;
  if (__builtin_add_overflow(rows, matrices, &total)) return false;
  if (__builtin_add_overflow(total, s->columns, &total)) return false;
  if (__builtin_mul_overflow(total, ggi_dtype_bytes(s->type), &bytes)) return false;
  return bytes < (gg_i64)1 << 62;
}

static gg_status check_operand(const gg_problem *p, const shape *s) {
  int bytes = ggi_dtype_bytes(s->type);
  const char *separator = s->field[0] == '_' ? "" : "_";
  if (s->align < bytes || (s->align & (s->align - 1)) != 0)
    return ggi_fail(GG_ERR_ARGUMENT,
                    "align%s%s: %d is not a power of two of at least %d, the bytes of an element",
                    separator, s->field, s->align, bytes);
  if (s->columns < 0) /* of scales only: sizes are checked */
    return ggi_fail(GG_ERR_LIMIT, "%s: their number exceeds 2^63", s->name);
  if (s->ld < s->columns)
    return ggi_fail(GG_ERR_LD,
                    "ld%s: %lld is less than %lld, the length of a row of %s as stored (%lld x "
                    "%lld)",
                    s->field, s->ld, s->columns, s->name, s->rows, s->columns);
  if (p->batch > 1 && s->stride < 0)
    return ggi_fail(GG_ERR_STRIDE, "stride%s%s: %lld is negative; use 0 or more", separator,
                    s->field, s->stride);
  if (!extent_fits(s, p->batch))
    return ggi_fail(GG_ERR_LIMIT, "%s: %lld x %lld, ld %lld, %lld matrices: offsets exceed 2^62",
                    s->name, s->rows, s->columns, s->ld, p->batch);
  return GG_OK;
}

static gg_status check_operands(const gg_problem *p) {
  shape s[GGI_OPERANDS];
  shapes(p, s);
  for (int i = 0; i < GGI_OPERANDS; ++i) {
    if (!s[i].used) continue;
    gg_status status = check_operand(p, &s[i]);
    if (status != GG_OK) return status;
  }
  ggi_view views[GGI_OPERANDS];
  ggi_problem_views(p, views);
  if (ggi_view_self_overlap(&views[GGI_D]))
    return ggi_fail(GG_ERR_STRIDE,
                    "stride_d: %lld makes matrices of D share elements (%lld x %lld, ldd %lld, "
                    "batch %lld)",
                    p->stride_d, p->m, p->n, p->ldd, p->batch);
  return GG_OK;
}

gg_status ggi_problem_check(const gg_problem *in, gg_problem *out) {
  if (!in) return ggi_fail(GG_ERR_ARGUMENT, "problem: is NULL");
  if (in->size != sizeof(gg_problem))
    return ggi_fail(GG_ERR_ARGUMENT,
                    "problem.size: is %zu, this library's is %zu; call gg_problem_init, and build "
                    "with the gg.h of this library",
                    in->size, sizeof(gg_problem));
  gg_problem p;
  memset(&p, 0, sizeof p);
#define COPY(field) p.field = in->field
  COPY(size), COPY(device);
  COPY(type_a), COPY(type_b), COPY(type_c), COPY(type_d), COPY(type_acc);
  COPY(order_a), COPY(order_b), COPY(order_c), COPY(order_d);
  COPY(m), COPY(n), COPY(k), COPY(batch);
  COPY(lda), COPY(ldb), COPY(ldc), COPY(ldd);
  COPY(stride_a), COPY(stride_b), COPY(stride_c), COPY(stride_d);
  COPY(alpha), COPY(beta);
  COPY(align_a), COPY(align_b), COPY(align_c), COPY(align_d), COPY(align_residual);
  COPY(bias), COPY(activation), COPY(scaling_a), COPY(scaling_b), COPY(scaling_d);
  COPY(residual), COPY(absmax);
  COPY(ld_residual), COPY(stride_residual), COPY(stride_bias);
  COPY(fast_accum), COPY(deterministic), COPY(pin);
#undef COPY
  if (!p.device)
    return ggi_fail(GG_ERR_ARGUMENT, "problem.device: is NULL; use gg_device_cuda or "
                                     "gg_device_emulated");
  gg_status status = check_types(&p);
  if (status == GG_OK) status = check_orders(&p);
  if (status == GG_OK) status = check_scalars(&p);
  if (status == GG_OK) status = check_epilogue(&p);
  if (status == GG_OK) status = check_sizes(&p);
  if (status == GG_OK) status = check_operands(&p);
  if (status == GG_OK) memcpy(out, &p, sizeof p);
  return status;
}

bool ggi_problem_is_empty(const gg_problem *p) {
  return p->m == 0 || p->n == 0 || p->batch == 0;
}

void ggi_problem_call(const gg_problem *p, bool promised, ggi_call *call) {
  shape s[GGI_OPERANDS];
  shapes(p, s);
  *call = (ggi_call){.type_a = p->type_a,
                     .type_b = p->type_b,
                     .type_c = p->type_c,
                     .type_d = p->type_d,
                     .type_acc = p->type_acc,
                     .order_a = p->order_a,
                     .order_b = p->order_b,
                     .alpha = p->alpha,
                     .beta = p->beta,
                     .bias = p->bias,
                     .activation = p->activation,
                     .scaling_a = p->scaling_a,
                     .scaling_b = p->scaling_b,
                     .scaling_d = p->scaling_d,
                     .residual = p->residual,
                     .absmax = p->absmax,
                     .fast_accum = p->fast_accum,
                     .m = p->m,
                     .n = p->n,
                     .k = p->k,
                     .batch = p->batch};
  static const ggi_operand order[GGI_MATRICES] = {GGI_A, GGI_B, GGI_C, GGI_D, GGI_RESIDUAL};
  for (int i = 0; i < GGI_MATRICES; ++i) {
    const shape *x = &s[order[i]];
    call->ld[i] = x->used ? x->ld : 0;
    call->stride[i] = x->used ? x->stride : 0;
    call->align[i] = promised ? x->align : ggi_dtype_bytes(x->type);
    if (!x->used) call->align[i] = 4096;
  }
}

void ggi_problem_views(const gg_problem *p, ggi_view views[GGI_OPERANDS]) {
  shape s[GGI_OPERANDS];
  shapes(p, s);
  for (int i = 0; i < GGI_OPERANDS; ++i) {
    gg_i64 bytes = ggi_dtype_bytes(s[i].type);
    views[i] = (ggi_view){.start = NULL};
    if (!s[i].used) continue;
    views[i].run = s[i].columns * bytes;
    views[i].rows = s[i].rows;
    views[i].pitch = s[i].rows > 1 ? s[i].ld * bytes : 0;
    views[i].batch = p->batch;
    views[i].stride = p->batch > 1 ? s[i].stride * bytes : 0;
  }
}

/* Appends ", WHAT NAME" to a text of which `used` bytes are taken. */
static int append(char *text, size_t size, int used, const char *what, const char *name) {
  if (used < 0 || (size_t)used >= size) return used;
  return used + snprintf(text + used, size - (size_t)used, ", %s%s", what, name);
}

void ggi_problem_text(const gg_problem *p, char *text, size_t size) {
  static const char *const classes[3] = {"any", "zero", "one"};
  int used = snprintf(text, size,
                      "%s x %s -> %s, acc %s, %c%c, %lld x %lld x %lld, batch %lld, alpha %s, "
                      "beta %s",
                      ggi_dtype_name(p->type_a), ggi_dtype_name(p->type_b),
                      ggi_dtype_name(p->type_d), ggi_dtype_name(p->type_acc),
                      p->order_a == GG_ORDER_T ? 't' : 'n', p->order_b == GG_ORDER_T ? 't' : 'n',
                      p->m, p->n, p->k, p->batch, classes[p->alpha], classes[p->beta]);
  const gg_scaling scaling[3] = {p->scaling_a, p->scaling_b, p->scaling_d};
  static const char *const scaled[3] = {"A scaled by ", "B scaled by ", "D scaled by "};
  for (int i = 0; i < 2; ++i)
    if (scaling[i]) used = append(text, size, used, scaled[i], ggi_scaling_name(scaling[i]));
  if (p->bias) used = append(text, size, used, "bias along ", ggi_bias_name(p->bias));
  if (p->activation) used = append(text, size, used, "", ggi_activation_name(p->activation));
  if (p->residual) used = append(text, size, used, "residual", "");
  if (p->absmax) used = append(text, size, used, "absmax", "");
  if (scaling[2]) append(text, size, used, scaled[2], ggi_scaling_name(scaling[2]));
}
