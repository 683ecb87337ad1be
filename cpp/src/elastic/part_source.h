// Where a rank's parts of global batches come from: a queue that all ranks share, or the record of an earlier run.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/dynamic_loader.h"
#include "tandem/lease_queue.h"

namespace tandem::elastic {

// Thread-safe. Calls throw Error(kAborted) once this rank does not count any more, and kPeerLost or kTimeout once who
// keeps the queue is lost.
class PartSource {
 public:
  using Answer = LeaseQueue::Answer;

  virtual ~PartSource() = default;
  virtual Answer lease(std::int64_t epoch, std::int64_t step, Lease* out) = 0;
  virtual void complete(const Lease& part, std::int64_t samples,
                        const std::vector<CommittedStep::Skipped>& skipped) = 0;
  // What of the part is to be left out as it was when it was computed before.
  virtual std::vector<CommittedStep::Skipped> skipped(const Lease&) const { return {}; }
  virtual void fail(const Lease& part, std::int64_t sample, const std::string& reason) = 0;
  // Of a step of which all parts are computed.
  virtual CommittedStep record(std::int64_t epoch, std::int64_t step) = 0;
  virtual void commit(std::int64_t epoch, std::int64_t step) = 0;
  // Calls `changed`, on a thread of this source's own, when what lease() answered with kWait may be another answer now,
  // and when calls fail from now on. The one before is not running when this returns; not to be called by it.
  virtual void on_change(std::function<void()>) {}
  // Calls to who keeps the queue, where it does not answer, end soon, also later ones; from any thread.
  virtual void interrupt() {}
  // Whom the step waits for, for messages.
  virtual std::string missing(std::int64_t epoch, std::int64_t step) = 0;
  // As of the last call. A sample is left out from the step on that its record names.
  virtual std::vector<Quarantined> quarantine() const = 0;
};

// Where a run begins.
struct RunStart {
  std::int64_t epoch = 0;
  std::int64_t position = 0;
  std::vector<Quarantined> quarantine;
};

// Begins, or joins, the generation. `timeout`: of the store's answers, and of who keeps the queue.
std::unique_ptr<PartSource> shared_parts(const LeasePlan& plan, const LeaseMembership& membership,
                                         std::chrono::milliseconds lost_after, std::chrono::milliseconds timeout,
                                         const RunStart& start);
std::unique_ptr<PartSource> recorded_parts(const LeasePlan& plan, std::int32_t rank,
                                           const std::vector<CommittedStep>& log, const RunStart& start);

}  // namespace tandem::elastic
