# The arrows of tools/layers.txt as link dependencies.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/layers.txt)

# The folders of src/.
file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt HOLDFAST_FOLDERS REGEX "^[a-z_]+ +->")
list(TRANSFORM HOLDFAST_FOLDERS REPLACE " .*" "")

# Sets `out` to the library targets that `folder` may use.
function(holdfast_layer_below folder out)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt arrows REGEX "^${folder} +->")
  if(NOT arrows)
    message(FATAL_ERROR "tools/layers.txt has no line for ${folder}")
  endif()
  string(REGEX REPLACE "^.*->" "" names "${arrows}")
  string(REGEX MATCHALL "[^ ]+" names "${names}")
  list(FILTER names EXCLUDE REGEX "/")
  list(TRANSFORM names PREPEND holdfast_)
  set(${out} ${names} PARENT_SCOPE)
endfunction()
