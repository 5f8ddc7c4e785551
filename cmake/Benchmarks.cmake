# Each bench/<name>_bench.cc becomes a program; the target `benchmarks` builds all of them.
find_package(benchmark REQUIRED)

add_custom_target(benchmarks)
add_dependencies(benchmarks rendezvous_load)
file(GLOB benches CONFIGURE_DEPENDS bench/*_bench.cc)
foreach(source ${benches})
  cmake_path(GET source STEM name)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  if(name STREQUAL "server_bench")
    # server_bench measures the built program from outside, and has its own main.
    file(GLOB parts CONFIGURE_DEPENDS bench/bench_*.cc)
    target_sources(${name} PRIVATE ${parts})
    target_link_libraries(${name} PRIVATE holdfast_transport)
  elseif(name STREQUAL "relay_bench")
    target_link_libraries(${name} PRIVATE holdfast_rendezvous_relay benchmark::benchmark_main)
  else()
    target_link_libraries(${name} PRIVATE
      holdfast_exec_server holdfast_exec_policy holdfast_escalate_seccomp holdfast_rendezvous_nats benchmark::benchmark_main)
  endif()
  target_precompile_headers(${name} REUSE_FROM pch_std)
  add_dependencies(benchmarks ${name})
  if(NOT name STREQUAL "relay_bench")  # the only one that needs nothing of the program
    add_dependencies(${name} holdfast)
    target_compile_definitions(${name} PRIVATE HOLDFAST_BINARY="$<TARGET_FILE:holdfast>")
  endif()
endforeach()
