# The examples, built with the tree. tools/check_install builds those of the client library once more, against the installed
# package.
foreach(example run_command follow_command)
  add_executable(example_${example} examples/${example}.cc)
  target_link_libraries(example_${example} PRIVATE holdfast_client)
  target_precompile_headers(example_${example} REUSE_FROM pch_std)
endforeach()
