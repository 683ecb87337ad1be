// The same row of every rank of several hosts, combined.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/hosts/host_map.h"
#include "comm/hosts/messages.h"
#include "comm/hosts/wire.h"
#include "comm/shm/exchange.h"
#include "comm/shm/kernels.h"
#include "comm/shm/pieces.h"
#include "comm/shm/shared_row.h"

namespace tandem::hosts {

// Memory for what comes from other hosts, kept from one collective to the next.
class Staging {
 public:
  // At least so many bytes, of which the place `key` is one's own; what it held is gone.
  std::byte* get(std::size_t key, std::size_t bytes);

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
  };
  std::vector<Block> blocks_;
};

// What the parts of a collective take for granted.
struct Setting {
  shm::Exchange& inside;
  Wire& wire;
  const HostMap& map;
  Staging& staging;
};

// When each part of a collective has to be done: later parts later, so that who waits for the rank that is missing says
// so before those who wait for him.
struct Deadlines {
  static constexpr std::chrono::milliseconds kStep{200};

  Wire::Clock::time_point inside;
  Wire::Clock::time_point between(int hops = 1) const { return inside + hops * kStep; }
  Wire::Clock::time_point after(int hops = 1) const { return inside + (hops + 1) * kStep; }
};

// The row is cut into segments, and each segment into a part for each column: rank `column` of each host. In turn, of
// each segment: the host's ranks combine what they have of it, each rank its part; each column's ranks exchange their
// parts, and combine them in order of host; the host's ranks gather the results. Three segments are under way at a
// time, so that the network carries one while the host works on others. A short part is combined by every host, a long
// one is cut once more, into a slice for each host to combine and pass on.
//
// A short row is one part, which every host combines. All get it in as many rounds as the number of hosts has binary
// digits, in each of which a host sends all it has so far to one other (Bruck et al., "Efficient algorithms for
// all-to-all communications in multiport message-passing systems", 1997): its messages are as few as a tree's, and
// nothing is rounded on the way.
class RowReduction {
 public:
  // `inside` combines a host's rows, `between` the hosts' results.
  RowReduction(const Setting& setting, const shm::Label& label, const Deadlines& deadlines, shm::Kernel inside,
               shm::Kernel between, const shm::Pieces& row);

  void run();

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };
  // A segment under way.
  struct Flight {
    Range part;  // this rank's
    std::byte* own = nullptr;
    std::vector<std::byte*> theirs;  // of each host
    bool is_sliced = false;
    Wire::Transfers transfers;
  };

  Flight& flight(std::size_t segment) { return flights_[segment % flights_.size()]; }
  Range part(std::size_t segment, int column) const;
  Range slice(const Flight& flight, int host) const;
  int peer(int host) const { return setting_.map.ranks(host)[setting_.map.index()]; }
  template <typename Visit>
  void for_each_other_host(Visit&& visit) const;

  void combine_inside(std::size_t segment);
  void check_calls();
  // In which hosts exchange a segment.
  int rounds() const;
  void gather_between(Flight& flight);
  void send_parts(Flight& flight);
  void combine_between(Flight& flight);
  void gather_inside(std::size_t segment);

  const Setting setting_;
  const shm::Label label_;
  const Deadlines deadlines_;
  const shm::Kernel inside_;
  const shm::Kernel between_;
  const shm::Pieces row_;
  const int columns_;
  const bool crosses_;   // this rank exchanges with other hosts
  const bool is_short_;
  std::size_t segments_ = 0;
  std::optional<shm::SharedRow> shared_;
  std::vector<double> weights_;  // of each host: its ranks
  std::array<Flight, 3> flights_;
};

}  // namespace tandem::hosts
