# Makes the compiler read several sources of each target as one file, a batch, so that it reads the headers and instantiates the
# templates that they share only once. tools/source_batches.py says which sources make a batch.
function(holdfast_batches)
  set(sources)
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(own ${target} SOURCES)
    list(APPEND sources ${own})
  endforeach()
  list(JOIN sources "\n" sources)
  set(list ${CMAKE_BINARY_DIR}/batches.txt)
  set(batches ${CMAKE_BINARY_DIR}/batches.cmake)
  file(WRITE ${list} "${sources}\n")
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/source_batches.py ${HOLDFAST_BATCH}
    INPUT_FILE ${list} OUTPUT_FILE ${batches} COMMAND_ERROR_IS_FATAL ANY)
  include(${batches})
endfunction()
