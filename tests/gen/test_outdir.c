/* test_outdir.c - who owns what in an output folder, and runs that end in the middle.
 *
 * Linked with --wrap=rename,--wrap=unlink: a child process can be ended before its nth such call,
 * which are the moments at which a folder changes.
 */
#include "unit.h"
#include "outdir.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

static int calls_left = -1; /* before the process ends; negative: no end */

static void count_call(void) {
  if (calls_left == 0) _exit(42);
  if (calls_left > 0) --calls_left;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
  count_call();
  return __real_rename(from, to);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path) {
  count_call();
  return __real_unlink(path);
}

static char base[32];
static char folder[64];

static int begin(void **state) {
  (void)state;
  snprintf(base, sizeof base, "/tmp/test_outdir_XXXXXX");
  if (!mkdtemp(base)) return -1;
  snprintf(folder, sizeof folder, "%s/deep/out", base);
  return 0;
}

static int end(void **state) {
  (void)state;
  char command[256];
  snprintf(command, sizeof command, "chmod -R u+w %s && rm -rf %s", base, base);
  return system(command);
}

static const char *at(const char *name) {
  static char path[4][256];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
  return path[next];
}

static void put(const char *name, const char *text) {
  FILE *f = fopen(at(name), "wb");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void assert_file(const char *name, const char *text) {
  buf b = {0};
  if (!text) {
    assert_false(buf_read_file(&b, at(name)));
    assert_int_equal(errno, ENOENT);
    return;
  }
  if (!buf_read_file(&b, at(name))) fail_msg("%s: %s", name, strerror(errno));
  assert_string_equal(b.data ? b.data : "", text);
  buf_free(&b);
}

/* A run that writes files named by the letters, each with text "letter version". */
static bool run(const char *letters, const char *version, bool force, outdir_result *r, diag *d) {
  out_file files[8] = {{0}};
  char names[8][8];
  size_t count = strlen(letters);
  for (size_t i = 0; i < count; ++i) {
    snprintf(names[i], sizeof names[i], "%c.cu", letters[i]);
    files[i].name = names[i];
    buf_printf(&files[i].text, "%c %s", letters[i], version);
  }
  buf manifest = {0};
  buf_puts(&manifest, "{\n");
  outdir_list(files, count, &manifest);
  outdir_seal(&manifest);
  bool ok = outdir_write(folder, files, count, &manifest, force, r, d);
  for (size_t i = 0; i < count; ++i)
    buf_free(&files[i].text);
  buf_free(&manifest);
  return ok;
}

static outdir_result good(const char *letters, const char *version) {
  outdir_result r;
  diag *d = diag_new();
  if (!run(letters, version, false, &r, d)) {
    diag_print(d, stderr);
    fail();
  }
  size_t lines = 0;
  for (size_t i = 0; i < r.removed_paths.size; ++i)
    lines += r.removed_paths.data[i] == '\n';
  assert_int_equal(lines, r.removed);
  buf_free(&r.removed_paths);
  diag_free(d);
  return r;
}

/* A run that must fail with these codes, one a file. */
static void refused(const char *letters, const char *version, const char *code, size_t errors) {
  outdir_result r;
  diag *d = diag_new();
  assert_false(run(letters, version, false, &r, d));
  assert_int_equal(r.written, 0);
  assert_int_equal(r.removed, 0);
  assert_int_equal(diag_errors(d), errors);
  for (size_t i = 0; i < errors; ++i)
    assert_string_equal(diag_at(d, i)->code, code);
  diag_free(d);
}

static void a_folder_is_made_and_left_alone(void **state) {
  (void)state;
  outdir_result r = good("ab", "1");
  assert_int_equal(r.written, 2);
  assert_file("a.cu", "a 1");
  assert_file("b.cu", "b 1");
  assert_file(".gemmgen-journal", NULL);
  struct stat before, after;
  assert_int_equal(stat(at("a.cu"), &before), 0);
  r = good("ab", "1");
  assert_int_equal(r.written, 0);
  assert_int_equal(r.unchanged, 2);
  assert_int_equal(stat(at("a.cu"), &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
}

static void what_is_not_asked_for_goes(void **state) {
  (void)state;
  good("abc", "1");
  put("stray.txt", "mine");
  put("d.cu", "mine too");
  outdir_result r = good("ae", "1");
  assert_int_equal(r.removed, 2);
  assert_int_equal(r.written, 1);
  assert_file("b.cu", NULL);
  assert_file("c.cu", NULL);
  assert_file("d.cu", "mine too");
  assert_file("stray.txt", "mine");
}

static void hand_edits_are_kept(void **state) {
  (void)state;
  good("abc", "1");
  put("a.cu", "edited");
  put("b.cu", "edited");
  refused("ac", "2", "hand-edit", 2); /* a would be overwritten, b removed */
  assert_file("a.cu", "edited");
  assert_file("b.cu", "edited");
  assert_file("c.cu", "c 1");
  refused("abc", "1", "hand-edit", 2); /* also where the kernel itself is the same */

  outdir_result r;
  diag *d = diag_new();
  assert_true(run("ac", "2", true, &r, d));
  assert_file("a.cu", "a 2");
  assert_file("b.cu", NULL);
  buf_free(&r.removed_paths);
  diag_free(d);
}

static void an_edit_that_equals_the_new_text_is_fine(void **state) {
  (void)state;
  good("ab", "1");
  put("a.cu", "a 2");
  put("b.cu", "b 2");
  assert_int_equal(good("ab", "2").unchanged, 2);
}

static void deleted_files_come_back(void **state) {
  (void)state;
  good("ab", "1");
  assert_int_equal(remove(at("a.cu")), 0);
  assert_int_equal(good("ab", "1").written, 1);
  assert_file("a.cu", "a 1");
  assert_int_equal(remove(at("b.cu")), 0);
  assert_int_equal(good("a", "1").removed, 0);
}

static void a_strangers_file_is_not_overwritten(void **state) {
  (void)state;
  good("", "1");
  put("a.cu", "someone's");
  refused("ab", "1", "not-ours", 1);
  assert_file("a.cu", "someone's");
  assert_file("b.cu", NULL);
  assert_int_equal(remove(at("a.cu")), 0);
  assert_int_equal(mkdir(at("a.cu"), 0777), 0);
  refused("ab", "1", "output", 1);
}

static void an_edited_manifest_is_kept(void **state) {
  (void)state;
  good("ab", "1");
  buf b = {0};
  assert_true(buf_read_file(&b, at("manifest.json")));
  b.data[1] = ' ';
  put("manifest.json", b.data);
  buf_free(&b);
  refused("ab", "2", "hand-edit", 1);
  assert_file("a.cu", "a 1");
  outdir_result r;
  diag *d = diag_new();
  assert_true(run("ab", "2", true, &r, d));
  diag_free(d);
  good("ab", "3");
}

static void a_manifest_does_not_lead_out_of_its_folder(void **state) {
  (void)state;
  good("a", "1");
  char outside[128];
  snprintf(outside, sizeof outside, "%s/deep/victim", base);
  FILE *f = fopen(outside, "wb");
  assert_non_null(f);
  fputs("v", f);
  fclose(f);
  char hash[65];
  sha256_hex("v", 1, hash);
  buf forged = {0};
  buf_printf(&forged, "{\n    { \"name\": \"../victim\", \"bytes\": 1, \"sha256\": \"%s\" }\n",
             hash);
  outdir_seal(&forged);
  put("manifest.json", forged.data);
  buf_free(&forged);
  good("a", "1");
  assert_int_equal(access(outside, F_OK), 0);
}

static void garbage_for_a_manifest_is_survived(void **state) {
  (void)state;
  static const char *const texts[] = {"", "{", "    { \"name\": \"", "\n  \"seal\": \"",
                                      "    { \"name\": \"a.cu\", \"sha256\": \"12\" }\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    good("", "1");
    put("manifest.json", texts[i]);
    refused("ab", "1", "hand-edit", 1);
    put(".gemmgen-journal", texts[i]);
    assert_int_equal(remove(at("manifest.json")), 0);
    good("", "1");
  }
}

static void two_runs_do_not_meet(void **state) {
  (void)state;
  good("a", "1");
  int handle = open(folder, O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(handle, LOCK_EX), 0);
  refused("a", "2", "output", 1);
  close(handle);
  good("a", "2");
}

static void what_cannot_be_written_is_said(void **state) {
  (void)state;
  char blocked[64];
  snprintf(blocked, sizeof blocked, "%s/file", base);
  FILE *f = fopen(blocked, "wb");
  assert_non_null(f);
  fclose(f);
  char saved[64];
  memcpy(saved, folder, sizeof saved);
  snprintf(folder, sizeof folder, "%s/file/out", base);
  refused("a", "1", "output", 1);
  snprintf(folder, sizeof folder, "%s/file", base);
  refused("a", "1", "output", 1);
  memcpy(folder, saved, sizeof saved);
  if (geteuid() == 0) return; /* nothing is closed to root */
  good("a", "1");
  assert_int_equal(chmod(folder, 0555), 0);
  refused("ab", "1", "output", 1);
}

/* Ends a run from (abc, 1) to (acd, 2) before its nth change; then a run for something else must
 * work, leave nothing of the three behind, and tell an edit from a leftover. */
static bool interrupted_at(int n) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf %s/deep", base);
  assert_int_equal(system(command), 0);
  good("abc", "1");
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    calls_left = n;
    outdir_result r;
    diag *d = diag_new();
    _exit(run("acd", "2", false, &r, d) ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == 0) return false;
  assert_int_equal(WEXITSTATUS(status), 42);
  switch (n % 3) {
  case 0: /* the same again completes it */
    good("acd", "2");
    assert_file("a.cu", "a 2");
    assert_file("b.cu", NULL);
    assert_file("d.cu", "d 2");
    break;
  case 1: /* something else replaces it */
    good("ce", "3");
    assert_file("a.cu", NULL);
    assert_file("b.cu", NULL);
    assert_file("c.cu", "c 3");
    assert_file("d.cu", NULL);
    break;
  case 2: /* an edit made after it is kept */
    put("c.cu", "edited");
    refused("ce", "3", "hand-edit", 1);
    assert_file("c.cu", "edited");
    put("c.cu", "c 2");
    good("acd", "2");
    break;
  }
  assert_file(".gemmgen-journal", NULL);
  snprintf(command, sizeof command, "ls -A %s | grep -c part > /dev/null", folder);
  assert_int_not_equal(system(command), 0);
  return true;
}

static void interrupted_runs_are_completed(void **state) {
  (void)state;
  int n = 0;
  while (interrupted_at(n))
    ++n;
  assert_true(n >= 6); /* journal, three files, one removal, manifest, journal */
}

static void two_interruptions_in_a_row(void **state) {
  (void)state;
  for (int first = 0; first < 7; ++first)
    for (int second = 0; second < 9; ++second) {
      char command[256];
      snprintf(command, sizeof command, "rm -rf %s/deep", base);
      assert_int_equal(system(command), 0);
      good("abc", "1");
      fflush(NULL);
      static const char *const letters[] = {"acd", "ade"}, *const versions[] = {"2", "3"};
      const int limits[] = {first, second};
      for (int i = 0; i < 2; ++i) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
          calls_left = limits[i];
          outdir_result r;
          diag *d = diag_new();
          _exit(run(letters[i], versions[i], false, &r, d) ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
      }
      good("f", "4");
      for (const char *p = "abcde"; *p; ++p)
        assert_file((const char[]){*p, '.', 'c', 'u', '\0'}, NULL);
      assert_file("f.cu", "f 4");
    }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(a_folder_is_made_and_left_alone),
      TEST(what_is_not_asked_for_goes),
      TEST(hand_edits_are_kept),
      TEST(an_edit_that_equals_the_new_text_is_fine),
      TEST(deleted_files_come_back),
      TEST(a_strangers_file_is_not_overwritten),
      TEST(an_edited_manifest_is_kept),
      TEST(a_manifest_does_not_lead_out_of_its_folder),
      TEST(garbage_for_a_manifest_is_survived),
      TEST(two_runs_do_not_meet),
      TEST(what_cannot_be_written_is_said),
      TEST(interrupted_runs_are_completed),
      TEST(two_interruptions_in_a_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
