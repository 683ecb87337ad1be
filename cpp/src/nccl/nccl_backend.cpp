// LibTorch's NCCL backend, made for the core, which loads this library when a process with CUDA asks for it.
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/env.h>
#include <torch/csrc/cuda/nccl.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "comm/nccl/factory.h"
#include "tandem/error.h"

namespace tandem {
namespace {

std::string version_text(std::uint64_t major, std::uint64_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// The backend's options hold an ncclConfig_t, whose size is that of the headers, here and in LibTorch.
void check_headers() {
  const std::uint64_t built_with = torch::cuda::nccl::version();  // major << 32 | minor << 16 | patch
  const std::uint64_t major = built_with >> 32, minor = built_with >> 16 & 0xffff;
  if (major == NCCL_MAJOR && minor == NCCL_MINOR) return;
  throw Error(ErrorCode::kLibrary, "libtandem_nccl was built with the headers of NCCL " +
                                       version_text(NCCL_MAJOR, NCCL_MINOR) + ", but this LibTorch with those of " +
                                       version_text(major, minor) +
                                       "; build it with the nccl.h that belongs to LibTorch (script/bootstrap --cuda)");
}

// What a failed collective does to the process. LibTorch's defaults end it: the watchdog lets the failure escape its
// thread, and the thread that watches it ends what is left. Here the group fails, and the program is told.
void set_defaults() {
  constexpr const char* kDefaults[][2] = {
      {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "2"},  // clean up only: abort the communicators
      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"},       // there is a flight record of ours; after its dump it ends the process
      {"TORCH_NCCL_ENABLE_MONITORING", "0"},     // which says that the watchdog hangs, but leaves the process be
      {"TORCH_NCCL_RETHROW_CUDA_ERRORS", "0"},
      // Milliseconds, of which the watchdog sleeps four times as many once something failed, so that other ranks dump; the
      // group's destructor waits for it.
      {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "1"},
  };
  for (const auto& [name, value] : kDefaults) {
    if (!c10::utils::has_env(name)) c10::utils::set_env(name, value);
  }
}

void make_backend(const Store& store, int rank, int world_size, std::chrono::milliseconds timeout, c10::Device device,
                  c10::intrusive_ptr<c10d::Backend>* out) {
  check_headers();
  const auto devices = c10::cuda::device_count();
  const auto index = device.has_index() ? device.index() : c10::cuda::current_device();
  if (index < 0 || index >= devices) {
    throw Error(ErrorCode::kInvalidArgument,
                "rank " + std::to_string(rank) + " is to use cuda:" + std::to_string(index) +
                    ", but this machine has " + std::to_string(devices) + " GPUs; start one rank a GPU, or fewer");
  }
  set_defaults();
  // Collectives run on the current device of the thread that calls them.
  c10::cuda::set_device(index);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, world_size, options);
  backend->setBoundDeviceId(c10::Device(c10::kCUDA, index));
  *out = backend;
}

}  // namespace
}  // namespace tandem

extern "C" __attribute__((visibility("default"))) tandem::NcclFactory* const tandem_nccl_make_backend =
    &tandem::make_backend;
