# Finds LibTorch: TANDEM_LIBTORCH (variable or environment), what script/bootstrap unpacked, or an installed Python's.
#
# Defines LibTorch_FOUND, LibTorch_ROOT (holds lib/ and include/), LibTorch_VERSION ("2.11.0"),
# LibTorch_VERSION_MINOR ("2.11") and the target LibTorch::LibTorch. torch's own CMake package is not used: that of a
# CUDA wheel demands nvcc.

set(TANDEM_LIBTORCH "$ENV{TANDEM_LIBTORCH}" CACHE PATH "Folder with LibTorch's lib/ and include/")
set(LibTorch_ROOT "")
if(TANDEM_LIBTORCH)
  set(LibTorch_ROOT "${TANDEM_LIBTORCH}")
elseif(EXISTS "${CMAKE_SOURCE_DIR}/build/deps/libtorch/torch/lib/libtorch_cpu.so")
  set(LibTorch_ROOT "${CMAKE_SOURCE_DIR}/build/deps/libtorch/torch")
else()
  find_program(LibTorch_PYTHON NAMES python3)
  if(LibTorch_PYTHON)
    execute_process(
      COMMAND "${LibTorch_PYTHON}" -c
        "import importlib.util,os;s=importlib.util.find_spec('torch');print(os.path.dirname(s.origin) if s else '')"
      OUTPUT_VARIABLE LibTorch_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()

set(LibTorch_VERSION "")
if(EXISTS "${LibTorch_ROOT}/version.py")
  file(STRINGS "${LibTorch_ROOT}/version.py" line REGEX "^__version__")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${line}")
elseif(EXISTS "${LibTorch_ROOT}/build-version")
  file(READ "${LibTorch_ROOT}/build-version" line)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${line}")
endif()
string(REGEX MATCH "^[0-9]+\\.[0-9]+" LibTorch_VERSION_MINOR "${LibTorch_VERSION}")

find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH NO_CACHE)
find_library(LibTorch_C10_LIBRARY c10 PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH NO_CACHE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_VERSION VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run script/bootstrap, or set TANDEM_LIBTORCH to a folder with lib/libtorch_cpu.so")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES
      "${LibTorch_ROOT}/include;${LibTorch_ROOT}/include/torch/csrc/api/include"
    # USE_DISTRIBUTED changes class layouts: always set, as in the library itself.
    INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO;USE_TENSORPIPE"
    INTERFACE_LINK_LIBRARIES "${LibTorch_CPU_LIBRARY};${LibTorch_C10_LIBRARY}"
    # Operators register themselves: the library is needed even where no symbol of it is.
    INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed")
endif()
