# tandem_use_torch(target): compiles a target of ours against LibTorch, with the one precompiled header.
#
# A file that includes <torch/torch.h> costs 15-20 s without it and 7 s with it, so keep such files few: code that
# needs no tensor belongs into a target that does not use LibTorch.
file(WRITE "${CMAKE_BINARY_DIR}/torch_pch.cpp" "")
add_library(tandem_torch_pch OBJECT "${CMAKE_BINARY_DIR}/torch_pch.cpp")
target_link_libraries(tandem_torch_pch PUBLIC LibTorch::LibTorch Gloo::headers Threads::Threads)
target_precompile_headers(tandem_torch_pch PRIVATE
  <torch/torch.h>
  <torch/csrc/distributed/c10d/ProcessGroup.hpp>
  <torch/csrc/distributed/c10d/reducer.hpp>)

function(tandem_use_torch target)
  target_link_libraries(${target} PUBLIC LibTorch::LibTorch Threads::Threads)
  target_link_libraries(${target} PRIVATE Gloo::headers)
  target_precompile_headers(${target} REUSE_FROM tandem_torch_pch)
  # The precompiled header is -fPIC; CMake would compile a program with -fPIE.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()
