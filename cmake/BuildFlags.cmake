# The flags and precompiled headers of everything but the freestanding programs. They belong to targets and not to
# CMAKE_CXX_FLAGS, because none of them may reach those programs.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# Libraries are built in parallel: only the final links wait for the libraries that they use.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED CONFIG COMPONENTS json)
# The digests of OpenSSL are linked statically, so that a start loads no further shared library. TLS is loaded when it is
# needed (transport/tls_library.h); only tests link it.
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto SSL)
find_package(Threads REQUIRED)

# -Wthread-safety checks that members which a mutex guards are used with the mutex held (base/mutex.h).
# -Wno-c99-extensions is needed because structs of the kernel end in flexible arrays.
set(HOLDFAST_WARNINGS
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough -Wthread-safety -Wno-c99-extensions -Werror)

add_library(holdfast_flags INTERFACE)
target_include_directories(holdfast_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(holdfast_flags INTERFACE
  ${HOLDFAST_WARNINGS}
  -ffunction-sections -fdata-sections
  # Without this flag a precompiled header contains the time of its build, and ccache cannot reuse objects that are
  # compiled with it.
  "SHELL:-Xclang -fno-pch-timestamp")
# These definitions keep the code of the libraries out of all files but asio_impl.cc and fmt_impl.cc, which compile it once.
target_compile_definitions(holdfast_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_BEAST_SEPARATE_COMPILATION
  SPDLOG_FMT_EXTERNAL)
target_link_options(holdfast_flags INTERFACE -fuse-ld=lld -Wl,--gc-sections)
target_link_libraries(holdfast_flags INTERFACE Boost::json Threads::Threads)

if(HOLDFAST_SANITIZERS)
  target_compile_options(holdfast_flags INTERFACE
    -fsanitize=${HOLDFAST_SANITIZERS} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_definitions(holdfast_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(holdfast_flags INTERFACE -fsanitize=${HOLDFAST_SANITIZERS})
endif()
if(HOLDFAST_FUZZERS)
  # The flag adds the counters that guide a fuzzer. Code of the tests needs none, because no fuzzer links it.
  target_compile_options(holdfast_flags INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:HOLDFAST_TEST_CODE>>>:-fsanitize=fuzzer-no-link>)
endif()

# Makes a target `name` that holds a precompiled header. It is built once, and other targets use it by REUSE_FROM. Its source
# includes the same headers, which tells tools/check_tidy what is precompiled.
function(holdfast_precompile name)
  list(TRANSFORM ARGN PREPEND "#include " OUTPUT_VARIABLE includes)
  list(JOIN includes "\n" includes)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${name}.cc CONTENT "${includes}\n")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/pch/${name}.cc)
  target_link_libraries(${name} PRIVATE holdfast_flags)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

set(HOLDFAST_STD_HEADERS
  <algorithm> <chrono> <cstddef> <cstdint> <deque> <expected> <functional> <future> <list> <map> <memory> <optional> <set>
  <span> <string> <string_view> <thread> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>)
holdfast_precompile(pch_std ${HOLDFAST_STD_HEADERS})
holdfast_precompile(pch_net ${HOLDFAST_STD_HEADERS} <boost/asio.hpp> <boost/beast.hpp>)

# The rooms of src/ for which Asio and Beast are precompiled too. tools/check_tidy reads their directories from the file.
set(HOLDFAST_NET_ROOMS loop transport)
list(TRANSFORM HOLDFAST_NET_ROOMS PREPEND ${CMAKE_SOURCE_DIR}/src/ OUTPUT_VARIABLE net_directories)
list(JOIN net_directories "\n" net_directories)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/pch_net.rooms CONTENT "${net_directories}\n")

# Sets `out` to the target whose precompiled header suits a room of src/.
function(holdfast_pch_of room out)
  if(room IN_LIST HOLDFAST_NET_ROOMS)
    set(${out} pch_net PARENT_SCOPE)
  else()
    set(${out} pch_std PARENT_SCOPE)
  endif()
endfunction()
