# The units of systemd name the installed program by its path, so they are written when the prefix is known: at the installation.
function(holdfast_systemd_units)
  file(GLOB units CONFIGURE_DEPENDS packaging/systemd/*.service)
  foreach(unit ${units})
    cmake_path(GET unit FILENAME name)
    install(CODE "
      set(BINDIR \"\${CMAKE_INSTALL_PREFIX}/bin\")
      set(installed \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${name}\")
      message(STATUS \"Installing: \$ENV{DESTDIR}\${installed}\")
      configure_file(\"${unit}\" \"\$ENV{DESTDIR}\${installed}\" @ONLY)
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${installed}\")")
  endforeach()
  install(FILES docs/OPERATIONS.md DESTINATION share/doc/holdfast)
endfunction()
