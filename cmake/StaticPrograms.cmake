# The helper, the execve wrapper and apply_patch are started often. They are linked statically, because a static program starts
# faster, unless they have sanitizers.
function(holdfast_link_statically target)
  if(NOT HOLDFAST_SANITIZERS)
    target_link_options(${target} PRIVATE -static -fuse-ld=lld -Wl,--strip-all)
  endif()
endfunction()
