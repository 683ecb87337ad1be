#include <map>
#include <mutex>
#include <optional>

#include "elastic/part_source.h"
#include "elastic/rank_watch.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

class SharedParts : public PartSource {
 public:
  SharedParts(const LeasePlan& plan, const LeaseMembership& membership, std::chrono::milliseconds lost_after,
              std::chrono::milliseconds timeout, const RunStart& start)
      : channel_(plan, membership, timeout) {
    call([&](LeaseQueue& queue) {
      return queue.begin(generation(), channel_.world_size(), start.epoch, start.position, start.quarantine);
    });
    watch_.emplace(channel_, lost_after);
  }
  ~SharedParts() override { channel_.interrupt(); }  // the watch is not to wait for a store that does not answer

  Answer lease(std::int64_t epoch, std::int64_t step, Lease* out) override {
    return call([&](LeaseQueue& queue) { return queue.lease(generation(), rank(), epoch, step, out); });
  }
  void complete(const Lease& part, std::int64_t samples, const std::vector<CommittedStep::Skipped>& skipped) override {
    call([&](LeaseQueue& queue) { return queue.complete(generation(), rank(), part, samples, skipped); });
  }
  void fail(const Lease& part, std::int64_t sample, const std::string& reason) override {
    call([&](LeaseQueue& queue) { return queue.fail(generation(), rank(), part, sample, reason); });
  }
  CommittedStep record(std::int64_t epoch, std::int64_t step) override {
    const LeaseQueue queue = channel_.read();
    require_counting(queue);
    return queue.record(epoch, step);
  }
  void commit(std::int64_t epoch, std::int64_t step) override {
    CommittedStep done;
    call([&](LeaseQueue& queue) { return queue.commit(generation(), rank(), epoch, step, &done); });
  }
  void interrupt() override { channel_.interrupt(); }
  std::string missing(std::int64_t epoch, std::int64_t step) override {
    std::map<std::int32_t, int> holders;
    try {
      holders = channel_.read_for_message().holders(epoch, step);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTimeout) throw;
      return error.what();
    }
    std::string text;
    for (const auto& [holder, parts] : holders) {
      if (!text.empty()) text += ", ";
      text += (holder == rank() ? "this rank, " : "rank ") + std::to_string(holder);
      text += " holds " + std::to_string(parts) + (parts == 1 ? " part of it" : " parts of it");
    }
    return text.empty() ? "no rank holds a part of it" : text;
  }
  std::vector<Quarantined> quarantine() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return quarantine_;
  }

 private:
  template <typename Change>
  Answer call(Change&& change) {
    Answer answer = Answer::kStale;
    const LeaseQueue queue = channel_.update([&](LeaseQueue& queue) { answer = change(queue); });
    if (answer == Answer::kStale) given_up(queue);
    const std::lock_guard<std::mutex> lock(mutex_);
    // Another thread may have seen a later queue, in which there are more.
    if (queue.quarantine().size() > quarantine_.size()) quarantine_ = queue.quarantine();
    return answer;
  }

  void require_counting(const LeaseQueue& queue) const {
    if (queue.generation() != generation() || queue.is_lost(rank())) given_up(queue);
  }

  [[noreturn]] void given_up(const LeaseQueue& queue) const {
    throw Error(ErrorCode::kAborted,
                "rank " + std::to_string(rank()) + " of generation " + std::to_string(generation()) +
                    (queue.generation() == generation()
                         ? " was given up by the others, for it gave no sign of life"
                         : " is out of date: generation " + std::to_string(queue.generation()) + " has begun") +
                    "; form a new group, take the model, state and quarantine of a rank in it, and make a new loader");
  }

  std::int64_t generation() const { return channel_.generation(); }
  std::int32_t rank() const { return channel_.rank(); }

  LeaseChannel channel_;
  mutable std::mutex mutex_;
  std::vector<Quarantined> quarantine_;
  std::optional<RankWatch> watch_;  // last: it uses the channel
};

}  // namespace

std::unique_ptr<PartSource> shared_parts(const LeasePlan& plan, const LeaseMembership& membership,
                                         std::chrono::milliseconds lost_after, std::chrono::milliseconds timeout,
                                         const RunStart& start) {
  return std::make_unique<SharedParts>(plan, membership, lost_after, timeout, start);
}

}  // namespace tandem::elastic
