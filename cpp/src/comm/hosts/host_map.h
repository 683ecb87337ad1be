// Which ranks of a group are on which host.
#pragma once

#include <string>
#include <vector>

namespace tandem::hosts {

// Hosts are in order of their lowest ranks, and so are the ranks of each.
class HostMap {
 public:
  // `identities`: of each rank's host. `rank`: this one.
  HostMap(const std::vector<std::string>& identities, int rank);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(host_of_.size()); }
  int hosts() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks(int host) const { return ranks_[host]; }
  int host_of(int rank) const { return host_of_[rank]; }
  // A rank's place among those of its host.
  int index_of(int rank) const { return index_of_[rank]; }

  int host() const { return host_of_[rank_]; }
  int index() const { return index_of_[rank_]; }
  const std::vector<int>& local_ranks() const { return ranks_[host()]; }

  // How many ranks every host has at least. Rank `column` of each of them exchanges with that of the others.
  int columns() const { return columns_; }
  bool has_local_ranks() const { return size() > hosts(); }

  // Who of a host exchanges with `rank`, which is on another: work is spread over the host's ranks.
  int counterpart(int host, int rank) const {
    return ranks_[host][static_cast<std::size_t>(index_of_[rank]) % ranks_[host].size()];
  }

 private:
  const int rank_;
  std::vector<std::vector<int>> ranks_;
  std::vector<int> host_of_;
  std::vector<int> index_of_;
  int columns_ = 0;
};

}  // namespace tandem::hosts
