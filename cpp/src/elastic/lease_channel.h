// What a rank asks the one that keeps the queue of leases.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "comm/requests/request_client.h"
#include "elastic/lease_messages.h"

namespace tandem::elastic {

// Which rank of which generation this is.
struct LeaseRank {
  std::int64_t generation = 1;
  std::int32_t rank = 0;
  std::int32_t world_size = 1;
};

// Thread-safe. Its calls throw Error(kAborted) once this rank does not count any more, what LeaseQueue throws, and the
// errors of RequestClient once who keeps the queue is lost.
class LeaseChannel {
 public:
  using Answer = LeaseQueue::Answer;

  // `keeper`: who keeps the queue, for errors. `connection` is one to it.
  LeaseChannel(const LeaseRank& self, const std::string& keeper, Descriptor connection,
               std::chrono::milliseconds lost_after, std::chrono::milliseconds timeout);

  // Begins the generation, or joins it; before all else.
  void begin(const LeasePlan& plan, std::int64_t epoch, std::int64_t position,
             const std::vector<Quarantined>& quarantine);
  Answer lease(std::int64_t epoch, std::int64_t step, Lease* out);
  void complete(const Lease& part, std::int64_t samples, const std::vector<CommittedStep::Skipped>& skipped);
  void fail(const Lease& part, std::int64_t sample, const std::string& reason);
  CommittedStep record(std::int64_t epoch, std::int64_t step);
  void commit(std::int64_t epoch, std::int64_t step);
  std::map<std::int32_t, int> holders(std::int64_t epoch, std::int64_t step);

  // As of the last answer.
  std::vector<Quarantined> quarantine() const;
  // As RequestClient has them.
  void on_wake(std::function<void()> woken) { client_.on_wake(std::move(woken)); }
  void interrupt() { client_.interrupt(); }

 private:
  LeaseReply call(decltype(LeaseMessage::request) request);

  const LeaseRank self_;
  mutable std::mutex mutex_;
  std::vector<Quarantined> quarantine_;
  requests::RequestClient client_;
};

// How long who keeps the queue may be silent: a machine may be busy, whatever the options say.
std::chrono::milliseconds most_silence(std::chrono::milliseconds lost_after, std::chrono::milliseconds timeout);

// What to do once this generation is over, for errors.
constexpr char kAdvice[] =
    "form a new group, take the model, state and quarantine of a rank in it, and make a new loader";

// That a rank does not count any more: where `generation` is its own, for the others gave it up.
[[noreturn]] void throw_given_up(const LeaseRank& self, std::int64_t generation);

}  // namespace tandem::elastic
