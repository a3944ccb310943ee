/* plan_wmma_rows.c - padded rows of shared memory: what the copies and the fragment loads of one
 * tile cost, counted in wavefronts as a profiler does.
 */
#include "plan_wmma.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PADDING = 4 }; /* in 16 bytes */

/* Words of an access group: the most that meet in one bank; equal words are one. */
static int bank_ways(const int *first_word, int lanes, int words) {
  int seen[32][32], used[32] = {0}, worst = 1;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int w = first_word[lane]; w < first_word[lane] + words; ++w) {
      int bank = w % 32, i = 0;
      while (i < used[bank] && seen[bank][i] != w)
        ++i;
      if (i == used[bank]) seen[bank][used[bank]++] = w;
      if (used[bank] > worst) worst = used[bank];
    }
  }
  return worst;
}

/* Does ptxas make ldmatrix of the loads of an operand's fragments? It does for 16-bit types, and
 * for 8-bit ones where k is contiguous: 8 rows of 16 bytes at once. Of others each lane loads its
 * elements: row or column lane / 4, and lane % 4 along k. */
static bool is_matrix(const kernel_plan *p, int operand) {
  return p->element == 2 || (p->element == 1 && plan_contiguous_k(p, operand));
}

/* Bytes that a lane loads at once, and how many lanes shared memory serves at once. */
static int width_of(const kernel_plan *p, int operand) {
  return is_matrix(p, operand) ? 16 : p->element;
}

static int lanes_of(int width) {
  return width > 4 ? 128 / width : 32;
}

/* Accesses of a fragment load to one bank, at rows `pitch` bytes apart. */
static int load_ways(const kernel_plan *p, int operand, int pitch) {
  bool along_k = plan_contiguous_k(p, operand), matrix = is_matrix(p, operand);
  int width = width_of(p, operand), lanes = lanes_of(width);
  int step = p->element == 1 ? 4 : 1; /* of k between neighbouring lanes */
  int first[32];
  for (int lane = 0; lane < lanes; ++lane) {
    int across = matrix ? lane : along_k ? lane / 4 : lane % 4 * step;
    int along = matrix ? 0 : along_k ? lane % 4 * step : lane / 4;
    first[lane] = (across * pitch + along * p->element) / 4;
  }
  return bank_ways(first, lanes, width > 4 ? width / 4 : 1);
}

int plan_wmma_ways(const kernel_plan *p, int operand) {
  return load_ways(p, operand, (operand == 0 ? p->pitch_a : p->pitch_b) * p->element);
}

/* Wavefronts in which the warps load their fragments of a tile from rows `pitch` bytes apart. */
static int load_cost(const kernel_plan *p, int operand, int pitch) {
  int width = width_of(p, operand);
  int bytes = (operand == 0 ? p->tile_m : p->tile_n) * p->tile_k * p->element;
  int readers = operand == 0 ? p->warps_n : p->warps_m;
  return readers * bytes / (lanes_of(width) * width) * load_ways(p, operand, pitch);
}

/* Wavefronts of cp.async in pieces of 16 bytes into rows of `row` bytes, `pitch` apart: one for
 * each pair of 128-byte lines, from and to; halves of a 32-byte sector that part count apart
 * (measured on an H200). */
static int async_cost(int row, int count, int pitch) {
  int cost = 0, pieces = row / 16;
  for (int begin = 0; begin < pieces * count; begin += 32) {
    int seen[32][3], n = 0;
    for (int x = begin; x < begin + 32 && x < pieces * count; ++x) {
      int from = x % pieces * 16, to = x / pieces * pitch + from;
      bool parts = (from ^ 16) < row && to % 32 != from % 32;
      int key[3] = {x / pieces * 4096 + from / 128, to / 128, parts ? 1 + from / 16 % 2 : 0}, i = 0;
      while (i < n && memcmp(seen[i], key, sizeof key) != 0)
        ++i;
      if (i == n) memcpy(seen[n++], key, sizeof key);
    }
    cost += n;
  }
  return cost;
}

/* The same of shared stores, which are served 8 lanes at a time. */
static int store_cost(int row, int count, int pitch) {
  int cost = 0, pieces = row / 16;
  for (int begin = 0; begin < pieces * count; begin += 8) {
    int first[8], n = 0;
    for (int x = begin; x < begin + 8 && x < pieces * count; ++x)
      first[n++] = (x / pieces * pitch + x % pieces * 16) / 4;
    cost += bank_ways(first, n, 4);
  }
  return cost;
}

plan_padding plan_wmma_padding(const kernel_plan *p, int operand, bool async) {
  int (*copy_cost)(int, int, int) = async ? async_cost : store_cost;
  bool along_k = plan_contiguous_k(p, operand);
  int side = operand == 0 ? p->tile_m : p->tile_n;
  int row = (along_k ? p->tile_k : side) * p->element, count = along_k ? side : p->tile_k;
  int best = 0, copies = 0, loads = 0;
  for (int pad = 0; pad <= 16 * MOST_PADDING; pad += 16) {
    int c = copy_cost(row, count, row + pad), l = load_cost(p, operand, row + pad);
    if (pad == 0 || c + l < copies + loads) best = pad, copies = c, loads = l;
  }
  plan_padding padding = {.elements = best / p->element};
  snprintf(padding.why, sizeof padding.why,
           "wavefronts a tile: copies %d + fragments %d, unpadded %d + %d", copies, loads,
           copy_cost(row, count, row), load_cost(p, operand, row));
  return padding;
}
