# Finds Gloo's headers (Debian's libgloo-dev). The library itself is inside LibTorch; nothing is linked.
# Defines Gloo_FOUND and the target Gloo::headers.
find_path(Gloo_INCLUDE_DIR gloo/config.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Gloo REQUIRED_VARS Gloo_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libgloo-dev (script/bootstrap does)")
if(Gloo_FOUND AND NOT TARGET Gloo::headers)
  add_library(Gloo::headers INTERFACE IMPORTED)
  set_target_properties(Gloo::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Gloo_INCLUDE_DIR}")
endif()
