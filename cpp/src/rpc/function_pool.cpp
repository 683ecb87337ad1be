#include "rpc/function_pool.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/own_thread.h"
#include "tandem/rpc.h"

namespace tandem::rpc {
namespace {

constexpr std::chrono::seconds kIdle{10};  // for which a thread stays that has nothing to do

// Whose function this thread runs; null while it waits, and for what was posted, which has a thread in any case.
thread_local FunctionPool* pool_of_thread = nullptr;
thread_local std::optional<FunctionPool::Wait> open_wait;  // of begin_wait()

}  // namespace

FunctionPool::FunctionPool(int most_running, int most_threads)
    : most_running_(most_running), most_threads_(static_cast<std::size_t>(std::max(most_threads, 1))) {}

void FunctionPool::execute(Task task, bool is_function) {
  FunctionPool* const outer = std::exchange(pool_of_thread, is_function ? this : nullptr);
  task();
  open_wait.reset();
  pool_of_thread = outer;
}

void FunctionPool::run(Task task, bool may_be_here) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    ++active_;
    const bool is_room = queue_.empty() && running_ < most_running_ && here_ < most_running_;
    if (!may_be_here || !is_room || pool_of_thread) {
      queue_.push_back(std::move(task));
      wake_for_queue();
      return;
    }
    ++running_;
    ++here_;
  }
  execute(std::move(task), true);
  const std::lock_guard<std::mutex> lock(mutex_);
  --running_;
  --here_;
  --active_;
  wake_for_queue();
}

bool FunctionPool::post(const Task& task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return false;
  // Threads that were woken for functions are theirs.
  const std::size_t functions = may_run() ? std::min(queue_.size(), static_cast<std::size_t>(most_running_ - running_)) : 0;
  if (!wake_for(posted_.size() + functions + 1) && idle_ <= posted_.size()) return false;
  posted_.push_back(task);
  ++active_;
  return true;
}

std::size_t FunctionPool::active() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return active_;
}

// With the mutex.
void FunctionPool::wake_for_queue() {
  if (closed_ || !may_run()) return;
  const auto room = static_cast<std::size_t>(most_running_ - running_);
  wake_for(posted_.size() + std::min(queue_.size(), room));
}

// With the mutex.
bool FunctionPool::wake_for(std::size_t tasks) {
  work_.notify_one();
  if (idle_ >= tasks) return true;
  join_finished();
  if (threads_.size() >= most_threads_) return false;
  const auto self = threads_.emplace(threads_.end());
  try {
    *self = start_own_thread("rpc-function", [this, self] { serve(self); });
  } catch (const std::system_error&) {  // the machine has no more
    threads_.erase(self);
    return false;
  }
  ++idle_;  // it will be
  return true;
}

// With the mutex. They need it no more.
void FunctionPool::join_finished() {
  for (std::thread& thread : finished_) thread.join();
  finished_.clear();
}

void FunctionPool::serve(Threads::iterator self) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const auto has_work = [this] { return closed_ || !posted_.empty() || may_run(); };
    if (!work_.wait_for(lock, kIdle, has_work) || (closed_ && posted_.empty())) break;
    --idle_;
    const bool is_function = posted_.empty();
    std::deque<Task>& from = is_function ? queue_ : posted_;
    Task task = std::move(from.front());
    from.pop_front();
    running_ += is_function;
    lock.unlock();
    execute(std::exchange(task, nullptr), is_function);
    lock.lock();
    running_ -= is_function;
    --active_;
    ++idle_;
  }
  --idle_;
  finished_.splice(finished_.end(), threads_, self);
  finished_changed_.notify_all();
}

void FunctionPool::close() {
  std::deque<Task> dropped, rest;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    dropped.swap(queue_);
    active_ -= dropped.size();
    work_.notify_all();
    finished_changed_.wait(lock, [this] { return threads_.empty(); });
    join_finished();
    rest.swap(posted_);
    active_ -= rest.size();
  }
  for (const Task& task : rest) task();
}

FunctionPool::Wait::Wait() : pool_(std::exchange(pool_of_thread, nullptr)) {
  if (!pool_) return;
  const std::lock_guard<std::mutex> lock(pool_->mutex_);
  --pool_->running_;
  pool_->wake_for_queue();
}

FunctionPool::Wait::~Wait() {
  if (!pool_) return;
  const std::lock_guard<std::mutex> lock(pool_->mutex_);
  ++pool_->running_;
  pool_of_thread = pool_;
}

bool begin_wait() {
  if (open_wait) return false;
  open_wait.emplace();
  if (open_wait->counts()) return true;
  open_wait.reset();
  return false;
}

void end_wait() {
  open_wait.reset();
}

}  // namespace tandem::rpc
