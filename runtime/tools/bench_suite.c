/* bench_suite.c - problems from arguments and suite files. */
#include "bench.h"
#include "dtype.h"
#include "epilogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool bench_layout(const char *text, gg_order *a, gg_order *b) {
  if (strlen(text) != 2) return false;
  gg_order *const orders[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    if (!strchr("nNtT", text[i])) return false;
    *orders[i] = strchr("tT", text[i]) ? GG_ORDER_T : GG_ORDER_N;
  }
  return true;
}

gg_dtype bench_type_d(const bench_problem *p) {
  if (p->type_d != GG_NONE) return ggi_dtype_memory(p->type_d);
  if (p->type == GG_E4M3 || p->type == GG_E5M2) return GG_BF16;
  if (p->type == GG_S8 || p->type == GG_U8) return GG_S32;
  return ggi_dtype_memory(p->type);
}

gg_dtype bench_epilogue(const bench_problem *p) {
  const bench_steps *s = &p->steps;
  bool steps = s->bias || s->activation || s->scaling_a || s->scaling_b || s->scaling_d ||
               s->residual || s->absmax;
  return ggi_epilogue_type(ggi_dtype_accumulator(p->type), bench_type_d(p), steps);
}

void bench_steps_text(const bench_steps *s, char *text, size_t size) {
  const struct {
    bool there;
    const char *what, *name;
  } steps[] = {{s->scaling_a != 0, "scale a ", ggi_scaling_name(s->scaling_a)},
               {s->scaling_b != 0, "scale b ", ggi_scaling_name(s->scaling_b)},
               {s->bias != 0, "bias ", ggi_bias_name(s->bias)},
               {s->activation != 0, "", ggi_activation_name(s->activation)},
               {s->residual != 0, "residual", ""},
               {s->absmax != 0, "absmax", ""},
               {s->scaling_d != 0, "scale d ", ggi_scaling_name(s->scaling_d)}};
  size_t at = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && at < size; ++i)
    if (steps[i].there)
      at += (size_t)snprintf(text + at, size - at, "%s%s%s", at ? " + " : "", steps[i].what,
                             steps[i].name);
}

gg_dtype bench_dtype(const char *text) {
  if (strcmp(text, "fp32") == 0) return GG_F32;
  if (strcmp(text, "fp64") == 0) return GG_F64;
  if (strcmp(text, "fp16") == 0) return GG_F16;
  if (strcmp(text, "int8") == 0) return GG_S8;
  return ggi_dtype_find(text);
}

/* The value whose name is `text`; -1: none. */
static int named(const char *text, int count, const char *(*name)(int)) {
  for (int i = 0; i < count; ++i)
    if (strcmp(text, name(i)) == 0) return i;
  return -1;
}

static const char *bias_name(int i) {
  return ggi_bias_name((gg_bias)i);
}
static const char *activation_name(int i) {
  return ggi_activation_name((gg_activation)i);
}
static const char *scaling_name(int i) {
  return ggi_scaling_name((gg_scaling)i);
}

bool bench_step(bench_steps *s, const char *option, const char *value, bool *known) {
  const char *const options[] = {"--bias", "--activation", "--scale-a", "--scale-b", "--scale-d"};
  size_t at = 0;
  while (at < 5 && strcmp(option, options[at]) != 0)
    at++;
  *known = at < 5;
  int found = at == 0   ? named(value, GG_BIAS_M + 1, bias_name)
              : at == 1 ? named(value, GG_ACTIVATION_GELU_TANH + 1, activation_name)
                        : named(value, GG_SCALING_BLOCK + 1, scaling_name);
  if (!*known || found < 0) return false;
  if (at == 0) s->bias = (gg_bias)found;
  if (at == 1) s->activation = (gg_activation)found;
  gg_scaling *const scalings[] = {&s->scaling_a, &s->scaling_b, &s->scaling_d};
  if (at >= 2) *scalings[at - 2] = (gg_scaling)found;
  return true;
}

static bool number(const char **text, char end, gg_i64 *value) {
  if (**text < '0' || **text > '9') return false;
  char *after;
  errno = 0;
  *value = strtoll(*text, &after, 10);
  if (errno != 0 || *value < 1 || *value > INT32_MAX) return false;
  if (*after != end) return false;
  *text = after + (end != '\0');
  return true;
}

bool bench_size(const char *text, bench_problem *p) {
  if (!number(&text, 'x', &p->m) || !number(&text, 'x', &p->n)) return false;
  p->batch = 1;
  if (strchr(text, 'x')) return number(&text, 'x', &p->k) && number(&text, '\0', &p->batch);
  return number(&text, '\0', &p->k);
}

bool bench_add(bench_suite *s, const bench_problem *p) {
  bench_problem *more = realloc(s->problems, (s->count + 1) * sizeof *more);
  if (!more) {
    fprintf(stderr, "gemmbench: no memory for %zu problems\n", s->count + 1);
    return false;
  }
  more[s->count++] = *p;
  s->problems = more;
  return true;
}

static bool parse_line(const char *line, bench_problem *p, const char **reason) {
  char dtype[16], layout[4], number_text[4][16], size[80], type_d[16], rest[2];
  int fields = sscanf(line, "%47s %15s %3s %15s %15s %15s %15s %15s %1s", p->name, dtype, layout,
                      number_text[0], number_text[1], number_text[2], number_text[3], type_d, rest);
  if (fields != 7 && fields != 8) {
    *reason = "not of the form: name dtype layout M N K batch [type of D]";
    return false;
  }
  p->type_d = fields == 8 ? bench_dtype(type_d) : GG_NONE;
  *reason = "type of D is unknown";
  if (fields == 8 && p->type_d == GG_NONE) return false;
  p->type = bench_dtype(dtype);
  *reason = "dtype is unknown";
  if (p->type == GG_NONE) return false;
  *reason = "layout is not nn, nt, tn or tt";
  if (!bench_layout(layout, &p->order_a, &p->order_b)) return false;
  snprintf(size, sizeof size, "%sx%sx%sx%s", number_text[0], number_text[1], number_text[2],
           number_text[3]);
  *reason = "a size is not a number from 1 to 2^31 - 1";
  return bench_size(size, p);
}

bool bench_read(bench_suite *s, const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "gemmbench: %s: %s\n", path, strerror(errno));
    return false;
  }
  char line[256];
  int at = 0;
  bool good = true;
  while (good && fgets(line, sizeof line, file)) {
    ++at;
    char *comment = strchr(line, '#');
    if (comment) *comment = '\0';
    if (line[strspn(line, " \t\r\n")] == '\0') continue;
    bench_problem p = {.batch = 1};
    const char *reason;
    if (!parse_line(line, &p, &reason)) {
      fprintf(stderr, "gemmbench: %s:%d: %s\n", path, at, reason);
      good = false;
    } else {
      good = bench_add(s, &p);
    }
  }
  if (ferror(file)) {
    fprintf(stderr, "gemmbench: %s: %s\n", path, strerror(errno));
    good = false;
  }
  fclose(file);
  return good;
}
