/* replay.c - runs fuzz_spec.c without libFuzzer: over every file of the folders it is given, as it
 * is and with a few hundred small mutations that are the same in every run. */
#include "buf.h"
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MUTATIONS = 200 };

static uint64_t random_state = 1;

static size_t random_below(size_t n) {
  random_state ^= random_state << 13; /* xorshift64 */
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return n ? (size_t)(random_state % n) : 0;
}

static void mutate(uint8_t *data, size_t *size) {
  static const char bytes[] = "{}()[]=,;.'\"\n-0123456789 \xff\x00x";
  for (size_t changes = 1 + random_below(3); changes && *size; --changes) {
    size_t at = random_below(*size), other = random_below(*size);
    switch (random_below(4)) {
    case 0:
      data[at] = (uint8_t)bytes[random_below(sizeof bytes - 1)];
      break;
    case 1:
      data[at] ^= (uint8_t)(1u << random_below(8));
      break;
    case 2: { /* cut */
      size_t length = random_below(*size - at < 20 ? *size - at : 20);
      memmove(data + at, data + at + length, *size - at - length);
      *size -= length;
      break;
    }
    case 3: { /* repeat one part elsewhere */
      size_t room = *size - (at > other ? at : other);
      memmove(data + at, data + other, random_below(room < 30 ? room : 30));
      break;
    }
    }
  }
}

static size_t replay_file(const char *path) {
  buf text = {0};
  if (!buf_read_file(&text, path)) return 0;
  LLVMFuzzerTestOneInput((const uint8_t *)(text.data ? text.data : ""), text.size);
  uint8_t *copy = malloc(text.size + 1);
  for (int i = 0; copy && text.size && i < MUTATIONS; ++i) {
    size_t size = text.size;
    memcpy(copy, text.data, size);
    mutate(copy, &size);
    LLVMFuzzerTestOneInput(copy, size);
  }
  free(copy);
  buf_free(&text);
  return 1;
}

int main(int argc, char **argv) {
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    struct dirent **entries = NULL;
    int count = scandir(argv[i], &entries, NULL, alphasort);
    if (count < 0) {
      fprintf(stderr, "%s cannot be read\n", argv[i]);
      return 1;
    }
    for (int e = 0; e < count; ++e) {
      char path[4096];
      const char *name = entries[e]->d_name;
      size_t length = strlen(name);
      if (length > 4 && strcmp(name + length - 4, ".lua") == 0) {
        snprintf(path, sizeof path, "%s/%s", argv[i], name);
        files += replay_file(path);
      }
      free(entries[e]);
    }
    free(entries);
  }
  printf("replay: %zu files, each with %d mutations\n", files, MUTATIONS);
  return files ? 0 : 1;
}
