#include "rpc/devices.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/invalid.h"
#include "comm/bootstrap/pack.h"
#include "tandem/runtime.h"

namespace tandem::rpc {
namespace {

int number_of(const std::string& text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int gpu_count() {
  return has_cuda() ? c10::impl::VirtualGuardImpl(c10::kCUDA).deviceCount() : 0;
}

c10::Device gpu(int index) {
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

std::string pair_text(const std::string& worker, const c10::Device& from, const c10::Device& to) {
  return "Options::device_maps of worker '" + worker + "', " + from.str() + " to " + to.str() + ": ";
}

void own(DeviceMaps& maps, const c10::Device& device) {
  if (std::ranges::find(maps.own, device) == maps.own.end()) maps.own.push_back(device);
}

}  // namespace

// The number of its GPUs; then worker, from and to, again and again.
std::string describe_devices(const Options& options) {
  const int count = gpu_count();  // also where others alone have maps
  std::vector<std::string> parts{std::to_string(count)};
  for (const auto& [worker, map] : options.device_maps) {
    std::set<int> sources, targets;
    for (const auto& [from, to] : map) {
      const std::string pair = pair_text(worker, from, to);
      if (!from.is_cuda() || !to.is_cuda() || !from.has_index() || !to.has_index()) {
        invalid(pair + "both must be GPUs with a number, like cuda:0; tensors of the CPU need no map");
      }
      if (!has_cuda()) {
        throw Error(ErrorCode::kUnsupported, pair + "CUDA is not loaded in this process; call load_cuda() first, which says why it cannot");
      }
      if (from.index() >= count) invalid(pair + "this machine has " + std::to_string(count) + " GPUs");
      if (!sources.insert(from.index()).second) invalid(pair + from.str() + " is mapped twice");
      if (!targets.insert(to.index()).second) invalid(pair + to.str() + " is mapped to twice; results would not know where to go");
      parts.insert(parts.end(), {worker, std::to_string(from.index()), std::to_string(to.index())});
    }
  }
  return pack(parts);
}

DeviceMaps agree_on_devices(const std::vector<std::string>& all, const std::vector<Worker>& workers, int rank) {
  std::vector<std::vector<std::string>> said;
  for (const std::string& one : all) said.push_back(unpack(one));
  DeviceMaps maps;
  for (std::size_t of = 0; of < said.size() && of < workers.size(); ++of) {
    for (std::size_t i = 1; i + 2 < said[of].size(); i += 3) {
      const std::string& target = said[of][i];
      const c10::Device from = gpu(number_of(said[of][i + 1])), to = gpu(number_of(said[of][i + 2]));
      const auto found = std::ranges::find(workers, target, &Worker::name);
      if (found == workers.end()) {
        invalid(pair_text(target, from, to) + "no worker has that name (said by worker '" + workers[of].name + "')");
      }
      const int count = number_of(said[static_cast<std::size_t>(found->id)].at(0));
      if (to.index() < 0 || to.index() >= count) {
        invalid(pair_text(target, from, to) + "that worker has " + std::to_string(count) +
                " GPUs that it uses (said by worker '" + workers[of].name + "'); where it has more, it must load CUDA first");
      }
      if (static_cast<int>(of) == rank) {
        maps.there[target].emplace(from, to);
        own(maps, from);
      }
      if (found->id == rank) {
        maps.back[workers[of].name].emplace(to, from);
        own(maps, to);
      }
    }
  }
  return maps;
}

}  // namespace tandem::rpc
