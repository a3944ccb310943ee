/* device.c - an emulated GPU as its caller sees it: options and results. */
#include "emu.h"
#include <stdlib.h>
#include <string.h>

void gg_emu_options_init(gg_emu_options *o) {
  memset(o, 0, sizeof *o);
  o->host_threads = 1;
  o->async = GG_EMU_LATE;
  o->check = 1;
  o->count = 1;
  o->max_threads_per_block = 1024;
  o->max_shared_bytes = 232448; /* CUDA C Programming Guide, compute capability 9.0: 227 KB */
  o->arch = 90;
}

gg_emu *gg_emu_create(const gg_emu_options *o) {
  gg_emu *e = calloc(1, sizeof *e);
  if (e == NULL) return NULL;
  if (o != NULL)
    e->options = *o;
  else
    gg_emu_options_init(&e->options);
  return e;
}

void gg_emu_set_options(gg_emu *e, const gg_emu_options *o) {
  e->options = *o;
}

void gg_emu_destroy(gg_emu *e) {
  if (e == NULL) return;
  for (int i = 0; i < e->worlds; i++)
    ggi_emu_world_destroy(e->world[i]);
  free(e->world);
  ggi_emu_areas_free(e);
  ggi_emu_notes_free(&e->notes);
  free(e->finding);
  free(e->access);
  free(e);
}

size_t gg_emu_findings(const gg_emu *e, const gg_emu_finding **out) {
  if (out != NULL) *out = e->finding;
  return e->findings;
}

size_t gg_emu_accesses(const gg_emu *e, const gg_emu_access **out) {
  if (out != NULL) *out = e->access;
  return e->accesses;
}

void gg_emu_reset(gg_emu *e) {
  ggi_emu_notes_clear(&e->notes);
  e->findings = 0;
  e->accesses = 0;
}
