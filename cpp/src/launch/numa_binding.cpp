#include "launch/numa_binding.h"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/descriptor.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

int number_in(const std::string& path, int unknown) {
  std::ifstream file(path);
  int number = 0;
  return file >> number ? number : unknown;
}

// "0-3,8,10-11"
std::set<int> numbers_of(const std::string& path) {
  std::ifstream file(path);
  std::set<int> numbers;
  for (std::string range; std::getline(file, range, ',');) {
    if (range.empty() || !std::isdigit(static_cast<unsigned char>(range[0]))) continue;  // memory without CPUs has none
    const std::size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(range.c_str() + dash + 1);
    for (int number = first; number <= last && number < CPU_SETSIZE; ++number) numbers.insert(number);
  }
  return numbers;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// Of the outermost cache: two caches of one level have other CPUs.
int cache_of(int cpu, const std::string& root) {
  const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
  int level = -1, first = cpu;
  for (const std::string& name : names_in(folder)) {
    const int here = number_in(folder + "/" + name + "/level", -1);
    const std::set<int> shared = numbers_of(folder + "/" + name + "/shared_cpu_list");
    if (here <= level || shared.empty()) continue;
    level = here;
    first = *shared.begin();
  }
  return first;
}

std::vector<Cpu> cpus_where(const std::vector<PlacedCpu>& cpus, const auto& is_wanted) {
  std::vector<Cpu> wanted;
  for (const PlacedCpu& one : cpus) {
    if (is_wanted(one)) wanted.push_back(one.cpu);
  }
  return wanted;
}

std::vector<int> numbers(std::vector<Cpu> cpus) {
  std::vector<int> all;
  for (const Cpu& cpu : cpus) all.push_back(cpu.number);
  std::ranges::sort(all);
  return all;
}

struct Gpu {
  int node = 0;
  std::string uuid;
};

// Those that this process may open, in the order of their PCI addresses.
std::vector<Gpu> gpus_of(const std::string& root) {
  std::vector<Gpu> gpus;
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  for (std::string address : names_in(folder)) {
    Gpu gpu;
    int minor = -1;
    std::ifstream file(folder + "/" + address + "/information");
    for (std::string line; std::getline(file, line);) {
      const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
      if (value == std::string::npos) continue;
      if (line.starts_with("Device Minor")) minor = std::atoi(line.c_str() + value);
      if (line.starts_with("GPU UUID")) gpu.uuid = line.substr(value);
    }
    if (minor >= 0 && !open_file((root + "/dev/nvidia" + std::to_string(minor)).c_str(), O_RDWR).valid()) continue;
    std::ranges::transform(address, address.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // A machine with one node alone says -1.
    gpu.node = std::max(number_in(root + "/sys/bus/pci/devices/" + address + "/numa_node", 0), 0);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

// Where each rank is to be.
std::vector<int> nodes_of_ranks(const std::vector<PlacedCpu>& cpus, const std::vector<int>& gpus, int ranks) {
  std::vector<int> nodes;
  for (const PlacedCpu& cpu : cpus) {
    if (std::ranges::find(nodes, cpu.node) == nodes.end()) nodes.push_back(cpu.node);
  }
  if (nodes.empty()) throw Failure("--numa-binding: which CPUs this process may use is not known");
  std::ranges::sort(nodes);
  std::vector<int> wanted;
  for (int rank = 0; rank < ranks; ++rank) {
    if (gpus.empty()) {
      wanted.push_back(nodes[nodes.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks)]);
      continue;
    }
    if (static_cast<std::size_t>(rank) >= gpus.size()) {
      throw Failure("--numa-binding: rank " + std::to_string(rank) + " has no GPU to be near to, for there are " +
                    std::to_string(gpus.size()) +
                    "; start as many ranks, or set CUDA_VISIBLE_DEVICES= for ranks without GPUs");
    }
    wanted.push_back(gpus[static_cast<std::size_t>(rank)]);
    if (std::ranges::find(nodes, wanted.back()) == nodes.end()) {
      throw Failure("--numa-binding: GPU " + std::to_string(rank) + " is near NUMA node " +
                    std::to_string(wanted.back()) + ", none of whose CPUs this process may use");
    }
  }
  return wanted;
}

}  // namespace

NumaBinding numa_binding_of(const std::string& text) {
  if (text == "node") return NumaBinding::kNode;
  if (text == "socket") return NumaBinding::kSocket;
  if (text == "exclusive") return NumaBinding::kExclusive;
  if (text == "core-complex") return NumaBinding::kCoreComplex;
  throw Failure("--numa-binding is " + text + ", but has to be node, socket, exclusive or core-complex");
}

std::vector<PlacedCpu> placed_cpus(const std::vector<Cpu>& cpus, const std::string& root) {
  std::map<int, int> node_of;
  const std::string folder = root + "/sys/devices/system/node";
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("node") || name.size() == 4 || !std::isdigit(static_cast<unsigned char>(name[4]))) continue;
    for (const int cpu : numbers_of(folder + "/" + name + "/cpulist")) node_of[cpu] = std::atoi(name.c_str() + 4);
  }
  std::vector<PlacedCpu> placed;
  for (const Cpu& cpu : cpus) {
    const auto node = node_of.find(cpu.number);
    placed.push_back({cpu, node == node_of.end() ? 0 : node->second, cache_of(cpu.number, root)});
  }
  return placed;
}

std::vector<int> nodes_of_gpus(const std::string& root) {
  const std::vector<Gpu> all = gpus_of(root);
  std::vector<int> nodes;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) {
    for (const Gpu& gpu : all) nodes.push_back(gpu.node);
    return nodes;
  }
  std::istringstream rest(visible);
  for (std::string one; std::getline(rest, one, ',');) {
    char* end = nullptr;
    const long number = std::strtol(one.c_str(), &end, 10);
    if (end != one.c_str() && !*end) {
      if (number < 0 || static_cast<std::size_t>(number) >= all.size()) break;  // as CUDA does
      nodes.push_back(all[static_cast<std::size_t>(number)].node);
      continue;
    }
    const auto named =
        std::ranges::find_if(all, [&](const Gpu& gpu) { return !one.empty() && gpu.uuid.starts_with(one); });
    if (named == all.end()) {
      throw Failure("--numa-binding: CUDA_VISIBLE_DEVICES has '" + one +
                    "', and which GPU that is cannot be told here; name GPUs by numbers");
    }
    nodes.push_back(named->node);
  }
  return nodes;
}

std::vector<std::vector<int>> bind_to_nodes(NumaBinding binding, const std::vector<PlacedCpu>& cpus,
                                            const std::vector<int>& gpus, int ranks) {
  const std::vector<int> nodes = nodes_of_ranks(cpus, gpus, ranks);
  std::vector<std::vector<int>> bound;
  std::map<int, int> before;  // ranks of each node
  for (const int node : nodes) {
    const int turn = before[node]++;
    const auto of_node = [node](const PlacedCpu& one) { return one.node == node; };
    switch (binding) {
      case NumaBinding::kNode:
        bound.push_back(numbers(cpus_where(cpus, of_node)));
        break;
      case NumaBinding::kSocket: {
        std::set<int> packages;
        for (const Cpu& cpu : cpus_where(cpus, of_node)) packages.insert(cpu.package);
        bound.push_back(
            numbers(cpus_where(cpus, [&](const PlacedCpu& one) { return packages.contains(one.cpu.package); })));
        break;
      }
      case NumaBinding::kExclusive: {
        const auto count = static_cast<int>(std::ranges::count(nodes, node));
        bound.push_back(
            share_cpus(cpus_where(cpus, of_node), count, "--numa-binding exclusive")[static_cast<std::size_t>(turn)]);
        std::ranges::sort(bound.back());
        break;
      }
      case NumaBinding::kCoreComplex: {
        std::map<int, std::vector<Cpu>> complexes;
        for (const PlacedCpu& one : cpus) {
          if (of_node(one)) complexes[one.cache].push_back(one.cpu);
        }
        bound.push_back(numbers(std::next(complexes.begin(), turn % static_cast<int>(complexes.size()))->second));
        break;
      }
    }
  }
  return bound;
}

}  // namespace tandem::launch
