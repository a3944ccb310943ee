/* emit.h - plan -> template -> bytes. One emitter holds one Lua state for all kernels of a run. */
#ifndef GEN_EMIT_H
#define GEN_EMIT_H

#include "plan.h"

typedef struct emitter emitter;

/* directory: read templates from there instead of the embedded ones; NULL: embedded.
 * NULL, with an error in d, if templates cannot be read or do not compile. */
emitter *emitter_new(const char *directory, diag *d);
void emitter_free(emitter *e);

/* The text of one kernel. command: what the header cites, "gemmgen h100_f32.lua -o DIR".
 * specs: base names of the spec files that ask for this kernel. false: a template failed; the
 * diagnostic stands at the template's own line. */
bool emit_kernel(emitter *e, const kernel_plan *p, const char *command, const char *specs,
                 const char *prefix, buf *out, diag *d);

/* Sources embedded at build time (generated embedded_templates.c). */
typedef struct embedded_file {
  const char *name; /* "simt.cu.lua" */
  const char *text;
  size_t size;
} embedded_file;
extern const embedded_file embedded_templates[];
extern const size_t embedded_template_count;

#endif
