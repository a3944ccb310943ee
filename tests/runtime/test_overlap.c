/* test_overlap.c - the overlap test is exact: against a count of every byte, and by known views. */
#include "overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROOM = 4096 };

/* Adds 1 to each byte of the view; true if one was there before. */
static bool paint(unsigned char *room, const ggi_view *v) {
  bool met = false;
  for (gg_i64 b = 0; b < v->batch; ++b)
    for (gg_i64 r = 0; r < v->rows; ++r)
      for (gg_i64 i = 0; i < v->run; ++i) {
        size_t at = (size_t)((uintptr_t)v->start + (uintptr_t)(b * v->stride + r * v->pitch + i));
        assert_true(at < ROOM);
        met = met || room[at] != 0;
        room[at] = 1;
      }
  return met;
}

static bool overlap_by_count(const ggi_view *x, const ggi_view *y) {
  unsigned char room[ROOM] = {0};
  unsigned char other[ROOM] = {0};
  paint(room, x);
  paint(other, y);
  for (int i = 0; i < ROOM; ++i)
    if (room[i] && other[i]) return true;
  return false;
}

static unsigned state = 7;
static gg_i64 upto(gg_i64 most) {
  state = state * 1664525u + 1013904223u;
  return (gg_i64)(state >> 16) % (most + 1);
}

static ggi_view any_view(void) {
  ggi_view v;
  v.run = upto(6);
  v.rows = upto(7);
  v.pitch = upto(30);
  v.batch = upto(4);
  v.stride = upto(60);
  v.start = (void *)(uintptr_t)(1 + upto(300));
  return v;
}

static void exact(void **s) {
  (void)s;
  int met = 0, rounds = 60000;
  for (int i = 0; i < rounds; ++i) {
    ggi_view x = any_view(), y = any_view();
    if (upto(3) == 0) y.pitch = x.pitch, y.stride = x.stride;
    bool expected = overlap_by_count(&x, &y);
    met += expected;
    if (ggi_views_overlap(&x, &y) != expected)
      fail_msg("round %d: run %lld rows %lld pitch %lld batch %lld stride %lld at %p, run %lld "
               "rows %lld pitch %lld batch %lld stride %lld at %p: expected %d",
               i, x.run, x.rows, x.pitch, x.batch, x.stride, x.start, y.run, y.rows, y.pitch,
               y.batch, y.stride, y.start, expected);
    assert_int_equal(ggi_views_overlap(&y, &x), expected);
  }
  /* Both answers were asked for often. */
  assert_in_range(met, rounds / 10, rounds - rounds / 10);
}

static void exact_within_one(void **s) {
  (void)s;
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    ggi_view x = any_view();
    x.pitch = x.run + upto(20); /* rows of one matrix are apart, as problems demand */
    unsigned char room[ROOM] = {0};
    bool expected = paint(room, &x);
    met += expected;
    assert_int_equal(ggi_view_self_overlap(&x), expected);
  }
  assert_in_range(met, 1000, 19000);
}

static ggi_view matrix(uintptr_t start, gg_i64 rows, gg_i64 columns, gg_i64 ld) {
  return (ggi_view){(void *)start, columns * 4, rows, ld * 4, 1, 0};
}

static void columns_of_one_matrix(void **s) {
  (void)s;
  uintptr_t base = 1 << 20;
  ggi_view left = matrix(base, 100000, 512, 1024);
  ggi_view right = matrix(base + 512 * 4, 100000, 512, 1024);
  ggi_view wide = matrix(base + 511 * 4, 100000, 512, 1024);
  assert_false(ggi_views_overlap(&left, &right));
  assert_true(ggi_views_overlap(&left, &wide));
  assert_true(ggi_views_overlap(&wide, &right));
}

static void other_pitch(void **s) {
  (void)s;
  uintptr_t base = 1 << 20;
  ggi_view even = matrix(base, 1000, 1, 2);
  ggi_view odd = matrix(base + 4, 500, 1, 4);
  ggi_view hit = matrix(base + 8, 500, 1, 4);
  assert_false(ggi_views_overlap(&even, &odd));
  assert_true(ggi_views_overlap(&even, &hit));
}

static void huge(void **s) {
  (void)s;
  uintptr_t base = (uintptr_t)1 << 40;
  ggi_view a = {(void *)base, 65536 * 8, 1 << 20, 65536 * 8, 1000, (gg_i64)65536 * 8 << 20};
  ggi_view b = a;
  b.start = (void *)(base + ((uintptr_t)1000 * 65536 * 8 << 20));
  assert_false(ggi_views_overlap(&a, &b));
  b.start = (char *)(uintptr_t)b.start - 1;
  assert_true(ggi_views_overlap(&a, &b));
}

static void interleaved_batches(void **s) {
  (void)s;
  /* Matrices of a batch side by side: row i of all of them, then row i + 1. */
  ggi_view d = {(void *)4096, 64 * 4, 64, 64 * 16 * 4, 8, 64 * 4};
  ggi_view c = d;
  c.start = (void *)(4096 + 8 * 64 * 4);
  assert_false(ggi_view_self_overlap(&d));
  assert_false(ggi_views_overlap(&d, &c));
  c.start = (void *)(4096 + 7 * 64 * 4);
  assert_true(ggi_views_overlap(&d, &c));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact),
      cmocka_unit_test(exact_within_one),
      cmocka_unit_test(columns_of_one_matrix),
      cmocka_unit_test(other_pitch),
      cmocka_unit_test(huge),
      cmocka_unit_test(interleaved_batches),
  };
  return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
