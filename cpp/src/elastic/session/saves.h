// The checkpoints of an elastic training, one at a time, beside its steps.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "elastic/session/commits.h"
#include "tandem/checkpoint.h"
#include "tandem/elastic.h"
#include "tandem/error.h"

namespace tandem::elastic {

// A disk that is full, or fails, ends no training that has seen it work: all ranks get that error, and one says it.
// Before that it is as likely a mistake in the folder's name, and ends the training. Of the checkpoint that was due
// last ranks remember whether it is known to be on the disk, over membership epochs too; at the end of training it has
// to be.
class Saves {
 public:
  explicit Saves(const Options& options) : options_(options) {}

  // Goes on from the newest checkpoint, on all ranks alike; false where there is none. `epoch`: of the membership.
  bool resume(const std::shared_ptr<ProcessGroup>& group, Commits& commits, std::int64_t epoch);
  // Of an epoch whose ranks all have the commit of `steps`. What some rank knows of checkpoints all know then.
  void begin(std::shared_ptr<ProcessGroup> group, std::function<std::string()> why_not, std::int64_t steps,
             bool resumed);

  void committed(std::int64_t steps);
  // In the step after a commit, whose copy is there by then, on all ranks alike: writes it where it is due.
  void write(Commits& commits);
  // In any step, so that a person hears of a loss at once, and not when the next checkpoint is due.
  void look();

  // Once training stopped in order: what is being written is a checkpoint then.
  void close(Commits& commits);
  // Once the epoch has failed: waits for nothing.
  void drop();
  // What drop() left behind has ended.
  void forget_dropped() { dropped_.reset(); }
  // At the end of training: throws where the checkpoint that was due last cannot, or may not, be written, after another
  // try.
  void finish(Commits& commits);
  // Whether a disk has failed for good, on all ranks alike.
  bool has_failed() const { return has_failed_; }

 private:
  void make_due(std::int64_t steps);
  void agree();
  // Why one was not written.
  struct Failure {
    Error error;
    std::string forbidden = {};  // by the agent, which says so itself, and why
  };
  std::optional<Failure> settled(bool closes);
  void settle(bool closes);
  void tell_of_loss(const Failure& failure) const;
  [[noreturn]] void fail(const Error& error);

  const Options& options_;
  std::shared_ptr<ProcessGroup> group_;
  std::function<std::string()> why_not_;  // there may be a checkpoint
  std::unique_ptr<CheckpointFolder> folder_;
  std::unique_ptr<CheckpointFolder> dropped_;  // whose save was aborted, and may not have ended yet
  bool is_due_ = false;         // of the last commit
  bool is_writing_ = false;     // one, of which it was not asked yet how it went
  bool is_owed_ = false;        // the one that was due last, which is not known to be on the disk
  bool has_seen_disk_ = false;  // hold a checkpoint
  bool has_failed_ = false;
  std::exception_ptr seen_early_;  // how writing went, until the others have heard it too
};

}  // namespace tandem::elastic
