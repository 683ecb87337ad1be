#include <map>
#include <utility>

#include "elastic/part_source.h"
#include "elastic/queue_meeting.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

class SharedParts : public PartSource {
 public:
  SharedParts(const LeasePlan& plan, const LeaseMembership& membership, std::chrono::milliseconds lost_after,
              std::chrono::milliseconds timeout, const RunStart& start)
      : rank_(membership.rank), met_(meet_at_queue(plan, membership, lost_after, timeout)) {
    channel().begin(plan, start.epoch, start.position, start.quarantine);
  }

  Answer lease(std::int64_t epoch, std::int64_t step, Lease* out) override {
    return channel().lease(epoch, step, out);
  }
  void complete(const Lease& part, std::int64_t samples, const std::vector<CommittedStep::Skipped>& skipped) override {
    channel().complete(part, samples, skipped);
  }
  void fail(const Lease& part, std::int64_t sample, const std::string& reason) override {
    channel().fail(part, sample, reason);
  }
  CommittedStep record(std::int64_t epoch, std::int64_t step) override { return channel().record(epoch, step); }
  void commit(std::int64_t epoch, std::int64_t step) override { channel().commit(epoch, step); }
  void on_change(std::function<void()> changed) override { channel().on_wake(std::move(changed)); }
  void interrupt() override { channel().interrupt(); }
  std::string missing(std::int64_t epoch, std::int64_t step) override {
    std::map<std::int32_t, int> holders;
    try {
      holders = channel().holders(epoch, step);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTimeout && error.code() != ErrorCode::kPeerLost) throw;
      return error.what();
    }
    std::string text;
    for (const auto& [holder, parts] : holders) {
      if (!text.empty()) text += ", ";
      text += (holder == rank_ ? "this rank, " : "rank ") + std::to_string(holder);
      text += " holds " + std::to_string(parts) + (parts == 1 ? " part of it" : " parts of it");
    }
    return text.empty() ? "no rank holds a part of it" : text;
  }
  std::vector<Quarantined> quarantine() const override { return met_.channel->quarantine(); }

 private:
  LeaseChannel& channel() { return *met_.channel; }

  const std::int32_t rank_;
  MetQueue met_;
};

}  // namespace

std::unique_ptr<PartSource> shared_parts(const LeasePlan& plan, const LeaseMembership& membership,
                                         std::chrono::milliseconds lost_after, std::chrono::milliseconds timeout,
                                         const RunStart& start) {
  return std::make_unique<SharedParts>(plan, membership, lost_after, timeout, start);
}

}  // namespace tandem::elastic
