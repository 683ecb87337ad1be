// Whether this process is to run with CUDA. Decided before LibTorch's first call, for LibTorch caches the answer.
#pragma once

#include <string>

#include "tandem/tandem.h"

namespace tandem::loader {

struct CudaDecision {
  bool use = false;
  std::string reason;  // why not, for whoever asks for a GPU later
};

// Reads TANDEM_DEVICE when `device` is AUTO. Throws tandem::Error: kInvalidArgument for an unknown TANDEM_DEVICE,
// kUnsupported when CUDA was asked for and cannot be.
CudaDecision decide_cuda(tdm_load_device device, const std::string& library_folder);

}  // namespace tandem::loader
