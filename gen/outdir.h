/* outdir.h - an output folder and who owns what in it.
 *
 * manifest.json lists the files of the last run with their sha256; they are ours as long as their
 * bytes are those. Everything else in the folder is the user's.
 */
#ifndef GEN_OUTDIR_H
#define GEN_OUTDIR_H

#include "buf.h"
#include "diag.h"

typedef struct out_file {
  char *name; /* without folder: [A-Za-z0-9_.-]+, not beginning with '.'; owned by the caller */
  buf text;
  char sha256[65];
} out_file;

typedef struct outdir_result {
  size_t written, unchanged, removed;
  buf removed_paths; /* one a line; the caller frees it */
  bool resumed;      /* a former run had been interrupted */
} outdir_result;

/* The member "files" of a manifest: every file's name, size and sha256 (which it fills in), sorted
 * by name. */
void outdir_list(out_file *files, size_t count, buf *manifest);
/* The last member, which tells a manifest that was edited, and the closing brace. */
void outdir_seal(buf *manifest);

/* Makes the folder hold these files and this sealed manifest, and no more of a former run's.
 * files are sorted by name (outdir_list sorts them). Files of a former run that are not asked for
 * any more are removed. A file that was changed by hand, or stands in the way
 * without being ours, is an error unless force; then nothing at all is written.
 * Nothing is touched that has its bytes already. false: errors in d. */
bool outdir_write(const char *folder, out_file *files, size_t count, const buf *manifest,
                  bool force, outdir_result *result, diag *d);

#endif
