/* sweep.c - the table of gemmbench --sweep: registers, spills, bytes of code, seconds of nvcc, the
 * mix of machine instructions, conflicts, and times where there are some. Needs no GPU but for the
 * times.
 *
 * Each kernel is compiled alone to a cubin, `jobs` at once in children that write their figures
 * into shared memory. Seconds are CPU time of nvcc and its children, so that a busy machine does
 * not count. The mix needs nvdisasm ($NVDISASM, beside nvcc, or on the path); where there is none,
 * a note says so and its columns stay empty. Conflicts are what `gemmgen check` counts on the
 * emulated GPU.
 */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Classes of machine instructions, by how their names begin; the first that fits counts. */
static const struct {
  const char *column;
  const char *names[10];
} classes[] = {
    {"sass_fma", {"FFMA", "DFMA"}},
    {"sass_mma", {"HMMA", "IMMA", "DMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA"}},
    {"sass_copies", {"LDGSTS", "UTMALDG", "UBLKCP"}},
    {"sass_shared_loads", {"LDS"}},
    {"sass_shared_stores", {"STS"}},
    {"sass_global_loads", {"LDG"}},
    {"sass_global_stores", {"STG", "UTMASTG"}},
    {"sass_barriers", {"BAR", "SYNCS", "WARPSYNC"}},
    {"sass_branches", {"BRA", "BRX"}},
    {"sass_local", {"LDL", "STL"}},
};
enum { CLASSES = sizeof classes / sizeof *classes, NAME = 160 };

typedef struct sweep_kernel {
  char name[NAME], symbol[NAME];
  int arch;
  bool suffix, timed; /* timed: the CSV of times has it */
  /* Written by a child: */
  bool compiled, mixed;
  int registers, spill_bytes, code_bytes, instructions, mix[CLASSES];
  double seconds;
  /* From the emulated GPU: wavefronts; -1: not counted. */
  double shared_cost, shared_ideal;
} sweep_kernel;

/* -- The folder's table ----------------------------------------------------------------------- */

static bool field(const char *line, const char *key, char *out, size_t size) {
  const char *at = strstr(line, key);
  if (!at) return false;
  at += strlen(key);
  size_t n = strcspn(at, "\",'}");
  if (n >= size) return false;
  memcpy(out, at, n);
  out[n] = '\0';
  return true;
}

/* Kernels that multiply, in shared memory; NULL: the table cannot be read. */
static sweep_kernel *read_table(const char *folder, int *count) {
  char path[SWEEP_PATH], line[1024], text[NAME];
  snprintf(path, sizeof path, "%s/gg_table.c", folder);
  FILE *file = fopen(path, "r");
  if (!file) return NULL;
  int rows = 0;
  while (fgets(line, sizeof line, file))
    rows += strstr(line, "{.name = \"") != NULL;
  rewind(file);
  size_t bytes = (size_t)(rows + 1) * sizeof(sweep_kernel);
  sweep_kernel *list = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED) list = NULL;
  int n = -1;
  while (list && fgets(line, sizeof line, file)) {
    sweep_kernel *k = n >= 0 ? &list[n] : NULL;
    if (field(line, "{.name = \"", text, sizeof text)) {
      k = &list[++n];
      memcpy(k->name, text, sizeof text);
      k->shared_cost = k->shared_ideal = -1;
    } else if (k && field(line, ".symbol = \"", text, sizeof text)) {
      memcpy(k->symbol, text, sizeof text);
    } else if (k && strstr(line, ".kind = GG_KIND_REPACK")) {
      --n; /* it multiplies nothing */
    } else if (k && field(line, ".arch = ", text, sizeof text)) {
      k->arch = atoi(text);
    } else if (k && strstr(line, ".arch_suffix = 'a'")) {
      k->suffix = true;
    }
  }
  fclose(file);
  *count = n + 1;
  return list;
}

/* -- A kernel compiled ------------------------------------------------------------------------ */

/* Runs argv with its output in a file. */
static int run_into(char *const argv[], const char *log) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (to < 0 || dup2(to, STDOUT_FILENO) < 0 || dup2(to, STDERR_FILENO) < 0) _exit(127);
    execvp(argv[0], argv);
    _exit(127);
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *read_all(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *data = NULL;
  size_t room = 0, n = 0, got = 1;
  while (got > 0) {
    if (n + 1 >= room) {
      room = room ? 2 * room : 65536;
      char *grown = realloc(data, room);
      if (!grown) break;
      data = grown;
    }
    got = fread(data + n, 1, room - n - 1, file);
    n += got;
  }
  fclose(file);
  if (data) data[n] = '\0';
  *size = n;
  return data;
}

static uint64_t little(const unsigned char *p, int bytes) {
  uint64_t x = 0;
  for (int i = bytes; i-- > 0;)
    x = x << 8 | p[i];
  return x;
}

/* Bytes of the section .text.SYMBOL of an ELF64 file; 0: there is none. */
static int code_bytes(const char *path, const char *symbol) {
  size_t size = 0;
  unsigned char *data = (unsigned char *)read_all(path, &size);
  int bytes = 0;
  char wanted[NAME + 8];
  snprintf(wanted, sizeof wanted, ".text.%s", symbol);
  if (data && size >= 64 && memcmp(data, "\177ELF\2\1", 6) == 0) {
    uint64_t table = little(data + 0x28, 8), entry = little(data + 0x3a, 2);
    uint64_t sections = little(data + 0x3c, 2), names = little(data + 0x3e, 2);
    if (entry >= 64 && names < sections && table < size && sections <= (size - table) / entry) {
      uint64_t strings = little(data + table + names * entry + 24, 8);
      for (uint64_t i = 0; i < sections; ++i) {
        const unsigned char *s = data + table + i * entry;
        uint64_t name = strings + little(s, 4);
        if (name < size && strcmp((char *)data + name, wanted) == 0) bytes = (int)little(s + 32, 8);
      }
    }
  }
  free(data);
  return bytes;
}

static int after(const char *text, const char *before) {
  const char *at = strstr(text, before);
  return at ? atoi(at + strlen(before)) : 0;
}

/* The number in front of `what`. */
static int ahead(const char *text, const char *what) {
  const char *at = strstr(text, what);
  if (!at) return 0;
  while (at > text && at[-1] == ' ')
    --at;
  while (at > text && at[-1] >= '0' && at[-1] <= '9')
    --at;
  return atoi(at);
}

static void count_instruction(sweep_kernel *k, const char *name) {
  ++k->instructions;
  for (int c = 0; c < CLASSES; ++c)
    for (int i = 0; i < 10 && classes[c].names[i]; ++i)
      if (strncmp(name, classes[c].names[i], strlen(classes[c].names[i])) == 0) {
        ++k->mix[c];
        return;
      }
}

/* nvdisasm's lines: a comment with the address, perhaps a predicate, the instruction. */
static void count_mix(sweep_kernel *k, const char *nvdisasm, const char *cubin, const char *log) {
  char *argv[] = {(char *)(size_t)nvdisasm, "-c", (char *)(size_t)cubin, NULL};
  size_t size;
  if (run_into(argv, log) != 0) return;
  char *text = read_all(log, &size);
  for (char *line = text, *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    line += strspn(line, " \t");
    if (strncmp(line, "/*", 2) != 0 || !(line = strstr(line, "*/"))) {
      if (!next) break;
      continue;
    }
    line += 2 + strspn(line + 2, " \t{");
    if (*line == '@') line += strcspn(line, " "), line += strspn(line, " ");
    if (*line >= 'A' && *line <= 'Z' && strchr(line, ';')) count_instruction(k, line);
    if (!next) break;
  }
  free(text);
  k->mixed = k->instructions > 0;
}

static double child_seconds(void) {
  struct rusage r;
  getrusage(RUSAGE_CHILDREN, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
         1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void compile(const sweep_job *job, const char *nvdisasm, sweep_kernel *k) {
  char source[SWEEP_PATH], cubin[SWEEP_PATH], log[SWEEP_PATH], arch[32];
  if (snprintf(source, sizeof source, "%s/%s.cu", job->folder, k->name) >= SWEEP_PATH ||
      snprintf(cubin, sizeof cubin, "%s/%s.cubin", job->scratch, k->name) >= SWEEP_PATH ||
      snprintf(log, sizeof log, "%s/%s.log", job->scratch, k->name) >= SWEEP_PATH)
    return;
  snprintf(arch, sizeof arch, "-arch=sm_%d%s", k->arch, k->suffix ? "a" : "");
  char *argv[] = {
      (char *)(size_t)job->nvcc, "-cubin", "-O3", arch, "-Xptxas", "-v", source, "-o", cubin, NULL};
  double before = child_seconds();
  int code = run_into(argv, log);
  k->seconds = child_seconds() - before;
  size_t size;
  char *text = read_all(log, &size);
  if (code == 0 && text) {
    k->registers = after(text, "Used ");
    k->spill_bytes = ahead(text, " bytes spill stores") + ahead(text, " bytes spill loads");
    k->code_bytes = code_bytes(cubin, k->symbol);
    k->compiled = k->registers > 0 && k->code_bytes > 0;
  } else {
    fprintf(stderr, "gemmbench: %s does not compile:\n%s", k->name, text ? text : "");
  }
  free(text);
  if (k->compiled && nvdisasm) count_mix(k, nvdisasm, cubin, log);
}

static bool compile_all(const sweep_job *job, const char *nvdisasm, sweep_kernel *list, int count) {
  bool ok = true;
  fflush(NULL);
  for (int j = 0; j < job->jobs; ++j) {
    pid_t child = fork();
    if (child == 0) {
      for (int i = j; i < count; i += job->jobs)
        compile(job, nvdisasm, &list[i]);
      fflush(stderr);
      _exit(0);
    }
    ok = ok && child > 0;
  }
  while (wait(NULL) > 0 || errno == EINTR) {
  }
  for (int i = 0; i < count; ++i)
    ok = ok && list[i].compiled;
  return ok;
}

/* $NVDISASM, beside nvcc, or on the path; NULL: it is in none of these. */
static const char *find_nvdisasm(const char *nvcc, char path[SWEEP_PATH]) {
  const char *set = getenv("NVDISASM");
  if (set && *set) return set;
  const char *slash = strrchr(nvcc, '/');
  if (slash) {
    snprintf(path, SWEEP_PATH, "%.*snvdisasm", (int)(slash - nvcc) + 1, nvcc);
    if (access(path, X_OK) == 0) return path;
  }
  const char *search = getenv("PATH");
  for (const char *at = search; at && *at;) {
    size_t n = strcspn(at, ":");
    if (snprintf(path, SWEEP_PATH, "%.*s/nvdisasm", (int)n, at) < SWEEP_PATH &&
        access(path, X_OK) == 0)
      return path;
    at += n + (at[n] == ':');
  }
  return NULL;
}

/* -- Conflicts, by the emulated GPU ------------------------------------------------------------ */

/* One problem that tiles of most shapes divide, deep enough for a ring. */
static const char usual_problem[] = "256x256x256";

static void count_conflicts(const sweep_job *job, sweep_kernel *list, int count) {
  char log[SWEEP_PATH], key[NAME + 16];
  if (snprintf(log, sizeof log, "%s/check.json", job->scratch) >= SWEEP_PATH) return;
  char *argv[] = {
      (char *)(size_t)job->gemmgen,  "check", (char *)(size_t)job->folder, "--json", "--problem",
      (char *)(size_t)usual_problem, NULL};
  size_t size;
  int code = run_into(argv, log);
  char *text = read_all(log, &size);
  if (code != 0)
    fprintf(stderr, "gemmbench: gemmgen check returned %d; no conflicts are counted\n", code);
  for (int i = 0; i < count && code == 0 && text; ++i) {
    snprintf(key, sizeof key, "{\"name\":\"%s\"", list[i].name);
    const char *at = strstr(text, key);
    const char *end = at ? strstr(at + 1, "{\"name\":") : NULL;
    const char *shared = at ? strstr(at, "\"shared\":{\"cost\":") : NULL;
    const char *ideal = shared ? strstr(shared, "\"ideal\":") : NULL;
    if (!ideal || (end && ideal > end)) continue;
    list[i].shared_cost = atof(shared + strlen("\"shared\":{\"cost\":"));
    list[i].shared_ideal = atof(ideal + strlen("\"ideal\":"));
  }
  free(text);
}

/* -- The CSV ------------------------------------------------------------------------------------
 */

static void head(void) {
  fputs(
      "kernel,m,n,k,batch,us,tflops,peak_percent,registers,spill_bytes,code_bytes,compile_seconds,"
      "shared_wavefronts,shared_ideal,sass_instructions",
      stdout);
  for (int c = 0; c < CLASSES; ++c)
    printf(",%s", classes[c].column);
  putchar('\n');
}

static void tail(const sweep_kernel *k) {
  printf(",%d,%d,%d,%.2f", k->registers, k->spill_bytes, k->code_bytes, k->seconds);
  if (k->shared_cost >= 0)
    printf(",%.0f,%.0f", k->shared_cost, k->shared_ideal);
  else
    printf(",,");
  if (k->mixed)
    printf(",%d", k->instructions);
  else
    putchar(',');
  for (int c = 0; c < CLASSES; ++c)
    if (k->mixed)
      printf(",%d", k->mix[c]);
    else
      putchar(',');
  putchar('\n');
}

static void without_times(const sweep_job *job, const sweep_kernel *list, int count) {
  for (int i = 0; i < count; ++i) {
    for (int p = 0; p < job->problem_count; ++p) {
      const sweep_problem *q = &job->problems[p];
      printf("%s,%.0f,%.0f,%.0f,%.0f,,,", list[i].name, q->m, q->n, q->k, q->batch);
      tail(&list[i]);
    }
    if (job->problem_count > 0) continue;
    printf("%s,,,,,,,", list[i].name);
    tail(&list[i]);
  }
}

enum { COLUMNS = 40 };

static int split(char *line, char **fields) {
  int n = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *at = line; at && n < COLUMNS; ++n) {
    fields[n] = at;
    at = strchr(at, ',');
    if (at) *at++ = '\0';
  }
  return n;
}

/* gemmbench's rows, of each the columns that are taken over; then the kernels without a time. */
static bool with_times(const sweep_job *job, sweep_kernel *list, int count) {
  static const char *const taken[] = {"kernel", "m",  "n",      "k",
                                      "batch",  "us", "tflops", "peak_percent"};
  enum { TAKEN = sizeof taken / sizeof *taken };
  FILE *file = fopen(job->times, "r");
  char names[1024], line[2048], *name[COLUMNS], *value[COLUMNS];
  int at[TAKEN] = {0};
  if (!file || !fgets(names, sizeof names, file)) {
    if (file) fclose(file);
    return false;
  }
  int columns = split(names, name);
  for (int t = 0; t < TAKEN; ++t) {
    at[t] = -1;
    for (int c = 0; c < columns; ++c)
      if (strcmp(name[c], taken[t]) == 0) at[t] = c;
    if (at[t] >= 0) continue;
    fprintf(stderr, "gemmbench: %s: no column %s\n", job->times, taken[t]);
    fclose(file);
    return false;
  }
  while (fgets(line, sizeof line, file)) {
    if (split(line, value) != columns) continue;
    for (int i = 0; i < count; ++i) {
      if (strcmp(list[i].name, value[at[0]]) != 0) continue;
      for (int t = 0; t < TAKEN; ++t)
        printf("%s%s", t ? "," : "", value[at[t]]);
      tail(&list[i]);
      list[i].timed = true;
    }
  }
  fclose(file);
  for (int i = 0; i < count; ++i) {
    if (list[i].timed) continue;
    printf("%s,,,,,,,", list[i].name);
    tail(&list[i]);
  }
  return true;
}

int sweep_run(const sweep_job *job) {
  int count;
  char path[SWEEP_PATH];
  sweep_kernel *list = read_table(job->folder, &count);
  if (!list) {
    fprintf(stderr, "gemmbench: %s/gg_table.c: %s\n", job->folder, strerror(errno));
    return 2;
  }
  const char *nvdisasm = find_nvdisasm(job->nvcc, path);
  if (!nvdisasm)
    fputs("gemmbench: nvdisasm is neither $NVDISASM, beside nvcc nor on the path; the mix of "
          "instructions stays empty\n",
          stderr);
  bool ok = compile_all(job, nvdisasm, list, count);
  if (job->gemmgen) count_conflicts(job, list, count);
  head();
  if (!job->times)
    without_times(job, list, count);
  else if (!with_times(job, list, count)) {
    fprintf(stderr, "gemmbench: %s: no times of gemmbench --csv\n", job->times);
    ok = false;
  }
  munmap(list, (size_t)(count + 1) * sizeof *list);
  return ok && fflush(stdout) == 0 ? 0 : 3;
}
