# Each tests/sandboxee/acts/<name>.cc becomes a program bin/sandboxee/<name>, which tries one forbidden act. sandboxee_test
# runs these programs outside and inside of the sandbox, hundreds of times; so they have no sanitizer and link next to no library.
file(GLOB acts CONFIGURE_DEPENDS tests/sandboxee/acts/*.cc)
foreach(source ${acts})
  cmake_path(GET source STEM name)
  add_executable(act_${name} ${source})
  set_target_properties(act_${name} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sandboxee
    DISABLE_PRECOMPILE_HEADERS ON)
  target_compile_options(act_${name} PRIVATE ${HOLDFAST_WARNINGS} -Os -g0 -fno-exceptions -fno-rtti)
  target_link_options(act_${name} PRIVATE
    -fuse-ld=lld -static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--gc-sections -Wl,--strip-all)
  list(APPEND act_targets act_${name})
endforeach()

holdfast_test_binary(sandboxee sandbox)
holdfast_run_tests(sandboxee_test * COST 100 TIMEOUT 120)
file(GLOB sandboxee_sources CONFIGURE_DEPENDS tests/sandboxee/*.cc)
list(FILTER sandboxee_sources EXCLUDE REGEX "_test\\.cc$")
target_sources(sandboxee_test PRIVATE ${sandboxee_sources})
add_dependencies(sandboxee_test ${act_targets} holdfast-linux-sandbox)

target_link_options(act_stop_parent PRIVATE -nostdlib -static -Wno-unused-command-line-argument)

# The integration tests run some of the acts through the server.
target_compile_definitions(integration_test PRIVATE
  HOLDFAST_SANDBOXEE_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sandboxee")
add_dependencies(integration_test ${act_targets})
