# The client library as other programs use it: one static library, its headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

# Sets `out` to `room` and every room below it.
function(holdfast_rooms_of room out)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt arrows REGEX "^${room} +->")
  string(REGEX REPLACE "^.*->" "" names "${arrows}")
  string(REGEX MATCHALL "[^ ]+" names "${names}")
  set(rooms ${room})
  foreach(name ${names})
    holdfast_rooms_of(${name} below)
    list(APPEND rooms ${below})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()

function(holdfast_client_package)
  holdfast_rooms_of(client rooms)
  set(objects)
  foreach(room ${rooms})
    holdfast_targets_of(${room} target)
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  add_library(holdfast_client_package STATIC ${objects})
  set_target_properties(holdfast_client_package PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME holdfast-client EXPORT_NAME client)
  target_include_directories(holdfast_client_package INTERFACE $<INSTALL_INTERFACE:include/holdfast>)
  target_compile_features(holdfast_client_package INTERFACE cxx_std_23)
  target_link_libraries(holdfast_client_package INTERFACE Boost::json OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

  install(TARGETS holdfast_client_package EXPORT holdfast-client ARCHIVE DESTINATION lib)
  install(EXPORT holdfast-client NAMESPACE holdfast:: DESTINATION lib/cmake/holdfast-client)
  file(STRINGS src/base/version.h HOLDFAST_VERSION REGEX kVersion)
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" HOLDFAST_VERSION "${HOLDFAST_VERSION}")
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/holdfast-client-config-version.cmake
    VERSION ${HOLDFAST_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES cmake/holdfast-client-config.cmake ${CMAKE_BINARY_DIR}/holdfast-client-config-version.cmake
    DESTINATION lib/cmake/holdfast-client)
  configure_file(cmake/holdfast-client.pc.in ${CMAKE_BINARY_DIR}/holdfast-client.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/holdfast-client.pc DESTINATION lib/pkgconfig)
  install(FILES docs/CLIENT.md DESTINATION share/doc/holdfast)
  # These rooms are included by the public headers of the library.
  foreach(room base loop wire rpc client)
    install(DIRECTORY src/${room} DESTINATION include/holdfast FILES_MATCHING PATTERN "*.h")
  endforeach()
endfunction()
