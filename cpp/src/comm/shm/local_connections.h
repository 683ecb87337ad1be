// Connections between the ranks of one host: they carry the shared memory's descriptors, and tell when a rank is gone.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "comm/shm/segment.h"

namespace tandem::shm {

// Where a rank can be connected to: an abstract socket, which is in no file system and goes with its process. Its name
// is random; who connects is checked by the system's word on its user.
class LocalListener {
 public:
  // Listens, for up to `size` connections that are not yet accepted. Throws Error (kIo).
  explicit LocalListener(int size);
  const std::string& name() const { return name_; }
  int descriptor() const { return socket_.get(); }

 private:
  std::string name_;
  Descriptor socket_;
};

// Ranks that share memory, which may be some of a group's: the others are then on other hosts. Elsewhere ranks are
// counted among these; errors say what they are in the group.
struct LocalRanks {
  std::string group;
  int group_size = 0;
  std::vector<int> numbers;  // of each in the group
  int self = -1;             // which of them this rank is
  bool lacks_cores = false;  // one of them has no core beside the one that it computes on

  int size() const { return static_cast<int>(numbers.size()); }
  // "group 'default' (rank 0 of 2)".
  std::string whereabouts() const;
};

// What this rank has of all others. At its own place: its own segment and no socket.
struct LocalConnections {
  LocalRanks ranks;
  std::vector<std::shared_ptr<Segment>> segments;
  std::vector<Descriptor> sockets;

  // Whether that rank's process has ended or left the group.
  bool is_gone(int rank) const;
};

// Connects this rank to all neighbours, whose listeners have the given names, and exchanges segments, which all have
// the same size. Errors: kTimeout and kPeerLost name the ranks; kAborted soon after `cancelled` becomes true.
LocalConnections connect_local(const LocalRanks& ranks, const std::vector<std::string>& names,
                               const LocalListener& listener, const std::shared_ptr<Segment>& own,
                               std::chrono::steady_clock::time_point deadline, const std::atomic<bool>& cancelled);

}  // namespace tandem::shm
