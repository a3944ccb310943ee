/* nvrtc_compile - compiles each given kernel with NVRTC, which has no host headers: what it takes
 * includes nothing and needs no toolkit at run time. A warning is a fault. No GPU is needed.
 *
 *   nvrtc_compile ARCH FILE...     ARCH as in sm_90a: "90a"
 */
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text && fread(text, 1, (size_t)size, file) == (size_t)size) {
      text[size] = 0;
    } else {
      free(text);
      text = NULL;
    }
  }
  fclose(file);
  return text;
}

/* What the compiler says; "" if nothing. The caller frees it. */
static char *log_of(nvrtcProgram program) {
  size_t size = 0;
  if (nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size == 0) return calloc(1, 1);
  char *log = calloc(1, size + 1);
  if (log && nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) log[0] = 0;
  return log;
}

static int compile(const char *path, const char *arch) {
  char *text = read_text(path);
  if (!text) {
    printf("FAIL: %s: cannot be read\n", path);
    return 1;
  }
  nvrtcProgram program;
  nvrtcResult result = nvrtcCreateProgram(&program, text, path, 0, NULL, NULL);
  if (result == NVRTC_SUCCESS) {
    const char *options[] = {arch};
    result = nvrtcCompileProgram(program, 1, options);
    char *log = log_of(program);
    size_t bytes = 0;
    if (result == NVRTC_SUCCESS) result = nvrtcGetCUBINSize(program, &bytes);
    if (log && log[0]) {
      printf("FAIL: %s: %s\n", path, log);
      if (result == NVRTC_SUCCESS) result = NVRTC_ERROR_COMPILATION;
    }
    free(log);
    nvrtcDestroyProgram(&program);
    if (result == NVRTC_SUCCESS) printf("%s: cubin of %zu bytes\n", path, bytes);
  }
  if (result != NVRTC_SUCCESS) printf("FAIL: %s: %s\n", path, nvrtcGetErrorString(result));
  free(text);
  return result != NVRTC_SUCCESS;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: nvrtc_compile ARCH FILE...\n");
    return 2;
  }
  char arch[64];
  snprintf(arch, sizeof arch, "--gpu-architecture=sm_%s", argv[1]);
  int faults = 0;
  for (int i = 2; i < argc; ++i)
    faults += compile(argv[i], arch);
  return faults ? 1 : 0;
}
