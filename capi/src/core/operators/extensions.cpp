// Libraries of operators beside LibTorch's own.
#include <dlfcn.h>
#include <torch/version.h>
#include <unistd.h>

#include "core/call/guard.h"

using namespace tandem::capi;
using tandem::Error;
using tandem::ErrorCode;

tdm_error* tdm_load_library(const char* path) {
  return guard("tdm_load_library", [&] {
    const std::string file = not_null(path, "path");
    // Without a slash dlopen() would search the system's folders for another library of that name.
    if (file.find('/') == std::string::npos) {
      invalid("'" + file + "' is no path to a library; write ./" + file + " for one in the working directory");
    }
    if (access(file.c_str(), F_OK) != 0) throw Error(ErrorCode::kNotFound, "there is no library at " + file);
    // Its operators are LibTorch's from now on: it must stay.
    if (!dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      const char* why = dlerror();
      throw Error(ErrorCode::kLibrary, file + " cannot be loaded: " + (why ? why : "unknown reason") +
                                           "; build it against the LibTorch in use, " TORCH_VERSION);
    }
  });
}
