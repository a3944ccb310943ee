/* test_speed.c - the check is quick enough to be used while a kernel is edited.
 *
 * Aims, in processor seconds on one core of an idle machine: 256x256x256 with all checks 0.3 for
 * simt kernels of 64x64 tiles and more, 3 for naive and smem; compiling one kernel 1. Neighbours on
 * a shared machine cost up to as much again (two threads of one core), so a test fails at twice the
 * aim; GEMMGEN_SPEED_FACTOR=1 asks for the aims themselves. An unoptimised or instrumented build
 * of the emulated GPU is not measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *emitted;
static double factor = 2;

static int set_up(void **state) {
  (void)state;
  const char *given = getenv("GEMMGEN_SPEED_FACTOR");
  if (given) factor = atof(given);
  emitted = make_folder();
  must("'%s' speed.lua -o '%s'", GEMMGEN, emitted);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  remove_folder(emitted);
  return 0;
}

/* The best of up to three: noise only adds. */
static void measure(const char *name, double aim, double *compile, double *run) {
  *compile = *run = 1e9;
  for (int i = 0; i < 3 && (*compile > 1 || *run > aim); i++) {
    int code;
    double c, r;
    char *out = shell(&code, "'%s' check '%s' --kernel %s --problem 256x256x256 --schedules 0",
                      GEMMGEN, emitted, name);
    const char *at = strstr(out, "(compiling ");
    assert_int_equal(code, 0);
    assert_non_null(at);
    assert_int_equal(sscanf(at, "(compiling %lf s, running %lf s", &c, &r), 2);
    *compile = c < *compile ? c : *compile;
    *run = r / 2 < *run ? r / 2 : *run; /* on two data sets */
    free(out);
  }
}

static void test_family(void **state) {
  const char *words = *state;
  double limit = strstr(words, "simt") ? 0.3 : 3;
  DIR *d = opendir(emitted);
  int kernels = 0, slow = 0;
  assert_non_null(d);
  for (const struct dirent *e; (e = readdir(d));) {
    if (!strstr(e->d_name, words) || !strstr(e->d_name, ".cu")) continue;
    char *name = kernel_name(e->d_name);
    double compile, run;
    measure(name, limit, &compile, &run);
    bool good = compile <= factor * 1 && run <= factor * limit;
    printf("%-44s compile %.2f s (aim 1)  256x256x256 %.2f s (aim %.1f)%s\n", name, compile, run,
           limit, good ? "" : "  TOO SLOW");
    kernels++;
    slow += !good;
    free(name);
  }
  closedir(d);
  assert_true(kernels > 0);
  assert_int_equal(slow, 0);
}

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
enum { MEASURABLE = 0 };
#else
enum { MEASURABLE = 1 };
#endif

int main(void) {
  if (!MEASURABLE) {
    printf("not measured: this build is not optimised, or instrumented\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      {"naive", test_family, NULL, NULL, (void *)(uintptr_t) "_naive_"},
      {"smem", test_family, NULL, NULL, (void *)(uintptr_t) "_smem_"},
      {"simt", test_family, NULL, NULL, (void *)(uintptr_t) "_simt_"},
  };
  return cmocka_run_group_tests_name("check: speed", tests, set_up, tear_down);
}
