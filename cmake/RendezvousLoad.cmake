# The load program of the rendezvous measures the built program from outside. A test runs it too, with few executors.
file(GLOB load_parts CONFIGURE_DEPENDS bench/bench_*.cc bench/load_*.cc)
add_executable(rendezvous_load EXCLUDE_FROM_ALL bench/rendezvous_load.cc ${load_parts})
target_link_libraries(rendezvous_load PRIVATE holdfast_transport)
target_precompile_headers(rendezvous_load REUSE_FROM pch_std)
target_compile_definitions(rendezvous_load PRIVATE HOLDFAST_BINARY="$<TARGET_FILE:holdfast>")
add_dependencies(rendezvous_load holdfast)
