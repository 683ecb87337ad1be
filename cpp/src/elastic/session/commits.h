// The commits of a process: the last one, and one that is being copied.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "checkpoint/staging.h"
#include "elastic/session/state_transfer.h"
#include "optim/step_watch.h"
#include "tandem/export.h"

namespace tandem::elastic {

// Large tensors are copied beside training, by a thread that is done before an optimizer of ours changes anything; the rest
// at once. Whether a program steps such optimizers shows: until it has, in each step since the last commit, all is copied
// at once. What is changed by others shows by LibTorch's versions of tensors: then the copy is dropped, the commit before
// stays the last, and from then on all is copied at once.
//
// One thread at a time.
class TANDEM_API Commits : private optim::StepWatch {
 public:
  Commits();
  ~Commits();
  Commits(const Commits&) = delete;
  Commits& operator=(const Commits&) = delete;

  // `check` throws where what was computed does not count; then the commit before stays the last. It is called before
  // tensors are read, and after those of a GPU were: only then it is known what became of collectives that they come from.
  void take(const CheckpointContent& content, std::int64_t step, const std::function<void()>& check = {});
  // Waits for a copy that goes on.
  Commit& last();
  // Another commit in place of the last one, which stays where `make` throws. It is given memory that is not that one's.
  void replace(const std::function<Commit(checkpoint::Staging& staging, const Commit& last)>& make);
  // Of the program's state, what was loaded from the last one: what came before says nothing of what comes.
  void forget_steps();
  // Whether any was copied beside training: for tests.
  std::int64_t beside() const { return beside_; }

 private:
  struct Watched {
    checkpoint::Staging::Copy copy;
    std::int64_t version;
  };

  void before_step() override;
  void run();
  void wait(std::unique_lock<std::mutex>& lock);
  void settle();
  bool may_copy_beside(std::int64_t step) const;

  checkpoint::Staging staging_[2];
  Commit commits_[2];
  int current_ = 0;
  bool has_pending_ = false;
  bool is_trusted_ = true;  // nothing was changed by others
  std::int64_t steps_seen_ = 0;
  std::int64_t beside_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched> work_;  // until the copy was looked at on the program's thread
  bool copies_ = false;
  bool torn_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tandem::elastic
