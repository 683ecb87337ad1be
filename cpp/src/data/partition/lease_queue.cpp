#include "tandem/lease_queue.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::size_t kLongestReason = 500;
constexpr std::int64_t kMostParts = 65536;  // of a step, whose record each rank gets
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 48;
constexpr std::int64_t kLastEpoch = std::int64_t{1} << 48;

// As much of it as is kept, with what is no UTF-8 replaced: a quarantine is the same after its JSON.
std::string kept(const std::string& reason) {
  std::size_t size = std::min(reason.size(), kLongestReason);
  const auto is_within_letter = [&](std::size_t at) { return (static_cast<unsigned char>(reason[at]) & 0xc0) == 0x80; };
  if (size < reason.size()) {
    for (int i = 0; i < 3 && size > 0 && is_within_letter(size); ++i) --size;
  }
  using Json = nlohmann::json;
  const std::string json = Json(reason.substr(0, size)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(json).get<std::string>();
}

// What `stored` has, and `plan` has not.
std::string differences(const LeasePlan& stored, const LeasePlan& plan) {
  std::string text;
  const auto compare = [&](const char* what, std::int64_t there, std::int64_t here) {
    if (there == here) return;
    text += (text.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(there) + " rather than " +
            std::to_string(here);
  };
  compare("positions", stored.positions, plan.positions);
  compare("batch_size", stored.batch_size, plan.batch_size);
  compare("micro_batch", stored.micro_batch, plan.micro_batch);
  compare("tail", static_cast<std::int64_t>(stored.tail), static_cast<std::int64_t>(plan.tail));
  compare("most_failures", stored.most_failures, plan.most_failures);
  compare("most_quarantined", stored.most_quarantined, plan.most_quarantined);
  compare("steps_ahead", stored.steps_ahead, plan.steps_ahead);
  if (stored.content != plan.content) text += std::string(text.empty() ? "" : ", ") + "another data set, order or seed";
  return text;
}

std::string place(std::int64_t epoch, std::int64_t position) {
  return "position " + std::to_string(position) + " of epoch " + std::to_string(epoch);
}

}  // namespace

LeaseQueue::LeaseQueue(const LeasePlan& plan) : plan_(plan) {
  const auto check = [](const char* what, std::int64_t value) {
    if (value < 1) invalid(std::string(what) + " is " + std::to_string(value) + ", but must be at least 1");
  };
  check("batch_size", plan.batch_size);
  check("micro_batch", plan.micro_batch);
  check("most_failures", plan.most_failures);
  check("positions", plan.positions);
  if (plan.steps_ahead < 0 || plan.most_quarantined < 0) invalid("a plan of leases has numbers below 0");
  if (plan.batch_size > kLargestBatch) {
    invalid("batch_size is " + std::to_string(plan.batch_size) + ", but must be at most " +
            std::to_string(kLargestBatch));
  }
  if ((plan.batch_size - 1) / plan.micro_batch >= kMostParts) {
    invalid("batches of " + std::to_string(plan.batch_size) + " have too many parts of " +
            std::to_string(plan.micro_batch) + "; a larger micro_batch gives at most " + std::to_string(kMostParts));
  }
  if (plan.tail != Tail::kShort && plan.tail != Tail::kDrop && plan.tail != Tail::kRepeat) {
    invalid("leases are of samples alone: take the tail short, drop or repeat");
  }
  if (size_of(0) == 0) {
    invalid("an epoch of " + std::to_string(plan.positions) + " samples has no batch of " +
            std::to_string(plan.batch_size) + ", and the rest is dropped: take a smaller batch or another tail");
  }
}

std::int64_t LeaseQueue::begin_of(std::int64_t step) const {
  return origin_ + (step - origin_ / plan_.batch_size) * plan_.batch_size;
}

std::int64_t LeaseQueue::size_of(std::int64_t step) const {
  // Asked for by other processes, whatever they have in mind.
  if (step - origin_ / plan_.batch_size > (plan_.positions - origin_) / plan_.batch_size) return 0;
  const std::int64_t left = plan_.positions - begin_of(step);
  if (left >= plan_.batch_size) return plan_.batch_size;
  if (left <= 0 || plan_.tail == Tail::kDrop) return 0;
  return plan_.tail == Tail::kRepeat ? plan_.batch_size : left;
}

std::int64_t LeaseQueue::size_of_part(std::int64_t step, std::int32_t micro) const {
  return std::min(plan_.micro_batch, size_of(step) - micro * plan_.micro_batch);
}

std::size_t LeaseQueue::parts_of(std::int64_t step) const {
  return static_cast<std::size_t>(plan_.parts_of(size_of(step)));
}

bool LeaseQueue::is_lost(std::int32_t rank) const {
  return std::find(lost_.begin(), lost_.end(), rank) != lost_.end();
}

bool LeaseQueue::is_stale(std::int64_t generation, std::int32_t rank) const {
  return generation != generation_ || rank < 0 || rank >= world_size_ || is_lost(rank);
}

LeaseQueue::Answer LeaseQueue::begin(std::int64_t generation, std::int32_t world_size, std::int64_t epoch,
                                     std::int64_t position, const std::vector<Quarantined>& quarantine) {
  if (generation < 1 || world_size < 1) invalid("generation and world_size must be at least 1");
  if (epoch < 0 || epoch > kLastEpoch || position < 0 || position > plan_.positions) {
    invalid("there is no " + place(epoch, position));
  }
  if (static_cast<std::int64_t>(quarantine.size()) > plan_.most_quarantined) {
    invalid(std::to_string(quarantine.size()) + " samples are in quarantine, but most_quarantined is " +
            std::to_string(plan_.most_quarantined));
  }
  if (generation < generation_) return Answer::kStale;
  if (plan_.positions - position < (plan_.tail == Tail::kDrop ? plan_.batch_size : 1)) {
    ++epoch;
    position = 0;
  }
  if (generation == generation_) {
    if (world_size != world_size_ || epoch != begun_epoch_ || position != begun_position_) {
      invalid("generation " + std::to_string(generation) + " began at " + place(begun_epoch_, begun_position_) +
              " with " + std::to_string(world_size_) + " ranks, but another rank comes with " + place(epoch, position) +
              " and " + std::to_string(world_size) + ": give all ranks the model of one of them");
    }
    if (!std::equal(quarantine.begin(), quarantine.end(), quarantine_.begin(),
                    quarantine_.begin() + begun_quarantine_)) {
      invalid("generation " + std::to_string(generation) + " began with " + std::to_string(begun_quarantine_) +
              " samples in quarantine, but another rank comes with " + std::to_string(quarantine.size()) +
              " or others: give all ranks those that belong to the model");
    }
    return Answer::kDone;
  }
  generation_ = generation;
  world_size_ = world_size;
  begun_epoch_ = epoch_ = epoch;
  begun_position_ = position_ = origin_ = position;
  steps_.clear();
  lost_.clear();
  failures_.clear();
  quarantine_ = quarantine;
  begun_quarantine_ = static_cast<std::uint32_t>(quarantine.size());
  last_.reset();
  return Answer::kDone;
}

LeaseQueue::Step* LeaseQueue::open(std::int64_t step) {
  const std::int64_t ahead = step - current();
  if (ahead < 0 || ahead > plan_.steps_ahead) return nullptr;
  while (static_cast<std::int64_t>(steps_.size()) <= ahead) {
    Step opened;
    opened.parts.resize(parts_of(current() + static_cast<std::int64_t>(steps_.size())));
    steps_.push_back(std::move(opened));
  }
  return &steps_[static_cast<std::size_t>(ahead)];
}

const LeaseQueue::Step* LeaseQueue::find(std::int64_t step) const {
  const std::int64_t ahead = step - current();
  if (ahead < 0 || ahead >= static_cast<std::int64_t>(steps_.size())) return nullptr;
  return &steps_[static_cast<std::size_t>(ahead)];
}

LeaseQueue::Answer LeaseQueue::look(std::int64_t generation, std::int32_t rank, std::int64_t epoch,
                                    std::int64_t step) const {
  if (is_stale(generation, rank)) return Answer::kStale;
  if (epoch < epoch_) return last_ && last_->epoch == epoch && step > last_->step ? Answer::kEnd : Answer::kWhole;
  if (epoch > epoch_) return Answer::kWait;
  if (step < current()) return Answer::kWhole;
  if (size_of(step) == 0) return Answer::kEnd;
  const Step* opened = find(step);
  return opened && opened->is_whole() ? Answer::kWhole : Answer::kWait;
}

LeaseQueue::Answer LeaseQueue::lease(std::int64_t generation, std::int32_t rank, std::int64_t epoch, std::int64_t step,
                                     Lease* out) {
  const Answer answer = look(generation, rank, epoch, step);
  if (answer != Answer::kWait || epoch != epoch_) return answer;
  Step* opened = open(step);
  if (!opened) return Answer::kWait;
  const auto first = opened->parts.begin() + static_cast<std::ptrdiff_t>(opened->all_taken_before);
  const auto free =
      std::find_if(first, opened->parts.end(), [](const Part& part) { return part.state == Part::kFree; });
  opened->all_taken_before = static_cast<std::size_t>(free - opened->parts.begin());
  if (free == opened->parts.end()) return Answer::kWait;
  *free = {Part::kLeased, rank, opened->turns++, 0};
  const auto number = static_cast<std::int32_t>(free - opened->parts.begin());
  const std::int64_t before = number * plan_.micro_batch;
  *out = {epoch, step, number, begin_of(step) + before, size_of_part(step, number)};
  return Answer::kDone;
}

LeaseQueue::Part& LeaseQueue::held(std::int32_t rank, const Lease& lease) {
  const std::int64_t ahead = lease.step - current();
  if (lease.epoch == epoch_ && ahead >= 0 && ahead < static_cast<std::int64_t>(steps_.size())) {
    Step& step = steps_[static_cast<std::size_t>(ahead)];
    if (lease.micro >= 0 && lease.micro < static_cast<std::int32_t>(step.parts.size())) {
      Part& part = step.parts[static_cast<std::size_t>(lease.micro)];
      if (part.state == Part::kLeased && part.rank == rank) return part;
    }
  }
  invalid("rank " + std::to_string(rank) + " does not hold part " + std::to_string(lease.micro) + " of step " +
          std::to_string(lease.step) + " of epoch " + std::to_string(lease.epoch));
}

void LeaseQueue::give_back(const Lease& lease) {
  Step& step = steps_[static_cast<std::size_t>(lease.step - current())];
  const auto number = static_cast<std::size_t>(lease.micro);
  step.parts[number] = {};
  step.all_taken_before = std::min(step.all_taken_before, number);
}

LeaseQueue::Answer LeaseQueue::complete(std::int64_t generation, std::int32_t rank, const Lease& lease,
                                        std::int64_t samples, const std::vector<CommittedStep::Skipped>& skipped) {
  if (is_stale(generation, rank)) return Answer::kStale;
  Part& part = held(rank, lease);
  const std::int64_t size = size_of_part(lease.step, lease.micro);
  const bool are_within = std::all_of(skipped.begin(), skipped.end(), [&](const CommittedStep::Skipped& run) {
    return run.micro == lease.micro && run.first >= 0 && run.count >= 0 && run.first <= size &&
           run.count <= size - run.first;
  });
  if (samples < 0 || samples > size || !are_within) {
    invalid("part " + std::to_string(lease.micro) + " of step " + std::to_string(lease.step) + " has " +
            std::to_string(size) + " samples; what was computed, " + std::to_string(samples) +
            ", and what was skipped must be within it");
  }
  part.state = Part::kComputed;
  part.samples = samples;
  Step& step = steps_[static_cast<std::size_t>(lease.step - current())];
  ++step.computed;
  step.skipped.insert(step.skipped.end(), skipped.begin(), skipped.end());
  return Answer::kDone;
}

CommittedStep LeaseQueue::record_of(std::int64_t step) const {
  const std::vector<Part>& parts = find(step)->parts;
  CommittedStep record{generation_,        epoch_, step, std::vector<CommittedStep::Part>(parts.size()), {},
                       find(step)->skipped};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    record.parts[i] = {static_cast<std::int32_t>(i), parts[i].rank, parts[i].samples};
  }
  std::sort(record.parts.begin(), record.parts.end(), [&](const auto& a, const auto& b) {
    return parts[static_cast<std::size_t>(a.micro)].turn < parts[static_cast<std::size_t>(b.micro)].turn;
  });
  std::sort(record.skipped.begin(), record.skipped.end(),
            [](const auto& a, const auto& b) { return std::pair(a.micro, a.first) < std::pair(b.micro, b.first); });
  for (std::size_t i = begun_quarantine_; i < quarantine_.size(); ++i) {
    const Quarantined& item = quarantine_[i];
    if (item.epoch == epoch_ && item.step == step) record.left_out.push_back(item);
  }
  return record;
}

CommittedStep LeaseQueue::record(std::int64_t epoch, std::int64_t step) const {
  if (last_ && last_->epoch == epoch && last_->step == step) return *last_;
  const Step* opened = epoch == epoch_ ? find(step) : nullptr;
  if (opened && opened->is_whole()) return record_of(step);
  invalid("there is no record of step " + std::to_string(step) + " of epoch " + std::to_string(epoch) +
          " to be had: the next to commit is step " + std::to_string(current()) + " of epoch " +
          std::to_string(epoch_) + "; ranks meet in each step before they commit it");
}

std::map<std::int32_t, int> LeaseQueue::holders(std::int64_t epoch, std::int64_t step) const {
  std::map<std::int32_t, int> holders;
  if (const Step* opened = epoch == epoch_ ? find(step) : nullptr) {
    for (const Part& part : opened->parts) {
      if (part.state == Part::kLeased) ++holders[part.rank];
    }
  }
  return holders;
}

LeaseQueue::Answer LeaseQueue::fail(std::int64_t generation, std::int32_t rank, const Lease& lease, std::int64_t sample,
                                    const std::string& reason) {
  if (is_stale(generation, rank)) return Answer::kStale;
  held(rank, lease);
  // An order that repeats samples has it in several parts, which may fail before their ranks know of one another.
  if (std::any_of(quarantine_.begin(), quarantine_.end(), [&](const Quarantined& item) {
        return item.sample == sample && std::pair(item.epoch, item.step) <= std::pair(epoch_, lease.step);
      })) {
    give_back(lease);
    return Answer::kDone;
  }
  Failures& failures = failures_[sample];
  if (failures.step != lease.step) failures = {lease.step, 0};
  if (failures.count + 1 >= plan_.most_failures &&
      static_cast<std::int64_t>(quarantine_.size()) >= plan_.most_quarantined) {
    throw Error(ErrorCode::kDataLoss,
                std::to_string(quarantine_.size()) +
                    " samples are in quarantine, as many as most_quarantined allows, and sample " +
                    std::to_string(sample) + " fails as well: " + reason);
  }
  give_back(lease);
  if (++failures.count >= plan_.most_failures) {
    quarantine_.push_back({sample, epoch_, lease.step, failures.count, kept(reason)});
    failures_.erase(sample);
  }
  return Answer::kDone;
}

LeaseQueue::Answer LeaseQueue::lose(std::int64_t generation, std::int32_t rank) {
  if (generation != generation_ || rank < 0 || rank >= world_size_) return Answer::kStale;
  if (is_lost(rank)) return Answer::kDone;
  lost_.push_back(rank);
  for (Step& step : steps_) {
    if (step.is_whole()) continue;  // its exchange may have begun, or be over
    std::erase_if(step.skipped, [&](const CommittedStep::Skipped& run) {
      return step.parts[static_cast<std::size_t>(run.micro)].rank == rank;
    });
    for (Part& part : step.parts) {
      if (part.rank != rank) continue;
      if (part.state == Part::kComputed) --step.computed;
      part = {};
    }
    step.all_taken_before = 0;
  }
  return Answer::kDone;
}

LeaseQueue::Answer LeaseQueue::commit(std::int64_t generation, std::int32_t rank, std::int64_t epoch, std::int64_t step,
                                      CommittedStep* out) {
  if (is_stale(generation, rank)) return Answer::kStale;
  if (last_ && last_->epoch == epoch && last_->step == step) {
    *out = *last_;
    return Answer::kDone;
  }
  if (epoch != epoch_ || step != current()) {
    invalid("step " + std::to_string(step) + " of epoch " + std::to_string(epoch) +
            " cannot be committed: the next is step " + std::to_string(current()) + " of epoch " +
            std::to_string(epoch_));
  }
  if (const Answer answer = look(generation, rank, epoch, step); answer != Answer::kWhole) return answer;
  CommittedStep done = record_of(step);
  steps_.pop_front();
  std::erase_if(failures_, [&](const auto& item) { return item.second.step <= step; });
  position_ = begin_of(step + 1);
  if (size_of(step + 1) == 0) {
    ++epoch_;
    position_ = origin_ = 0;
    steps_.clear();
  }
  last_ = done;
  *out = std::move(done);
  return Answer::kDone;
}

void LeaseQueue::require(const LeasePlan& plan) const {
  if (plan == plan_) return;
  invalid("the queue of leases is of another plan, with " + differences(plan_, plan) +
          "; give all ranks the same data set and options");
}

}  // namespace tandem
