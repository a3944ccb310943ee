# libggcheck.a: what `gemmgen check` links with emitted kernels. Included by runtime/CMakeLists.txt.
add_library(gemmgen_check STATIC
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_case.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_compare.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_crash.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_data.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_epilogue.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_number.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_operand.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_pass.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_reference.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_report.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_run.c
  ${CMAKE_CURRENT_LIST_DIR}/ggcheck_sum.c)
set_target_properties(gemmgen_check PROPERTIES OUTPUT_NAME ggcheck C_STANDARD 11)
target_include_directories(gemmgen_check PUBLIC
  ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/.. ${CMAKE_CURRENT_LIST_DIR}/../emu)
target_link_libraries(gemmgen_check PUBLIC gemmgen_runtime gemmgen_emu m)
