/* rig.c - see rig.h. Runs in the folder of the kernels, whose lines it looks up. */
#include "rig.h"

void rig_open(rig *r) {
  memset(r, 0, sizeof *r);
  gg_emu_options_init(&r->options);
  r->emu = gg_emu_create(&r->options);
  assert_non_null(r->emu);
  r->a = gg_emu_alloc(r->emu, RIG_FLOATS * sizeof(float), "A");
  r->d = gg_emu_alloc(r->emu, RIG_FLOATS * sizeof(float), "D");
  assert_non_null(r->a);
  assert_non_null(r->d);
  for (int i = 0; i < RIG_FLOATS; i++)
    r->a[i] = (float)i;
  r->args.a = r->a;
  r->args.c = r->args.d = r->d;
  r->threads = 64;
  r->blocks = 1;
  r->cluster = 1;
  r->shared_bytes = 1024;
}

void rig_close(rig *r) {
  gg_emu_destroy(r->emu);
}

void rig_run(rig *r, kernel *k) {
  char error[240];
  gg_emu_launch launch = {.name = "kernel",
                          .entry = (gg_entry)k,
                          .grid_x = r->blocks,
                          .grid_y = 1,
                          .grid_z = 1,
                          .block_x = r->threads,
                          .cluster_x = r->cluster,
                          .shared_bytes = r->shared_bytes,
                          .programmatic = r->programmatic};
  gg_emu_set_options(r->emu, &r->options);
  gg_emu_reset(r->emu);
  if (gg_emu_run(r->emu, &launch, &r->args, error) != 0) fail_msg("%s", error);
}

static void print_findings(const rig *r) {
  const gg_emu_finding *f;
  size_t n = gg_emu_findings(r->emu, &f);
  for (size_t i = 0; i < n; i++)
    print_error("%s line %d, other %d, %llu times: %s\n", gg_emu_kind_name(f[i].kind), f[i].line,
                f[i].other_line, (unsigned long long)f[i].count, f[i].text);
}

void rig_expect(rig *r, kernel *k, ...) {
  rig_run(r, k);
  const gg_emu_finding *f;
  size_t n = gg_emu_findings(r->emu, &f), expected = 0;
  va_list list;
  va_start(list, k);
  for (;;) {
    int kind = va_arg(list, int);
    if (kind == 0) break;
    const char *line = va_arg(list, const char *), *other = va_arg(list, const char *);
    expected++;
    size_t i = 0;
    while (i < n && ((int)f[i].kind != kind || f[i].line != line_of(line) ||
                     f[i].other_line != line_of(other)))
      i++;
    if (i == n) {
      print_findings(r);
      fail_msg("no %s at %s, %s", gg_emu_kind_name((gg_emu_kind)kind), line,
               other != NULL ? other : "-");
    }
    assert_true(f[i].count > 0);
    assert_true(strlen(f[i].text) > 20);
    assert_null(strchr(f[i].text, '\n'));
  }
  va_end(list);
  if (n != expected) print_findings(r);
  assert_int_equal(n, expected);
}

size_t rig_count(const rig *r, gg_emu_kind kind) {
  const gg_emu_finding *f;
  size_t n = gg_emu_findings(r->emu, &f), count = 0;
  for (size_t i = 0; i < n; i++)
    count += f[i].kind == kind;
  return count;
}

void rig_silent(const rig *r) {
  const gg_emu_finding *f;
  if (gg_emu_findings(r->emu, &f) != 0) {
    print_findings(r);
    fail_msg("%s", "findings in a sound kernel");
  }
}

gg_emu_access rig_access(const rig *r, const char *word, int shared) {
  const gg_emu_access *a;
  size_t n = gg_emu_accesses(r->emu, &a);
  for (size_t i = 0; i < n; i++)
    if (a[i].line == line_of(word) && a[i].shared == shared) return a[i];
  fail_msg("no accesses at %s", word);
  return a[0];
}

int line_of(const char *word) {
  static const char *const files[] = {"kernels_access.c", "kernels_race.c", "kernels_fault.c",
                                      "kernels_gemm.c",   "kernels_mma.c",  "kernels_hopper.c",
                                      "kernels_tensor.c"};
  char text[256], mark[64];
  if (word == NULL) return 0;
  snprintf(mark, sizeof mark, "/* @%s */", word);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    FILE *f = fopen(files[i], "r");
    assert_non_null(f);
    for (int line = 1; fgets(text, sizeof text, f) != NULL; line++)
      if (strstr(text, mark) != NULL) {
        fclose(f);
        return line;
      }
    fclose(f);
  }
  fail_msg("no kernel has a line %s", mark);
  return 0;
}
