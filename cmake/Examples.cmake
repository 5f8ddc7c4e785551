# The examples, built with the tree. tools/check_install builds them once more, against the installed packages.
foreach(example run_command follow_command)
  add_executable(example_${example} examples/${example}.cc)
  target_link_libraries(example_${example} PRIVATE holdfast_client)
  target_precompile_headers(example_${example} REUSE_FROM pch_std)
endforeach()
add_executable(example_embed_server examples/embed_server.cc)
target_link_libraries(example_embed_server PRIVATE holdfast_exec_server)
target_precompile_headers(example_embed_server REUSE_FROM pch_std)
