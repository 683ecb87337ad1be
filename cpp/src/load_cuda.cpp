#include <ATen/Context.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <filesystem>
#include <string>

#include "loaded_file.h"
#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem {

void load_cuda() {
  if (has_cuda()) return;
  const auto refuse = [](const std::string& reason) {
    throw Error(ErrorCode::kUnsupported, "CUDA cannot be used: " + reason);
  };
  const std::filesystem::path libtorch = library_of(reinterpret_cast<const void*>(&at::globalContext));
  const auto library = libtorch.parent_path() / "libtorch_cuda.so";
  if (!std::filesystem::exists(library)) {
    refuse(library.string() + " does not exist (a LibTorch for the CPU; script/bootstrap --cuda installs the other)");
  }
  if (!dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL)) {
    refuse(std::string("libtorch_cuda.so does not load: ") + dlerror() +
           " (script/bootstrap --cuda installs the CUDA libraries)");
  }
  if (!at::globalContext().hasCUDA()) refuse("the NVIDIA driver reports no usable GPU, or LibTorch was used before");
  start_runtime(TORCH_VERSION, true, "");
}

}  // namespace tandem
