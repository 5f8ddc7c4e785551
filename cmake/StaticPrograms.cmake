# The programs that are started with every command are linked statically, because a static program starts faster. They also start
# without the questions that libc asks the processor (apps/libc_start/libc_start.cc), which are the longest part of their start in a
# virtual machine. The file for that is for one version of glibc. It is linked only where a program that starts by it passes all
# checks of tests/libc_start, which CMake runs at configuration. Elsewhere libc starts as usual.

# The compiler must not turn a loop into a call of memcpy, which cannot be called before its variant is chosen. Stacks have guards,
# because one of the checks needs them.
set(flags -O2 -fno-builtin -fstack-protector-strong)
set(sources ${CMAKE_SOURCE_DIR}/apps/libc_start/libc_start.cc ${CMAKE_SOURCE_DIR}/tests/libc_start/libc_start_check.cc)
set(HOLDFAST_STATIC_LINK -static -fuse-ld=lld)

try_run(HOLDFAST_LIBC_START_CHECK HOLDFAST_LIBC_START_BUILDS SOURCES ${sources}
  COMPILE_DEFINITIONS ${flags}
  LINK_OPTIONS ${HOLDFAST_STATIC_LINK}
  CXX_STANDARD 23 CXX_STANDARD_REQUIRED ON)
if(NOT HOLDFAST_LIBC_START_BUILDS)
  message(STATUS "Static programs start as usual: apps/libc_start is for glibc 2.36.")
elseif(HOLDFAST_LIBC_START_CHECK)
  message(WARNING "Static programs start as usual, and so more slowly: a check of tests/libc_start has failed.")
endif()

add_library(holdfast_libc_start OBJECT EXCLUDE_FROM_ALL apps/libc_start/libc_start.cc)
target_compile_options(holdfast_libc_start PRIVATE ${HOLDFAST_WARNINGS} ${flags})

# Links a program statically, unless it has sanitizers.
function(holdfast_link_statically target)
  if(HOLDFAST_SANITIZERS)
    return()
  endif()
  target_link_options(${target} PRIVATE ${HOLDFAST_STATIC_LINK} -Wl,--strip-all)
  if(HOLDFAST_LIBC_START_BUILDS AND NOT HOLDFAST_LIBC_START_CHECK)
    target_link_libraries(${target} PRIVATE holdfast_libc_start)
  endif()
endfunction()

# Adds the checks as a test, with the flags of the product. It exists also where they have failed at configuration.
function(holdfast_test_libc_start)
  if(NOT HOLDFAST_LIBC_START_BUILDS)
    return()
  endif()
  add_executable(libc_start_check ${sources})
  target_compile_options(libc_start_check PRIVATE ${HOLDFAST_WARNINGS} ${flags})
  target_link_options(libc_start_check PRIVATE ${HOLDFAST_STATIC_LINK})
  add_test(NAME libc_start COMMAND libc_start_check)
  set_tests_properties(libc_start PROPERTIES TIMEOUT 60)
endfunction()
