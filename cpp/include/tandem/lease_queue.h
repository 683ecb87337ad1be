// Who computes which part of a global batch, where faster ranks are to take more: the rules, without their transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/lease_log.h"
#include "tandem/partition.h"

namespace tandem {

// What stays the same as long as a run lasts.
struct LeasePlan {
  std::int64_t positions = 0;    // of an epoch
  std::int64_t batch_size = 1;   // of all ranks together
  std::int64_t micro_batch = 1;  // that is leased at a time
  Tail tail = Tail::kShort;      // or kDrop, kRepeat
  int most_failures = 3;         // of a sample in a step, before it is put into quarantine
  int most_quarantined = 1000;   // samples; more are an error
  int steps_ahead = 1;           // behind the open one, whose micro-batches are leased already
  std::uint64_t content = 0;     // stands for what is at the positions: data set, order and seed

  // Of a batch of `size` samples. The sum with a large micro_batch would overflow.
  std::int64_t parts_of(std::int64_t size) const { return size == 0 ? 0 : (size - 1) / micro_batch + 1; }

  bool operator==(const LeasePlan&) const = default;
};

// A part of a global batch that a rank is to compute.
struct Lease {
  std::int64_t epoch = 0;
  std::int64_t step = 0;   // the number of the global batch in its epoch
  std::int32_t micro = 0;  // the number of the part in it
  std::int64_t begin = 0;  // its positions; those from LeasePlan::positions on mean the epoch's start again
  std::int64_t size = 0;

  bool operator==(const Lease&) const = default;
};

// The queue of a run's micro-batches, as a state that calls change: the same calls in the same order give the same
// states. Every call says in which generation (of the group of ranks) its rank lives; what comes from an older one, or
// from a rank that was given up, changes nothing.
//
// A step goes like this: ranks lease parts of the global batch, compute them and complete them until all are done, join
// the exchange of gradients, also those that had no part, and commit the step together with the optimizer's. A part
// that was not committed does not count: when a rank is lost, its parts of the step go back, the computed ones as well,
// since its gradients are lost with it. Once all parts are computed the exchange may have begun; where that fails,
// ranks begin the next generation, with the position of the model that survived, whatever this queue had come to.
//
// Not thread-safe.
class TANDEM_API LeaseQueue {
 public:
  enum class Answer : std::int32_t {
    kDone,   // the call did what it says
    kWait,   // no part is free, but others still compute theirs
    kWhole,  // all parts of the step are computed: join the exchange
    kEnd,    // the epoch has no such step
    kStale,  // the rank belongs to an older generation, or was given up: it must join a new one
  };

  // Throws Error(kInvalidArgument) for a plan that cannot be: an epoch without a step, more than 65,536 parts a step.
  explicit LeaseQueue(const LeasePlan& plan);

  // Begins a generation of `world_size` ranks at `position` of `epoch`; where that epoch has no further step, at the
  // start of the next. For further ranks of the same generation, joins it. Throws Error(kInvalidArgument) where one of
  // these differs from what the generation began with.
  Answer begin(std::int64_t generation, std::int32_t world_size, std::int64_t epoch, std::int64_t position,
               const std::vector<Quarantined>& quarantine);

  // A part of `step` for `rank`; `epoch` and `step` are at least 0, here and below. kWait, kWhole where none is free;
  // also kWait before its turn, see steps_ahead.
  Answer lease(std::int64_t generation, std::int32_t rank, std::int64_t epoch, std::int64_t step, Lease* out);
  // A leased part is computed. Throws Error(kInvalidArgument) for a part that the rank does not hold, here and below,
  // and for counts that are not within it.
  // `samples`: of the part's, those that were not left out. `skipped`: which of them were so because they could not be
  // read.
  Answer complete(std::int64_t generation, std::int32_t rank, const Lease& part, std::int64_t samples,
                  const std::vector<CommittedStep::Skipped>& skipped = {});
  // A leased part cannot be computed because of `sample`: it goes back. Of a sample that is in quarantine by then no
  // failure is counted. Throws Error(kDataLoss) where that would be one sample more in quarantine than the plan allows.
  Answer fail(std::int64_t generation, std::int32_t rank, const Lease& part, std::int64_t sample,
              const std::string& reason);
  // Gives up another rank: its parts of steps that are not whole go back.
  Answer lose(std::int64_t generation, std::int32_t rank);
  // The optimizer has made this step. The first call moves on, further ones of other ranks find it done. kWait where
  // not all parts are computed.
  Answer commit(std::int64_t generation, std::int32_t rank, std::int64_t epoch, std::int64_t step, CommittedStep* out);

  // kWhole where all parts of the step are computed, or it was committed; kEnd, kWait, kStale.
  Answer look(std::int64_t generation, std::int32_t rank, std::int64_t epoch, std::int64_t step) const;
  // What commit() gives, or gave last, of a step of which all parts are computed. Throws Error(kInvalidArgument) for
  // another one.
  CommittedStep record(std::int64_t epoch, std::int64_t step) const;
  // Parts of an open step that are leased and not computed, by rank.
  std::map<std::int32_t, int> holders(std::int64_t epoch, std::int64_t step) const;

  const LeasePlan& plan() const { return plan_; }
  std::int64_t generation() const { return generation_; }
  // The step that is to be committed next begins there; at the end of an epoch the start of the next.
  std::int64_t epoch() const { return epoch_; }
  std::int64_t position() const { return position_; }
  const std::vector<Quarantined>& quarantine() const { return quarantine_; }
  bool is_lost(std::int32_t rank) const;

  // Throws Error(kInvalidArgument) that names what is different in the queue's own plan.
  void require(const LeasePlan& plan) const;

 private:
  struct Part {
    enum State : std::uint8_t { kFree, kLeased, kComputed };
    State state = kFree;
    std::int32_t rank = -1;
    std::int32_t turn = 0;  // in the order of leasing
    std::int64_t samples = 0;
  };
  struct Step {
    std::int32_t turns = 0;
    std::vector<Part> parts;
    std::size_t computed = 0;          // of them
    std::size_t all_taken_before = 0;  // this one: none of those is free
    std::vector<CommittedStep::Skipped> skipped;  // of parts that are computed

    bool is_whole() const { return computed == parts.size(); }
  };
  struct Failures {
    std::int64_t step = 0;  // of epoch_
    std::int32_t count = 0;
  };

  bool is_stale(std::int64_t generation, std::int32_t rank) const;
  // The open step of that number, made if its turn has come; nullptr otherwise.
  Step* open(std::int64_t step);
  const Step* find(std::int64_t step) const;
  Part& held(std::int32_t rank, const Lease& part);
  std::int64_t current() const { return position_ / plan_.batch_size; }
  std::int64_t begin_of(std::int64_t step) const;
  std::int64_t size_of(std::int64_t step) const;  // of the global batch; 0 behind the last
  std::int64_t size_of_part(std::int64_t step, std::int32_t micro) const;
  std::size_t parts_of(std::int64_t step) const;
  CommittedStep record_of(std::int64_t step) const;
  void give_back(const Lease& part);

  LeasePlan plan_;
  std::int64_t generation_ = 0;  // none yet
  std::int32_t world_size_ = 0;
  std::int64_t begun_epoch_ = 0;  // where the generation began
  std::int64_t begun_position_ = 0;
  std::int64_t epoch_ = 0;
  std::int64_t origin_ = 0;  // where the epoch's first batch begins: begun_position_, in later epochs 0
  std::int64_t position_ = 0;
  std::deque<Step> steps_;  // the one at position_, and those behind it that are open
  std::vector<std::int32_t> lost_;
  std::map<std::int64_t, Failures> failures_;  // of samples of open steps, below most_failures
  std::vector<Quarantined> quarantine_;
  std::uint32_t begun_quarantine_ = 0;  // of them, that the generation began with
  std::optional<CommittedStep> last_;   // that was committed in this generation
};

}  // namespace tandem
