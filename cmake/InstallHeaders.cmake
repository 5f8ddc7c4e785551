# Installs the headers of a package. It runs at the installation, with
#   NAME     the name of the package
#   SOURCE   src/
#   CHECK    the header that says why a compiler cannot be used
#   BUILD    a directory for the headers as they are installed
#   HEADERS  the public headers, as paths below SOURCE
# The public headers and what they include are installed below include/holdfast. Sources of a program include them by that name
# too, <holdfast/client/blocking.h>, so that no header of its own can be taken for one of holdfast's, or the other way round.
cmake_policy(VERSION 3.25)

# Adds `header`, and what it includes, to `headers` of the caller.
function(holdfast_add_header header)
  if(header IN_LIST headers)
    return()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${SOURCE}/${header} lines REGEX "^#include \"")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" included ${line})
    holdfast_add_header(${included})
  endforeach()
  set(headers ${headers} PARENT_SCOPE)
endfunction()

set(headers)
foreach(header ${HEADERS})
  holdfast_add_header(${header})
endforeach()

set(include ${BUILD}/include)
file(REMOVE_RECURSE ${include})
get_filename_component(check ${CHECK} NAME)
file(INSTALL ${CHECK} DESTINATION ${include}/holdfast MESSAGE_NEVER)
foreach(header ${headers})
  file(READ ${SOURCE}/${header} text)
  string(REPLACE "\n#include \"" "\n#include \"holdfast/" text "${text}")
  string(REPLACE "#pragma once\n" "#pragma once\n\n#include \"holdfast/${check}\"\n" text "${text}")
  file(WRITE ${include}/holdfast/${header} "${text}")
endforeach()
list(LENGTH headers count)
message(STATUS "Installing: ${count} headers of ${NAME} into $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/include/holdfast")
file(INSTALL ${include} DESTINATION ${CMAKE_INSTALL_PREFIX} MESSAGE_NEVER)
