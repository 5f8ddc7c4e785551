# This file defines one static library for each room of src/, and the program `holdfast`.

# Adds the library of a room, linked to the rooms that tools/layers.txt lets it use. A room that has only headers becomes an
# interface library.
function(holdfast_library room)
  file(GLOB sources CONFIGURE_DEPENDS src/${room}/*.cc)
  holdfast_layer_below(${room} below)
  holdfast_targets_of(${room} target)
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE holdfast_flags ${below})
    return()
  endif()
  holdfast_pch_of(${room} pch)
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC holdfast_flags ${below})
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# Adds the executable `holdfast`.
function(holdfast_server)
  file(GLOB sources CONFIGURE_DEPENDS apps/holdfast/*.cc)
  holdfast_layer_below(apps/holdfast below)
  add_executable(holdfast ${sources})
  target_link_libraries(holdfast PRIVATE holdfast_flags ${below})
  target_precompile_headers(holdfast REUSE_FROM pch_std)
  if(HOLDFAST_SANITIZERS)
    # This file contains CLI11, a library of templates, and optimizing it takes longer than the tests gain.
    set_source_files_properties(src/cli/table/parse.cc PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
  else()
    # Relative relocations take a bit instead of 24 bytes each; glibc knows them since 2.36. Functions with the same code are
    # kept once, unless their addresses are compared.
    # The list names functions that shall lie side by side (tools/start_order); it may name some that there are no more.
    set(order ${CMAKE_SOURCE_DIR}/cmake/start_order.txt)
    target_link_options(holdfast PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,pack-relative-relocs -Wl,--icf=safe
      -Wl,--symbol-ordering-file=${order} -Wl,--no-warn-symbol-ordering)
    set_property(TARGET holdfast APPEND PROPERTY LINK_DEPENDS ${order})
  endif()
  install(TARGETS holdfast)

  # The name under which MCP clients of codex start the shell server.
  set(mcp_server ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/codex-exec-mcp-server)
  file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  file(CREATE_LINK holdfast ${mcp_server} SYMBOLIC)
  install(FILES ${mcp_server} TYPE BIN)

  # The man pages and the completion scripts are printed by the program itself.
  set(share ${CMAKE_BINARY_DIR}/share)
  set(bash ${share}/bash-completion/completions)
  set(zsh ${share}/zsh/site-functions)
  set(fish ${share}/fish/vendor_completions.d)
  file(MAKE_DIRECTORY ${bash} ${zsh} ${fish})
  add_custom_command(TARGET holdfast POST_BUILD
    COMMAND holdfast man --dir ${share}/man/man1
    COMMAND holdfast completion bash > ${bash}/holdfast
    COMMAND holdfast completion zsh > ${zsh}/_holdfast
    COMMAND holdfast completion fish > ${fish}/holdfast.fish)
  install(DIRECTORY ${share}/ DESTINATION share)
endfunction()
