// libtandem_nccl, which adds the backend "nccl" where CUDA is.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <chrono>

#include "tandem/store.h"

namespace tandem {

// Throws Error: kUnsupported with the reason when this process has no GPU, kInvalidArgument for a device that is none,
// kLibrary when libtandem_nccl is missing or does not load. There is never a silent change to another backend.
void require_nccl(c10::Device device);

// Connects to all ranks at the first collective, as NCCL does.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const Store& store, int rank, int world_size,
                                                    std::chrono::milliseconds timeout, c10::Device device);

}  // namespace tandem
