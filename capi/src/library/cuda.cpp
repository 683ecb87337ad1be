#include "library/cuda.h"

#include <dlfcn.h>

#include <filesystem>

#include "library/find_libtorch.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

// "" when the driver sees a GPU.
std::string why_no_gpu() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver) return "no NVIDIA driver (libcuda.so.1) is installed";
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  if (!init || !count_of || init(0) != 0 || count_of(&count) != 0 || count == 0) {
    return "the NVIDIA driver reports no usable GPU";
  }
  return "";
}

}  // namespace

CudaDecision decide_cuda(tdm_load_device device, const std::string& library_folder) {
  std::string asked_by = "the load options";
  if (device == TDM_LOAD_DEVICE_AUTO) {
    const std::string given = environment("TANDEM_DEVICE");
    const std::string value = given.empty() ? "auto" : given;
    asked_by = "TANDEM_DEVICE=" + value;
    if (value == "cpu") {
      device = TDM_LOAD_DEVICE_CPU;
    } else if (value == "cuda") {
      device = TDM_LOAD_DEVICE_CUDA;
    } else if (value != "auto") {
      throw Error(ErrorCode::kInvalidArgument, "TANDEM_DEVICE is '" + value + "'; it must be auto, cpu or cuda");
    }
  }
  if (device == TDM_LOAD_DEVICE_CPU) return {false, asked_by + " chose the CPU"};

  std::string reason = why_no_gpu();
  if (reason.empty()) {
    const auto library = std::filesystem::path(library_folder) / "libtorch_cuda.so";
    if (!std::filesystem::exists(library)) {
      reason = "this LibTorch has no libtorch_cuda.so (a build for the CPU)";
    } else if (!dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL)) {
      reason = std::string("libtorch_cuda.so does not load: ") + dlerror() +
               " (script/bootstrap --cuda installs the CUDA libraries)";
    } else {
      return {true, ""};
    }
  }
  if (device == TDM_LOAD_DEVICE_CUDA) {
    throw Error(ErrorCode::kUnsupported,
                "CUDA was asked for (" + asked_by + "), but this process cannot use a GPU: " + reason);
  }
  return {false, reason};
}

}  // namespace tandem::loader
