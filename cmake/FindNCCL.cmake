# Finds what libtandem_nccl compiles against: CUDA's headers, NCCL's, and those of cuBLAS, cuSPARSE and cuSOLVER.
#
# Looks beside LibTorch and in build/deps (the wheels that script/bootstrap unpacks), at CUDA_HOME and in CUDA
# toolkits. Defines NCCL_FOUND when CUDA's headers and LibTorch's CUDA libraries are there, NCCL_INCLUDE_DIRS, and
# NCCL_STAND_IN: TRUE when NCCL or one of the others was not found, so that stand-ins (tests/nccl_headers) take their
# place and the result is a compile check only.
set(_nccl_places "${LibTorch_ROOT}/../nvidia/cu13/include" "$ENV{CUDA_HOME}/include" "$ENV{NCCL_HOME}/include"
  "${LibTorch_ROOT}/../nvidia/nccl/include" /usr/local/cuda/include
  "${CMAKE_SOURCE_DIR}/build/deps/cuda-headers/nvidia/cu13/include")
find_path(NCCL_CUDA_INCLUDE_DIR cuda_runtime_api.h HINTS ${_nccl_places})
find_path(NCCL_CRT_INCLUDE_DIR crt/host_defines.h HINTS ${_nccl_places})
find_path(NCCL_TARGET_INCLUDE_DIR nv/target HINTS ${_nccl_places} PATH_SUFFIXES cccl)
find_library(NCCL_TORCH_CUDA_LIBRARY torch_cuda PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH)
find_library(NCCL_C10_CUDA_LIBRARY c10_cuda PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH)

set(NCCL_STAND_IN FALSE)
set(NCCL_INCLUDE_DIRS "${NCCL_CUDA_INCLUDE_DIR}" "${NCCL_CRT_INCLUDE_DIR}" "${NCCL_TARGET_INCLUDE_DIR}")
foreach(header nccl.h cublas_v2.h cublasLt.h cusparse.h cusolverDn.h)
  string(MAKE_C_IDENTIFIER "NCCL_${header}_DIR" place)
  find_path(${place} ${header} HINTS ${_nccl_places})
  if(${place})
    list(APPEND NCCL_INCLUDE_DIRS "${${place}}")
  else()
    set(NCCL_STAND_IN TRUE)
  endif()
endforeach()
if(NCCL_STAND_IN)
  list(APPEND NCCL_INCLUDE_DIRS "${CMAKE_SOURCE_DIR}/tests/nccl_headers")
endif()
list(REMOVE_DUPLICATES NCCL_INCLUDE_DIRS)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL
  REQUIRED_VARS NCCL_CUDA_INCLUDE_DIR NCCL_CRT_INCLUDE_DIR NCCL_TARGET_INCLUDE_DIR NCCL_TORCH_CUDA_LIBRARY
  NCCL_C10_CUDA_LIBRARY
  REASON_FAILURE_MESSAGE "libtandem_nccl is not built: it needs CUDA's headers and a LibTorch with CUDA")
