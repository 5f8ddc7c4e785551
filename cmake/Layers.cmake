# This file turns the arrows of tools/layers.txt into link dependencies.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/layers.txt)

# The rooms of src/, lowest first, and the folders they lie in.
file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt HOLDFAST_ROOMS REGEX "^[a-z_/]+ +->")
list(TRANSFORM HOLDFAST_ROOMS REPLACE " .*" "")
list(FILTER HOLDFAST_ROOMS EXCLUDE REGEX "^(apps|tests)/")
set(HOLDFAST_FOLDERS ${HOLDFAST_ROOMS})
list(TRANSFORM HOLDFAST_FOLDERS REPLACE "/.*" "")
list(REMOVE_DUPLICATES HOLDFAST_FOLDERS)

# Sets `out` to the library target of each room in `rooms`: holdfast_sandbox_plan for sandbox/plan.
function(holdfast_targets_of rooms out)
  list(TRANSFORM rooms REPLACE "/" "_")
  list(TRANSFORM rooms PREPEND holdfast_)
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()

# Sets `out` to the library targets that `room` may use.
function(holdfast_layer_below room out)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt arrows REGEX "^${room} +->")
  if(NOT arrows)
    message(FATAL_ERROR "tools/layers.txt has no line for ${room}")
  endif()
  string(REGEX REPLACE "^.*->" "" names "${arrows}")
  string(REGEX MATCHALL "[^ ]+" names "${names}")
  set(rooms)
  foreach(name ${names})
    if(name MATCHES "/\\*$")
      holdfast_rooms_in(${name} ${room} found)
      list(APPEND rooms ${found})
    else()
      list(APPEND rooms ${name})
    endif()
  endforeach()
  holdfast_targets_of("${rooms}" targets)
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# Sets `out` to the rooms that a name such as sandbox/* stands for in the line of `room`: those with that beginning in the
# lines above.
function(holdfast_rooms_in name room out)
  string(REPLACE "*" "" beginning ${name})
  set(found)
  foreach(candidate ${HOLDFAST_ROOMS})
    if(candidate STREQUAL room)
      break()
    endif()
    if(candidate MATCHES "^${beginning}")
      list(APPEND found ${candidate})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
