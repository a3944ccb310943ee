/* test_floor.c - buffers, SHA-256, diagnostics, nearest names. */
#include "unit.h"
#include "buf.h"
#include "diag.h"
#include "nearest.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void buffers_grow(void **state) {
  (void)state;
  buf b = {0};
  buf_add(&b, "", 0);
  for (int i = 0; i < 1000; ++i)
    buf_printf(&b, "%d,", i);
  assert_false(b.failed);
  assert_int_equal(b.size, 3890);
  assert_int_equal(b.data[b.size], 0);
  assert_memory_equal(b.data, "0,1,2,", 6);
  buf_clear(&b);
  assert_int_equal(b.size, 0);
  assert_string_equal(b.data, "");
  buf_free(&b);
  assert_null(b.data);
}

static void json_strings_are_escaped(void **state) {
  (void)state;
  buf b = {0};
  buf_json_string(&b, "a\"b\\c\n\x01\xc3\xa9");
  assert_string_equal(b.data, "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9\"");
  buf_free(&b);
}

static void files_are_read_whole(void **state) {
  (void)state;
  buf b = {0};
  assert_false(buf_read_file(&b, "/"));
  assert_int_equal(errno, EISDIR);
  assert_false(buf_read_file(&b, "no/such/file"));
  assert_int_equal(errno, ENOENT);
  assert_false(buf_read_file_max(&b, "/dev/zero", 100000));
  assert_int_equal(errno, EFBIG);
  buf_free(&b);
  assert_true(buf_read_file(&b, "test_floor.c"));
  assert_memory_equal(b.data, "/* test_floor.c", 15);
  buf_free(&b);
}

static void sha256_gives_the_published_values(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t times;
    const char *hash;
  } cases[] = {
      {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
      {"a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {"a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    buf b = {0};
    for (size_t n = 0; n < cases[i].times; ++n)
      buf_puts(&b, cases[i].text);
    char hash[65];
    sha256_hex(b.data, b.size, hash);
    assert_string_equal(hash, cases[i].hash);
    buf_free(&b);
  }
}

/* What diag_print writes; the caller frees. */
static char *printed(const diag *d) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  assert_non_null(f);
  diag_print(d, f);
  fclose(f);
  return text;
}

static void diagnostics_have_one_form(void **state) {
  (void)state;
  diag *d = diag_new();
  diag_add(d, DIAG_WARNING, "x.lua", 20, NULL, "loop-code", "late");
  diag_add(d, DIAG_ERROR, "x.lua", 12, "tile.m", "tile-multiple", "%d is not a multiple; use %d",
           96, 64);
  diag_add(d, DIAG_ERROR, "x.lua", 12, "tile.m", "tile-multiple", "96 is not a multiple; use 64");
  diag_add(d, DIAG_ERROR, "out/k.cu", 0, NULL, "hand-edit", "two\nlines\x1b");
  diag_add(d, DIAG_ERROR, NULL, 0, "--gpu", "unknown-gpu", "what");
  assert_int_equal(diag_errors(d), 3);
  assert_int_equal(diag_warnings(d), 1);
  assert_true(diag_has(d, "hand-edit"));
  assert_false(diag_has(d, "hand"));
  char *text = printed(d);
  assert_string_equal(text,
                      "x.lua:12: error: tile.m: 96 is not a multiple; use 64 [tile-multiple]\n"
                      "x.lua:20: warning: late [loop-code]\n"
                      "out/k.cu: error: two?lines? [hand-edit]\n"
                      "gemmgen: error: --gpu: what [unknown-gpu]\n");
  free(text);
  diag_free(d);
}

static void diagnostics_are_capped_but_counted(void **state) {
  (void)state;
  diag *d = diag_new();
  for (int i = 1; i <= 50; ++i)
    diag_add(d, DIAG_ERROR, "x.lua", i, NULL, "syntax", "error %d", i);
  diag_add(d, DIAG_WARNING, "x.lua", 1, NULL, "loop-code", "still seen");
  assert_int_equal(diag_errors(d), 50);
  assert_int_equal(diag_count(d), DIAG_MAX + 1);
  assert_int_equal(diag_at(d, 3)->line, 4);
  char *text = printed(d);
  assert_non_null(strstr(text, "gemmgen: 30 more errors\n"));
  assert_non_null(strstr(text, "still seen"));
  free(text);
  diag_free(d);
  diag_free(NULL);
}

static void warnings_alike_are_counted(void **state) {
  (void)state;
  diag *d = diag_new();
  for (int i = 0; i < 500; ++i)
    diag_add(d, DIAG_WARNING, "x.lua", 3, "stages", "loop-code", "kernel %d is long", i);
  diag_add(d, DIAG_WARNING, "x.lua", 4, "stages", "loop-code", "kernel is long");
  assert_int_equal(diag_warnings(d), 501);
  char *text = printed(d);
  assert_string_equal(
      text, "x.lua:3: warning: stages: kernel 0 is long (and 499 more like it) [loop-code]\n"
            "x.lua:4: warning: stages: kernel is long [loop-code]\n");
  free(text);
  diag_free(d);
}

static void near_names_are_found(void **state) {
  (void)state;
  static const char *const names[] = {"family", "tile", "stages", "m", "n", "padding"};
  const size_t count = sizeof names / sizeof *names;
  assert_string_equal(nearest_name("tiel", names, count), "tile");
  assert_string_equal(nearest_name("stage", names, count), "stages");
  assert_string_equal(nearest_name("famly", names, count), "family");
  assert_string_equal(nearest_name("paddign", names, count), "padding");
  assert_null(nearest_name("k", names, count));
  assert_null(nearest_name("warps", names, count));
  assert_null(nearest_name("", names, count));
  assert_int_equal(edit_distance("abc", "acb"), 1);
  assert_int_equal(edit_distance("", "abc"), 3);
  assert_int_equal(edit_distance("kitten", "sitting"), 3);
  char lengthy[2000];
  memset(lengthy, 'x', sizeof lengthy - 1);
  lengthy[sizeof lengthy - 1] = '\0';
  assert_int_equal(edit_distance(lengthy, "x"), 62); /* of the first 63 letters */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_grow),
      cmocka_unit_test(json_strings_are_escaped),
      cmocka_unit_test(files_are_read_whole),
      cmocka_unit_test(sha256_gives_the_published_values),
      cmocka_unit_test(diagnostics_have_one_form),
      cmocka_unit_test(diagnostics_are_capped_but_counted),
      cmocka_unit_test(warnings_alike_are_counted),
      cmocka_unit_test(near_names_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
