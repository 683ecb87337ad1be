// Which cores each rank of this machine computes on.
#pragma once

#include <string>
#include <vector>

namespace tandem::launch {

// A CPU as Linux numbers it, and where it sits.
struct Cpu {
  int number = 0;
  int package = 0;
  int core = 0;  // of the package; CPUs of one core share what computes
};

// Those that this process may run on.
std::vector<Cpu> allowed_cpus();

// How many cores this process may keep busy: those of its CPUs, or fewer where its control group is given less time.
int usable_cores();

// The CPUs of each rank: as many whole cores for each as for the others, or one more, neighbours together; where there
// are fewer cores than ranks, CPUs in place of cores. Throws Failure, which names `flag`, where there are fewer CPUs
// than ranks.
std::vector<std::vector<int>> share_cpus(std::vector<Cpu> cpus, int ranks, const std::string& flag = "--bind-to core");

}  // namespace tandem::launch
