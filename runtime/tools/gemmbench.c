/* gemmbench.c - the command: builds an emitted folder with its own CMakeLists.txt, links it with
 * libgemmbench, and runs that. Nothing is written into the folder.
 *
 * Needs cmake, a C compiler and nvcc. Library and headers are found relative to the executable
 * (../lib/gemmgen, ../include/gemmgen), else in GEMMGEN_HOME. The program it builds takes the
 * options of gemmbench but DIR and stands alone: it may be carried to another machine.
 */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef GEMMBENCH_NVCC
#define GEMMBENCH_NVCC "nvcc"
#endif

enum { PATH = 4096, ARGUMENTS = 256 };

static const char usage[] =
    "usage: gemmbench DIR [options]\n"
    "Builds the kernels of DIR, a folder that gemmgen wrote, checks and times them on a GPU.\n"
    "  --suite FILE       lines `name dtype layout M N K batch [type of D]`; # begins a comment\n"
    "  --problem MxNxK[xBATCH]   repeatable; takes the --layout and --dtype before it\n"
    "  --layout nt        storage of A and B: n as written, t transposed (default nn)\n"
    "  --dtype bf16       of A and B: any type of a spec but s32 (default f32)\n"
    "  --type-d f32       of D, after --dtype (default: what goes with it)\n"
    "  --bias n|m --activation NAME --residual --absmax\n"
    "  --scale-a, --scale-b, --scale-d tensor|vector|group|block   steps of every problem\n"
    "  --fast-accum       sums of fp8 may keep about 14 bits, cuBLASLt's too\n"
    "  --kernel NAME      this kernel instead of the library's choice\n"
    "  --all              every kernel that applies\n"
    "  --pairs            --all, each kernel alone with the baseline: for the power limit\n"
    "  --match GLOBS      those of --all whose name is like one of these: '*_full,*_edge'\n"
    "  --baseline cublas  cuBLASLt's default heuristic in the same run\n"
    "  --csv | --json     instead of a table for people\n"
    "  --repeats N        rounds of A B B A blocks (default 5; 0: check only)\n"
    "  --min-ms MS        length of a block (default 100)\n"
    "  --lead-ms MS       the same load before each block, not timed (default 0)\n"
    "  --device N         CUDA ordinal (default 0)\n"
    "  --sweep            CSV of every kernel: times, registers, spills, code, nvcc's seconds,\n"
    "                     instructions, conflicts (gemmgen explain --sweep --measured reads it)\n"
    "  --no-run           with --sweep: all but the times, without a GPU\n"
    "  --times CSV        with --sweep: the times of a run elsewhere (PROGRAM --all --csv)\n"
    "  --build BUILD      build there and keep it (default: a temporary folder)\n"
    "  --build-only       print the path of the program in BUILD, which takes these options\n"
    "  --jobs N           compile N kernels at once (default: one per core)\n"
    "nvcc is $NVCC, else " GEMMBENCH_NVCC "\n"
    "example: gemmbench out --problem 4096x4096x4096 --layout tn --baseline cublas\n"
    "exit: 0 done, 1 usage, 2 suite, folder or kernel not usable, 3 build, device or memory,\n"
    "      4 wrong result\n";

typedef struct command {
  const char *folder, *build, *jobs, *times;
  bool build_only, sweep, no_run;
  sweep_problem problems[SWEEP_PROBLEMS];
  int problem_count;
  char *rest[ARGUMENTS];
  int rest_count;
} command;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("gemmbench: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
}

__attribute__((format(printf, 2, 3))) static bool join(char path[PATH], const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(path, PATH, format, list);
  va_end(list);
  if (n >= 0 && n < PATH) return true;
  complain("a path is longer than %d bytes", PATH);
  return false;
}

static bool is_file(const char *format, const char *a) {
  char path[PATH];
  int n = snprintf(path, sizeof path, format, a);
  struct stat s;
  return n > 0 && n < PATH && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* Runs argv and waits. quiet: its output goes to `log`, and is shown if it fails. */
static int run(char *const argv[], const char *log) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    complain("fork: %s", strerror(errno));
    return -1;
  }
  if (child == 0) {
    if (log && (!freopen(log, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)) _exit(127);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    fflush(stderr);
    _exit(127);
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show(const char *path) {
  FILE *file = fopen(path, "r");
  char line[1024];
  while (file && fgets(line, sizeof line, file))
    fputs(line, stderr);
  if (file) fclose(file);
}

static bool step(const char *what, char *const argv[], const char *build) {
  char log[PATH];
  if (!join(log, "%s/log.txt", build)) return false;
  bool progress = isatty(STDERR_FILENO);
  if (progress) fprintf(stderr, "\r\033[K%s ...", what);
  int code = run(argv, log);
  if (progress) fprintf(stderr, "\r\033[K");
  if (code == 0) return true;
  show(log);
  complain("%s failed: %s returned %d", what, argv[0], code);
  return false;
}

/* The installation: where lib/gemmgen/libgemmbench.a is. */
static bool find_home(char home[PATH]) {
  char self[PATH];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n > 0) {
    self[n] = '\0';
    for (int up = 0; up < 2; ++up) {
      char *slash = strrchr(self, '/');
      if (slash) *slash = '\0';
    }
    if (is_file("%s/lib/gemmgen/libgemmbench.a", self)) return join(home, "%s", self);
  }
  const char *set = getenv("GEMMGEN_HOME");
  if (set && is_file("%s/lib/gemmgen/libgemmbench.a", set)) return join(home, "%s", set);
  complain(
      "libgemmbench.a is not in ../lib/gemmgen; set GEMMGEN_HOME to where gemmgen with CUDA is "
      "installed");
  return false;
}

/* The archive of kernels in `folder`, and the prefix of its name. */
static bool find_archive(const char *folder, char archive[PATH], char prefix[PATH]) {
  static const char tail[] = "gemmgen_kernels.a";
  DIR *d = opendir(folder);
  bool found = false;
  for (struct dirent *e; d && (e = readdir(d));) {
    size_t length = strlen(e->d_name), end = sizeof tail - 1;
    if (strncmp(e->d_name, "lib", 3) != 0 || length < end + 3) continue;
    if (strcmp(e->d_name + length - end, tail) != 0) continue;
    found = join(archive, "%s/%s", folder, e->d_name) &&
            join(prefix, "%.*s", (int)(length - end - 3), e->d_name + 3);
    if (prefix[0] == '\0') break; /* the plain name comes first */
  }
  if (d) closedir(d);
  if (!found) complain("%s: its CMakeLists.txt made no lib*%s", folder, tail);
  return found;
}

static bool write_main(const char *path, const char *prefix) {
  FILE *file = fopen(path, "w");
  if (file) {
    fprintf(file,
            "#include \"gg_kernel.h\"\n"
            "extern const gg_kernel_table %sgg_table;\n"
            "int gemmbench_main(const gg_kernel_table *table, int argc, char **argv);\n"
            "int main(int argc, char **argv) { return gemmbench_main(&%sgg_table, argc, argv); }\n",
            prefix, prefix);
    if (fclose(file) == 0) return true;
  }
  complain("%s: %s", path, strerror(errno));
  return false;
}

static const char *nvcc(void) {
  const char *set = getenv("NVCC");
  if (set && *set) return set;
  return access(GEMMBENCH_NVCC, X_OK) == 0 ? GEMMBENCH_NVCC : "nvcc";
}

static bool link_program(const char *home, const char *build, char program[PATH]) {
  char archive[PATH], prefix[PATH], lib[PATH], source[PATH], include[PATH];
  char bench[PATH], runtime[PATH], emu[PATH];
  if (!join(lib, "%s/lib", build) || !find_archive(lib, archive, prefix)) return false;
  if (!join(source, "%s/main.c", build) || !write_main(source, prefix)) return false;
  if (!join(include, "-I%s/include/gemmgen", home) ||
      !join(bench, "%s/lib/gemmgen/libgemmbench.a", home) ||
      !join(runtime, "%s/lib/gemmgen/libgemmgen.a", home) ||
      !join(emu, "%s/lib/gemmgen/libgemmgen_emu.a", home) ||
      !join(program, "%s/gemmbench_run", build))
    return false;
  /* nvcc knows where the CUDA runtime is; the rest is system libraries. */
  char *argv[] = {(char *)(size_t)nvcc(),
                  "-O2",
                  source,
                  include,
                  archive,
                  bench,
                  runtime,
                  emu,
                  "-lm",
                  "-lpthread",
#ifdef GEMMBENCH_CUBLAS
                  "-lcublasLt",
#endif
                  "-o",
                  program,
                  NULL};
  return step("linking", argv, build);
}

static bool build_program(const command *c, const char *build, char program[PATH]) {
  char home[PATH], set_home[PATH + 32], set_lib[PATH + 64], set_nvcc[PATH + 64], objects[PATH];
  char jobs[24];
  if (!find_home(home) || !join(objects, "%s/objects", build)) return false;
  snprintf(set_home, sizeof set_home, "-DGEMMGEN_HOME=%s", home);
  snprintf(set_lib, sizeof set_lib, "-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=%s/lib", build);
  snprintf(set_nvcc, sizeof set_nvcc, "-DCMAKE_CUDA_COMPILER=%s", nvcc());
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  snprintf(jobs, sizeof jobs, "%.8s", c->jobs ? c->jobs : "");
  if (!c->jobs) snprintf(jobs, sizeof jobs, "%ld", cores > 0 ? cores : 1);
  char *configure[] = {"cmake",
                       "-S",
                       (char *)(size_t)c->folder,
                       "-B",
                       objects,
                       set_home,
                       set_lib,
                       set_nvcc,
                       "-DGEMMGEN_EMULATE=OFF",
                       "-DCMAKE_BUILD_TYPE=Release",
                       NULL};
  char *compile[] = {"cmake", "--build", objects, "--parallel", jobs, NULL};
  return step("configuring", configure, build) && step("compiling the kernels", compile, build) &&
         link_program(home, build, program);
}

static int remove_one(const char *path, const struct stat *s, int flag, struct FTW *walk) {
  (void)s;
  (void)flag;
  (void)walk;
  return remove(path);
}

/* The folder to build in, absolute. */
static bool make_build(const command *c, char build[PATH]) {
  char wanted[PATH], resolved[PATH_MAX];
  const char *temporary = getenv("TMPDIR");
  if (c->build) {
    if (!join(wanted, "%s", c->build)) return false;
    if (mkdir(wanted, 0777) != 0 && errno != EEXIST) {
      complain("%s: %s", wanted, strerror(errno));
      return false;
    }
  } else {
    if (!join(wanted, "%s/gemmbench-XXXXXX", temporary && *temporary ? temporary : "/tmp"))
      return false;
    if (!mkdtemp(wanted)) {
      complain("%s: %s", wanted, strerror(errno));
      return false;
    }
  }
  if (!realpath(wanted, resolved)) {
    complain("%s: %s", wanted, strerror(errno));
    return false;
  }
  return join(build, "%s", resolved);
}

static int help(void) {
  fputs(usage, stdout);
  return 0;
}

/* The program that is run says what is wrong with others. */
static bool parse_problem(const char *text, sweep_problem *p) {
  p->batch = 1;
  return sscanf(text, "%lfx%lfx%lfx%lf", &p->m, &p->n, &p->k, &p->batch) >= 3;
}

static int parse(int argc, char **argv, command *c) {
  for (int i = 1; i < argc; ++i) {
    bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--build-only") == 0) {
      c->build_only = true;
    } else if (strcmp(argv[i], "--sweep") == 0) {
      c->sweep = true;
    } else if (strcmp(argv[i], "--no-run") == 0) {
      c->no_run = true;
    } else if (strcmp(argv[i], "--build") == 0 && has_value) {
      c->build = argv[++i];
    } else if (strcmp(argv[i], "--times") == 0 && has_value) {
      c->times = argv[++i];
    } else if (strcmp(argv[i], "--jobs") == 0 && has_value) {
      c->jobs = argv[++i];
    } else if (!c->folder && argv[i][0] != '-') {
      c->folder = argv[i];
    } else if (c->rest_count + 4 < ARGUMENTS) {
      c->rest[++c->rest_count] = argv[i];
      if (strcmp(argv[i], "--problem") == 0 && has_value && c->problem_count < SWEEP_PROBLEMS)
        c->problem_count += parse_problem(argv[i + 1], &c->problems[c->problem_count]);
      /* The value of an option is not DIR. */
      static const char *const alone[] = {"--absmax", "--all",   "--csv",     "--fast-accum",
                                          "--json",   "--pairs", "--residual"};
      bool value = argv[i][0] == '-';
      for (size_t j = 0; j < sizeof alone / sizeof alone[0]; ++j)
        value = value && strcmp(argv[i], alone[j]) != 0;
      if (value && has_value) c->rest[++c->rest_count] = argv[++i];
    }
  }
  if (!c->folder) {
    complain("no folder is given; gemmbench --help");
    return 1;
  }
  if (c->build_only && !c->build) {
    complain("--build-only needs --build");
    return 1;
  }
  if (c->no_run && !c->sweep) {
    complain("--no-run needs --sweep");
    return 1;
  }
  if (c->times && (!c->sweep || c->no_run)) {
    complain("--times needs --sweep, without --no-run");
    return 1;
  }
  if (c->times && access(c->times, R_OK) != 0) {
    complain("%s: %s", c->times, strerror(errno));
    return 2;
  }
  if (c->sweep && c->build_only) {
    complain("--sweep and --build-only exclude each other");
    return 1;
  }
  if (!is_file("%s/gg_table.c", c->folder) || !is_file("%s/CMakeLists.txt", c->folder)) {
    complain("%s: holds no gg_table.c and CMakeLists.txt; is it a folder gemmgen wrote?",
             c->folder);
    return 2;
  }
  return 0;
}

/* gemmgen beside this program; NULL: it is not there. */
static const char *find_gemmgen(char path[PATH]) {
  ssize_t n = readlink("/proc/self/exe", path, PATH - 1);
  if (n <= 0) return NULL;
  path[n] = '\0';
  char *slash = strrchr(path, '/');
  if (!slash || (size_t)(slash - path) + sizeof "/gemmgen" > PATH) return NULL;
  memcpy(slash, "/gemmgen", sizeof "/gemmgen");
  return access(path, X_OK) == 0 ? path : NULL;
}

/* The table of every kernel; measures first, unless that is not wanted. */
static int sweep(command *c, const char *build) {
  char program[PATH], times[PATH], gemmgen[PATH];
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int jobs = c->jobs ? atoi(c->jobs) : (int)cores;
  sweep_job job = {.folder = c->folder,
                   .scratch = build,
                   .nvcc = nvcc(),
                   .gemmgen = find_gemmgen(gemmgen),
                   .jobs = jobs > 0 ? jobs : 1,
                   .problem_count = c->problem_count};
  memcpy(job.problems, c->problems, sizeof job.problems);
  if (!job.gemmgen) complain("gemmgen is not beside this program; no conflicts are counted");
  job.times = c->times;
  if (!c->no_run && !c->times) {
    if (!build_program(c, build, program) || !join(times, "%s/times.csv", build)) return 3;
    c->rest[0] = program;
    c->rest[++c->rest_count] = (char *)(size_t) "--all";
    c->rest[++c->rest_count] = (char *)(size_t) "--csv";
    int code = run(c->rest, times);
    if (code != 0) {
      show(times);
      return code < 0 ? 3 : code;
    }
    job.times = times;
  }
  return sweep_run(&job);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], "--help") == 0) return help();
  command c = {.folder = NULL};
  int code = parse(argc, argv, &c);
  if (code != 0) return code;

  char build[PATH] = "", program[PATH] = "";
  if (c.sweep)
    code = make_build(&c, build) ? sweep(&c, build) : 3;
  else
    code = make_build(&c, build) && build_program(&c, build, program) ? 0 : 3;
  if (code == 0 && c.build_only) puts(program);
  if (code == 0 && !c.build_only && !c.sweep) {
    c.rest[0] = program;
    code = run(c.rest, NULL);
    if (code < 0) code = 3;
  }
  if (!c.build && build[0]) nftw(build, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return code;
}
