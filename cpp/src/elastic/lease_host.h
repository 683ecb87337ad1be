// Keeps the queue of leases of one generation, for all its ranks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "comm/requests/request_server.h"
#include "elastic/lease_messages.h"
#include "tandem/lease_queue.h"

namespace tandem::elastic {

// A server in the process of one rank, on a thread of its own: the queue is in its memory alone. A rank that waits for
// a part, or for a step to become whole, is woken once when that may have come, and asks again. Ranks are given up here
// as well: whose connections have closed at once, who gives no sign of life after `lost_after`.
class LeaseHost final : private requests::RequestServer::Handler {
 public:
  using Clock = std::chrono::steady_clock;

  // Listens at this address of the machine. `own_rank`: of its process, which lives as long as this does; -1: none.
  // Throws Error(kIo), and kInvalidArgument for a plan that cannot be.
  LeaseHost(const LeasePlan& plan, std::int64_t generation, std::int32_t own_rank,
            std::chrono::milliseconds lost_after, const std::string& address);

  const net::GuardedAddress& address() const { return server_.address(); }
  // Until then ranks that connect wait.
  void start() { server_.start(); }
  // Its process's rank has left: the thread ends by itself when the others have done so too, or after `lost_after`. Who
  // computed the last part of a step need not wait for those who still ask whether it is whole. True: they have left.
  bool leave();
  bool has_ended() const { return server_.has_ended(); }
  requests::RequestServer::Counts counts() const { return server_.counts(); }

 private:
  using Peer = requests::RequestServer::Peer;
  using Place = std::pair<std::int64_t, std::int64_t>;  // epoch, step
  struct Rank {
    int connections = 0;
    bool was_heard = false;     // since the last tick
    Clock::duration silent{};  // by ticks of this process
  };

  void on_request(Peer from, std::uint64_t number, std::string_view bytes) override;
  void on_closed(Peer peer) override;
  void on_tick() override;

  void begin(Peer from, const BeginRequest& request, LeaseReply* reply);
  LeaseReply answer(Peer from, std::int32_t rank, const LeaseMessage& message);
  void lose(std::int32_t rank);
  void end_if_left(Clock::time_point now);
  void wake(Place place);
  void wake_all();
  const CommittedStep& record_of(Place place);

  const std::int64_t generation_;
  const std::int32_t own_rank_;
  const std::chrono::milliseconds lost_after_;
  // The server's thread's, from here on.
  LeaseQueue queue_;
  std::int64_t newer_ = 0;  // generation, which has begun elsewhere; 0: none
  std::map<Peer, std::int32_t> rank_of_;
  std::map<std::int32_t, Rank> ranks_;  // that have come
  std::map<Place, std::set<Peer>> waiting_;
  std::optional<CommittedStep> record_;  // that was asked for last: all ranks ask for the same
  Clock::time_point ticked_ = Clock::now();
  std::optional<Clock::time_point> left_by_;

  std::mutex leaving_mutex_;  // of the next two
  bool is_leaving_ = false;
  std::optional<bool> is_alone_;  // as of the first tick after that
  std::condition_variable looked_;
  requests::RequestServer server_;  // last: its thread uses the rest
};

}  // namespace tandem::elastic
