/* nearest.c - edit distance with swaps (optimal string alignment), three rows at a time. */
#include "nearest.h"
#include <string.h>

enum { LONGEST = 63 };

static int least(int a, int b) {
  return a < b ? a : b;
}

static size_t length(const char *s) {
  size_t n = 0;
  while (n < LONGEST && s[n])
    ++n;
  return n;
}

int edit_distance(const char *a, const char *b) {
  size_t na = length(a), nb = length(b);
  int rows[3][LONGEST + 1];
  int *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= nb; ++j)
    above[j] = before[j] = (int)j;
  for (size_t i = 1; i <= na; ++i) {
    row[0] = (int)i;
    for (size_t j = 1; j <= nb; ++j) {
      int replace = above[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = least(replace, least(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = least(row[j], before[j - 2] + 1);
    }
    int *oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[nb];
}

const char *nearest_name(const char *word, const char *const *names, size_t count) {
  int limit = (int)length(word) / 3;
  if (limit < 1) limit = 1;
  const char *best = NULL;
  for (size_t i = 0; i < count; ++i) {
    int distance = edit_distance(word, names[i]);
    /* A name that shares no letter at its place ("m" for "k") is another name, not a slip. */
    if (distance > limit || distance >= (int)length(word)) continue;
    limit = distance - 1;
    best = names[i];
    if (distance == 0) break;
  }
  return best;
}
