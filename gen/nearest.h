/* nearest.h - what a misspelt name probably meant. */
#ifndef GEN_NEAREST_H
#define GEN_NEAREST_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap of neighbours) from a to b; names longer than 63 bytes are
 * compared by their first 63. */
int edit_distance(const char *a, const char *b);

/* The closest of names, NULL where none is close: at most a third of the word's letters wrong,
 * one at least. The first of several equally close ones. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
