/* buf.c - growing byte buffers.
 *
 * Invariant: data is NULL and capacity 0, or data[size] is a zero byte inside the allocation. After
 * the first failed allocation `failed` is set and nothing is appended any more, so that a caller
 * can write a whole text and look once.
 */
#include "buf.h"
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void buf_free(buf *b) {
  free(b->data);
  *b = (buf){0};
}

void buf_clear(buf *b) {
  b->size = 0;
  b->failed = false;
  if (b->data) b->data[0] = '\0';
}

/* Room for `more` bytes and the closing zero. */
static bool reserve(buf *b, size_t more) {
  if (b->failed) return false;
  if (more < b->capacity - b->size) return true;
  size_t wanted = b->size + more + 1;
  size_t capacity = b->capacity ? b->capacity : 64;
  while (capacity < wanted && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  char *grown = wanted <= more || capacity < wanted ? NULL : realloc(b->data, capacity);
  if (!grown) {
    b->failed = true;
    return false;
  }
  b->data = grown;
  b->capacity = capacity;
  return true;
}

void buf_add(buf *b, const void *bytes, size_t size) {
  if (!reserve(b, size)) return;
  if (size) memcpy(b->data + b->size, bytes, size);
  b->size += size;
  b->data[b->size] = '\0';
}

void buf_puts(buf *b, const char *text) {
  buf_add(b, text, strlen(text));
}

void buf_printf(buf *b, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (size < 0) {
    b->failed = true;
  } else if (reserve(b, (size_t)size)) {
    vsnprintf(b->data + b->size, (size_t)size + 1, format, again);
    b->size += (size_t)size;
  }
  va_end(again);
}

void buf_json_string(buf *b, const char *text) {
  buf_puts(b, "\"");
  for (const char *p = text; *p; ++p) {
    unsigned char c = (unsigned char)*p;
    if (c == '"' || c == '\\')
      buf_printf(b, "\\%c", c);
    else if (c < 0x20)
      buf_printf(b, "\\u%04x", c);
    else
      buf_add(b, p, 1);
  }
  buf_puts(b, "\"");
}

bool buf_read_file(buf *b, const char *path) {
  return buf_read_file_max(b, path, SIZE_MAX);
}

bool buf_read_file_max(buf *b, const char *path, size_t max) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  struct stat st;
  int error = 0;
  if (fstat(fileno(f), &st) != 0)
    error = errno;
  else if (S_ISDIR(st.st_mode))
    error = EISDIR;
  char chunk[16384];
  size_t total = 0;
  while (!error) {
    size_t got = fread(chunk, 1, sizeof chunk, f);
    total += got;
    buf_add(b, chunk, got);
    if (b->failed)
      error = ENOMEM;
    else if (total > max)
      error = EFBIG;
    else if (got < sizeof chunk && ferror(f))
      error = errno ? errno : EIO;
    else if (got < sizeof chunk)
      break;
  }
  fclose(f);
  errno = error;
  return error == 0;
}
