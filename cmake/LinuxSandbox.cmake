# The helper holdfast-linux-sandbox, which runs every sandboxed command that no jail starts, and the bubblewrap that it falls
# back to.
set(HOLDFAST_BUBBLEWRAP_SOURCE "" CACHE PATH "An unpacked source of bubblewrap; without it, that of Debian's package is fetched")
if(DEFINED ENV{HOLDFAST_BUBBLEWRAP_SOURCE})  # kept in the cache, for later configurations
  set_property(CACHE HOLDFAST_BUBBLEWRAP_SOURCE PROPERTY VALUE "$ENV{HOLDFAST_BUBBLEWRAP_SOURCE}")
endif()
set(HOLDFAST_RESOURCES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/holdfast-resources)

# Builds bubblewrap and sets `out` to its path. The builds of a tree share it.
function(holdfast_build_bubblewrap out)
  set(built ${CMAKE_SOURCE_DIR}/build/bubblewrap)
  set(tool ${CMAKE_SOURCE_DIR}/tools/bundled_bubblewrap)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tool} ${CMAKE_SOURCE_DIR}/tools/debian_source)
  execute_process(COMMAND ${tool} ${built} ${HOLDFAST_BUBBLEWRAP_SOURCE} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "The bubblewrap that is installed beside the sandbox helper was not built; the reason stands above. Where no "
      "archive of Debian can be reached, set the variable HOLDFAST_BUBBLEWRAP_SOURCE to the directory of an unpacked source of "
      "bubblewrap: HOLDFAST_BUBBLEWRAP_SOURCE=/src/bubblewrap make build")
  endif()
  set(${out} ${built}/bwrap PARENT_SCOPE)
endfunction()

holdfast_build_bubblewrap(HOLDFAST_BWRAP)
file(SHA256 ${HOLDFAST_BWRAP} HOLDFAST_BWRAP_SHA256)
configure_file(${HOLDFAST_BWRAP} ${HOLDFAST_RESOURCES}/bwrap COPYONLY)
configure_file(${HOLDFAST_BWRAP}.COPYING ${HOLDFAST_RESOURCES}/bwrap.COPYING COPYONLY)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/sandbox/bubblewrap/bundled_bubblewrap.cc PROPERTIES
  COMPILE_DEFINITIONS HOLDFAST_BWRAP_SHA256="${HOLDFAST_BWRAP_SHA256}"
  SKIP_PRECOMPILE_HEADERS ON)

function(holdfast_linux_sandbox)
  file(GLOB sources CONFIGURE_DEPENDS apps/linux_sandbox/*.cc)
  holdfast_layer_below(apps/linux_sandbox below)
  add_executable(holdfast-linux-sandbox ${sources})
  target_link_libraries(holdfast-linux-sandbox PRIVATE holdfast_flags ${below})
  add_dependencies(holdfast holdfast-linux-sandbox)  # the server runs the helper that lies beside it
  if(HOLDFAST_SANITIZERS)
    # Servers and sandboxes copy the helper into memory, some thousand times in one run of the tests, and a smaller file is
    # copied faster.
    target_link_options(holdfast-linux-sandbox PRIVATE -Wl,--compress-debug-sections=zlib)
  endif()
  holdfast_link_statically(holdfast-linux-sandbox)
  install(TARGETS holdfast-linux-sandbox)

  # The name by which clients of codex start the helper.
  set(link ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/codex-linux-sandbox)
  file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  file(CREATE_LINK holdfast-linux-sandbox ${link} SYMBOLIC)
  install(FILES ${link} TYPE BIN)
  install(PROGRAMS ${HOLDFAST_RESOURCES}/bwrap DESTINATION bin/holdfast-resources)
  install(FILES ${HOLDFAST_RESOURCES}/bwrap.COPYING DESTINATION bin/holdfast-resources)
endfunction()
