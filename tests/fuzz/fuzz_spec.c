/* fuzz_spec.c - property: any bytes taken as a spec give valid plans or placed diagnostics, within
 * the sandbox's limits.
 *
 * Valid: a plan whose block fits its GPU. Placed: file, a line of that file, a text and a code.
 * With -fsanitize=fuzzer this is the target; with replay.c it runs over files.
 */
#include "plan.h"
#include "script.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lower than usual, so that endless loops do not take all of the fuzzer's time. */
static const script_limits limits = {8u << 20, 1u << 20, 20000, 1};

enum { MAX_PLANNED = 32 };

static void demand(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fuzz_spec: broken: %s\n", what);
  abort();
}

static void check_diagnostics(const diag *d, int lines) {
  for (size_t i = 0; i < diag_count(d); ++i) {
    const diag_item *item = diag_at(d, i);
    demand(item->file && strcmp(item->file, "fuzz.lua") == 0, "a diagnostic names the file");
    demand(item->line >= 1 && item->line <= lines, "a diagnostic has a line of the file");
    demand(item->text && item->text[0], "a diagnostic has a text");
    demand(item->code && item->code[0], "a diagnostic has a code");
    for (const char *p = item->text; *p; ++p)
      demand((unsigned char)*p >= 0x20, "a diagnostic is one line");
  }
}

static void check_plan(const kernel_spec *s, plan_variant variant) {
  kernel_plan p = {0};
  plan_fault fault = {0};
  switch (plan_make(s, variant, &p, &fault)) {
  case PLAN_OK:
    demand(p.name[0] && strlen(p.name) < sizeof p.name - 1, "a plan has a name");
    demand(p.threads >= 32 && p.threads <= 1024 && p.threads % 32 == 0, "threads fit a block");
    demand(p.shared_bytes >= 0 && p.shared_bytes <= s->gpu.shared_block, "shared memory fits");
    demand(p.tile_m > 0 && p.tile_n > 0 && p.tile_k > 0, "tiles are not empty");
    demand(p.multiple_m > 0 && p.multiple_n > 0 && p.multiple_k > 0, "multiples are 1 or more");
    break;
  case PLAN_ILLEGAL:
    demand(fault.text[0] && fault.code && fault.field < SPEC_FIELD_COUNT, "a refusal says why");
    break;
  case PLAN_SAME:
    break;
  case PLAN_MEMORY:
    demand(false, "memory suffices");
    break;
  }
  plan_free(&p);
}

/* The passes over operands that a point may bring, on its GPU. */
static void check_passes(const kernel_spec *s) {
  for (int type = GG_F64; type <= GG_S32; ++type)
    for (int pass = 0; pass < PASS_COUNT; ++pass) {
      kernel_spec made;
      if (plan_pass_spec(s, type, (plan_pass)pass, &made)) check_plan(&made, VARIANT_NARROW);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int lines = 1;
  for (size_t i = 0; i < size; ++i)
    lines += data[i] == '\n' || data[i] == '\r'; /* Lua counts either */
  diag *d = diag_new();
  demand(d != NULL, "memory suffices");
  spec_set set = {.limits = &limits};
  bool ok = spec_load_text("fuzz.lua", (const char *)data, size, &set, d);
  demand(ok == (diag_errors(d) == 0), "a load fails exactly with an error");
  demand(!ok || set.count > 0, "a load without error gives a point");
  demand(set.count <= SPEC_MAX_POINTS, "points are capped");
  for (size_t i = 0; i < set.count && i < MAX_PLANNED; ++i) {
    for (int v = 0; v < VARIANT_COUNT; ++v)
      check_plan(&set.specs[i], (plan_variant)v);
    check_passes(&set.specs[i]);
  }
  check_diagnostics(d, lines);
  spec_set_free(&set);
  diag_free(d);
  return 0;
}
