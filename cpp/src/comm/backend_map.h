// What backend a group's tensors go through, by the name that its options give.
#pragma once

#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem {

enum class BackendKind { kGloo, kNccl, kNone, kShm, kAuto };  // kAuto: until the ranks have met
enum class DeviceKind { kCpu, kCuda };

const char* name_of(BackendKind kind);
const char* name_of(DeviceKind device);

// A backend and the devices whose tensors it gets.
struct BackendEntry {
  BackendKind kind = BackendKind::kGloo;
  std::vector<DeviceKind> devices;  // none: it was named alone, and gets all that it takes
};

// "gloo" is one entry; "cpu:shm,cuda:nccl" one for each backend, the CPU's first. "auto" on GPUs is nccl, and so it is
// alone, where the rank has a GPU.
// Throws Error: kUnsupported for a backend that Tandem lacks; kInvalidArgument for a device it lacks or that comes
// twice, and for a backend that does not take its device's tensors. Source: the backend argument of
// torch.distributed.init_process_group.
std::vector<BackendEntry> parse_backends(const std::string& names, bool has_gpu);

// "cpu:shm,cuda:nccl", as parse_backends() takes it.
std::string name_of(const std::vector<BackendEntry>& entries);

}  // namespace tandem
