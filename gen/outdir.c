/* outdir.c - decides what happens to each file, then does it.
 *
 * Invariant: all decisions fall before the first write. From the first write on, the journal lists
 * every file, with every content, that was or will be ours; so whatever moment a run is interrupted
 * at, the next run knows its files from the user's. Each file appears by rename, the manifest last,
 * and then the journal goes.
 */
#include "outdir.h"
#include "outdir_former.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum action { KEEP, WRITE, CONFLICT, FAILED } action;

typedef struct job {
  const char *folder;
  former_run former;
  bool force;
  diag *d;
  outdir_result *result;
} job;

/* -- Manifest ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  return strcmp(((const out_file *)a)->name, ((const out_file *)b)->name);
}

void outdir_list(out_file *files, size_t count, buf *manifest) {
  if (count) qsort(files, count, sizeof *files, by_name);
  buf_puts(manifest, "  \"files\": [\n");
  for (size_t i = 0; i < count; ++i) {
    sha256_hex(files[i].text.data, files[i].text.size, files[i].sha256);
    former_print_entry(files[i].name, files[i].text.size, files[i].sha256, i + 1 == count,
                       manifest);
  }
  buf_puts(manifest, "  ],\n");
}

void outdir_seal(buf *manifest) {
  former_print_seal(manifest);
}

/* -- Paths and bytes ------------------------------------------------------------------------ */

static char *path_of(const job *j, const char *name, const char *ending) {
  buf path = {0};
  buf_printf(&path, "%s/%s%s", j->folder, name, ending);
  if (path.failed) buf_free(&path);
  return path.data;
}

static void fail(const job *j, const char *name, const char *doing, int error) {
  char *path = path_of(j, name, "");
  diag_add(j->d, DIAG_ERROR, path ? path : name, 0, NULL, "output", "cannot be %s: %s", doing,
           strerror(error));
  free(path);
}

/* sha256 of a file on disk: 1 read, 0 not there, -1 trouble (reported). */
static int hash_file(const job *j, const char *name, char sha256[65]) {
  char *path = path_of(j, name, "");
  buf text = {0};
  bool ok = path && buf_read_file(&text, path);
  int error = path ? errno : ENOMEM;
  if (ok) sha256_hex(text.data ? text.data : "", text.size, sha256);
  buf_free(&text);
  free(path);
  if (ok) return 1;
  if (error == ENOENT) return 0;
  fail(j, name, "read", error);
  return -1;
}

static bool write_file(const job *j, const char *name, const char *data, size_t size) {
  char *path = path_of(j, name, ""), *part = path_of(j, name, OUTDIR_PART);
  int error = path && part ? 0 : ENOMEM;
  FILE *f = error ? NULL : fopen(part, "wb");
  if (!error && !f) error = errno;
  if (f) {
    if (size && fwrite(data, 1, size, f) != size) error = errno ? errno : EIO;
    if (fclose(f) != 0 && !error) error = errno;
    if (!error && rename(part, path) != 0) error = errno;
    if (error) remove(part);
  }
  free(path);
  free(part);
  if (error) fail(j, name, "written", error);
  return !error;
}

static bool remove_file(const job *j, const char *name, const char *ending) {
  char *path = path_of(j, name, ending);
  int error = !path ? ENOMEM : unlink(path) == 0 || errno == ENOENT ? 0 : errno;
  free(path);
  if (error) fail(j, name, "removed", error);
  return !error;
}

/* -- Deciding ------------------------------------------------------------------------------- */

static void conflict(const job *j, const char *name, bool ours, const char *remedy) {
  char *path = path_of(j, name, "");
  diag_add(j->d, DIAG_ERROR, path ? path : name, 0, NULL, ours ? "hand-edit" : "not-ours", "%s; %s",
           ours ? "was changed by hand" : "is in the way and not of a former run", remedy);
  free(path);
}

static action decide(const job *j, const char *name, const char *sha256) {
  char found[65];
  int there = hash_file(j, name, found);
  if (there < 0) return FAILED;
  if (!there) return WRITE;
  if (strcmp(found, sha256) == 0) return KEEP;
  if (j->force || former_has(&j->former, name, found)) return WRITE;
  conflict(j, name, former_has_name(&j->former, name),
           "move it away, or overwrite it with --force");
  return CONFLICT;
}

static action decide_manifest(const job *j, const buf *manifest) {
  char found[65], wanted[65];
  int there = hash_file(j, OUTDIR_MANIFEST, found);
  if (there < 0) return FAILED;
  sha256_hex(manifest->data, manifest->size, wanted);
  if (there && strcmp(found, wanted) == 0) return KEEP;
  if (!there || j->force || !j->former.manifest_edited) return WRITE;
  conflict(j, OUTDIR_MANIFEST, true, "move it away, or overwrite it with --force");
  return CONFLICT;
}

/* A former run's file that is not asked for any more: WRITE means remove. */
static action decide_removal(const job *j, const char *name) {
  char found[65];
  int there = hash_file(j, name, found);
  if (there < 0) return FAILED;
  if (!there) return KEEP;
  if (j->force || former_has(&j->former, name, found)) return WRITE;
  conflict(j, name, true, "no spec asks for it any more: move it away, or remove it with --force");
  return CONFLICT;
}

static bool is_asked(const out_file *files, size_t count, const char *name) {
  out_file wanted = {.name = (char *)(size_t)name};
  return bsearch(&wanted, files, count, sizeof *files, by_name) != NULL;
}

/* -- Folder --------------------------------------------------------------------------------- */

static bool make_folders(const char *folder, int *error) {
  char *path = strdup(folder);
  *error = path ? 0 : ENOMEM;
  for (char *p = path; path && !*error && *p;) {
    p += strspn(p, "/");
    p += strcspn(p, "/");
    char end = *p;
    *p = '\0';
    struct stat st;
    if (mkdir(path, 0777) != 0) {
      *error = errno;
      if (*error != ENOMEM && stat(path, &st) == 0) *error = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    }
    *p = end;
  }
  free(path);
  return !*error;
}

/* The folder, made where it is missing, locked against a second gemmgen; -1: reported. */
static int open_folder(const job *j) {
  int error = 0;
  int handle = open(j->folder, O_RDONLY | O_DIRECTORY);
  if (handle < 0 && errno == ENOENT && make_folders(j->folder, &error))
    handle = open(j->folder, O_RDONLY | O_DIRECTORY);
  if (handle < 0) {
    diag_add(j->d, DIAG_ERROR, j->folder, 0, NULL, "output", "cannot be made or opened: %s",
             strerror(error ? error : errno));
    return -1;
  }
  if (flock(handle, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    diag_add(j->d, DIAG_ERROR, j->folder, 0, NULL, "output",
             "another gemmgen is writing here; wait for it");
    close(handle);
    return -1;
  }
  return handle;
}

/* What an interrupted run may have left half written. */
static bool remove_parts(const job *j) {
  bool ok =
      remove_file(j, OUTDIR_JOURNAL, OUTDIR_PART) && remove_file(j, OUTDIR_MANIFEST, OUTDIR_PART);
  for (size_t i = 0; ok && i < j->former.count; ++i)
    ok = remove_file(j, j->former.files[i].name, OUTDIR_PART);
  return ok;
}

/* -- The whole ------------------------------------------------------------------------------ */

static bool write_journal(job *j, const out_file *files, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!former_add(&j->former, files[i].name, files[i].sha256)) {
      fail(j, OUTDIR_JOURNAL, "written", ENOMEM);
      return false;
    }
  former_sort(&j->former);
  buf text = {0};
  former_print(&j->former, &text);
  bool ok = !text.failed;
  if (!ok) fail(j, OUTDIR_JOURNAL, "written", ENOMEM);
  ok = ok && write_file(j, OUTDIR_JOURNAL, text.data, text.size);
  buf_free(&text);
  return ok;
}

static bool commit(job *j, out_file *files, size_t count, const action *actions,
                   const bool *removals, action manifest_action, const buf *manifest) {
  size_t former_count = j->former.count; /* before the journal sorts new entries in */
  char(*gone)[256] = NULL;
  size_t gone_count = 0;
  for (size_t i = 0; i < former_count; ++i)
    gone_count += removals[i];
  if (gone_count && !(gone = calloc(gone_count, sizeof *gone))) {
    fail(j, OUTDIR_JOURNAL, "written", ENOMEM);
    return false;
  }
  gone_count = 0;
  for (size_t i = 0; i < former_count; ++i)
    if (removals[i]) memcpy(gone[gone_count++], j->former.files[i].name, sizeof *gone);

  bool ok = (!j->former.interrupted || remove_parts(j)) && write_journal(j, files, count);
  for (size_t i = 0; ok && i < count; ++i) {
    if (actions[i] != WRITE) continue;
    ok = write_file(j, files[i].name, files[i].text.data, files[i].text.size);
    j->result->written += ok;
  }
  for (size_t i = 0; ok && i < gone_count; ++i) {
    ok = remove_file(j, gone[i], "");
    if (!ok) break;
    ++j->result->removed;
    buf_printf(&j->result->removed_paths, "%s/%s\n", j->folder, gone[i]);
  }
  if (ok && manifest_action == WRITE)
    ok = write_file(j, OUTDIR_MANIFEST, manifest->data, manifest->size);
  ok = ok && remove_file(j, OUTDIR_JOURNAL, "");
  free(gone);
  return ok;
}

static bool decide_and_commit(job *j, out_file *files, size_t count, const buf *manifest) {
  size_t errors = diag_errors(j->d);
  action *actions = calloc(count + 1, sizeof *actions);
  bool *removals = calloc(j->former.count + 1, sizeof *removals);
  if (!actions || !removals) {
    diag_add(j->d, DIAG_ERROR, NULL, 0, NULL, "out-of-memory", "memory is short");
    free(actions);
    free(removals);
    return false;
  }
  size_t work = 0;
  for (size_t i = 0; i < count; ++i) {
    actions[i] = decide(j, files[i].name, files[i].sha256);
    work += actions[i] == WRITE;
    j->result->unchanged += actions[i] == KEEP;
  }
  for (size_t i = 0; i < j->former.count; ++i) {
    const char *name = j->former.files[i].name;
    bool seen = i && strcmp(name, j->former.files[i - 1].name) == 0;
    if (seen || is_asked(files, count, name)) continue;
    removals[i] = decide_removal(j, name) == WRITE;
    work += removals[i];
  }
  action manifest_action = decide_manifest(j, manifest);
  work += manifest_action == WRITE;
  j->result->resumed = j->former.interrupted;
  bool ok = diag_errors(j->d) == errors;
  if (ok && (work || j->former.interrupted))
    ok = commit(j, files, count, actions, removals, manifest_action, manifest);
  free(actions);
  free(removals);
  return ok;
}

bool outdir_write(const char *folder, out_file *files, size_t count, const buf *manifest,
                  bool force, outdir_result *result, diag *d) {
  *result = (outdir_result){0};
  job j = {.folder = folder, .force = force, .d = d, .result = result};
  int handle = open_folder(&j);
  if (handle < 0) return false;
  bool ok = former_read(&j.former, folder);
  if (!ok)
    diag_add(d, DIAG_ERROR, folder, 0, NULL, "output", "its manifest or journal cannot be read: %s",
             strerror(errno));
  ok = ok && decide_and_commit(&j, files, count, manifest);
  former_free(&j.former);
  close(handle); /* unlocks */
  return ok;
}
