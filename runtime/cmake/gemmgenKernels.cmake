# gemmgen_add_kernels: from specs to kernels linked into a target.
#
#   gemmgen_add_kernels(<target> <spec.lua>... [PREFIX <p_>] [EMULATE])
#
# Generates one folder from all specs, builds that folder's own CMakeLists.txt, and links the one
# archive that comes of it, and gemmgen::runtime, to <target>. The table to hand to
# gg_context_create is gg_table; with PREFIX <p_gg_table>; emulated, either with _emu at its end.
# EMULATE: for the emulated GPU, no CUDA needed. Without it, GEMMGEN_EMULATE decides, and without
# that, whether this gemmgen has the CUDA backend.
# A call for the same target a second time needs another PREFIX, as two tables cannot share a name.
#
# Which kernels a spec gives is known only when it is run, so nothing is listed at configure time:
# one custom command makes the archive. It runs again when a spec or gemmgen (which contains its
# templates) changes; unchanged kernels keep their time stamps and are not compiled again.

include_guard(GLOBAL)

function(gemmgen_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 K "EMULATE" "PREFIX" "")
  set(specs ${K_UNPARSED_ARGUMENTS})
  if(NOT TARGET ${target})
    message(FATAL_ERROR "gemmgen_add_kernels: there is no target '${target}'")
  endif()
  if(NOT specs)
    message(FATAL_ERROR "gemmgen_add_kernels(${target}): no spec is given")
  endif()

  get_property(home GLOBAL PROPERTY GEMMGEN_HOME)
  get_property(with_cuda GLOBAL PROPERTY GEMMGEN_WITH_CUDA)
  if(NOT K_EMULATE)
    if(DEFINED GEMMGEN_EMULATE)
      set(K_EMULATE ${GEMMGEN_EMULATE})
    elseif(NOT with_cuda)
      set(K_EMULATE ON)
    endif()
  endif()

  if(NOT K_EMULATE AND NOT with_cuda)
    message(FATAL_ERROR "gemmgen_add_kernels(${target}): this gemmgen was built without CUDA "
                        "(GEMMGEN_CUDA); build it with CUDA, or say EMULATE")
  endif()

  set(name ${target}_${K_PREFIX}kernels)
  if(K_EMULATE)
    string(APPEND name _emu)
    set(emulate ON)
  else()
    set(emulate OFF)
  endif()
  if(TARGET ${name})
    message(FATAL_ERROR "gemmgen_add_kernels(${target}): was called before; give all specs in one "
                        "call, or another PREFIX")
  endif()

  set(spec_paths)
  foreach(spec IN LISTS specs)
    get_filename_component(path ${spec} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "gemmgen_add_kernels(${target}): no such spec: ${path}")
    endif()
    list(APPEND spec_paths ${path})
  endforeach()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/gemmgen/${name})
  set(archive ${folder}/lib/lib${K_PREFIX}gemmgen_kernels.a)

  # The folder is configured as a project of its own, with what this one was configured with.
  set(settings
    -DGEMMGEN_HOME=${home}
    -DGEMMGEN_EMULATE=${emulate}
    -DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=${folder}/lib
    -DCMAKE_BUILD_TYPE=$<CONFIG>
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER})
  foreach(variable IN ITEMS CMAKE_C_FLAGS CMAKE_TOOLCHAIN_FILE CMAKE_MAKE_PROGRAM
                            CMAKE_CUDA_COMPILER CMAKE_CUDA_HOST_COMPILER CMAKE_CUDA_FLAGS)
    if(${variable})
      list(APPEND settings -D${variable}=${${variable}})
    endif()
  endforeach()

  # Under make, $(MAKE) lets the inner build share the outer one's jobs.
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    set(build $(MAKE) -C ${folder}/build)
  else()
    set(build ${CMAKE_COMMAND} --build ${folder}/build)
  endif()
  set(prefix_option)
  if(K_PREFIX)
    set(prefix_option --prefix ${K_PREFIX})
  endif()

  add_custom_command(
    OUTPUT ${archive}
    # Emitted files are never edited by hand here; --force mends what was.
    COMMAND gemmgen::gemmgen ${spec_paths} -o src ${prefix_option} --force
    COMMAND ${CMAKE_COMMAND} -S src -B build -G ${CMAKE_GENERATOR} ${settings}
    COMMAND ${build}
    # Also when nothing in it changed: a spec may be edited without a difference in its kernels.
    COMMAND ${CMAKE_COMMAND} -E touch ${archive}
    DEPENDS gemmgen::gemmgen ${spec_paths}
    WORKING_DIRECTORY ${folder}
    COMMENT "gemmgen: kernels of ${target}"
    VERBATIM)
  file(MAKE_DIRECTORY ${folder})

  add_custom_target(${name}_build DEPENDS ${archive})
  add_library(${name} STATIC IMPORTED)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${archive})
  add_dependencies(${name} ${name}_build)
  add_dependencies(${target} ${name}_build)

  target_link_libraries(${target} PRIVATE ${name} gemmgen::runtime)
  if(K_EMULATE)
    target_link_libraries(${target} PRIVATE gemmgen::emu m)
  else()
    # nvcc's host stubs are C++, the target may be C.
    target_link_libraries(${target} PRIVATE stdc++)
  endif()
endfunction()
