// Which devices' tensors go where.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "tandem/rpc.h"

namespace tandem::rpc {

// As LibTorch's agent takes them.
struct DeviceMaps {
  using Map = std::unordered_map<c10::Device, c10::Device>;

  std::unordered_map<std::string, Map> there;  // by worker, where tensors of calls to it arrive
  std::unordered_map<std::string, Map> back;   // by worker, where results of its calls arrive
  std::vector<c10::Device> own;                // of this worker's, all that have part
};

// What this worker says of its maps. Errors: kInvalidArgument for devices that are no GPUs of this machine or are mapped
// twice, kUnsupported where CUDA is not loaded.
std::string describe_devices(const Options& options);
// With what all say, in order of rank. Errors: kInvalidArgument for a map to a worker that there is not, or to a device that
// it has not, on all workers alike.
DeviceMaps agree_on_devices(const std::vector<std::string>& all, const std::vector<Worker>& workers, int rank);

}  // namespace tandem::rpc
