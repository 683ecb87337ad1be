// The root's row on the ranks of all hosts.
#pragma once

#include <vector>

#include "comm/hosts/row_reduction.h"

namespace tandem::hosts {

// From host to host along a binomial tree, whose top is the root's. One rank of each host receives and passes on, in
// segments, each of which the host's other ranks get at once.
class Broadcast {
 public:
  Broadcast(const Setting& setting, const shm::Label& label, const Deadlines& deadlines, const shm::Pieces& row);

  void run();

 private:
  // Of a host: who receives and sends there.
  int leader(int host) const;
  int host_at(int place) const { return (place + setting_.map.host_of(label_.root)) % setting_.map.hosts(); }

  Messages messages() const { return Messages(setting_.wire, label_, setting_.inside.whereabouts()); }
  void broadcast_inside(const shm::Pieces& part);

  const Setting setting_;
  const shm::Label label_;
  const Deadlines deadlines_;
  const shm::Pieces row_;
  const bool is_leader_;
  const bool is_short_;  // the row goes with the headers
  int hops_ = 0;         // from the root's host
  int above_ = -1;
  std::vector<int> below_;
};

}  // namespace tandem::hosts
