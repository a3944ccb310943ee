/* spec_load_points.c - lists of alternatives, and their products.
 *
 * Invariant: every list is on the loader's chain from its first moment, so that an error that jumps
 * out of the middle of a table leaks nothing; and none is longer than SPEC_MAX_POINTS.
 */
#include "spec_load_parts.h"
#include <stdlib.h>

point_list *points_new(spec_loader *l) {
  point_list *list = calloc(1, sizeof *list);
  if (!list) {
    l->memory = true;
    return NULL;
  }
  list->next = l->lists;
  l->lists = list;
  return list;
}

void spec_load_drop_lists(spec_loader *l) {
  while (l->lists) {
    point_list *next = l->lists->next;
    free(l->lists->items);
    free(l->lists);
    l->lists = next;
  }
}

bool points_append(spec_loader *l, point_list *list, const spec_point *p) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 1;
    spec_point *grown = realloc(list->items, capacity * sizeof *grown);
    if (!grown) {
      l->memory = true;
      return false;
    }
    list->items = grown;
    list->capacity = capacity;
  }
  list->items[list->count++] = *p;
  return true;
}

spec_point points_nothing(void) {
  spec_point p;
  for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
    p.value[f] = SPEC_UNSET;
    p.line[f] = 0;
  }
  return p;
}

bool points_append_nothing(spec_loader *l, point_list *list) {
  spec_point p = points_nothing();
  return points_append(l, list, &p);
}

bool points_have_room(spec_loader *l, const char *place, size_t wanted) {
  if (wanted <= SPEC_MAX_POINTS) return true;
  l->too_many = true;
  spec_load_error(l, place, "too-many-points",
                  "more than %d combinations in one file; split the sweep", SPEC_MAX_POINTS);
  return false;
}

bool points_multiply(spec_loader *l, point_list *into, const point_list *with, const char *place) {
  if (!points_have_room(l, place, into->count * with->count))
    return true; /* told; keeps what it has */
  point_list *product = points_new(l);
  if (!product) return false;
  for (size_t i = 0; i < into->count; ++i)
    for (size_t j = 0; j < with->count; ++j) {
      spec_point p = into->items[i];
      for (int f = 0; f < SPEC_FIELD_COUNT; ++f) {
        if (with->items[j].value[f] == SPEC_UNSET) continue;
        p.value[f] = with->items[j].value[f];
        p.line[f] = with->items[j].line[f];
      }
      if (!points_append(l, product, &p)) return false;
    }
  spec_point *old = into->items;
  into->items = product->items;
  into->count = product->count;
  into->capacity = product->capacity;
  product->items = NULL;
  product->count = product->capacity = 0;
  free(old);
  return true;
}
