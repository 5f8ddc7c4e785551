# The files *_test.cc in tests/<folder>, and in the rooms below it, become one binary <folder>_test; tests/support is the
# library they share.
include(GoogleTest)
find_package(GTest REQUIRED)

# The code of the tests themselves is not optimized: it is most of the code there is, and compiles three times as fast.
# The sanitizers are those of src/. A test binary holds one copy of each inline function and template, often the test's;
# with the same sanitizers in both, no check depends on which copy the linker keeps.
function(holdfast_test_code target)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES HOLDFAST_TEST_CODE ON)
endfunction()

file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.cc)
holdfast_layer_below(tests/support support_below)
holdfast_precompile(pch_test ${HOLDFAST_STD_HEADERS} <filesystem> <fstream> <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(pch_test PRIVATE GTest::gmock)
holdfast_test_code(pch_test)
add_library(test_support STATIC ${support_sources})
holdfast_test_code(test_support)
target_precompile_headers(test_support REUSE_FROM pch_test)
target_include_directories(test_support PUBLIC tests)
target_compile_definitions(test_support PUBLIC
  HOLDFAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  HOLDFAST_BINARY="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/holdfast")
target_link_libraries(test_support PUBLIC holdfast_flags ${support_below} GTest::gmock)

# Further arguments are ctest properties of each test. Suites called Hopper* use all of the machine, and run alone.
# They are linked to every room of `tested`, a folder of src/.
function(holdfast_test folder tested)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${folder}/*_test.cc)
  set(rooms ${HOLDFAST_ROOMS})
  list(FILTER rooms INCLUDE REGEX "^${tested}(/|$)")
  holdfast_targets_of("${rooms}" libraries)
  add_executable(${folder}_test ${sources})
  holdfast_test_code(${folder}_test)
  target_link_libraries(${folder}_test PRIVATE ${libraries} test_support GTest::gmock_main)
  target_precompile_headers(${folder}_test REUSE_FROM pch_test)
  # Listed when ctest starts: a sanitizer finding in a static initializer is a failed test, not a failed build.
  set(listed NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${folder}_test ${listed} TEST_FILTER -Hopper*.* PROPERTIES TIMEOUT 300 ${ARGN})
  if(folder STREQUAL integration)
    gtest_discover_tests(${folder}_test ${listed} TEST_FILTER Hopper*.* PROPERTIES RUN_SERIAL ON TIMEOUT 300 ${ARGN})
  endif()
endfunction()

foreach(folder ${HOLDFAST_FOLDERS})
  holdfast_test(${folder} ${folder})
endforeach()

# Some of its tests start the program.
add_dependencies(apply_patch_test apply_patch)
target_compile_definitions(apply_patch_test PRIVATE HOLDFAST_APPLY_PATCH="$<TARGET_FILE:apply_patch>")

holdfast_test(integration exec_server TIMEOUT 600)
add_dependencies(integration_test holdfast)

# tests/fuzz/<name>_fuzz.cc runs over tests/fuzz/corpus/<name>. libFuzzer writes to the first corpus folder it is given:
# one in the build tree, so that the committed corpus stays as it is.
function(holdfast_fuzzer source)
  cmake_path(GET source STEM target)
  string(REGEX REPLACE "_fuzz$" "" name ${target})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE holdfast_exec_server holdfast_sandbox_policy holdfast_apply_patch)
  target_precompile_headers(${target} REUSE_FROM pch_std)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)

  set(found ${CMAKE_BINARY_DIR}/fuzz/${name})
  set(committed ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  file(MAKE_DIRECTORY ${found})
  if(NOT EXISTS ${committed})
    set(committed)
  endif()
  add_test(NAME ${target} COMMAND ${target}
    -runs=${HOLDFAST_FUZZ_RUNS} -seed=1 -timeout=10 -print_final_stats=1 -artifact_prefix=${found}/ ${found} ${committed})
  set_tests_properties(${target} PROPERTIES TIMEOUT 600)
endfunction()

if(HOLDFAST_FUZZERS)
  file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
  foreach(source ${fuzzers})
    holdfast_fuzzer(${source})
  endforeach()
endif()

# Every shell example in the documentation works as shown.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME docs_examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_examples
  $<TARGET_FILE_DIR:holdfast> README.md docs/ARCHITECTURE.md docs/PROTOCOL.md docs/SANDBOX.md docs/BENCHMARKS.md)
set_tests_properties(docs_examples PROPERTIES TIMEOUT 300)

# With the bubblewrap of the build: it needs user namespaces, as the other tests of the sandbox do.
add_test(NAME installed COMMAND ${CMAKE_SOURCE_DIR}/tools/check_install ${CMAKE_BINARY_DIR})
set_tests_properties(installed PROPERTIES TIMEOUT 300)
