/* rig.h - a device with operands for the kernels of kernels.h, and what tests ask of a run. */
#ifndef RIG_H
#define RIG_H

#include "gg_emu.h"
#include "kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RIG_FLOATS = 256 };

typedef struct rig {
  gg_emu_options options;
  gg_emu *emu;
  float *a, *d; /* RIG_FLOATS each, A is 0, 1, 2 ... */
  gg_args args;
  unsigned threads, blocks, shared_bytes; /* 64, 1, 1024 */
  unsigned cluster;                       /* 1 */
  int programmatic;                       /* 0 */
} rig;

void rig_open(rig *r);
void rig_close(rig *r);
/* Sets the options, forgets former findings, runs. */
void rig_run(rig *r, kernel *k);
/* The kernel, then exactly these findings, each given as kind, its line's word and the other line's
 * word or NULL; 0 ends the list. */
void rig_expect(rig *r, kernel *k, ...);
/* The number of findings of a kind. */
size_t rig_count(const rig *r, gg_emu_kind kind);
void rig_silent(const rig *r);
/* The counts of the line named `word`; fails where there are none. */
gg_emu_access rig_access(const rig *r, const char *word, int shared);
/* The line of kernels_*.c that ends in the word; 0 for NULL. */
int line_of(const char *word);

#endif
