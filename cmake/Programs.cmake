# One static library per folder of src/, and the server.

# holdfast_<folder>, linked to what tools/layers.txt lets it use.
function(holdfast_library folder)
  file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.cc)
  holdfast_layer_below(${folder} below)
  holdfast_pch_of(${folder} pch)
  add_library(holdfast_${folder} STATIC ${sources})
  target_link_libraries(holdfast_${folder} PUBLIC holdfast_flags ${below})
  target_precompile_headers(holdfast_${folder} REUSE_FROM ${pch})
endfunction()

# The executable `holdfast`.
function(holdfast_server)
  file(GLOB sources CONFIGURE_DEPENDS apps/holdfast/*.cc)
  holdfast_layer_below(apps/holdfast below)
  add_executable(holdfast ${sources})
  target_link_libraries(holdfast PRIVATE holdfast_flags ${below})
  target_precompile_headers(holdfast REUSE_FROM pch_std)
  if(NOT HOLDFAST_SANITIZERS)
    target_link_options(holdfast PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  install(TARGETS holdfast)
endfunction()
