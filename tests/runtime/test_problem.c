/* test_problem.c - every wrong call has its own number and words; nothing is launched by one. */
#include "dtype.h"
#include "fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static gg_device *device;
static gg_context *context;
static gg_kernel rows[3];
static gg_kernel_table table;
static fake_log launches;

static gg_problem problem(void) {
  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.m = 20, p.n = 24, p.k = 8;
  gg_problem_pack(&p);
  return p;
}

static void refused(const gg_problem *p, gg_status status, const char *words) {
  gg_plan *plan = NULL;
  gg_status got = gg_plan_create(context, p, &plan);
  if (got != status || !strstr(gg_error_detail(), words))
    fail_msg("%s, \"%s\"; expected %s, \"%s\"", gg_status_name(got), gg_error_detail(),
             gg_status_name(status), words);
  assert_null(plan);
}

static void defaults(void **s) {
  (void)s;
  gg_problem p = problem();
  assert_int_equal(p.batch, 1);
  assert_int_equal(p.align_a, 16);
  assert_int_equal(p.lda, 8);
  assert_int_equal(p.ldb, 24);
  assert_int_equal(p.stride_d, 480);
  p.order_a = p.order_b = GG_ORDER_T;
  gg_problem_pack(&p);
  assert_int_equal(p.lda, 20);
  assert_int_equal(p.ldb, 8);
  gg_plan *plan = NULL;
  p = problem();
  assert_int_equal(gg_plan_create(context, &p, &plan), GG_OK);
  assert_string_equal(gg_plan_kernel(plan), "f32");
  assert_int_equal(gg_plan_workspace(plan), 0);
  gg_plan_destroy(plan);
}

static void wrong_arguments(void **s) {
  (void)s;
  gg_problem p = problem();
  gg_plan *plan;
  assert_int_equal(gg_plan_create(NULL, &p, &plan), GG_ERR_ARGUMENT);
  assert_int_equal(gg_plan_create(context, &p, NULL), GG_ERR_ARGUMENT);
  assert_int_equal(gg_gemm(NULL, &p, NULL, gg_scalar_f32(1), gg_scalar_f32(0), NULL, 0, NULL),
                   GG_ERR_ARGUMENT);
  refused(NULL, GG_ERR_ARGUMENT, "problem: is NULL");
  p.size = 8;
  refused(&p, GG_ERR_ARGUMENT, "problem.size: is 8, this library's is");
  p = problem(), p.device = NULL;
  refused(&p, GG_ERR_ARGUMENT, "problem.device: is NULL");
  p = problem(), p.order_b = (gg_order)7;
  refused(&p, GG_ERR_ARGUMENT, "order_b: 7 is no order");
  p = problem(), p.alpha = (gg_scalar_class)3;
  refused(&p, GG_ERR_ARGUMENT, "alpha: 3 is no scalar class");
  p = problem(), p.align_c = 24;
  refused(&p, GG_ERR_ARGUMENT, "align_c: 24 is not a power of two of at least 4");
  p = problem(), p.align_a = 2;
  refused(&p, GG_ERR_ARGUMENT, "align_a: 2 is not");
}

static void wrong_types_and_sizes(void **s) {
  (void)s;
  gg_problem p = problem();
  p.type_b = (gg_dtype)99;
  refused(&p, GG_ERR_TYPE, "type_b: 99 is no element type");
  p = problem(), p.type_d = GG_NONE;
  refused(&p, GG_ERR_TYPE, "type_c: 0 is no element type");
  p = problem(), p.m = -1;
  refused(&p, GG_ERR_SIZE, "m: -1 is negative");
  p = problem(), p.batch = -2;
  refused(&p, GG_ERR_SIZE, "batch: -2 is negative");
  p = problem(), p.lda = 7;
  refused(&p, GG_ERR_LD, "lda: 7 is less than 8, the length of a row of A as stored (20 x 8)");
  p = problem(), p.order_b = GG_ORDER_T, p.ldb = 7;
  refused(&p, GG_ERR_LD, "ldb: 7 is less than 8, the length of a row of B as stored (24 x 8)");
  p = problem(), p.ldd = 23;
  refused(&p, GG_ERR_LD, "ldd: 23 is less than 24");
  p = problem(), p.ldc = 23;
  refused(&p, GG_ERR_LD, "ldc: 23");
  p = problem(), p.batch = 2, p.stride_b = -1;
  refused(&p, GG_ERR_STRIDE, "stride_b: -1 is negative");
  p = problem(), p.batch = 2, p.stride_d = 0;
  refused(&p, GG_ERR_STRIDE, "stride_d: 0 makes matrices of D share elements");
  p = problem(), p.batch = 2, p.stride_d = 479;
  refused(&p, GG_ERR_STRIDE, "stride_d: 479 makes");
  p = problem(), p.m = INT64_MAX / 8;
  refused(&p, GG_ERR_LIMIT, "offsets exceed 2^62");
  p = problem(), p.m = p.n = (gg_i64)1 << 28, p.k = 1;
  gg_problem_pack(&p);
  refused(&p, GG_ERR_LIMIT, "exceed the 2147483647 blocks of one launch");
}

static void not_there_yet(void **s) {
  (void)s;
  gg_problem p = problem();
  p.order_d = GG_ORDER_T;
  refused(&p, GG_ERR_UNSUPPORTED, "order_d: D is row-major only");
  p = problem(), p.scaling_d = GG_SCALING_BLOCK;
  refused(&p, GG_ERR_UNSUPPORTED, "scaling_d: D has one scale or none, not one for each block");
  p = problem(), p.scaling_d = GG_SCALING_VECTOR;
  refused(&p, GG_ERR_UNSUPPORTED, "not one for each row; use GG_SCALING_TENSOR");
}

static void wrong_epilogues(void **s) {
  (void)s;
  gg_problem p = problem();
  p.bias = (gg_bias)3;
  refused(&p, GG_ERR_ARGUMENT, "bias: 3 is none of gg_bias");
  p = problem(), p.activation = (gg_activation)5;
  refused(&p, GG_ERR_ARGUMENT, "activation: 5 is none of gg_activation");
  p = problem(), p.scaling_b = (gg_scaling)7;
  refused(&p, GG_ERR_ARGUMENT, "scaling_b: 7 is none of gg_scaling");
  p = problem(), p.residual = 2;
  refused(&p, GG_ERR_ARGUMENT, "residual: 2 is neither 0 nor 1");
  p = problem(), p.absmax = -1;
  refused(&p, GG_ERR_ARGUMENT, "absmax: -1 is neither 0 nor 1");
  p = problem(), p.residual = 1, p.ld_residual = 23;
  refused(&p, GG_ERR_LD, "ld_residual: 23 is less than 24, the length of a row of the residual");
  p = problem(), p.residual = 1, p.align_residual = 3;
  refused(&p, GG_ERR_ARGUMENT, "align_residual: 3 is not a power of two");
  p = problem(), p.residual = 1, p.batch = 2, p.ld_residual = 24, p.stride_residual = -8;
  refused(&p, GG_ERR_STRIDE, "stride_residual: -8 is negative");
  p = problem(), p.bias = GG_BIAS_N, p.batch = 2, p.stride_bias = -1;
  refused(&p, GG_ERR_STRIDE, "stride_bias: -1 is negative");
  p = problem(), p.bias = GG_BIAS_M, p.batch = 3, p.stride_bias = INT64_MAX / 2;
  refused(&p, GG_ERR_LIMIT, "the bias: 1 x 20");
  /* One scale for each row and 128 of k, of a batch that shares A and B. */
  p = problem(), p.scaling_a = GG_SCALING_GROUP, p.batch = (gg_i64)1 << 40;
  p.stride_a = p.stride_b = 0, p.k = p.lda = (gg_i64)1 << 30;
  refused(&p, GG_ERR_LIMIT, "A's scales: 1 x 167772160");
}

/* Strides and leading dimensions of steps; those that the problem has not do not matter. */
static void packed_epilogues(void **s) {
  (void)s;
  gg_problem p = problem();
  assert_int_equal(p.ld_residual, 24);
  assert_int_equal(p.stride_residual, 480);
  p.bias = GG_BIAS_M;
  gg_problem_pack(&p);
  assert_int_equal(p.stride_bias, 20);
  p.bias = GG_BIAS_N;
  gg_problem_pack(&p);
  assert_int_equal(p.stride_bias, 24);
  gg_plan *plan = NULL;
  p = problem(), p.ld_residual = -1, p.stride_bias = -1, p.batch = 2;
  assert_int_equal(gg_plan_create(context, &p, &plan), GG_OK);
  gg_plan_destroy(plan);
  p = problem(), p.bias = GG_BIAS_N, p.activation = GG_ACTIVATION_GELU_TANH, p.residual = 1;
  p.scaling_a = p.scaling_b = GG_SCALING_VECTOR, p.scaling_d = GG_SCALING_TENSOR, p.absmax = 1;
  refused(&p, GG_ERR_NO_KERNEL,
          "beta any, A scaled by vector, B scaled by vector, bias along n, gelu_tanh, residual, "
          "absmax, D scaled by tensor: no kernel; nearest is f32: bias is n, the kernel's is none");
}

static void no_kernel(void **s) {
  (void)s;
  gg_problem p = problem();
  p.type_a = p.type_b = p.type_c = p.type_d = GG_BF16;
  refused(&p, GG_ERR_NO_KERNEL, "bf16 x bf16 -> bf16, acc f32, nn");
  p = problem(), p.order_a = p.order_b = GG_ORDER_T;
  gg_problem_pack(&p);
  refused(&p, GG_ERR_NO_KERNEL, "A is stored t, the kernel's is n");
  p = problem(), p.pin = "fastest";
  refused(&p, GG_ERR_PIN, "no table has a kernel named fastest");
  p = problem(), p.pin = "f64";
  refused(&p, GG_ERR_PIN, "pin: f64: A is f32, the kernel's is f64");
}

/* The kernel that a problem of these types is given, or the status. */
static const char *kernel_of(gg_dtype a, gg_dtype d, gg_dtype acc) {
  static char name[64];
  gg_problem p = problem();
  p.type_a = p.type_b = a, p.type_d = d, p.type_c = GG_NONE, p.type_acc = acc;
  p.align_a = p.align_b = p.align_c = p.align_d = 16;
  gg_plan *plan = NULL;
  gg_status status = gg_plan_create(context, &p, &plan);
  snprintf(name, sizeof name, "%s",
           status == GG_OK ? gg_plan_kernel(plan) : gg_status_name(status));
  gg_plan_destroy(plan);
  return name;
}

/* Every type of A and B against every type of D and of the accumulator. */
static void types(void **s) {
  (void)s;
  enum { LAST = GG_S32 };
  gg_kernel own_rows[LAST];
  for (int i = GG_F64; i <= LAST; ++i) {
    own_rows[i - 1] = fake_row(ggi_dtype_name((gg_dtype)i), (gg_dtype)i, GG_ORDER_N, GG_ORDER_N);
    if (i == GG_S8 || i == GG_U8) own_rows[i - 1].type_d = own_rows[i - 1].type_c = GG_S32;
  }
  gg_kernel_table t = fake_table(own_rows, LAST);
  const gg_kernel_table *tables[1] = {&t};
  gg_context *own, *former = context;
  assert_int_equal(gg_context_create(tables, 1, &own), GG_OK);
  context = own;
  for (int a = GG_F64; a <= LAST; ++a)
    for (int d = GG_F64; d <= LAST; ++d)
      for (int acc = GG_NONE; acc <= LAST; ++acc) {
        const gg_kernel *row = &own_rows[a - 1];
        bool sums =
            acc == GG_NONE || acc == GG_F64 || acc == GG_F32 || acc == GG_F16 || acc == GG_S32;
        bool same_acc = acc == GG_NONE || (gg_dtype)acc == row->type_acc;
        bool same_d = ggi_dtype_memory(row->type_d) == ggi_dtype_memory((gg_dtype)d);
        const char *expected = !sums                ? "GG_ERR_TYPE"
                               : same_acc && same_d ? row->name
                                                    : "GG_ERR_NO_KERNEL";
        assert_string_equal(kernel_of((gg_dtype)a, (gg_dtype)d, (gg_dtype)acc), expected);
      }
  gg_context_destroy(own);
  context = former;
}

static void other_device(void **s) {
  (void)s;
  gg_kernel row = fake_row("sm_999a", GG_F32, GG_ORDER_N, GG_ORDER_N);
  row.arch = 999, row.arch_suffix = 'a';
  gg_kernel_table t = fake_table(&row, 1);
  const gg_kernel_table *tables[1] = {&t};
  gg_context *own, *former = context;
  assert_int_equal(gg_context_create(tables, 1, &own), GG_OK);
  context = own;
  gg_problem p = problem();
  refused(&p, GG_ERR_ARCH, "sm_999a: built for sm_999a, which runs on sm_999 only");
  gg_context_destroy(own);

  t.emulated = !t.emulated;
  assert_int_equal(gg_context_create(tables, 1, &own), GG_OK);
  context = own;
  refused(&p, GG_ERR_BACKEND, "built for");
  gg_context_destroy(own);

  assert_int_equal(gg_context_create(NULL, 0, &own), GG_OK);
  context = own;
  refused(&p, GG_ERR_NO_KERNEL, "the context's 0 tables hold no kernel");
  gg_context_destroy(own);
  context = former;
}

static void bad_table(gg_kernel_table t, gg_status status, const char *words) {
  const gg_kernel_table *tables[2] = {&table, &t};
  gg_context *own = NULL;
  assert_int_equal(gg_context_create(tables, 2, &own), status);
  assert_null(own);
  if (!strstr(gg_error_detail(), words)) fail_msg("%s", gg_error_detail());
}

static void bad_tables(void **s) {
  (void)s;
  gg_kernel_table t = table;
  t.abi = 99;
  bad_table(t, GG_ERR_TABLE, "tables[1]: its ABI is 99, this library's is 5");
  t = table, t.args_size = 8;
  bad_table(t, GG_ERR_TABLE, "gg_args has 8 bytes");
  t = table, t.row_size = 8;
  bad_table(t, GG_ERR_TABLE, "gg_kernel 8");
  t = table, t.count = -1;
  bad_table(t, GG_ERR_TABLE, "has -1 rows");
  gg_kernel row = rows[0];
  row.entry = NULL;
  bad_table(fake_table(&row, 1), GG_ERR_TABLE, "row 0, f32: has no entry");
  row = rows[0], row.tile_m = 0;
  bad_table(fake_table(&row, 1), GG_ERR_TABLE, "tile 0 x 16");
  row = rows[0], row.cluster_n = 0;
  bad_table(fake_table(&row, 1), GG_ERR_TABLE, "a cluster of 1 x 0 x 1 blocks cannot be");
  row = rows[0], row.cluster_m = 6, row.cluster_n = 3;
  bad_table(fake_table(&row, 1), GG_ERR_TABLE, "a cluster of 6 x 3 x 1 blocks cannot be");
  row = rows[0], row.maps[1] = (gg_map_recipe){1, 6, 8, 0, 256};
  bad_table(fake_table(&row, 1), GG_ERR_TABLE, "maps[1]: a box of 24 bytes");
  const gg_kernel_table *none[1] = {NULL};
  gg_context *own = NULL;
  assert_int_equal(gg_context_create(none, 1, &own), GG_ERR_ARGUMENT);
  assert_int_equal(gg_context_create(NULL, 1, &own), GG_ERR_ARGUMENT);
  assert_int_equal(gg_context_create(NULL, 0, NULL), GG_ERR_ARGUMENT);
}

static void devices(void **s) {
  (void)s;
  gg_device *none = NULL;
  gg_status status = gg_device_cuda(9999, &none);
#ifdef GEMMGEN_CUDA
  assert_int_equal(status, GG_ERR_NO_DEVICE);
#else
  assert_int_equal(status, GG_ERR_NO_BACKEND);
  assert_non_null(strstr(gg_error_detail(), "built without CUDA"));
#endif
  assert_null(none);
  gg_emulated_options o;
  gg_emulated_options_init(&o);
  o.sms = 0;
  assert_int_equal(gg_device_emulated(&o, &none), GG_ERR_ARGUMENT);
  o.size = 1;
  assert_int_equal(gg_device_emulated(&o, &none), GG_ERR_ARGUMENT);
  assert_int_equal(gg_device_emulated(NULL, NULL), GG_ERR_ARGUMENT);
  assert_int_equal(gg_device_get_info(device, NULL), GG_ERR_ARGUMENT);
  assert_int_equal(gg_device_alloc(NULL, 1, NULL), GG_ERR_ARGUMENT);
  char host[4] = "abc";
  void *too_much = NULL;
  assert_int_equal(gg_device_alloc(device, SIZE_MAX / 2, &too_much), GG_ERR_DEVICE_MEMORY);
  assert_int_equal(gg_device_free(device, host), GG_ERR_ARGUMENT);
  assert_int_equal(gg_device_free(NULL, NULL), GG_ERR_ARGUMENT);
  assert_int_equal(gg_device_free(device, NULL), GG_OK);
  void *memory = NULL;
  assert_int_equal(gg_device_alloc(device, 4, &memory), GG_OK);
  assert_int_equal(gg_device_upload(device, NULL, host, 4), GG_ERR_NULL);
  assert_int_equal(gg_device_upload(device, memory, host, 4), GG_OK);
  memset(host, 0, 4);
  assert_int_equal(gg_device_download(device, host, memory, 4), GG_OK);
  assert_string_equal(host, "abc");
  assert_int_equal(gg_device_download(device, host, NULL, 0), GG_OK);
  assert_int_equal(gg_device_free(device, memory), GG_OK);
  gg_device_destroy(NULL);
  gg_plan_destroy(NULL);
  gg_context_destroy(NULL);
}

static void texts(void **s) {
  (void)s;
  /* Numbers are pinned. */
  assert_int_equal(GG_ERR_ARGUMENT, 1);
  assert_int_equal(GG_ERR_OVERLAP, 10);
  assert_int_equal(GG_ERR_FAULT, 23);
  assert_string_equal(gg_status_text(GG_OK), "success");
  assert_string_equal(gg_status_name(GG_ERR_LD), "GG_ERR_LD");
  assert_string_equal(gg_status_text((gg_status)4711), "unknown status");
  for (int i = 0; i <= 23; ++i)
    for (int j = 0; j < i; ++j)
      assert_string_not_equal(gg_status_text((gg_status)i), gg_status_text((gg_status)j));
}

/* What is wrong in gg_run: pointers, scalars, workspace. */
static void wrong_runs(void **s) {
  (void)s;
  gg_problem p = problem();
  p.beta = GG_SCALAR_ONE;
  gg_plan *plan;
  assert_int_equal(gg_plan_create(context, &p, &plan), GG_OK);
  void *memory;
  assert_int_equal(gg_device_alloc(device, 1 << 16, &memory), GG_OK);
  float *x = memory;
  const gg_pointers good = {.a = x, .b = x + 2048, .c = x + 4096, .d = x + 6144};
  const gg_scalar one = gg_scalar_f32(1), two = gg_scalar_f32(2);
  launches.launches = 0;
#define WRONG(status, words, pointers, alpha, beta, workspace, bytes)                              \
  do {                                                                                             \
    assert_int_equal(gg_run(plan, pointers, alpha, beta, workspace, bytes, NULL), status);         \
    if (!strstr(gg_error_detail(), words)) fail_msg("%s", gg_error_detail());                      \
  } while (0)
  gg_pointers q = good;
  assert_int_equal(gg_run(NULL, &q, one, one, NULL, 0, NULL), GG_ERR_ARGUMENT);
  WRONG(GG_ERR_ARGUMENT, "pointers is NULL", NULL, one, one, NULL, 0);
  WRONG(GG_ERR_SCALAR, "beta: 2 was stated to be one", &q, two, two, NULL, 0);
  WRONG(GG_ERR_NULL, "workspace: is NULL, but workspace_bytes is 8", &q, two, one, NULL, 8);
  q = good, q.a = NULL;
  WRONG(GG_ERR_NULL, "pointers.a: is NULL, but k and alpha are not 0", &q, two, one, NULL, 0);
  q = good, q.c = NULL;
  WRONG(GG_ERR_NULL, "pointers.c: is NULL, but beta is not 0", &q, two, one, NULL, 0);
  q = good, q.d = NULL;
  WRONG(GG_ERR_NULL, "pointers.d: is NULL", &q, two, one, NULL, 0);
  q = good, q.b = (const char *)q.b + 2;
  WRONG(GG_ERR_ALIGNMENT, "pointers.b: ", &q, two, one, NULL, 0);
  q = good, q.d = x + 19;
  WRONG(GG_ERR_OVERLAP, "pointers.d: the one at ", &q, two, one, NULL, 0);
  q = good, q.c = x + 6144 + 1;
  WRONG(GG_ERR_OVERLAP, "D may only be exactly that", &q, two, one, NULL, 0);
  assert_int_equal(launches.launches, 0);
#undef WRONG
  gg_device_free(device, memory);
  gg_plan_destroy(plan);
}

static int set_up(void **s) {
  (void)s;
  device = fake_device();
  rows[0] = fake_row("f32", GG_F32, GG_ORDER_N, GG_ORDER_N);
  rows[1] = fake_row("f32_nt", GG_F32, GG_ORDER_N, GG_ORDER_T);
  rows[2] = fake_row("f64", GG_F64, GG_ORDER_N, GG_ORDER_N);
  table = fake_table(rows, 3);
  const gg_kernel_table *tables[1] = {&table};
  fake_log_start(device, &launches);
  return gg_context_create(tables, 1, &context) != GG_OK;
}

static int tear_down(void **s) {
  (void)s;
  gg_context_destroy(context);
  gg_device_destroy(device);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults),
      cmocka_unit_test(wrong_arguments),
      cmocka_unit_test(wrong_types_and_sizes),
      cmocka_unit_test(types),
      cmocka_unit_test(not_there_yet),
      cmocka_unit_test(wrong_epilogues),
      cmocka_unit_test(packed_epilogues),
      cmocka_unit_test(no_kernel),
      cmocka_unit_test(other_device),
      cmocka_unit_test(bad_tables),
      cmocka_unit_test(devices),
      cmocka_unit_test(texts),
      cmocka_unit_test(wrong_runs),
  };
  return cmocka_run_group_tests_name("problem", tests, set_up, tear_down);
}
