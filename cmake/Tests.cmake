# The files *_test.cc in tests/<folder>, and in the rooms below it, become one binary <folder>_test. The binaries share the
# library of tests/support.
include(GoogleTest)
find_package(GTest REQUIRED)

# Turns optimization off for the code of the tests themselves. It is the larger part of all code, and so it compiles three times
# as fast. It has the same sanitizers as src/. A test binary has one copy of each inline function and template, often the one that
# was compiled with the test; with the same sanitizers in both, no check depends on which copy the linker keeps.
function(holdfast_test_code target)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES HOLDFAST_TEST_CODE ON)
endfunction()

# The files that compute much are optimized nevertheless: here the evaluator of filters, which runs for millions of system calls,
# and the test that compares its results. The precompiled header is for code without optimization.
set_source_files_properties(tests/support/bpf_evaluator.cc tests/sandbox/confine/seccomp_filter_test.cc PROPERTIES
  COMPILE_OPTIONS -O1
  SKIP_PRECOMPILE_HEADERS ON)

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
target_link_libraries(test_support PUBLIC holdfast_flags ${support_below} GTest::gmock OpenSSL::SSL)

# Most tests wait more than they compute, so ctest runs more of them at once than there are processors (TEST_JOBS in the
# Makefile). Some tests of tests/integration are exceptions. Tests that use the whole machine, or measure a short time, run
# alone. Of the tests that start hundreds of processes or fill the memory, one runs at a time, beside the others.
set(HOLDFAST_TESTS_ALONE
  Hopper*.*
  ProcessEndTest.AnswersTheStartOfACommandThatStopsItsKeeperAtOnce
  SandboxedFsTest.TheSecondCallIsQuick/*
  SandboxedLoadTest.AShortCommandTakesLittleTime
  TransportTest.EchoesAWriteWithoutADelay)
set(HOLDFAST_TESTS_HEAVY HeldMemoryTest.* RendezvousHostsTest.* RendezvousLoadTest.* SandboxKillTest.* SandboxedKillTest.* SandboxLoadTest.* SandboxNativeTest.Nothing* SandboxRaceTest.* SandboxedLoadTest.Half* SandboxedRaceTest.* SoakTest.*)
list(JOIN HOLDFAST_TESTS_ALONE ":" HOLDFAST_TESTS_ALONE)
list(JOIN HOLDFAST_TESTS_HEAVY ":" HOLDFAST_TESTS_HEAVY)

# Adds the test binary of a folder of tests/, linked to every room of `tested`, a folder of src/.
function(holdfast_test_binary folder tested)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${folder}/*_test.cc)
  set(rooms ${HOLDFAST_ROOMS})
  list(FILTER rooms INCLUDE REGEX "^${tested}(/|$)")
  holdfast_targets_of("${rooms}" libraries)
  add_executable(${folder}_test ${sources})
  holdfast_test_code(${folder}_test)
  target_link_libraries(${folder}_test PRIVATE ${libraries} test_support GTest::gmock_main)
  target_precompile_headers(${folder}_test REUSE_FROM pch_test)
endfunction()

# Both functions below list the tests when ctest starts, so that a sanitizer finding in a static initializer is a failed test
# and not a failed build. The order of tests is by COST, because ctest else orders them by their last run, of which a clean
# tree has none: the longest start first, and the short ones that are left for the end keep all processors busy.

# Makes ctest run each suite of a test binary in one process. A process takes longer to start under a sanitizer than most
# tests take.
function(holdfast_run_suites binary)
  set(script ${CMAKE_BINARY_DIR}/${binary}_suites.cmake)
  file(GENERATE OUTPUT ${script} CONTENT "\
set(BINARY $<TARGET_FILE:${binary}>)
set(PROPERTIES COST 200 TIMEOUT 300)
include(${CMAKE_SOURCE_DIR}/cmake/AddSuites.cmake)
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# Makes ctest run each test of a test binary that `filter` selects in a process of its own, for tests that start servers and
# sandboxes: whatever one of them leaves behind is not there for the next. Further arguments are ctest properties.
function(holdfast_run_tests binary filter)
  gtest_discover_tests(${binary} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_FILTER ${filter}
    PROPERTIES ${ARGN})
endfunction()

foreach(folder ${HOLDFAST_FOLDERS})
  holdfast_test_binary(${folder} ${folder})
  holdfast_run_suites(${folder}_test)
endforeach()

# Some tests of apply_patch start the program.
add_dependencies(apply_patch_test apply_patch)
target_compile_definitions(apply_patch_test PRIVATE HOLDFAST_APPLY_PATCH="$<TARGET_FILE:apply_patch>")

# Some tests of escalate start the wrapper, and a patched shell if `make patched-bash` has built one.
file(GLOB escalate_support CONFIGURE_DEPENDS tests/escalate/*.cc)
list(FILTER escalate_support EXCLUDE REGEX "_test\\.cc$")
target_sources(escalate_test PRIVATE ${escalate_support})
add_dependencies(escalate_test holdfast-execve-wrapper)
target_compile_definitions(escalate_test PRIVATE
  HOLDFAST_EXECVE_WRAPPER="$<TARGET_FILE:holdfast-execve-wrapper>"
  HOLDFAST_PATCHED_BASH="${CMAKE_SOURCE_DIR}/build/patched-bash/bash")

# Some tests of the sandbox start the helper.
add_dependencies(sandbox_test holdfast-linux-sandbox)

# Some tests of the client library talk to the server.
add_dependencies(client_test holdfast example_embed_server)
# Some tests of cli, remote and rendezvous start the program.
add_dependencies(cli_test holdfast)
add_dependencies(remote_test holdfast)
add_dependencies(rendezvous_test holdfast)

holdfast_test_binary(integration exec_server)
holdfast_run_tests(integration_test -${HOLDFAST_TESTS_ALONE}:${HOLDFAST_TESTS_HEAVY} COST 100 TIMEOUT 600)
holdfast_run_tests(integration_test ${HOLDFAST_TESTS_ALONE} RUN_SERIAL ON TIMEOUT 600)
holdfast_run_tests(integration_test ${HOLDFAST_TESTS_HEAVY} COST 1000 RESOURCE_LOCK machine TIMEOUT 600)
add_dependencies(integration_test holdfast rendezvous_load)
target_compile_definitions(integration_test PRIVATE
  HOLDFAST_PATCHED_BASH="${CMAKE_SOURCE_DIR}/build/patched-bash/bash"
  HOLDFAST_RENDEZVOUS_LOAD="$<TARGET_FILE:rendezvous_load>")

# The tests of these folders include most of the product, and their headers take longer to read than all that stands in them.
if(HOLDFAST_BATCH)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  include(Batches)
  holdfast_batches(client_test exec_server_test remote_test rendezvous_test)
endif()

# Adds the fuzzer of tests/fuzz/<name>_fuzz.cc, which begins with the inputs of tests/fuzz/corpus/<name>. libFuzzer writes to
# the first corpus folder that it is given. That is one in the build tree, so that the committed corpus stays as it is.
function(holdfast_fuzzer source)
  cmake_path(GET source STEM target)
  string(REGEX REPLACE "_fuzz$" "" name ${target})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE
    holdfast_exec_server holdfast_exec_policy holdfast_sandbox_policy holdfast_apply_patch holdfast_escalate_messages
    holdfast_rendezvous_nats holdfast_rendezvous_relay holdfast_skills)
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
  set_tests_properties(${target} PROPERTIES COST 1000 TIMEOUT 600)
endfunction()

if(HOLDFAST_FUZZERS)
  file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
  foreach(source ${fuzzers})
    holdfast_fuzzer(${source})
  endforeach()
endif()

# The tests below are scripts. All but the last one are among the longest tests: they start early too.

# This test runs every shell example of the documentation and compares its output.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME docs_examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_examples
  $<TARGET_FILE_DIR:holdfast> README.md docs/ARCHITECTURE.md docs/MCP.md docs/OPERATIONS.md docs/PROTOCOL.md docs/SANDBOX.md docs/RULES.md docs/BENCHMARKS.md)
set_tests_properties(docs_examples PROPERTIES COST 1000 TIMEOUT 300)

# This test works through the MCP server with the official SDK. It fetches nothing, and is skipped where `make e2e` has not fetched
# the SDK before.
add_test(NAME mcp_sdk COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/e2e/mcp/run.py --cached
  --server $<TARGET_FILE:holdfast>)
set_tests_properties(mcp_sdk PROPERTIES COST 1000 TIMEOUT 300 SKIP_RETURN_CODE 77)

# This test looks for code in the program that makes it large and slow to start.
add_test(NAME program COMMAND ${CMAKE_SOURCE_DIR}/tools/check_program ${CMAKE_BINARY_DIR})
set_tests_properties(program PROPERTIES TIMEOUT 60)

# This test checks how tools/check_tidy shares runs of clang-tidy between sources.
add_test(NAME tidy_batches COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/tools/tidy_batches_test.py)
set_tests_properties(tidy_batches PROPERTIES TIMEOUT 60)

# This test checks what tools/check_docs reports, on a small tree.
add_test(NAME check_docs COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/tools/check_docs_test.py)
set_tests_properties(check_docs PROPERTIES TIMEOUT 60)

# This test checks which sources of tests are compiled together.
add_test(NAME source_batches COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/tools/source_batches_test.py)
set_tests_properties(source_batches PROPERTIES TIMEOUT 60)

# This test checks how tools/bundled_bubblewrap builds a source, and what it does where it has none.
add_test(NAME bundled_bubblewrap COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/tools/bundled_bubblewrap_test.py)
set_tests_properties(bundled_bubblewrap PROPERTIES TIMEOUT 60)

# This test compares docs/openrpc.json with the program, with OpenRPC, and with the conversations of tests/traces.
add_test(NAME openrpc COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/tools/openrpc_test.py $<TARGET_FILE:holdfast>
  $<TARGET_FILE:integration_test>)
set_tests_properties(openrpc PROPERTIES COST 1000 TIMEOUT 300)

# These tests work with the clients in sdk/ through the server, over connections that are cut, and compare their generated parts.
# The types of the TypeScript client are checked by a compiler, and only where `make e2e` has fetched it before.
add_test(NAME sdk_python COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/sdk/python_test.py $<TARGET_FILE:holdfast>)
add_test(NAME sdk_typescript COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/sdk/typescript_test.py $<TARGET_FILE:holdfast>)
add_test(NAME sdk_types COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/typescript_types --check --cached)
set_tests_properties(sdk_python sdk_typescript PROPERTIES COST 1000 TIMEOUT 600)
set_tests_properties(sdk_types PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
