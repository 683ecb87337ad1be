#include "tandem/lease_queue.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/invalid.h"
#include "base/packed.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::size_t kLongestReason = 500;
constexpr std::int64_t kMostParts = 65536;  // of a step: each call of a rank stores the whole queue
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 48;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kDataLoss, what);
}

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

void pack(Packer& out, const std::vector<Quarantined>& items) {
  out << static_cast<std::uint32_t>(items.size());
  for (const Quarantined& item : items) out << item.sample << item.epoch << item.step << item.failures << item.reason;
}

std::vector<Quarantined> unpack_quarantine(Unpacker& in) {
  std::vector<Quarantined> items(in.count(3 * sizeof(std::int64_t)));
  for (Quarantined& item : items) {
    item.sample = in.take<std::int64_t>();
    item.epoch = in.take<std::int64_t>();
    item.step = in.take<std::int64_t>();
    item.failures = in.take<std::int32_t>();
    item.reason = in.text();
  }
  return items;
}

void pack(Packer& out, const std::vector<CommittedStep::Skipped>& runs) {
  out << static_cast<std::uint32_t>(runs.size());
  for (const auto& run : runs) out << run.micro << run.first << run.count;
}

std::vector<CommittedStep::Skipped> unpack_skipped(Unpacker& in) {
  std::vector<CommittedStep::Skipped> runs(in.count(sizeof(std::int32_t) + 2 * sizeof(std::int64_t)));
  for (auto& run : runs) {
    run.micro = in.take<std::int32_t>();
    run.first = in.take<std::int64_t>();
    run.count = in.take<std::int64_t>();
  }
  return runs;
}

void pack(Packer& out, const CommittedStep& step) {
  out << step.generation << step.epoch << step.step << static_cast<std::uint32_t>(step.parts.size());
  for (const auto& part : step.parts) out << part.micro << part.rank << part.samples;
  pack(out, step.left_out);
  pack(out, step.skipped);
}

CommittedStep unpack_step(Unpacker& in) {
  CommittedStep step;
  step.generation = in.take<std::int64_t>();
  step.epoch = in.take<std::int64_t>();
  step.step = in.take<std::int64_t>();
  step.parts.resize(in.count(2 * sizeof(std::int32_t) + sizeof(std::int64_t)));
  for (auto& part : step.parts) {
    part.micro = in.take<std::int32_t>();
    part.rank = in.take<std::int32_t>();
    part.samples = in.take<std::int64_t>();
  }
  step.left_out = unpack_quarantine(in);
  step.skipped = unpack_skipped(in);
  return step;
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
  const std::int64_t left = plan_.positions - begin_of(step);
  if (left >= plan_.batch_size) return plan_.batch_size;
  if (left <= 0 || plan_.tail == Tail::kDrop) return 0;
  return plan_.tail == Tail::kRepeat ? plan_.batch_size : left;
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
  if (epoch < 0 || position < 0 || position > plan_.positions) invalid("there is no " + place(epoch, position));
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

bool LeaseQueue::is_whole(const Step& step) {
  return std::all_of(step.parts.begin(), step.parts.end(),
                     [](const Part& part) { return part.state == Part::kComputed; });
}

LeaseQueue::Answer LeaseQueue::look(std::int64_t generation, std::int32_t rank, std::int64_t epoch,
                                    std::int64_t step) const {
  if (is_stale(generation, rank)) return Answer::kStale;
  if (epoch < epoch_) return last_ && last_->epoch == epoch && step > last_->step ? Answer::kEnd : Answer::kWhole;
  if (epoch > epoch_) return Answer::kWait;
  if (step < current()) return Answer::kWhole;
  if (size_of(step) == 0) return Answer::kEnd;
  const Step* opened = find(step);
  return opened && is_whole(*opened) ? Answer::kWhole : Answer::kWait;
}

LeaseQueue::Answer LeaseQueue::lease(std::int64_t generation, std::int32_t rank, std::int64_t epoch, std::int64_t step,
                                     Lease* out) {
  const Answer answer = look(generation, rank, epoch, step);
  if (answer != Answer::kWait || epoch != epoch_) return answer;
  Step* opened = open(step);
  if (!opened) return Answer::kWait;
  const auto free = std::find_if(opened->parts.begin(), opened->parts.end(),
                                 [](const Part& part) { return part.state == Part::kFree; });
  if (free == opened->parts.end()) return Answer::kWait;
  *free = {Part::kLeased, rank, opened->turns++, 0};
  const auto number = static_cast<std::int32_t>(free - opened->parts.begin());
  const std::int64_t before = number * plan_.micro_batch;
  *out = {epoch, step, number, begin_of(step) + before, std::min(plan_.micro_batch, size_of(step) - before)};
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

LeaseQueue::Answer LeaseQueue::complete(std::int64_t generation, std::int32_t rank, const Lease& lease,
                                        std::int64_t samples, const std::vector<CommittedStep::Skipped>& skipped) {
  if (is_stale(generation, rank)) return Answer::kStale;
  Part& part = held(rank, lease);
  part.state = Part::kComputed;
  part.samples = samples;
  auto& runs = steps_[static_cast<std::size_t>(lease.step - current())].skipped;
  runs.insert(runs.end(), skipped.begin(), skipped.end());
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
  if (opened && is_whole(*opened)) return record_of(step);
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
  Part& part = held(rank, lease);
  // An order that repeats samples has it in several parts, which may fail before their ranks know of one another.
  if (std::any_of(quarantine_.begin(), quarantine_.end(), [&](const Quarantined& item) {
        return item.sample == sample && std::pair(item.epoch, item.step) <= std::pair(epoch_, lease.step);
      })) {
    part = {};
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
  part = {};
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
    if (is_whole(step)) continue;  // its exchange may have begun, or be over
    std::erase_if(step.skipped, [&](const CommittedStep::Skipped& run) {
      return step.parts[static_cast<std::size_t>(run.micro)].rank == rank;
    });
    for (Part& part : step.parts) {
      if (part.rank == rank) part = {};
    }
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

std::string LeaseQueue::bytes() const {
  Packer out;
  out << plan_.positions << plan_.batch_size << plan_.micro_batch << plan_.tail << plan_.most_failures
      << plan_.most_quarantined << plan_.steps_ahead << plan_.content;
  out << generation_ << world_size_ << begun_epoch_ << begun_position_ << epoch_ << origin_ << position_;
  out << static_cast<std::uint32_t>(steps_.size());
  for (const Step& step : steps_) {
    out << step.turns << static_cast<std::uint32_t>(step.parts.size());
    for (const Part& part : step.parts) out << part.state << part.rank << part.turn << part.samples;
    pack(out, step.skipped);
  }
  out << static_cast<std::uint32_t>(lost_.size());
  for (const std::int32_t rank : lost_) out << rank;
  out << static_cast<std::uint32_t>(failures_.size());
  for (const auto& [sample, failures] : failures_) out << sample << failures.step << failures.count;
  pack(out, quarantine_);
  out << begun_quarantine_ << static_cast<std::uint8_t>(last_.has_value());
  if (last_) pack(out, *last_);
  return out.bytes();
}

// Bytes come from other processes: whatever else they say, no call may read or write where nothing is.
bool LeaseQueue::is_consistent() const {
  const auto within = [&](std::int64_t epoch, std::int64_t position) {
    return epoch >= 0 && position >= 0 && position <= plan_.positions;
  };
  if (generation_ < 0 || world_size_ < 0 || !within(epoch_, position_) || !within(begun_epoch_, begun_position_)) {
    return false;
  }
  if (origin_ < 0 || origin_ > position_ || (position_ - origin_) % plan_.batch_size != 0) return false;
  if (begun_quarantine_ > quarantine_.size()) return false;
  if (static_cast<std::int64_t>(steps_.size()) > static_cast<std::int64_t>(plan_.steps_ahead) + 1) return false;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].parts.size() != parts_of(current() + static_cast<std::int64_t>(i))) return false;
    for (const Part& part : steps_[i].parts) {
      if (part.state > Part::kComputed) return false;
    }
    for (const CommittedStep::Skipped& run : steps_[i].skipped) {
      if (run.micro < 0 || static_cast<std::size_t>(run.micro) >= steps_[i].parts.size()) return false;
    }
  }
  return true;
}

LeaseQueue LeaseQueue::parse(const LeasePlan& plan, std::string_view bytes) {
  LeaseQueue queue(plan);
  try {
    Unpacker in(bytes);
    LeasePlan stored;
    stored.positions = in.take<std::int64_t>();
    stored.batch_size = in.take<std::int64_t>();
    stored.micro_batch = in.take<std::int64_t>();
    stored.tail = in.take<Tail>();
    stored.most_failures = in.take<int>();
    stored.most_quarantined = in.take<int>();
    stored.steps_ahead = in.take<int>();
    stored.content = in.take<std::uint64_t>();
    if (stored != plan) {
      invalid("the queue of leases is of another plan, with " + differences(stored, plan) +
              "; give all ranks the same data set and options");
    }
    queue.generation_ = in.take<std::int64_t>();
    queue.world_size_ = in.take<std::int32_t>();
    queue.begun_epoch_ = in.take<std::int64_t>();
    queue.begun_position_ = in.take<std::int64_t>();
    queue.epoch_ = in.take<std::int64_t>();
    queue.origin_ = in.take<std::int64_t>();
    queue.position_ = in.take<std::int64_t>();
    constexpr std::size_t kPartBytes = sizeof(std::uint8_t) + 2 * sizeof(std::int32_t) + sizeof(std::int64_t);
    queue.steps_.resize(in.count(3 * sizeof(std::uint32_t)));
    for (Step& step : queue.steps_) {
      step.turns = in.take<std::int32_t>();
      step.parts.resize(in.count(kPartBytes));
      for (Part& part : step.parts) {
        part.state = in.take<Part::State>();
        part.rank = in.take<std::int32_t>();
        part.turn = in.take<std::int32_t>();
        part.samples = in.take<std::int64_t>();
      }
      step.skipped = unpack_skipped(in);
    }
    queue.lost_.resize(in.count(sizeof(std::int32_t)));
    for (std::int32_t& rank : queue.lost_) rank = in.take<std::int32_t>();
    for (std::size_t left = in.count(2 * sizeof(std::int64_t) + sizeof(std::int32_t)); left > 0; --left) {
      Failures& failures = queue.failures_[in.take<std::int64_t>()];
      failures.step = in.take<std::int64_t>();
      failures.count = in.take<std::int32_t>();
    }
    queue.quarantine_ = unpack_quarantine(in);
    queue.begun_quarantine_ = in.take<std::uint32_t>();
    if (in.take<std::uint8_t>() != 0) queue.last_ = unpack_step(in);
    if (in.at_end() && queue.is_consistent()) return queue;
  } catch (const Unpacker::Ended&) {
  }
  damaged("this is no queue of leases: it has " + std::to_string(bytes.size()) + " bytes");
}

}  // namespace tandem
