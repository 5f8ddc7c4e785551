# The examples, built with the tree. They include headers as programs do that use the installed libraries, with which
# tools/check_install builds them once more.
set(include ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${include})
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src ${include}/holdfast SYMBOLIC)

# Adds the example of that name, which uses the library of `room`.
function(holdfast_example name room)
  add_executable(example_${name} examples/${name}.cc)
  target_include_directories(example_${name} PRIVATE ${include})
  target_link_libraries(example_${name} PRIVATE holdfast_${room})
  target_precompile_headers(example_${name} REUSE_FROM pch_std)
endfunction()

holdfast_example(run_command client)
holdfast_example(follow_command client)
holdfast_example(embed_server exec_server)
