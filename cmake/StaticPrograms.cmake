# The helper, the execve wrapper and apply_patch are started often. They are linked statically, because a static program starts
# faster, and they start without the questions that libc asks the processor (apps/libc_start/libc_start.cc), which are the longest
# part of their start in a virtual machine. The file for that is for one version of glibc. It is linked only where a program that
# starts by it passes all checks of tests/libc_start, which CMake runs at configuration. Elsewhere libc starts as usual.
set(HOLDFAST_STATIC_LINK -static -fuse-ld=lld)
set(HOLDFAST_LIBC_START_SOURCES
  ${CMAKE_SOURCE_DIR}/apps/libc_start/libc_start.cc
  ${CMAKE_SOURCE_DIR}/tests/libc_start/libc_start_check.cc)
# The compiler must not turn a loop into a call of memcpy, which cannot be called before its variant is chosen. Stacks have guards,
# because one of the checks needs them.
set(HOLDFAST_LIBC_START_FLAGS -O2 -fno-builtin -fstack-protector-strong)

# Sets `out` to a text that changes with everything that the checks depend on.
function(holdfast_libc_start_inputs out)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libc.a
    OUTPUT_VARIABLE libc OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(digests ${CMAKE_CXX_COMPILER_VERSION} ${HOLDFAST_LIBC_START_FLAGS})
  foreach(file ${HOLDFAST_LIBC_START_SOURCES} ${libc})
    if(EXISTS ${file})
      file(SHA256 ${file} digest)
      list(APPEND digests ${digest})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
  endforeach()
  set(${out} "${digests}" PARENT_SCOPE)
endfunction()

# Sets `out` to whether apps/libc_start is written for the libc of the compiler.
function(holdfast_knows_libc out)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x c++ -E -dM -include features.h /dev/null
    OUTPUT_VARIABLE macros ERROR_QUIET)
  set(${out} OFF PARENT_SCOPE)
  if(macros MATCHES "__GLIBC__ 2\n" AND macros MATCHES "__GLIBC_MINOR__ 36\n")
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

# Sets `out` to whether all checks pass. CMake keeps the result until an input of the checks changes.
function(holdfast_libc_start_works out)
  holdfast_libc_start_inputs(inputs)
  if(NOT inputs STREQUAL "${HOLDFAST_LIBC_START_INPUTS}")
    unset(HOLDFAST_LIBC_START_BUILDS CACHE)
    unset(HOLDFAST_LIBC_START_CHECK CACHE)
    set(HOLDFAST_LIBC_START_INPUTS "${inputs}" CACHE INTERNAL "")
  endif()
  try_run(HOLDFAST_LIBC_START_CHECK HOLDFAST_LIBC_START_BUILDS SOURCES ${HOLDFAST_LIBC_START_SOURCES}
    COMPILE_DEFINITIONS ${HOLDFAST_LIBC_START_FLAGS}
    LINK_OPTIONS ${HOLDFAST_STATIC_LINK}
    COMPILE_OUTPUT_VARIABLE why
    RUN_OUTPUT_VARIABLE failed
    CXX_STANDARD 23 CXX_STANDARD_REQUIRED ON)
  set(${out} ON PARENT_SCOPE)
  if(NOT HOLDFAST_LIBC_START_BUILDS OR HOLDFAST_LIBC_START_CHECK)
    message(WARNING "Static programs start as usual, and so more slowly: the checks of tests/libc_start fail.\n${why}\n${failed}")
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

holdfast_knows_libc(HOLDFAST_LIBC_START_KNOWS_LIBC)
set(HOLDFAST_LIBC_START_WORKS OFF)
if(NOT HOLDFAST_LIBC_START_KNOWS_LIBC)
  message(STATUS "Static programs start as usual: apps/libc_start is for glibc 2.36.")
else()
  add_library(holdfast_libc_start OBJECT EXCLUDE_FROM_ALL apps/libc_start/libc_start.cc)
  target_compile_options(holdfast_libc_start PRIVATE ${HOLDFAST_WARNINGS} ${HOLDFAST_LIBC_START_FLAGS})
  if(NOT CMAKE_CROSSCOMPILING)  # what is built for another machine cannot be tried here
    holdfast_libc_start_works(HOLDFAST_LIBC_START_WORKS)
  endif()
endif()

# Links a program statically, unless it has sanitizers.
function(holdfast_link_statically target)
  if(HOLDFAST_SANITIZERS)
    return()
  endif()
  target_link_options(${target} PRIVATE ${HOLDFAST_STATIC_LINK} -Wl,--strip-all)
  if(HOLDFAST_LIBC_START_WORKS)
    target_link_libraries(${target} PRIVATE holdfast_libc_start)
  endif()
endfunction()

# Adds the checks as a test. Where they fail at configuration, the test fails too, although the product then starts as usual.
function(holdfast_test_libc_start)
  if(NOT HOLDFAST_LIBC_START_KNOWS_LIBC)
    return()
  endif()
  add_executable(libc_start_check ${HOLDFAST_LIBC_START_SOURCES})
  target_compile_options(libc_start_check PRIVATE ${HOLDFAST_WARNINGS} ${HOLDFAST_LIBC_START_FLAGS})
  target_link_options(libc_start_check PRIVATE ${HOLDFAST_STATIC_LINK})
  add_test(NAME libc_start COMMAND libc_start_check)
  set_tests_properties(libc_start PROPERTIES TIMEOUT 60)
endfunction()
