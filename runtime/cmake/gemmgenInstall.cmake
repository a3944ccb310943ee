# What is installed, and the same layout in the build folder, so that
# `find_package(gemmgen)` works with either as CMAKE_PREFIX_PATH.
# lib/ is meant literally, not lib64 or lib/<triple>: gemmgen looks for ../lib/gemmgen.

include(CMakePackageConfigHelpers)

set(gemmgen_cmake_dir ${PROJECT_BINARY_DIR}/lib/cmake/gemmgen)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/gemmgenConfig.cmake.in ${gemmgen_cmake_dir}/gemmgenConfig.cmake
  INSTALL_DESTINATION lib/cmake/gemmgen
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${gemmgen_cmake_dir}/gemmgenConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/gemmgenKernels.cmake
               ${gemmgen_cmake_dir}/gemmgenKernels.cmake COPYONLY)

set(gemmgen_targets)
foreach(pair IN ITEMS "gemmgen gemmgen" "gemmgen_runtime runtime" "gemmgen_emu emu")
  separate_arguments(pair)
  list(GET pair 0 target)
  list(GET pair 1 public)
  if(TARGET ${target})
    list(APPEND gemmgen_targets ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${public})
    if(NOT TARGET gemmgen::${public})
      get_target_property(type ${target} TYPE)
      if(type STREQUAL "EXECUTABLE")
        add_executable(gemmgen::${public} ALIAS ${target})
      else()
        add_library(gemmgen::${public} ALIAS ${target})
      endif()
    endif()
    # Whoever links a library sees the public headers and no others, here as after installing.
    if(NOT public STREQUAL "gemmgen")
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
        "$<BUILD_INTERFACE:${GEMMGEN_INCLUDE_DIR}>;$<INSTALL_INTERFACE:include/gemmgen>")
    endif()
  endif()
endforeach()

if(GEMMGEN_INSTALL AND gemmgen_targets)
  install(TARGETS ${gemmgen_targets} EXPORT gemmgen
          RUNTIME DESTINATION bin
          ARCHIVE DESTINATION lib/gemmgen)
  install(EXPORT gemmgen NAMESPACE gemmgen:: FILE gemmgenTargets.cmake
          DESTINATION lib/cmake/gemmgen)
  install(FILES ${gemmgen_cmake_dir}/gemmgenConfig.cmake
                ${gemmgen_cmake_dir}/gemmgenConfigVersion.cmake
                ${gemmgen_cmake_dir}/gemmgenKernels.cmake
          DESTINATION lib/cmake/gemmgen)
  install(FILES ${gemmgen_headers} DESTINATION include/gemmgen)
  # Programs and libraries beyond the three that users link: gemmbench, what `gemmgen check` links.
  foreach(target IN ITEMS gemmbench gemmtune)
    if(TARGET ${target})
      install(TARGETS ${target} RUNTIME DESTINATION bin)
    endif()
  endforeach()
  if(TARGET gemmgen_check)
    install(TARGETS gemmgen_check ARCHIVE DESTINATION lib/gemmgen)
  endif()
  export(EXPORT gemmgen NAMESPACE gemmgen:: FILE ${gemmgen_cmake_dir}/gemmgenTargets.cmake)
endif()
