// How the ranks of one group come together: each says who it is, rank 0 checks that they fit.
#pragma once

#include <string>
#include <vector>

#include "comm/bootstrap/bootstrap.h"
#include "comm/bootstrap/rendezvous.h"
#include "comm/sockets.h"
#include "tandem/process_group.h"

namespace tandem {

// What a rank tells the others before they connect.
struct RankInfo {
  int world_size = 0;
  std::string host_name;
  std::string host_identity;
  long process = 0;
  std::string backend;
  int cores = 0;                         // that it has in a group of one host, see cores_per_rank()
  std::string local_listener;            // the name of its shm::LocalListener; "" when the backend has none
  std::vector<net::Endpoint> listeners;  // Gloo's

  std::string encode() const;
  static RankInfo decode(const std::string& bytes);
};

bool is_one_host(const std::vector<RankInfo>& ranks);

// From the moment that this rank joins a group until it is connected to the others. Ranks may make groups under a name
// again and again. One thread.
class GroupBootstrap {
 public:
  // Joins. Errors: kInvalidArgument when another process has joined as this rank; kAborted.
  GroupBootstrap(const ProcessGroupOptions& options, const Rendezvous& rendezvous);

  int rank() const { return rendezvous_.rank; }
  int size() const { return rendezvous_.world_size; }
  const ProcessGroupOptions& options() const { return options_; }
  const Rendezvous& rendezvous() const { return rendezvous_; }
  // Keys of this group alone, for what follows.
  const WaitableStore& store() const { return store_; }

  // What this rank says of itself, but for how to connect to it.
  RankInfo self() const;
  // That of all ranks. Errors: kTimeout naming the ranks that are missing; kInvalidArgument for world sizes or backends
  // that differ; kAborted; all but that on every rank alike.
  std::vector<RankInfo> exchange(const RankInfo& self);
  // Of any bytes, likewise.
  std::vector<std::string> all_gather(const std::string& bytes) { return gather(bytes, nullptr); }

  // Throws Error (kIo) when this process cannot have `needed` more descriptors.
  void require_descriptors(std::size_t needed) const;

  // This rank cannot go on: the others get `reason` instead of what they wait for. Throws nothing.
  void refuse(const Error& reason) noexcept;
  // All is exchanged. Throws nothing.
  void finish() noexcept;

 private:
  std::vector<std::string> gather(const std::string& bytes, std::function<void(int, const std::string&)> check);
  void check(int rank, const RankInfo& info) const;
  void mark_ended();
  std::string size_message(int rank, int theirs, int leaders) const;

  const ProcessGroupOptions& options_;
  const Rendezvous& rendezvous_;
  WaitableStore store_;
  Bootstrap bootstrap_;
  bool ended_ = false;
  bool is_member_ = true;  // rank 0 counts this rank
};

}  // namespace tandem
