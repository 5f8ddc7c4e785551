# The program holdfast-execve-wrapper, which lies beside the server and is started with every program that a patched shell runs.
# Servers and launchers of published packages know it by the name of the link.
function(holdfast_execve_wrapper)
  file(GLOB sources CONFIGURE_DEPENDS apps/execve_wrapper/*.cc)
  holdfast_layer_below(apps/execve_wrapper below)
  add_executable(holdfast-execve-wrapper ${sources})
  target_link_libraries(holdfast-execve-wrapper PRIVATE holdfast_flags ${below})
  add_dependencies(holdfast holdfast-execve-wrapper)  # the server names it to the shells that it starts
  holdfast_link_statically(holdfast-execve-wrapper)
  install(TARGETS holdfast-execve-wrapper)

  set(link ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/codex-execve-wrapper)
  file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  file(CREATE_LINK holdfast-execve-wrapper ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION bin)
endfunction()
