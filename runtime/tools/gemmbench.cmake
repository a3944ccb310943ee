# gemmbench: libgemmbench.a (measures a table on a GPU) and the command that builds a folder with it.
if(NOT GEMMGEN_CUDA)
  return()
endif()

# nvcc only for two files; PTX, so that the archive serves every GPU from sm_75 on.
set(bench_objects)
foreach(name IN ITEMS bench_device bench_reference)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -O3 -Xcompiler -fPIC,-Wall,-Wextra
            -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90
            -I${CMAKE_CURRENT_SOURCE_DIR} -I${CMAKE_CURRENT_SOURCE_DIR}/..
            -c ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu -o ${object}
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${name}.cu ${CMAKE_CURRENT_LIST_DIR}/bench_number.cuh
            ${CMAKE_CURRENT_LIST_DIR}/bench.h
    COMMENT "gemmbench: ${name}.cu"
    VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  list(APPEND bench_objects ${object})
endforeach()

add_library(gemmgen_bench STATIC
  bench_cublas.c
  bench_data.c
  bench_main.c
  bench_report.c
  bench_suite.c
  bench_time.c
  ../gpu.c
  ${bench_objects})
set_target_properties(gemmgen_bench PROPERTIES OUTPUT_NAME gemmbench C_STANDARD 11
                      POSITION_INDEPENDENT_CODE ON)
target_include_directories(gemmgen_bench PRIVATE
  ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_link_libraries(gemmgen_bench PUBLIC gemmgen_runtime)

add_executable(gemmbench gemmbench.c sweep.c)
set_target_properties(gemmbench PROPERTIES C_STANDARD 11)
target_compile_definitions(gemmbench PRIVATE
  _XOPEN_SOURCE=700 _DEFAULT_SOURCE GEMMBENCH_NVCC="${CUDAToolkit_NVCC_EXECUTABLE}")
add_dependencies(gemmbench gemmgen_bench)

if(TARGET CUDA::cublasLt)
  target_compile_definitions(gemmgen_bench PRIVATE GEMMBENCH_CUBLAS)
  target_link_libraries(gemmgen_bench PUBLIC CUDA::cublasLt)
  target_compile_definitions(gemmbench PRIVATE GEMMBENCH_CUBLAS)
endif()

if(GEMMGEN_INSTALL)
  install(TARGETS gemmgen_bench ARCHIVE DESTINATION lib/gemmgen)
  install(FILES suite.txt suite_f32.txt DESTINATION share/gemmgen)
  install(PROGRAMS ranking.py DESTINATION share/gemmgen)
endif()
