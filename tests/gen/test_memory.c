/* test_memory.c - an allocator that fails on demand walks every allocation of the loader and the
 * planner: each failure ends in an error in words or in the same result, never in a crash.
 *
 * Linked with --wrap of the allocation functions; Lua allocates through realloc of ours.
 */
#include "unit.h"
#include "kernel_set.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long countdown = -1; /* allocations until one fails; negative: none fails */
static bool all_after;      /* and all after it */
static bool failed;

static bool fails(void) {
  if (countdown < 0) return false;
  if (countdown > 0) {
    --countdown;
    return false;
  }
  failed = true;
  if (!all_after) countdown = -1;
  return true;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
  return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size) {
  return fails() ? NULL : __real_realloc(block, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text) {
  return fails() ? NULL : __real_strdup(text);
}

static char path[64];

static int write_spec(void **state) {
  (void)state;
  static const char text[] =
      "gpu { base = 'h100-sxm', sms = 100 }\n"
      "local tiles = {}\n"
      "for i = 1, 3 do tiles[i] = { m = 16 << i, n = 64, thread = { m = 4, n = 4 } } end\n"
      "gemm { family = 'naive', dtype = 'f32', layout = { 'nn', 'nt' } }\n"
      "sweep { family = 'simt', dtype = 'f32', tile = tiles, stages = { 1, 16 },\n"
      "  padding = { 0, 'bad' and 4 } }\n";
  snprintf(path, sizeof path, "/tmp/test_memory_XXXXXX");
  int handle = mkstemp(path);
  if (handle < 0) return -1;
  bool ok = write(handle, text, sizeof text - 1) == (ssize_t)(sizeof text - 1);
  return close(handle) == 0 && ok ? 0 : -1;
}

static int remove_spec(void **state) {
  (void)state;
  return remove(path);
}

/* One load whose nth allocation fails. false: there are fewer. */
static bool load_failing_at(long n, bool all, size_t kernels, size_t rejected) {
  const char *paths[] = {path};
  diag *d = diag_new();
  assert_non_null(d);
  kernel_set k;
  failed = false;
  all_after = all;
  countdown = n;
  bool ok = kernel_set_load(&k, paths, 1, NULL, d);
  countdown = -1;
  if (ok) {
    assert_int_equal(diag_errors(d), 0);
    if (kernels) {
      assert_int_equal(k.count, kernels);
      assert_int_equal(k.rejected, rejected);
    }
  } else {
    assert_true(failed);
    assert_true(diag_errors(d) > 0);
  }
  if (all && failed) assert_true(diag_has(d, "out-of-memory"));
  kernel_set_free(&k);
  diag_free(d);
  return failed;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const char *paths[] = {path};
  diag *d = diag_new();
  kernel_set k;
  assert_true(kernel_set_load(&k, paths, 1, NULL, d));
  size_t kernels = k.count, rejected = k.rejected;
  assert_true(kernels > 4);
  kernel_set_free(&k);
  diag_free(d);
  for (int all = 0; all < 2; ++all) {
    long n = 0;
    while (load_failing_at(n, all != 0, kernels, rejected))
      ++n;
    assert_true(n > 500);
    print_message("%ld allocations, %s\n", n, all ? "all fail from one on" : "one fails");
  }
}

static void buffers_remember_a_failure(void **state) {
  (void)state;
  buf b = {0};
  countdown = 0;
  buf_puts(&b, "x");
  countdown = -1;
  assert_true(b.failed);
  buf_puts(&b, "y");
  assert_int_equal(b.size, 0);
  buf_free(&b);
  buf_puts(&b, "z");
  assert_false(b.failed);
  buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_remember_a_failure),
      cmocka_unit_test_setup_teardown(every_allocation_may_fail, write_spec, remove_spec),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
