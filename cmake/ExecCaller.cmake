# The program exec_caller makes calls of execve that shells do not make. The tests of escalate run it under a supervisor. It is
# linked statically and has no sanitizer, so that its memory and its threads are exactly what its source says.
file(GLOB exec_caller_sources CONFIGURE_DEPENDS tests/escalate/exec_caller/*.cc)
add_executable(exec_caller ${exec_caller_sources})
set_target_properties(exec_caller PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
target_compile_features(exec_caller PRIVATE cxx_std_23)
target_include_directories(exec_caller PRIVATE src)
target_compile_options(exec_caller PRIVATE ${HOLDFAST_WARNINGS} -Os -g0)
target_link_options(exec_caller PRIVATE -fuse-ld=lld -static -Wl,--gc-sections -Wl,--strip-all)

file(GLOB supervised_sources CONFIGURE_DEPENDS tests/escalate/seccomp/*.cc)
list(FILTER supervised_sources EXCLUDE REGEX "_test\\.cc$")
target_sources(escalate_test PRIVATE ${supervised_sources})
target_compile_definitions(escalate_test PRIVATE HOLDFAST_EXEC_CALLER="$<TARGET_FILE:exec_caller>")
target_include_directories(escalate_test PRIVATE tests)
add_dependencies(escalate_test exec_caller)
