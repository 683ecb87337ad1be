#include "comm/schedulers/kubernetes.h"

#include <charconv>
#include <limits>
#include <string>

#include "comm/environment_variable.h"

namespace tandem {
namespace {

constexpr int kMostPods = std::numeric_limits<int>::max();

// A pod with one process.
JobPlace place_of_pod(int rank, int world_size) {
  JobPlace place;
  place.launcher = "Kubernetes";
  place.rank = place.node_rank = rank;
  place.world_size = world_size;
  place.local_rank = 0;
  place.local_world_size = 1;
  place.job = "pods";
  return place;
}

// "4" and "4:4" are 4; anything else is for a launcher that takes any number of nodes.
std::optional<int> fixed_count(const std::string& text) {
  const auto colon = text.find(':');
  const std::string first = text.substr(0, colon);
  if (colon != std::string::npos && text.substr(colon + 1) != first) return std::nullopt;
  int count = 0;
  const auto [end, failure] = std::from_chars(first.data(), first.data() + first.size(), count);
  if (failure != std::errc() || end != first.data() + first.size() || count < 1) return std::nullopt;
  return count;
}

}  // namespace

std::optional<JobPlace> launcher_of_pods_place() {
  const auto nodes = environment_variable("PET_NNODES");
  if (!nodes || !environment_variable("PET_NODE_RANK")) return std::nullopt;
  const std::string processes = environment_variable("PET_NPROC_PER_NODE").value_or("1");
  const auto count = fixed_count(*nodes);
  if (!count || (processes != "1" && processes != "auto")) return std::nullopt;
  JobPlace place =
      place_of_pod(static_cast<int>(environment_number("PET_NODE_RANK", 0, *count - 1).value()), *count);
  place.address = environment_variable("PET_MASTER_ADDR").value_or("");
  place.port =
      static_cast<std::uint16_t>(environment_number("PET_MASTER_PORT", 1, 65535).value_or(kDefaultMasterPort));
  place.how_to_say = "set PET_MASTER_ADDR to the name of the first pod (docs/schedulers.md has manifests)";
  return place;
}

std::optional<JobPlace> indexed_job_place() {
  const auto index = environment_number("JOB_COMPLETION_INDEX", 0, kMostPods);
  const auto world_size = environment_number("WORLD_SIZE", 1, kMostPods);
  if (!index || !world_size) return std::nullopt;
  JobPlace place = place_of_pod(static_cast<int>(*index), static_cast<int>(*world_size));
  place.how_to_say =
      "set MASTER_ADDR to the name of the pod with index 0, job-0.service (docs/schedulers.md has a manifest)";
  return place;
}

}  // namespace tandem
