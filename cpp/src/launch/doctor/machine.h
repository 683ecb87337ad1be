// What this machine has and lets a process have.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/finding.h"

namespace tandem::doctor {

Finding examine_cpus();

// Of NVIDIA's, from its driver in /proc.
struct Gpus {
  std::vector<std::string> models;
  std::string driver;  // its version; "" where there is none
};
Gpus find_gpus();
// `usable`: how many of them LibTorch has found; `reason`: why NCCL does not work, which says why there are none.
Finding examine_gpus(const Gpus& gpus, bool library_works, int usable, const std::string& reason);

Finding examine_descriptors();
// NCCL takes shared memory between GPUs.
Finding examine_shm(int gpus);
Finding examine_locked_memory(bool has_gpus);

}  // namespace tandem::doctor
