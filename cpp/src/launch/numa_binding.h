// Which CPUs each rank of this machine runs on, by where memory and GPUs are: torchrun's --numa-binding.
#pragma once

#include <string>
#include <vector>

#include "launch/core_binding.h"

namespace tandem::launch {

enum class NumaBinding {
  kNode,         // all CPUs of a NUMA node
  kSocket,       // all of a processor package
  kExclusive,    // cores of a node that no other rank has
  kCoreComplex,  // those that share a last-level cache
};

// "node", "socket", "exclusive" or "core-complex". Throws Failure for others.
NumaBinding numa_binding_of(const std::string& text);

// A CPU and what it is near to.
struct PlacedCpu {
  Cpu cpu;
  int node = 0;
  int cache = 0;  // the last-level one
};

// Those that this process may run on. `root`: under which /sys is, for tests.
std::vector<PlacedCpu> placed_cpus(const std::vector<Cpu>& cpus, const std::string& root = "");

// The NUMA node of each GPU that CUDA_VISIBLE_DEVICES leaves, in its order; of all that this process may open, in the
// order of their PCI addresses, where that is not set. Throws Failure for one that is named by neither a number nor a
// UUID that is known.
std::vector<int> nodes_of_gpus(const std::string& root = "");

// The CPUs of each rank. Rank r is near GPU r; without GPUs ranks are shared out over the nodes, neighbours together.
// Throws Failure where there are fewer GPUs, though some, than ranks, where none of the CPUs of a GPU's node is
// allowed, and for kExclusive where a node has fewer CPUs than ranks.
std::vector<std::vector<int>> bind_to_nodes(NumaBinding binding, const std::vector<PlacedCpu>& cpus,
                                            const std::vector<int>& gpus, int ranks);

}  // namespace tandem::launch
