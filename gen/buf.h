/* buf.h - growing byte buffers. Allocation failure is remembered, not fatal: check `failed` once
 * at the end. Bytes are always followed by a zero that is not counted. */
#ifndef GEN_BUF_H
#define GEN_BUF_H

#include <stdbool.h>
#include <stddef.h>

typedef struct buf {
  char *data; /* never NULL after the first successful append */
  size_t size, capacity;
  bool failed;
} buf;

void buf_free(buf *b); /* leaves an empty buffer */
void buf_clear(buf *b);
void buf_add(buf *b, const void *bytes, size_t size);
void buf_puts(buf *b, const char *text);
void buf_printf(buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* JSON string with quotes; control characters escaped, bytes >= 0x80 passed as they are. */
void buf_json_string(buf *b, const char *text);
/* Whole file; false with errno set. Directories give EISDIR. */
bool buf_read_file(buf *b, const char *path);
/* The same, but no more than max bytes: EFBIG beyond. */
bool buf_read_file_max(buf *b, const char *path, size_t max);

/* Lower-case hex SHA-256 (FIPS 180-4) of size bytes. */
void sha256_hex(const void *bytes, size_t size, char out[65]);

#endif
