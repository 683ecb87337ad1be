// What a process group, its backend and its collectives in flight share: names for errors, whether the group still
// works, and how to wake everyone who waits.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem {

class GuardedWork;

// Thread-safe.
class GroupState : public std::enable_shared_from_this<GroupState> {
 public:
  GroupState(std::string name, int rank, int size) : name_(std::move(name)), rank_(rank), size_(size) {}

  const std::string& name() const { return name_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  // On which endpoints each rank listens. Set once, before the first collective.
  void set_listeners(std::vector<std::vector<net::Endpoint>> listeners) { listeners_ = std::move(listeners); }

  // Throws when the group was aborted or has failed: "collective" is refused.
  void check_usable(const std::string& collective);

  // Stands between a backend's work and those who wait for it: its errors are Errors that name collective, group and
  // peer; abort() completes it at once; the first failure ends the group's connections, so that every peer learns of
  // it. `finish` runs on the backend's thread after success, before anyone is told.
  c10::intrusive_ptr<c10d::Work> guard(c10::intrusive_ptr<c10d::Work> work, std::string collective,
                                       std::function<void()> finish = nullptr);

  // Completes every collective in flight with Error (kAborted) and ends the group's connections. `quietly`: leaves the
  // connections to their owner when nothing is in flight.
  void abort(const std::string& reason, bool quietly = false);
  // Waits until the backend's threads have let go of every collective. False at the deadline.
  bool wait_until_idle(std::chrono::milliseconds timeout);

 private:
  friend class GuardedWork;
  // The backend is done with `work`. Before anyone is told: who closes the group right after its last collective must
  // not find that one in flight and cut off ranks that still read.
  void settle(GuardedWork& work);
  // All are told; the backend's thread leaves.
  void let_go();
  std::exception_ptr describe(std::exception_ptr failure, const std::string& collective);
  std::string name_peer(const std::string& message) const;
  void end_connections();

  const std::string name_;
  const int rank_;
  const int size_;
  std::vector<std::vector<net::Endpoint>> listeners_;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<GuardedWork*, c10::intrusive_ptr<c10d::Work>> in_flight_;
  int being_told_ = 0;  // collectives that are done, whose waiters are being told
  std::optional<Error> broken_;  // why the group can no longer be used
};

}  // namespace tandem
