#include "comm/shm/queue.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <new>

#include "base/own_thread.h"

namespace tandem::shm {
namespace {

// A thread whose program flushes subnormals to zero must not get other results than its peers.
class DefaultArithmetic {
 public:
#if defined(__x86_64__)
  DefaultArithmetic() : before_(_mm_getcsr()) {
    _mm_setcsr(0x1f80);
  }
  ~DefaultArithmetic() {
    _mm_setcsr(before_);
  }

 private:
  const unsigned before_;
#else
  DefaultArithmetic() {}
  ~DefaultArithmetic() {}
#endif
};

}  // namespace

Queue::Queue(std::shared_ptr<GroupState> state, std::unique_ptr<Performer> performer)
    : state_(std::move(state)), performer_(std::move(performer)) {}

Queue::~Queue() {
  stop();
}

void Queue::submit(const c10::intrusive_ptr<Work>& work, bool soon) {
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(work);
  if (!soon && !running_) wake_thread();
}

// With the mutex held.
void Queue::wake_thread() {
  if (thread_.joinable() || stopping_) {
    work_or_stop_.notify_one();
    return;
  }
  thread_ = start_own_thread("tandem-shm", [self = shared_from_this()] { self->serve(); });
}

void Queue::serve() {
  Lock lock(mutex_);
  for (;;) {
    work_or_stop_.wait(lock, [this] { return stopping_ || (!queue_.empty() && !running_); });
    if (stopping_) return;
    run_next(lock, /*program_waits=*/false);
  }
}

void Queue::help(Work& work) {
  Lock lock(mutex_);
  while (!running_ && !queue_.empty() && !work.has_ended()) run_next(lock, /*program_waits=*/true);
  if (!running_ && !queue_.empty()) wake_thread();
}

bool Queue::run_here(const Label& label, std::chrono::milliseconds timeout, BodyRef body) {
  {
    const Lock lock(mutex_);
    if (running_ || !queue_.empty()) return false;
    running_ = true;
  }
  std::exception_ptr failure = why_not(label);
  if (!failure) {
    performer_->set_program_waits(true);
    failure = run(label, timeout, body);
  }
  {
    const Lock lock(mutex_);
    running_ = false;
    if (!queue_.empty()) wake_thread();  // other threads' that came meanwhile
  }
  if (failure) std::rethrow_exception(failure);
  return true;
}

std::exception_ptr Queue::why_not(const Label& label) const {
  if (!state_->latch().has_ended()) return nullptr;
  const Error reason = state_->latch().reason_to_end();
  return std::make_exception_ptr(Error(reason.code(), Exchange::describe(label) + " failed after: " + reason.what()));
}

void Queue::run_next(Lock& lock, bool program_waits) {
  c10::intrusive_ptr<Work> work = std::move(queue_.front());
  queue_.pop_front();
  std::exception_ptr failure = why_not(work->label_);
  if (!failure) {
    running_ = true;
    lock.unlock();
    performer_->set_program_waits(program_waits);
    failure = run(work->label_, work->timeout_, work->body_);
    lock.lock();
  }
  // Before anyone is told: who closes the group right after its last collective must not find one running.
  running_ = false;
  if (!queue_.empty() && thread_.joinable()) work_or_stop_.notify_one();
  lock.unlock();
  work->end(std::move(failure));
  work.reset();
  lock.lock();
}

std::exception_ptr Queue::run(const Label& label, std::chrono::milliseconds timeout, BodyRef body) {
  std::optional<Error> failure;
  try {
    const DefaultArithmetic arithmetic;
    body(*performer_, label, Exchange::Clock::now() + timeout);
    return nullptr;
  } catch (const Error& error) {
    failure = error;
  } catch (const std::bad_alloc&) {
    failure = Error(ErrorCode::kOutOfMemory, Exchange::describe(label) + " failed: this rank has no memory left");
  } catch (const std::exception& error) {
    failure = Error(ErrorCode::kInternal, Exchange::describe(label) + " failed: " + error.what());
  }
  // Where the work is waited for, its failure is explained.
  state_->latch().fail(*failure);
  return std::make_exception_ptr(*failure);
}

bool Queue::is_idle() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !running_ && queue_.empty();
}

void Queue::fail(const Error& failure) {
  performer_->fail(failure);
  performer_->wake();
}

void Queue::abort(const Error& reason) {
  std::deque<c10::intrusive_ptr<Work>> queued;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queued.swap(queue_);
  }
  fail(reason);
  for (const auto& work : queued) {
    work->end(std::make_exception_ptr(
        Error(reason.code(), Exchange::describe(work->label_) + " was aborted: " + reason.what())));
  }
}

void Queue::stop() {
  std::thread thread;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    work_or_stop_.notify_all();
    thread = std::move(thread_);
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // the last user of the group was a callback on this thread, which is about to end
  } else {
    thread.join();
  }
}

}  // namespace tandem::shm
