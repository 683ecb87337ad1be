// Elastic training: ranks come and go while a program trains.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tandem/abi/checkpoint_folder.hpp"
#include "tandem/abi/dist.hpp"
#include "tandem/abi/leave_signal.hpp"
#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

struct ElasticOptions {
  int64_t commit_every = 10;     // steps
  std::string checkpoints;       // a folder that all ranks see; "": none
  int64_t checkpoint_every = 0;  // steps, a multiple of commit_every; 0: none are written
  int32_t checkpoints_kept = 3;  // 0: all
  bool has_seed = false;
  int64_t seed = 0;         // its 64 bits
  int64_t check_every = 0;  // steps, a multiple of commit_every; 0: never
};

// The session of one process; tandem.h says what all of it does. One thread at a time, but for leave() and abort().
class Elastic {
 public:
  // Connects to the launcher's agent. Of `group` backend, timeout, device and interface count.
  Elastic(const ProcessGroupOptions& group, const ElasticOptions& options) {
    const tdm_process_group_options raw_group = group.raw();
    tdm_elastic_options raw = TDM_ELASTIC_OPTIONS_INIT;
    raw.commit_every = options.commit_every;
    raw.checkpoints = or_null(options.checkpoints);
    raw.checkpoint_every = options.checkpoint_every;
    raw.checkpoints_kept = options.checkpoints_kept;
    raw.has_seed = options.has_seed;
    raw.seed = static_cast<uint64_t>(options.seed);
    raw.check_every = options.check_every;
    check(tdm_elastic_create(&raw_group, &raw, handle_.out()));
  }

  // Of tensor i the section, the name, and whether it stays with its process.
  void commit(const std::vector<std::string>& sections, const std::vector<std::string>& names, const TensorList& tensors,
              const std::vector<uint8_t>& own, const std::string& values) {
    const auto list = checkpoint_tensors("Elastic::commit", sections, names, tensors, own);
    check(tdm_elastic_commit(raw(), list.data(), list.size(), values.c_str()));
  }
  // Its tensors are overwritten by the next commit.
  LoadedCheckpoint committed() const {
    tdm_checkpoint* last = nullptr;
    check(tdm_elastic_committed(raw(), &last));
    return LoadedCheckpoint(last);
  }
  // The next membership epoch's group; one that does not exists() where nobody needs this process, or has_left().
  ProcessGroup meet() {
    tdm_process_group* group = nullptr;
    check(tdm_elastic_meet(raw(), &group));
    return ProcessGroup(group);
  }
  int64_t epoch() const { return tdm_elastic_epoch(raw()); }
  int64_t steps() const { return tdm_elastic_steps(raw()); }

  // TDM_ELASTIC_NEXT_…
  int32_t step() {
    tdm_elastic_next next = TDM_ELASTIC_NEXT_GO_ON;
    check(tdm_elastic_step(raw(), &next));
    return next;
  }
  bool has_ended() {
    int32_t ended = 0;
    check(tdm_elastic_has_ended(raw(), &ended));
    return ended != 0;
  }
  void done() { check(tdm_elastic_done(raw())); }

  // From any thread, as abort().
  void leave() { check(tdm_elastic_notify(raw())); }
  // Has SIGUSR1 do the same, as long as this object lives.
  void leave_on_signal() {
    signal_ = std::make_unique<LeaveSignal>([session = raw()] { tdm_error_free(tdm_elastic_notify(session)); });
  }
  void left() { check(tdm_elastic_left(raw())); }
  bool has_left() const { return tdm_elastic_has_left(raw()) != 0; }
  void abort() { check(tdm_elastic_abort(raw())); }
  void describe(const std::string& text) { check(tdm_elastic_describe(raw(), text.c_str())); }

  tdm_elastic* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_elastic, tdm_elastic_free> handle_;
  std::unique_ptr<LeaveSignal> signal_;  // goes before the session that it uses
};

}  // namespace tandem::abi
