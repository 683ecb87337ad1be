# cmake --install: libraries, headers, tool, CMake package, tandem.pc. Everything finds the rest relative to itself, so
# that the prefix may be moved; only LibTorch is named by its place (lib/libtandem.libtorch).
include(CMakePackageConfigHelpers)

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tandem")
set(libtorch_lib "${LibTorch_ROOT}/lib")

# C++ programs that link the core find LibTorch through it.
set_target_properties(tandem_core PROPERTIES EXPORT_NAME core INSTALL_RPATH "$ORIGIN;${libtorch_lib}")

install(TARGETS tandem EXPORT tandemTargets COMPONENT tandem)
install(TARGETS tandem_core EXPORT tandemCoreTargets COMPONENT tandem)
install(TARGETS tandem_libtorch_stub LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT tandem)
install(TARGETS tandem_tool COMPONENT tandem)
install(FILES "${CMAKE_BINARY_DIR}/install/pages/tandem.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tandem)
install(FILES "${CMAKE_BINARY_DIR}/install/pages/tandem"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tandem)
install(FILES "${CMAKE_BINARY_DIR}/install/pages/tandem.fish"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT tandem)
get_directory_property(nccl_stand_in DIRECTORY "${CMAKE_SOURCE_DIR}/cpp/src/nccl" DEFINITION NCCL_STAND_IN)
if(TARGET tandem_nccl AND NOT nccl_stand_in)
  set_target_properties(tandem_nccl PROPERTIES INSTALL_RPATH "$ORIGIN;${libtorch_lib}")
  # Absent from a build of single targets; a package for CPUs has no use for it.
  install(TARGETS tandem_nccl LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT nccl OPTIONAL)
endif()

install(DIRECTORY "${CMAKE_SOURCE_DIR}/capi/include/tandem" "${CMAKE_SOURCE_DIR}/cpp/include/tandem"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT tandem FILES_MATCHING PATTERN "*.h")

install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" "${CMAKE_SOURCE_DIR}/NOTICE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/tandem" COMPONENT tandem)

file(WRITE "${CMAKE_BINARY_DIR}/install/libtandem.libtorch" "${LibTorch_ROOT}\n")
install(FILES "${CMAKE_BINARY_DIR}/install/libtandem.libtorch"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT tandem)

install(EXPORT tandemTargets NAMESPACE tandem:: DESTINATION "${config_folder}" COMPONENT tandem)
install(EXPORT tandemCoreTargets NAMESPACE tandem:: DESTINATION "${config_folder}" COMPONENT tandem)
configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/tandemConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/install/tandemConfig.cmake" INSTALL_DESTINATION "${config_folder}"
  PATH_VARS CMAKE_INSTALL_LIBDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/install/tandemConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/install/tandemConfig.cmake" "${CMAKE_BINARY_DIR}/install/tandemConfigVersion.cmake"
  "${CMAKE_SOURCE_DIR}/cmake/FindLibTorch.cmake"
  DESTINATION "${config_folder}" COMPONENT tandem)

configure_file("${CMAKE_SOURCE_DIR}/cmake/tandem.pc.in" "${CMAKE_BINARY_DIR}/install/tandem.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/install/tandem.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT tandem)
