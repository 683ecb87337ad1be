#include "elastic/session/commits.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/own_thread.h"

namespace tandem::elastic {
namespace {

// Smaller ones are copied before a thread could begin, and are what a forward pass may change: running statistics.
constexpr std::size_t kBeside = std::size_t{1} << 20;  // bytes

bool has_version(const at::Tensor& tensor) { return !tensor.is_inference(); }

// Whether a copy may read what a collective that failed has left.
bool is_on_device(const CheckpointContent& content) {
  const auto any = [](const auto& tensors) {
    return std::any_of(tensors.begin(), tensors.end(), [](const auto& one) { return !one.second.is_cpu(); });
  };
  return std::any_of(content.replicated.begin(), content.replicated.end(), [&](const auto& one) { return any(one.second); });
}

bool can_wait(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg() && tensor.nbytes() >= kBeside &&
         has_version(tensor);
}

}  // namespace

Commits::Commits() { optim::watch_steps(this); }

Commits::~Commits() {
  optim::unwatch_steps(this);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Commits::forget_steps() {
  const std::lock_guard<std::mutex> lock(mutex_);
  steps_seen_ = 0;
}

bool Commits::may_copy_beside(std::int64_t step) const {
  return is_trusted_ && steps_seen_ > 0 && steps_seen_ >= step - commits_[current_].step;
}

void Commits::take(const CheckpointContent& content, std::int64_t step, const std::function<void()>& check) {
  settle();
  bool beside = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    beside = may_copy_beside(step);
    steps_seen_ = 0;
  }
  const bool on_device = is_on_device(content);
  if (check) check();
  const int into = beside || on_device ? 1 - current_ : current_;
  std::vector<checkpoint::Staging::Copy> copies;
  Commit commit{step, staging_[into].plan(content, /*with_replicated=*/true, &copies)};
  std::vector<Watched> later;
  for (const auto& copy : copies) {
    if (beside && can_wait(copy.from)) {
      later.push_back({copy, copy.from._version()});
    } else {
      checkpoint::Staging::make(copy);
    }
  }
  if (check && on_device) check();
  commits_[into] = std::move(commit);
  if (later.empty()) {
    current_ = into;
    return;
  }
  ++beside_;
  has_pending_ = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = std::move(later);
    copies_ = true;
    torn_ = false;
  }
  if (!thread_.joinable()) thread_ = start_own_thread("tdm-commit", [this] { run(); });
  changed_.notify_all();
}

Commit& Commits::last() {
  settle();
  return commits_[current_];
}

void Commits::replace(const std::function<Commit(checkpoint::Staging& staging, const Commit& last)>& make) {
  settle();
  commits_[1 - current_] = make(staging_[1 - current_], commits_[current_]);
  current_ = 1 - current_;
}

void Commits::settle() {
  if (!has_pending_) return;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    wait(lock);
  }
  has_pending_ = false;
  if (!torn_) {
    current_ = 1 - current_;
    return;
  }
  is_trusted_ = false;
  std::fprintf(stderr,
               "tandem: elastic training: parameters changed while a commit copied them (by an optimizer that is not "
               "Tandem's?); the commit before is kept, and later ones are copied at once\n");
}

// Versions are compared here, on the thread that changes tensors: an operator counts its change once it has made it.
void Commits::wait(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !copies_; });
  for (const Watched& each : std::exchange(work_, {})) torn_ |= each.copy.from._version() != each.version;
}

void Commits::before_step() {
  std::unique_lock<std::mutex> lock(mutex_);
  ++steps_seen_;
  wait(lock);
}

void Commits::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return copies_ || ends_; });
    if (ends_) return;
    const std::vector<Watched> work = work_;
    lock.unlock();
    for (const Watched& each : work) checkpoint::Staging::make(each.copy);
    lock.lock();
    copies_ = false;
    changed_.notify_all();
  }
}

}  // namespace tandem::elastic
