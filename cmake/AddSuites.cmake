# This script is read by ctest when it starts. It adds one ctest test for each suite of the GoogleTest program BINARY, with the
# ctest properties PROPERTIES. The test is named after the suite, and runs all tests of the suite in one process.
if(NOT EXISTS ${BINARY})
  # ctest reports a test whose program is missing as failed.
  add_test(${BINARY}_NOT_BUILT ${BINARY})
  return()
endif()
execute_process(COMMAND ${BINARY} --gtest_list_tests TIMEOUT 60
  OUTPUT_VARIABLE listing ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${BINARY} --gtest_list_tests: ${status}\n${listing}${complaint}")
endif()

# The lines with suites begin with the name and a dot; those with tests are indented.
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." suites "${listing}")
foreach(suite ${suites})
  string(REGEX REPLACE "^\n|\\.$" "" suite "${suite}")
  add_test(${suite} ${BINARY} --gtest_filter=${suite}.*)
  set_tests_properties(${suite} PROPERTIES ${PROPERTIES})
endforeach()
