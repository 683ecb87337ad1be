#include <algorithm>
#include <map>
#include <mutex>

#include "elastic/part_source.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Place = std::pair<std::int64_t, std::int64_t>;  // epoch, step

std::string text(const Place& place) {
  return "step " + std::to_string(place.second) + " of epoch " + std::to_string(place.first);
}

class RecordedParts : public PartSource {
 public:
  RecordedParts(const LeasePlan& plan, std::int32_t rank, const std::vector<CommittedStep>& log, const RunStart& start)
      : plan_(plan),
        rank_(rank),
        begun_epoch_(start.epoch),
        first_(plan.positions, plan.batch_size, 0, 1, plan.tail, start.position),
        later_(plan.positions, plan.batch_size, 0, 1, plan.tail),
        first_step_(start.position / plan.batch_size),
        quarantine_(start.quarantine) {
    for (const CommittedStep& record : log) records_[{record.epoch, record.step}] = record;
    for (const auto& [place, record] : records_) {
      if (place < Place(start.epoch, first_step_)) continue;
      check(place, record);
      quarantine_.insert(quarantine_.end(), record.left_out.begin(), record.left_out.end());
    }
  }

  Answer lease(std::int64_t epoch, std::int64_t step, Lease* out) override {
    const Place place(epoch, step);
    if (step - first_step(epoch) >= partition(epoch).batches()) return Answer::kEnd;
    const CommittedStep record = find(place);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::size_t& next = next_[place];
    while (next < record.parts.size() && record.parts[next].rank != rank_) ++next;
    if (next == record.parts.size()) return Answer::kWhole;
    const std::int32_t micro = record.parts[next++].micro;
    const StaticPartition::Slice batch = slice(place);
    const std::int64_t before = micro * plan_.micro_batch;
    *out = {epoch, step, micro, batch.begin + before, std::min(plan_.micro_batch, batch.size - before)};
    return Answer::kDone;
  }
  // Where an order repeats samples, a part may have been computed with one that failed in another of the step.
  void complete(const Lease& part, std::int64_t samples, const std::vector<CommittedStep::Skipped>&) override {
    const Place place(part.epoch, part.step);
    const CommittedStep record = find(place);
    for (const CommittedStep::Part& then : record.parts) {
      if (then.micro != part.micro || then.samples == samples) continue;
      throw Error(ErrorCode::kDataLoss, "part " + std::to_string(part.micro) + " of " + text(place) + " has " +
                                            std::to_string(samples) + " samples, but " + std::to_string(then.samples) +
                                            " were computed when the log was written, before or after samples of it "
                                            "were left out, or could not be read and were skipped: this step cannot be "
                                            "run again as it was");
    }
  }
  std::vector<CommittedStep::Skipped> skipped(const Lease& part) const override {
    std::vector<CommittedStep::Skipped> runs = find({part.epoch, part.step}).skipped;
    std::erase_if(runs, [&](const CommittedStep::Skipped& run) { return run.micro != part.micro; });
    return runs;
  }
  void fail(const Lease& part, std::int64_t sample, const std::string& reason) override {
    throw Error(ErrorCode::kDataLoss, "sample " + std::to_string(sample) + ", of " + text({part.epoch, part.step}) +
                                          ", was computed when the log was written, and cannot be now: " + reason);
  }
  CommittedStep record(std::int64_t epoch, std::int64_t step) override { return find({epoch, step}); }
  void commit(std::int64_t epoch, std::int64_t step) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_.erase({epoch, step});
  }
  std::string missing(std::int64_t, std::int64_t) override { return "this rank is making its parts"; }
  std::vector<Quarantined> quarantine() const override { return quarantine_; }

 private:
  const StaticPartition& partition(std::int64_t epoch) const { return epoch == begun_epoch_ ? first_ : later_; }
  std::int64_t first_step(std::int64_t epoch) const { return epoch == begun_epoch_ ? first_step_ : 0; }
  StaticPartition::Slice slice(const Place& place) const {
    return partition(place.first).slice(place.second - first_step(place.first));
  }

  CommittedStep find(const Place& place) const {
    const auto found = records_.find(place);
    if (found != records_.end()) return found->second;
    throw Error(ErrorCode::kOutOfRange, "the log has no " + text(place) + "; it ends, or has a gap, there");
  }

  // A record has each part of its step once.
  void check(const Place& place, const CommittedStep& record) const {
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the log does not fit these options: in " + text(place) + " " + why + "; give those of the run");
    };
    if (place.second - first_step(place.first) >= partition(place.first).batches()) refuse("there is no batch");
    const auto parts = static_cast<std::size_t>(plan_.parts_of(slice(place).size));
    if (record.parts.size() != parts) {
      refuse("it has " + std::to_string(record.parts.size()) + " parts rather than " + std::to_string(parts));
    }
    std::vector<bool> seen(parts);
    for (const CommittedStep::Part& part : record.parts) {
      const auto micro = static_cast<std::size_t>(part.micro);
      if (part.micro < 0 || micro >= parts || seen[micro]) refuse("part " + std::to_string(part.micro) + " is wrong");
      seen[micro] = true;
    }
    for (const CommittedStep::Skipped& run : record.skipped) {
      if (run.micro < 0 || static_cast<std::size_t>(run.micro) >= parts || run.first > plan_.micro_batch ||
          run.count > plan_.micro_batch - run.first) {
        refuse("what was skipped of part " + std::to_string(run.micro) + " is wrong");
      }
    }
  }

  const LeasePlan plan_;
  const std::int32_t rank_;
  const std::int64_t begun_epoch_;
  const StaticPartition first_;  // of the epoch that it begins in
  const StaticPartition later_;
  const std::int64_t first_step_;
  std::map<Place, CommittedStep> records_;
  std::vector<Quarantined> quarantine_;  // of the whole log
  std::mutex mutex_;
  std::map<Place, std::size_t> next_;  // parts of a record that were dealt out, to whichever rank
};

}  // namespace

std::unique_ptr<PartSource> recorded_parts(const LeasePlan& plan, std::int32_t rank,
                                           const std::vector<CommittedStep>& log, const RunStart& start) {
  const LeaseQueue checked(plan);
  return std::make_unique<RecordedParts>(plan, rank, log, start);
}

}  // namespace tandem::elastic
