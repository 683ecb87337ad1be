// LibTorch's NCCL backend, made for the core, which loads this library when a process with CUDA asks for it.
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "comm/nccl_factory.h"
#include "tandem/error.h"

namespace tandem {
namespace {

void make_backend(const Store& store, int rank, int world_size, std::chrono::milliseconds timeout, c10::Device device,
                  c10::intrusive_ptr<c10d::Backend>* out) {
  const auto devices = c10::cuda::device_count();
  const auto index = device.has_index() ? device.index() : c10::cuda::current_device();
  if (index < 0 || index >= devices) {
    throw Error(ErrorCode::kInvalidArgument,
                "rank " + std::to_string(rank) + " is to use cuda:" + std::to_string(index) +
                    ", but this machine has " + std::to_string(devices) + " GPUs; start one rank a GPU, or fewer");
  }
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
