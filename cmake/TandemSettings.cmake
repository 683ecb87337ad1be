# Compiler, ccache and sanitizer settings that hold for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# "Dev" (its flags stand in CMakePresets.json): optimised, so that training in tests is fast, and little debug info.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Dev)
endif()

add_compile_options(-Wall -Wextra -Werror)
# GCC 12 at -O3 sees overlaps and overflows inside std::string's own operator+ (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()

# Libraries stay mapped once loaded: their threads and LibTorch's registrations outlive any dlclose.
add_link_options(-Wl,-z,nodelete -Wl,--no-undefined -Wl,-z,relro)

option(TANDEM_UNITY "Compile the files of a folder as one (TandemUnity.cmake)" ON)

set(TANDEM_SANITIZE "" CACHE STRING "Value for -fsanitize=")
if(TANDEM_SANITIZE)
  # vptr wants the type information of LibTorch's classes, which it hides in part.
  # With checks in between, GCC no longer sees that LibTorch's guards are initialised before they are destroyed.
  add_compile_options(-fsanitize=${TANDEM_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer
                      -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${TANDEM_SANITIZE})
  if(TANDEM_SANITIZE MATCHES thread)
    add_compile_options(-Wno-tsan)  # ThreadSanitizer does not see fences; GCC says so for each
  endif()
endif()

# ccache takes precompiled headers only when told that their defines and times do not matter.
find_program(CCACHE ccache)
if(CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Libraries find one another, and a packaged LibTorch, beside themselves.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN:$ORIGIN/../lib")
