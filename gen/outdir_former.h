/* outdir_former.h - what a former run left in a folder: its manifest, and its journal where it was
 * interrupted. */
#ifndef GEN_OUTDIR_FORMER_H
#define GEN_OUTDIR_FORMER_H

#include "buf.h"

#define OUTDIR_MANIFEST "manifest.json"
#define OUTDIR_JOURNAL  ".gemmgen-journal"
#define OUTDIR_PART     ".gemmgen-part" /* ending of a file that is being written */

/* A file that was ours when it had these bytes. One name may stand with several. */
typedef struct former_file {
  char name[256];
  char sha256[65];
} former_file;

typedef struct former_run {
  former_file *files; /* sorted by name */
  size_t count, capacity;
  bool has_manifest;
  bool manifest_edited; /* not as a run sealed it */
  bool interrupted;     /* there is a journal */
} former_run;

/* false with errno set where a file cannot be read, or ENOMEM. Damage is not an error: what cannot
 * be read as an entry is not ours. */
bool former_read(former_run *f, const char *folder);
void former_free(former_run *f);

/* Was a file of this name ours, whatever its bytes? */
bool former_has_name(const former_run *f, const char *name);
bool former_has(const former_run *f, const char *name, const char *sha256);
bool former_add(former_run *f, const char *name, const char *sha256); /* false: memory */
void former_sort(former_run *f);
/* The journal's text: all entries. */
void former_print(const former_run *f, buf *out);

/* One entry of the member "files", and how it is read back. */
void former_print_entry(const char *name, size_t size, const char *sha256, bool last, buf *out);
/* Text of the seal of everything before it. */
void former_print_seal(buf *manifest);

#endif
