#include "comm/clocks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <random>

#include "base/host.h"

namespace tandem {
namespace {

constexpr int kRounds = 32;

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string random_name() {
  std::random_device random;
  char text[24];
  std::snprintf(text, sizeof text, "%08x%08x", random(), random());
  return text;
}

// Where the group's tensors live.
at::Device device_of(ProcessGroup& group) {
  const auto kinds = group.native()->getDeviceTypes();
  const bool has_cpu = std::find(kinds.begin(), kinds.end(), at::Device(at::kCPU)) != kinds.end();
  // This thread's current GPU may be another one.
  return has_cpu ? at::Device(at::kCPU) : group.native()->getBoundDeviceId().value_or(at::Device(at::kCUDA));
}

struct Bounds {
  std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
};

// Of what is to be added to this rank's clock for rank 0's.
Bounds measure(ProcessGroup& group) {
  const at::Device device = device_of(group);
  Bounds bounds;
  std::int64_t came = 0, left = 0;  // of the round before
  at::NoGradGuard no_grad;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t comes = steady_ns();
    const at::Tensor mine = at::tensor({comes, left}, at::kLong).to(device);
    at::Tensor all = at::empty({group.size(), 2}, mine.options());
    group.all_gather_into_tensor(all, mine);
    const at::Tensor times = all.cpu();
    const std::int64_t leaves = steady_ns();
    const auto* root = times.const_data_ptr<std::int64_t>();
    bounds.low = std::max(bounds.low, root[0] - leaves);
    if (round > 0) bounds.high = std::min(bounds.high, root[1] - came);
    came = comes;
    left = leaves;
  }
  return bounds;
}

}  // namespace

TraceIdentity local_identity() {
  TraceIdentity identity;
  identity.run = random_name();
  identity.host = host_name();
  identity.epoch_ns = steady_ns();
  return identity;
}

TraceIdentity align_clocks(ProcessGroup& group) {
  TraceIdentity identity = local_identity();
  identity.rank = group.rank();
  identity.world_size = group.size();
  identity.backend = group.backend();
  const Bounds bounds = measure(group);
  const std::string mine = boot_id() + "\n" + identity.run + "\n" + std::to_string(steady_ns());
  const std::string root = group.broadcast_bytes(mine, 0);
  const std::size_t first = root.find('\n'), second = root.find('\n', first + 1);
  identity.run = root.substr(first + 1, second - first - 1);
  identity.epoch_ns = std::stoll(root.substr(second + 1));
  const std::string boot = root.substr(0, first);
  const bool is_one_clock = !boot.empty() && boot == boot_id() && bounds.low <= 0 && bounds.high >= 0;
  if (identity.rank == 0 || is_one_clock) return identity;
  identity.offset_ns = bounds.low + (bounds.high - bounds.low) / 2;
  identity.error_ns = std::abs(bounds.high - bounds.low) / 2 + 1;
  return identity;
}

}  // namespace tandem
