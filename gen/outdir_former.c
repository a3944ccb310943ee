/* outdir_former.c - reads back what outdir.c wrote.
 *
 * The manifest is JSON for everybody else; here its entries are read line by line in the one form
 * in which they are written, and its last line proves that nobody edited it. The journal has lines
 * as of sha256sum. Names are checked: a manifest must not lead out of its folder.
 */
#include "outdir_former.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BEGIN "    { \"name\": \""
#define ENTRY_HASH  ", \"sha256\": \""
#define SEAL_BEGIN  "  \"seal\": \""

void former_print_entry(const char *name, size_t size, const char *sha256, bool last, buf *out) {
  buf_printf(out, ENTRY_BEGIN "%s\", \"bytes\": %zu" ENTRY_HASH "%s\" }%s\n", name, size, sha256,
             last ? "" : ",");
}

void former_print_seal(buf *manifest) {
  char sha256[65];
  if (manifest->failed) return;
  sha256_hex(manifest->data, manifest->size, sha256);
  buf_printf(manifest, SEAL_BEGIN "%s\"\n}\n", sha256);
}

static bool good_name(const char *name, size_t size) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return size > 0 && size < sizeof((former_file *)0)->name && name[0] != '.' &&
         strspn(name, allowed) >= size;
}

static bool good_hash(const char *text) {
  return strspn(text, "0123456789abcdef") >= 64;
}

static bool add(former_run *f, const char *name, size_t size, const char *sha256) {
  if (!good_name(name, size) || !good_hash(sha256)) return true;
  if (f->count == f->capacity) {
    size_t capacity = f->capacity ? 2 * f->capacity : 64;
    former_file *grown = realloc(f->files, capacity * sizeof *grown);
    if (!grown) return false;
    f->files = grown;
    f->capacity = capacity;
  }
  former_file *file = &f->files[f->count++];
  memcpy(file->name, name, size);
  file->name[size] = '\0';
  memcpy(file->sha256, sha256, 64);
  file->sha256[64] = '\0';
  return true;
}

bool former_add(former_run *f, const char *name, const char *sha256) {
  return add(f, name, strlen(name), sha256);
}

static bool read_manifest_line(former_run *f, const char *line) {
  size_t begin = strlen(ENTRY_BEGIN);
  if (strncmp(line, ENTRY_BEGIN, begin) != 0) return true;
  const char *name = line + begin;
  size_t size = strcspn(name, "\"\n");
  const char *end = name + strcspn(name, "\n");
  const char *hash = strstr(name, ENTRY_HASH);
  if (!hash || hash > end) return true;
  return add(f, name, size, hash + strlen(ENTRY_HASH));
}

static bool read_journal_line(former_run *f, const char *line) {
  if (!good_hash(line) || strncmp(line + 64, "  ", 2) != 0) return true;
  const char *name = line + 66;
  return add(f, name, strcspn(name, "\n"), line);
}

static bool sealed(const buf *manifest) {
  static const char begin[] = "\n" SEAL_BEGIN;
  const char *seal = NULL;
  for (const char *p = manifest->data; p && (p = strstr(p, begin)) != NULL; p += sizeof begin - 1)
    seal = p;
  if (!seal) return false;
  ++seal;
  char sha256[65];
  sha256_hex(manifest->data, (size_t)(seal - manifest->data), sha256);
  seal += strlen(SEAL_BEGIN);
  return strncmp(seal, sha256, 64) == 0 && strcmp(seal + 64, "\"\n}\n") == 0;
}

/* 1 read, 0 not there, -1 trouble with errno set. */
static int read_lines(former_run *f, const char *folder, const char *name, buf *text,
                      bool (*line_reader)(former_run *, const char *)) {
  buf path = {0};
  buf_printf(&path, "%s/%s", folder, name);
  bool ok = !path.failed && buf_read_file(text, path.data);
  int error = path.failed ? ENOMEM : errno;
  buf_free(&path);
  if (!ok) {
    errno = error;
    return error == ENOENT || error == ENOTDIR ? 0 : -1;
  }
  for (const char *line = text->data; line && *line;) {
    if (!line_reader(f, line)) {
      errno = ENOMEM;
      return -1;
    }
    line += strcspn(line, "\n");
    if (*line) ++line;
  }
  return 1;
}

bool former_read(former_run *f, const char *folder) {
  *f = (former_run){0};
  buf manifest = {0}, journal = {0};
  int found = read_lines(f, folder, OUTDIR_MANIFEST, &manifest, read_manifest_line);
  f->has_manifest = found > 0;
  f->manifest_edited = found > 0 && !sealed(&manifest);
  int interrupted =
      found < 0 ? -1 : read_lines(f, folder, OUTDIR_JOURNAL, &journal, read_journal_line);
  f->interrupted = interrupted > 0;
  int error = errno;
  buf_free(&manifest);
  buf_free(&journal);
  former_sort(f);
  errno = error;
  return found >= 0 && interrupted >= 0;
}

void former_free(former_run *f) {
  free(f->files);
  *f = (former_run){0};
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const former_file *)a)->name, ((const former_file *)b)->name);
}

static int by_name_and_hash(const void *a, const void *b) {
  int order = by_name(a, b);
  return order ? order : strcmp(((const former_file *)a)->sha256, ((const former_file *)b)->sha256);
}

void former_sort(former_run *f) {
  if (f->count) qsort(f->files, f->count, sizeof *f->files, by_name_and_hash);
}

static const former_file *find(const former_run *f, const char *name, const char *sha256) {
  former_file wanted = {"", ""};
  if (strlen(name) >= sizeof wanted.name || !f->count) return NULL;
  strcpy(wanted.name, name);
  if (sha256) memcpy(wanted.sha256, sha256, sizeof wanted.sha256);
  return bsearch(&wanted, f->files, f->count, sizeof *f->files,
                 sha256 ? by_name_and_hash : by_name);
}

bool former_has_name(const former_run *f, const char *name) {
  return find(f, name, NULL) != NULL;
}

bool former_has(const former_run *f, const char *name, const char *sha256) {
  return find(f, name, sha256) != NULL;
}

void former_print(const former_run *f, buf *out) {
  for (size_t i = 0; i < f->count; ++i)
    buf_printf(out, "%s  %s\n", f->files[i].sha256, f->files[i].name);
}
