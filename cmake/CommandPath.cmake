# The directory libexec/holdfast/path has the programs that commands find first in their PATH. It is the same in the build tree
# and where it is installed.
set(HOLDFAST_COMMAND_PATH libexec/holdfast/path)

# Builds apply_patch and makes the links beside it. The link `rg` leads to the ripgrep of the system, which may be installed
# later: a search of PATH passes over a link that leads nowhere. It leads to /usr/bin, because no command can put a program of
# its own there.
function(holdfast_command_path)
  file(GLOB sources CONFIGURE_DEPENDS apps/apply_patch/*.cc)
  holdfast_layer_below(apps/apply_patch below)
  add_executable(apply_patch ${sources})
  target_link_libraries(apply_patch PRIVATE holdfast_flags ${below})
  set_target_properties(apply_patch PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${HOLDFAST_COMMAND_PATH})
  add_dependencies(holdfast apply_patch)  # the server tells its clients of the directory
  holdfast_link_statically(apply_patch)
  install(TARGETS apply_patch DESTINATION ${HOLDFAST_COMMAND_PATH})

  foreach(link applypatch:apply_patch rg:/usr/bin/rg)
    string(REGEX MATCH "^(.*):(.*)$" _ ${link})
    set(path ${CMAKE_BINARY_DIR}/${HOLDFAST_COMMAND_PATH}/${CMAKE_MATCH_1})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${HOLDFAST_COMMAND_PATH})
    file(CREATE_LINK ${CMAKE_MATCH_2} ${path} SYMBOLIC)
    install(FILES ${path} DESTINATION ${HOLDFAST_COMMAND_PATH})
  endforeach()
endfunction()
