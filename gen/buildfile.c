/* buildfile.c - spells the CMakeLists.txt of an emitted folder.
 *
 * The folder stands alone: it is configured as a project of its own or added to one, finds the
 * runtime's headers, and needs CUDA only where it is not built for the emulated GPU.
 */
#include "buildfile.h"
#include "version.h"
#include <stdlib.h>
#include <string.h>

/* "@" stands for the prefix. */
static const char head[] =
    "#   cmake -S DIR -B build                          with CUDA\n"
    "#   cmake -S DIR -B build -DGEMMGEN_EMULATE=ON     for the emulated GPU, needs no CUDA\n"
    "#   -DGEMMGEN_HOME=PATH    an installed gemmgen, or a folder with the runtime's sources\n"
    "# Gives one archive, lib@gemmgen_kernels.a: the kernels and their table (gg_table.c).\n"
    "cmake_minimum_required(VERSION 3.25)\n"
    "project(@gemmgen_kernels LANGUAGES C)\n"
    "\n"
    "option(GEMMGEN_EMULATE \"Build kernels for the emulated GPU\" OFF)\n"
    "\n"
    "# -- Headers: gg_kernel.h for the table, gg_emu_device.h for emulated kernels "
    "---------------\n"
    "\n"
    "set(@gemmgen_include)\n"
    "if(TARGET gemmgen::runtime)\n"
    "  set(@gemmgen_include\n"
    "    $<TARGET_PROPERTY:gemmgen::runtime,INTERFACE_INCLUDE_DIRECTORIES>)\n"
    "else()\n"
    "  set(places)\n"
    "  foreach(place IN ITEMS ${GEMMGEN_HOME} $ENV{GEMMGEN_HOME} ${CMAKE_CURRENT_SOURCE_DIR}\n"
    "                         ${CMAKE_CURRENT_SOURCE_DIR}/.. ${CMAKE_CURRENT_SOURCE_DIR}/../..)\n"
    "    list(APPEND places ${place} ${place}/include/gemmgen ${place}/runtime)\n"
    "  endforeach()\n"
    "  find_path(@kernel_header gg_kernel.h PATHS ${places} NO_DEFAULT_PATH NO_CACHE)\n"
    "  find_path(@kernel_header gg_kernel.h PATH_SUFFIXES gemmgen NO_CACHE)\n"
    "  find_path(@device_header gg_emu_device.h PATHS ${@kernel_header} ${@kernel_header}/emu\n"
    "            NO_DEFAULT_PATH NO_CACHE)\n"
    "  if(NOT @kernel_header OR (GEMMGEN_EMULATE AND NOT @device_header))\n"
    "    message(FATAL_ERROR \"gemmgen's headers are not found; configure with \"\n"
    "                        \"-DGEMMGEN_HOME=<installed gemmgen or its sources>\")\n"
    "  endif()\n"
    "  set(@gemmgen_include ${@kernel_header})\n"
    "  if(@device_header)\n"
    "    list(APPEND @gemmgen_include ${@device_header})\n"
    "  endif()\n"
    "endif()\n"
    "\n"
    "# -- Compilers "
    "--------------------------------------------------------------------------------\n"
    "\n"
    "set(@gemmgen_flags)\n"
    "if(GEMMGEN_EMULATE)\n"
    "  # fmaf in hardware; without it the bits are the same, but slower. Asked of the machine "
    "that\n"
    "  # builds, as it runs what it builds.\n"
    "  if(NOT CMAKE_CROSSCOMPILING)\n"
    "    include(CheckCSourceRuns)\n"
    "    set(CMAKE_REQUIRED_FLAGS -mfma)\n"
    "    check_c_source_runs(\"int main(void) { return !__builtin_cpu_supports(\\\"fma\\\"); }\"\n"
    "                        GEMMGEN_HOST_FMA)\n"
    "    unset(CMAKE_REQUIRED_FLAGS)\n"
    "  endif()\n"
    "  set(@gemmgen_flags -std=gnu11 -O1 -ffp-contract=off -Wno-unknown-pragmas -Wno-psabi\n"
    "      -include gg_emu_device.h)\n"
    "  if(GEMMGEN_HOST_FMA)\n"
    "    list(APPEND @gemmgen_flags -mfma)\n"
    "  endif()\n"
    "else()\n"
    "  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n"
    "    set(CMAKE_CUDA_ARCHITECTURES OFF) # each object library below has its own\n"
    "  endif()\n"
    "  enable_language(CUDA)\n"
    "endif()\n"
    "\n"
    "# One object library: NAME ARCHITECTURES SOURCE...\n"
    "function(@gemmgen_kernels_of name architectures)\n"
    "  add_library(${name} OBJECT ${ARGN})\n"
    "  if(GEMMGEN_EMULATE)\n"
    "    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE C)\n"
    "    target_compile_definitions(${name} PRIVATE GEMMGEN_EMULATE)\n"
    "    target_compile_options(${name} PRIVATE ${@gemmgen_flags})\n"
    "    target_include_directories(${name} PRIVATE ${@gemmgen_include})\n"
    "  else()\n"
    "    set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES \"${architectures}\"\n"
    "                          CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)\n"
    "  endif()\n"
    "endfunction()\n"
    "\n"
    "# -- Kernels "
    "----------------------------------------------------------------------------------\n"
    "\n";

static const char tail[] =
    "\n"
    "# -- Archive "
    "----------------------------------------------------------------------------------\n"
    "\n"
    "add_library(@gemmgen_kernels STATIC gg_table.c ${@gemmgen_objects})\n"
    "target_include_directories(@gemmgen_kernels PRIVATE ${@gemmgen_include})\n"
    "set_target_properties(@gemmgen_kernels PROPERTIES C_STANDARD 11 LINKER_LANGUAGE C)\n"
    "if(GEMMGEN_EMULATE)\n"
    "  target_compile_definitions(@gemmgen_kernels PRIVATE GEMMGEN_EMULATE)\n"
    "else()\n"
    "  # nvcc's host stubs are C++ and call the CUDA runtime; the program may be C.\n"
    "  find_package(CUDAToolkit REQUIRED)\n"
    "  target_link_libraries(@gemmgen_kernels PUBLIC CUDA::cudart stdc++)\n"
    "endif()\n";

static void spell(const char *text, const char *prefix, buf *out) {
  for (const char *at; (at = strchr(text, '@')); text = at + 1) {
    buf_add(out, text, (size_t)(at - text));
    buf_puts(out, prefix);
  }
  buf_puts(out, text);
}

static int by_arch_and_name(const void *a, const void *b) {
  const kernel_plan *p = *(const kernel_plan *const *)a, *q = *(const kernel_plan *const *)b;
  if (p->arch != q->arch) return p->arch < q->arch ? -1 : 1;
  if (p->arch_suffix != q->arch_suffix) return p->arch_suffix < q->arch_suffix ? -1 : 1;
  return strcmp(p->name, q->name);
}

static bool same_arch(const kernel_plan *p, const kernel_plan *q) {
  return p->arch == q->arch && p->arch_suffix == q->arch_suffix;
}

static void print_arch(const kernel_plan *const *plans, size_t count, const char *prefix,
                       buf *out) {
  int arch = plans[0]->arch;
  char suffix[2] = {(char)plans[0]->arch_suffix, '\0'};
  if (arch < 75)
    buf_printf(out,
               "if(NOT GEMMGEN_EMULATE AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)\n"
               "  message(FATAL_ERROR \"CUDA ${CMAKE_CUDA_COMPILER_VERSION} no longer compiles for "
               "sm_%d; use CUDA 12\")\n"
               "endif()\n",
               arch);
  /* Without a suffix PTX is carried too, so that later cards run it. */
  buf_printf(out, "%sgemmgen_kernels_of(%sgemmgen_kernels_sm_%d%s %d%s%s\n", prefix, prefix, arch,
             suffix, arch, suffix, *suffix ? "-real" : "");
  for (size_t i = 0; i < count; ++i)
    buf_printf(out, "  %s.cu\n", plans[i]->name);
  buf_printf(out,
             "  )\n"
             "list(APPEND %sgemmgen_objects $<TARGET_OBJECTS:%sgemmgen_kernels_sm_%d%s>)\n",
             prefix, prefix, arch, suffix);
}

void buildfile_print(const kernel_plan *const *plans, size_t count, const char *command,
                     const char *prefix, buf *out) {
  const kernel_plan **sorted = malloc((count + 1) * sizeof *sorted);
  if (!sorted) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < count; ++i)
    sorted[i] = plans[i];
  if (count) qsort(sorted, count, sizeof *sorted, by_arch_and_name);
  buf_printf(out, "# Generated by gemmgen %s.\n#   regenerate: %s\n", GEMMGEN_VERSION, command);
  spell(head, prefix, out);
  buf_printf(out, "set(%sgemmgen_objects)\n", prefix);
  for (size_t first = 0, next; first < count; first = next) {
    next = first + 1;
    while (next < count && same_arch(sorted[first], sorted[next]))
      ++next;
    print_arch(sorted + first, next - first, prefix, out);
  }
  spell(tail, prefix, out);
  free(sorted);
}
