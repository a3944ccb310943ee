/* spec_scan.c - a tokenizer for Lua and a reader of table literals that keeps nothing but lines.
 *
 * Invariant: the position only moves forward, every token once, and nesting is bounded, so that any
 * bytes cost linear time. Values are skipped by counting brackets; a key inside a function body in
 * a literal may be taken for a field, which costs a message its exact line and nothing else.
 */
#include "spec_scan.h"
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 6, MAX_PATH = 160 };

typedef enum token_kind { T_END, T_NAME, T_STRING, T_OTHER } token_kind;

typedef struct token {
  token_kind kind;
  const char *at;
  size_t size;
  int line;
  char symbol; /* of T_OTHER: its first byte; '=' only where it is not "==" */
} token;

typedef struct entry {
  uint64_t path; /* hash */
  int line;
} entry;

typedef struct call {
  int line;
  bool in_loop, twin; /* twin: another literal starts on this line */
  size_t first, count;
} call;

struct spec_scan {
  const char *at, *end;
  int line;
  token now;
  entry *entries;
  size_t entry_count, entry_capacity;
  call *calls;
  size_t call_count, call_capacity;
  bool failed;
};

/* -- Tokens --------------------------------------------------------------------------------- */

static char peek(const spec_scan *s, size_t ahead) {
  return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : '\0';
}

static void step(spec_scan *s) {
  if (*s->at == '\n') ++s->line;
  ++s->at;
}

/* At "[[" or "[==[": the number of '=', else -1. */
static int long_bracket(const spec_scan *s) {
  if (peek(s, 0) != '[') return -1;
  size_t n = 1;
  while (peek(s, n) == '=')
    ++n;
  return peek(s, n) == '[' ? (int)n - 1 : -1;
}

static void skip_long(spec_scan *s, int level) {
  s->at += level + 2;
  while (s->at < s->end) {
    if (*s->at == ']') {
      size_t n = 1;
      while (n <= (size_t)level && peek(s, n) == '=')
        ++n;
      if (n == (size_t)level + 1 && peek(s, n) == ']') {
        s->at += n + 1;
        return;
      }
    }
    step(s);
  }
}

static void skip_quoted(spec_scan *s) {
  char quote = *s->at++;
  while (s->at < s->end && *s->at != quote && *s->at != '\n') {
    if (*s->at == '\\' && s->at + 1 < s->end) step(s);
    step(s);
  }
  if (s->at < s->end && *s->at == quote) ++s->at;
}

static void skip_blanks(spec_scan *s) {
  while (s->at < s->end) {
    if (isspace((unsigned char)*s->at)) {
      step(s);
    } else if (peek(s, 0) == '-' && peek(s, 1) == '-') {
      s->at += 2;
      int level = long_bracket(s);
      if (level >= 0)
        skip_long(s, level);
      else
        while (s->at < s->end && *s->at != '\n')
          ++s->at;
    } else {
      return;
    }
  }
}

static bool name_byte(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static void advance(spec_scan *s) {
  skip_blanks(s);
  token t = {T_END, s->at, 0, s->line, '\0'};
  if (s->at < s->end) {
    char c = *s->at;
    int level = long_bracket(s);
    if (name_byte(c)) {
      t.kind = isdigit((unsigned char)c) ? T_OTHER : T_NAME;
      t.symbol = '0';
      while (s->at < s->end && name_byte(*s->at))
        ++s->at;
    } else if (c == '"' || c == '\'') {
      t.kind = T_STRING;
      skip_quoted(s);
    } else if (level >= 0) {
      t.kind = T_STRING;
      skip_long(s, level);
    } else {
      t.kind = T_OTHER;
      t.symbol = c;
      ++s->at;
      if (strchr("=<>~", c) && peek(s, 0) == '=') {
        ++s->at;
        t.symbol = '?';
      }
    }
    t.size = (size_t)(s->at - t.at);
  }
  s->now = t;
}

static bool is_symbol(const spec_scan *s, char c) {
  return s->now.kind == T_OTHER && s->now.symbol == c;
}

static bool is_name(const token *t, const char *name) {
  return t->kind == T_NAME && t->size == strlen(name) && memcmp(t->at, name, t->size) == 0;
}

/* -- Records -------------------------------------------------------------------------------- */

static uint64_t hash(const char *text) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *text; ++text)
    h = (h ^ (unsigned char)*text) * 1099511628211u;
  return h;
}

static void *grow(spec_scan *s, void *array, size_t count, size_t *capacity, size_t item) {
  if (count < *capacity) return array;
  size_t wanted = *capacity ? *capacity * 2 : 32;
  void *grown = realloc(array, wanted * item);
  if (!grown) {
    s->failed = true;
    return array;
  }
  *capacity = wanted;
  return grown;
}

static void record(spec_scan *s, const char *path, int line) {
  s->entries = grow(s, s->entries, s->entry_count, &s->entry_capacity, sizeof *s->entries);
  if (s->failed) return;
  s->entries[s->entry_count++] = (entry){hash(path), line};
  ++s->calls[s->call_count - 1].count;
}

/* Skips an expression: to the ',' ';' or '}' that ends it, or the end of the text. */
static void skip_value(spec_scan *s) {
  int depth = 0;
  while (s->now.kind != T_END) {
    if (depth == 0 && (is_symbol(s, ',') || is_symbol(s, ';') || is_symbol(s, '}'))) return;
    if (is_symbol(s, '{') || is_symbol(s, '(') || is_symbol(s, '['))
      ++depth;
    else if (depth > 0 && (is_symbol(s, '}') || is_symbol(s, ')') || is_symbol(s, ']')))
      --depth;
    advance(s);
  }
}

static void read_table(spec_scan *s, const char *path, int nesting);

static void read_value(spec_scan *s, const char *path, int nesting) {
  if (is_symbol(s, '{') && nesting < MAX_NESTING) read_table(s, path, nesting + 1);
  skip_value(s);
}

/* At '{'. Leaves after '}'. */
static void read_table(spec_scan *s, const char *path, int nesting) {
  int item = 0;
  advance(s);
  while (s->now.kind != T_END && !is_symbol(s, '}')) {
    char inner[MAX_PATH];
    token key = s->now;
    bool named = false;
    if (key.kind == T_NAME) {
      spec_scan ahead = *s;
      advance(&ahead);
      named = is_symbol(&ahead, '=');
    }
    if (named) {
      snprintf(inner, sizeof inner, "%s%s%.*s", path, *path ? "." : "",
               (int)(key.size < 64 ? key.size : 64), key.at);
      advance(s);
      advance(s);
    } else {
      snprintf(inner, sizeof inner, "%s[%d]", path, ++item);
    }
    record(s, inner, key.line);
    read_value(s, inner, nesting);
    if (is_symbol(s, ',') || is_symbol(s, ';')) advance(s);
  }
  if (is_symbol(s, '}')) advance(s);
}

/* At '{' of a call's literal. */
static void read_call(spec_scan *s, int line, bool in_loop) {
  s->calls = grow(s, s->calls, s->call_count, &s->call_capacity, sizeof *s->calls);
  if (s->failed) return;
  bool twin = s->call_count && s->calls[s->call_count - 1].line == line;
  if (twin) s->calls[s->call_count - 1].twin = true;
  s->calls[s->call_count++] = (call){line, in_loop, twin, s->entry_count, 0};
  read_table(s, "", 0);
}

/* -- The text ------------------------------------------------------------------------------- */

spec_scan *spec_scan_new(const char *text, size_t size) {
  spec_scan *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->at = text;
  s->end = text + size;
  s->line = 1;
  /* Blocks that are open: bit 0 of `repeats` is the innermost, 1 if it may run more than once. */
  uint64_t repeats = 0;
  bool do_expected = false;
  advance(s);
  while (s->now.kind != T_END && !s->failed) {
    token t = s->now;
    advance(s);
    if (is_name(&t, "for") || is_name(&t, "while")) {
      repeats = repeats << 1 | 1;
      do_expected = true;
    } else if (is_name(&t, "function") || is_name(&t, "repeat")) {
      repeats = repeats << 1 | 1;
    } else if (is_name(&t, "if") || (is_name(&t, "do") && !do_expected)) {
      repeats <<= 1;
    } else if (is_name(&t, "do")) {
      do_expected = false;
    } else if (is_name(&t, "end") || is_name(&t, "until")) {
      repeats >>= 1;
    } else if (is_name(&t, "gemm") || is_name(&t, "sweep")) {
      if (is_symbol(s, '(')) advance(s);
      if (is_symbol(s, '{')) read_call(s, t.line, repeats != 0);
    }
  }
  if (!s->failed) return s;
  spec_scan_free(s);
  return NULL;
}

void spec_scan_free(spec_scan *s) {
  if (!s) return;
  free(s->entries);
  free(s->calls);
  free(s);
}

int spec_scan_call(const spec_scan *s, int line) {
  size_t low = 0, high = s->call_count; /* calls stand in the order of their lines */
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (s->calls[middle].line < line)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->call_count && s->calls[low].line == line && !s->calls[low].twin ? (int)low : -1;
}

bool spec_scan_in_loop(const spec_scan *s, int at) {
  return s->calls[at].in_loop;
}

int spec_scan_line(const spec_scan *s, int at, const char *path) {
  const call *c = &s->calls[at];
  uint64_t wanted = hash(path);
  for (size_t i = c->first; i < c->first + c->count; ++i)
    if (s->entries[i].path == wanted) return s->entries[i].line;
  return 0;
}
