# This file defines the freestanding programs: the keeper, and the two programs by which an execve is redirected. Each is a program
# of a few KB, embedded in the server as bytes. They have no libc, so they must not get flags that need a runtime, such as
# sanitizers: all of their flags are in this file.

# Adds the program `name`, of the sources in apps/`folder`.
function(holdfast_freestanding_program name folder)
  file(GLOB sources CONFIGURE_DEPENDS apps/${folder}/*.cc)
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/freestanding
    DISABLE_PRECOMPILE_HEADERS ON)
  target_include_directories(${name} PRIVATE src)
  target_compile_options(${name} PRIVATE
    ${HOLDFAST_WARNINGS}
    -Os -g0 -ffreestanding -fno-sanitize=all -fno-stack-protector -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -fno-pic -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections)
  target_link_options(${name} PRIVATE
    -fuse-ld=lld -nostdlib -static
    -Wl,-z,noseparate-code -Wl,--build-id=none -Wl,--gc-sections -Wl,--strip-all)
endfunction()

# Defines the path of the built program `name` for one source file of src/ (base/embedded_image.h), and compiles that file again
# when the program changes.
function(holdfast_embed name source)
  set(program ${CMAKE_BINARY_DIR}/freestanding/${name})
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${source} PROPERTIES
    COMPILE_DEFINITIONS HOLDFAST_EMBEDDED_PATH="${program}"
    OBJECT_DEPENDS ${program}
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()

holdfast_freestanding_program(holdfast-keeper keeper)
holdfast_freestanding_program(holdfast-exec-stub exec_stub)
holdfast_freestanding_program(holdfast-exec-starter exec_starter)
holdfast_embed(holdfast-keeper process/keeper_image.cc)
holdfast_embed(holdfast-exec-stub escalate/stub/stub_image.cc)
holdfast_embed(holdfast-exec-starter escalate/outside/starter_image.cc)
