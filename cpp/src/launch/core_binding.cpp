#include "launch/core_binding.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "launch/failure.h"

namespace tandem::launch {
namespace {

int topology(int cpu, const char* name, int unknown) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + name);
  int number = 0;
  return file >> number ? number : unknown;
}

// The CPUs' time that the control group (version 2, as containers have it) may use at once; 0: no limit.
int cores_of_control_group() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::max(static_cast<int>(std::atof(quota.c_str()) / period), 1);
}

}  // namespace

int usable_cores() {
  std::set<std::pair<int, int>> cores;
  for (const Cpu& cpu : allowed_cpus()) cores.emplace(cpu.package, cpu.core);
  const int own = std::max(static_cast<int>(cores.size()), 1), limit = cores_of_control_group();
  return limit == 0 ? own : std::min(own, limit);
}

std::vector<Cpu> allowed_cpus() {
  std::vector<Cpu> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    // Where the system does not say, each is a core.
    cpus.push_back({cpu, topology(cpu, "physical_package_id", 0), topology(cpu, "core_id", cpu)});
  }
  return cpus;
}

std::vector<std::vector<int>> share_cpus(std::vector<Cpu> cpus, int ranks, const std::string& flag) {
  if (static_cast<int>(cpus.size()) < ranks) {
    throw Failure(flag + ": there are " + std::to_string(ranks) + " ranks for " + std::to_string(cpus.size()) +
                  " CPUs that this process may use; start fewer ranks, or leave " + flag + " out");
  }
  std::ranges::sort(cpus, {}, [](const Cpu& cpu) { return std::tuple(cpu.package, cpu.core, cpu.number); });
  const auto begins_core = [&](std::size_t i) {
    return i == 0 || cpus[i].package != cpus[i - 1].package || cpus[i].core != cpus[i - 1].core;
  };
  std::vector<std::size_t> units;  // where in `cpus` what is shared out begins
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (begins_core(i)) units.push_back(i);
  }
  if (units.size() < static_cast<std::size_t>(ranks)) {
    units.clear();
    for (std::size_t i = 0; i < cpus.size(); ++i) units.push_back(i);
  }
  const auto begin_of = [&](int rank) {
    const std::size_t unit = units.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
    return unit < units.size() ? units[unit] : cpus.size();
  };
  std::vector<std::vector<int>> shares(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = begin_of(rank); i < begin_of(rank + 1); ++i) {
      shares[static_cast<std::size_t>(rank)].push_back(cpus[i].number);
    }
  }
  return shares;
}

}  // namespace tandem::launch
