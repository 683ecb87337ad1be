// What a process group, its backend and its collectives in flight share: names for errors, whether the group still
// works, and how to wake everyone who waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/collective.h"
#include "comm/failure_latch.h"
#include "comm/guarded_work.h"
#include "comm/sockets.h"
#include "comm/store/store_limit.h"
#include "tandem/error.h"

namespace tandem {

// Thread-safe.
class GroupState : public std::enable_shared_from_this<GroupState> {
 public:
  // `latch` is that of the whole group, which may have a state for each of its backends.
  static std::shared_ptr<GroupState> make(std::string name, int rank, int size, std::chrono::milliseconds timeout,
                                          std::shared_ptr<FailureLatch> latch = std::make_shared<FailureLatch>());

  const std::string& name() const { return name_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  // Of each collective.
  std::chrono::milliseconds timeout() const { return timeout_; }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  // Whether it has connections of Gloo's.
  bool has_connections() const { return !listeners_.empty(); }
  // On which endpoints each rank listens. Set once, before the first collective.
  void set_listeners(std::vector<std::vector<net::Endpoint>> listeners) { listeners_ = std::move(listeners); }

  // Whether every rank is known to have made the group.
  bool is_complete() const { return is_complete_; }
  void set_complete() { is_complete_ = true; }

  // Asks whether one of the others takes part in nothing more: why not (kPeerLost). Set before the first collective,
  // where the backend knows.
  void set_lost_peer(std::function<std::optional<Error>()> ask) { lost_peer_ = std::move(ask); }
  // Sends the others, over connections that are about to be closed, that this rank closes the group.
  void set_send_closed(std::function<void()> send) { send_closed_ = std::move(send); }

  // Whether the group can still be used, and why not.
  FailureLatch& latch() const { return *latch_; }
  const std::shared_ptr<FailureLatch>& shared_latch() const { return latch_; }

  // Throws when the group can no longer be used: "collective" is refused.
  void check_usable(const char* collective) const;

  // For calling again and again while something waits for all ranks at the store: throws what check_usable() does, and
  // Error (kPeerLost) when a rank is gone. What that one left at the store before still counts, so it throws only when
  // it knew that the last time.
  std::function<void()> watch_peers(const char* collective);

  // Numbers and records a collective. Throws when the group was aborted or has failed.
  Collective begin(const char* name, std::vector<at::Tensor> tensors, int peer = -1, bool point_to_point = false);
  // Inside a catch block, for one that was begun and did not get as far as a work, or had none: throws the exception in
  // flight as an Error that names things.
  [[noreturn]] void rethrow_failure(const Collective& collective);

  // Around a collective that its caller's thread runs to its end. It is the backend that ends it early.
  class Running {
   public:
    explicit Running(GroupState& state) : state_(state) { ++state_.running_; }
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    GroupState& state_;
  };

  // How many collectives were begun.
  std::uint64_t collectives() const { return collectives_; }

  // In the flight recorder and the process's trace. `failure`: "" after success.
  void record_end(const Collective& collective, const std::string& failure) const;
  // A collective of this type has got through: of some a rank is done only once every other has begun.
  void note_success(c10d::OpType type);

  // "group 'default' (rank 0 of 2)".
  std::string whereabouts() const;
  // "all_reduce #3 of float[4] on group 'default' (rank 0 of 2), begun 1.5 s ago".
  std::string describe(const Collective& collective) const;

  // The group has failed of what is no collective's failure: another rank's news, a lost connection. Ends its
  // connections, so that every peer learns of it, and what Gloo would not tell of that.
  void fail(const Error& failure);
  // A rank is lost, and who could be told has been: ends collectives in flight that the backend would have wait for
  // their timeout.
  void end_untold(const Error& lost);
  // Completes every collective in flight with Error (kAborted) and ends the group's connections.
  void abort(const std::string& reason) { latch_->abort(reason); }
  // The program is done with the group. Messages that have got through, and were never waited for, come to their end;
  // where other things are in flight this is abort(). Whether nothing was, the group has not failed, and nobody has
  // closed it before: then the backend tells the peers that this rank takes part in nothing more, before
  // close_connections().
  bool close(const std::string& reason);
  // Once the group has failed or was aborted, and the backend has told the peers why: they see the end of connections.
  void end_connections();
  // Of a group that was closed with nothing in flight: peers still get what was sent, and then learn of the end,
  // whoever still holds the backend.
  void close_connections();
  // The rank whose address is in a text of Gloo's, or -1.
  int rank_in(const std::string& text) const;
  // Ends what the group calls on its store: when it fails or is aborted, and when its owner says so.
  const std::shared_ptr<StoreInterrupt>& store_calls() const { return store_calls_; }
  // Waits until the backend's threads have released every collective. False at the deadline.
  bool wait_until_idle(std::chrono::milliseconds timeout);
  // Whether anything is in flight now.
  bool is_busy() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !nothing_in_flight();
  }

 private:
  friend class GuardedWork;
  GroupState(std::string name, int rank, int size, std::chrono::milliseconds timeout,
             std::shared_ptr<FailureLatch> latch)
      : name_(std::move(name)), rank_(rank), size_(size), timeout_(timeout), latch_(std::move(latch)) {}

  void add(GuardedWork& work);
  // The backend is done with `work`. Before anyone is told: who closes the group right after its last collective must
  // not find that one in flight and cut off ranks that still read.
  void settle(GuardedWork& work);
  // All are told; the backend's thread leaves.
  void release();
  // A backend's failure as an Error that names things. The first one ends the group. `is_late`: it came when the time
  // for the collective was over.
  std::exception_ptr explain(std::exception_ptr failure, const Collective& collective, bool is_late);
  std::string name_peer(const std::string& message, const Collective& collective) const;
  // What ends a collective in flight once the group has failed or was aborted.
  Error ended_by(const Error& reason, const Collective& collective) const;
  // The group has failed or was aborted.
  void interrupt_all(const Error& reason);
  void drain();
  bool nothing_in_flight() const { return in_flight_.empty() && running_ == 0; }
  std::vector<net::Endpoint> peers() const;

  const std::string name_;
  const int rank_;
  const int size_;
  std::atomic<std::chrono::milliseconds> timeout_;
  const std::shared_ptr<FailureLatch> latch_;
  std::vector<std::vector<net::Endpoint>> listeners_;
  std::atomic<bool> is_complete_{false};
  std::atomic<bool> was_closed_{false};
  std::function<std::optional<Error>()> lost_peer_;
  std::function<void()> send_closed_;
  const std::shared_ptr<StoreInterrupt> store_calls_ = std::make_shared<StoreInterrupt>();

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<GuardedWork*, c10::intrusive_ptr<c10d::Work>> in_flight_;
  std::atomic<int> running_{0};  // collectives that their callers run
  int being_told_ = 0;           // collectives that are done, whose waiters are being told
  std::atomic<std::uint64_t> collectives_{0};
  std::atomic<std::uint64_t> messages_{0};  // sends and receives
};

}  // namespace tandem
