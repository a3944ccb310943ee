/* diag.c - the collected diagnostics of one command.
 *
 * Invariant: errors and warnings count everything that was added; items holds at most DIAG_MAX of
 * each level, without twins, in the order added. An item that memory was too short for is still
 * counted, so that a command never succeeds by losing an error.
 */
#include "diag.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct diag {
  diag_item items[2 * DIAG_MAX];
  size_t count;
  size_t added[2]; /* by level; twins not counted */
  size_t shown[2]; /* items */
  size_t kept[2];  /* what the items speak for */
  bool memory;
};

diag *diag_new(void) {
  return calloc(1, sizeof(diag));
}

static void free_item(diag_item *item) {
  free(item->file);
  free(item->field);
  free(item->text);
}

void diag_free(diag *d) {
  if (!d) return;
  for (size_t i = 0; i < d->count; ++i)
    free_item(&d->items[i]);
  free(d);
}

static bool same(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Same place and code. */
static bool alike(const diag_item *a, const diag_item *b) {
  return a->level == b->level && a->line == b->line && same(a->code, b->code) &&
         same(a->file, b->file) && same(a->field, b->field);
}

/* Is there no need to keep the item, as one that is kept speaks for it? */
static bool is_covered(diag *d, const diag_item *item) {
  for (size_t i = 0; i < d->count; ++i) {
    diag_item *other = &d->items[i];
    if (!alike(item, other)) continue;
    if (same(item->text, other->text)) return true;
    if (item->level == DIAG_WARNING) {
      ++other->more;
      ++d->added[DIAG_WARNING];
      ++d->kept[DIAG_WARNING];
      return true;
    }
  }
  return false;
}

/* Text of a spec may stand in a diagnostic: one line it stays. */
static char *clean(char *text) {
  for (char *p = text; p && *p; ++p)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  return text;
}

static char *copy(const char *text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char *c = malloc(size);
  return c ? memcpy(c, text, size) : NULL;
}

void diag_add(diag *d, diag_level level, const char *file, int line, const char *field,
              const char *code, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);

  diag_item item = {level, clean(copy(file)), line, clean(copy(field)), clean(copy(text)), code, 0};
  bool whole = item.text && (item.file || !file) && (item.field || !field);
  if (whole && is_covered(d, &item)) {
    free_item(&item);
    return;
  }
  ++d->added[level];
  if (whole && d->shown[level] < DIAG_MAX) {
    ++d->shown[level];
    ++d->kept[level];
    d->items[d->count++] = item;
    return;
  }
  d->memory |= !whole;
  free_item(&item);
}

size_t diag_errors(const diag *d) {
  return d->added[DIAG_ERROR];
}

size_t diag_warnings(const diag *d) {
  return d->added[DIAG_WARNING];
}

size_t diag_count(const diag *d) {
  return d->count;
}

const diag_item *diag_at(const diag *d, size_t i) {
  return &d->items[i];
}

bool diag_has(const diag *d, const char *code) {
  for (size_t i = 0; i < d->count; ++i)
    if (same(d->items[i].code, code)) return true;
  return d->memory && same(code, "out-of-memory");
}

/* Does a stand before b in its file? Across files, and without a line, the order added holds. */
static bool stands_before(const diag_item *a, const diag_item *b) {
  return a->line > 0 && b->line > 0 && a->line < b->line && same(a->file, b->file);
}

static const char *const level_name[] = {"warning", "error"};

static void print_item(const diag_item *item, FILE *to) {
  fputs(item->file ? item->file : "gemmgen", to);
  if (item->line > 0) fprintf(to, ":%d", item->line);
  fprintf(to, ": %s: ", level_name[item->level]);
  if (item->field) fprintf(to, "%s: ", item->field);
  fputs(item->text, to);
  if (item->more) fprintf(to, " (and %zu more like it)", item->more);
  fprintf(to, " [%s]\n", item->code);
}

void diag_print(const diag *d, FILE *to) {
  const diag_item *order[2 * DIAG_MAX];
  for (size_t i = 0; i < d->count; ++i) {
    size_t at = i;
    for (; at > 0 && stands_before(&d->items[i], order[at - 1]); --at)
      order[at] = order[at - 1];
    order[at] = &d->items[i];
  }
  for (size_t i = 0; i < d->count; ++i)
    print_item(order[i], to);
  if (d->memory) fputs("gemmgen: error: memory is short [out-of-memory]\n", to);
  for (int level = DIAG_ERROR; level >= DIAG_WARNING; --level) {
    size_t more = d->added[level] - d->kept[level];
    if (more)
      fprintf(to, "gemmgen: %zu more %s%s\n", more, level_name[level], more == 1 ? "" : "s");
  }
}
