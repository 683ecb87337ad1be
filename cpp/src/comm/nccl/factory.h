// The one function of libtandem_nccl, shared with the core that loads it.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <chrono>

#include "tandem/store.h"

#define TANDEM_NCCL_FACTORY "tandem_nccl_make_backend"

namespace tandem {

using NcclFactory = void(const Store& store, int rank, int world_size, std::chrono::milliseconds timeout,
                         c10::Device device, c10::intrusive_ptr<c10d::Backend>* out);

}  // namespace tandem
