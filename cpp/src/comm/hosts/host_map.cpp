#include "comm/hosts/host_map.h"

#include <algorithm>

namespace tandem::hosts {

HostMap::HostMap(const std::vector<std::string>& identities, int rank) : rank_(rank) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    const auto found = std::find(known.begin(), known.end(), identities[i]);
    const auto host = static_cast<std::size_t>(found - known.begin());
    if (found == known.end()) {
      known.push_back(identities[i]);
      ranks_.emplace_back();
    }
    host_of_.push_back(static_cast<int>(host));
    index_of_.push_back(static_cast<int>(ranks_[host].size()));
    ranks_[host].push_back(static_cast<int>(i));
  }
  columns_ = size();
  for (const auto& ranks : ranks_) columns_ = std::min(columns_, static_cast<int>(ranks.size()));
}

}  // namespace tandem::hosts
