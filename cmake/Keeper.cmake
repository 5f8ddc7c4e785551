# holdfast-keeper is a freestanding program of a few KB, embedded in the server as bytes. It has no libc, so it must not get
# flags that need a runtime, such as sanitizers: all of its flags are in this file.
file(GLOB keeper_sources CONFIGURE_DEPENDS apps/keeper/*.cc)
set(HOLDFAST_KEEPER ${CMAKE_BINARY_DIR}/keeper/holdfast-keeper)

add_executable(holdfast-keeper ${keeper_sources})
set_target_properties(holdfast-keeper PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/keeper
  DISABLE_PRECOMPILE_HEADERS ON)
target_include_directories(holdfast-keeper PRIVATE src)
target_compile_options(holdfast-keeper PRIVATE
  ${HOLDFAST_WARNINGS}
  -Os -g0 -ffreestanding -fno-sanitize=all -fno-stack-protector -fno-exceptions -fno-rtti -fno-threadsafe-statics
  -fno-pic -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections)
target_link_options(holdfast-keeper PRIVATE
  -fuse-ld=lld -nostdlib -static
  -Wl,-z,noseparate-code -Wl,--build-id=none -Wl,--gc-sections -Wl,--strip-all)

# Defines the path of the built keeper for one source file of src/, and compiles that file again when the keeper changes.
function(holdfast_embed_keeper source)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${source} PROPERTIES
    COMPILE_DEFINITIONS HOLDFAST_KEEPER_PATH="${HOLDFAST_KEEPER}"
    OBJECT_DEPENDS ${HOLDFAST_KEEPER}
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()
