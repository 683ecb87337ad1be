#include "comm/shm/queue.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <new>

#include "own_thread.h"

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
    run_next(lock);
  }
}

void Queue::help(Work& work) {
  Lock lock(mutex_);
  while (!running_ && !queue_.empty() && !work.has_ended()) run_next(lock);
  if (!running_ && !queue_.empty()) wake_thread();
}

void Queue::run_next(Lock& lock) {
  c10::intrusive_ptr<Work> work = std::move(queue_.front());
  queue_.pop_front();
  std::exception_ptr failure;
  if (broken_) {
    failure = std::make_exception_ptr(
        Error(broken_->code(), Exchange::describe(work->label_) + " failed after: " + broken_->what()));
  } else {
    running_ = true;
    lock.unlock();
    failure = run(*work);
    lock.lock();
  }
  // Before anyone is told: who closes the group right after its last collective must not find one running.
  running_ = false;
  if (!queue_.empty() && thread_.joinable()) work_or_stop_.notify_one();
  const std::optional<Error> broken = failure ? broken_ : std::nullopt;
  lock.unlock();
  work->end(std::move(failure));
  work.reset();
  if (broken && failed_) failed_(*broken);
  lock.lock();
}

std::exception_ptr Queue::run(Work& work) {
  std::optional<Error> failure;
  try {
    const DefaultArithmetic arithmetic;
    work.body_(*performer_, work.label_, Exchange::Clock::now() + work.timeout_);
    return nullptr;
  } catch (const Error& error) {
    failure = error;
  } catch (const std::bad_alloc&) {
    failure = Error(ErrorCode::kOutOfMemory, Exchange::describe(work.label_) + " failed: this rank has no memory left");
  } catch (const std::exception& error) {
    failure = Error(ErrorCode::kInternal, Exchange::describe(work.label_) + " failed: " + error.what());
  }
  break_group(*failure);
  return std::make_exception_ptr(*failure);
}

void Queue::break_group(const Error& failure) {
  performer_->fail(failure);
  // What is another rank's fault is explained, and ends the group, where the work is waited for.
  const bool is_own = failure.code() == ErrorCode::kInvalidArgument || failure.code() == ErrorCode::kInternal ||
                      failure.code() == ErrorCode::kOutOfMemory;
  if (is_own) state_->fail(failure);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!broken_) broken_ = failure;
}

void Queue::fail(const Error& failure) {
  break_group(failure);
  performer_->abort(failure);
}

void Queue::abort(const std::string& reason, bool quietly) {
  std::deque<c10::intrusive_ptr<Work>> queued;
  bool pending = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pending = running_ || !queue_.empty();
    queued.swap(queue_);
    broken_ = Error(ErrorCode::kAborted, reason);
  }
  performer_->abort(Error(ErrorCode::kAborted, reason));
  if (pending || !quietly) {
    performer_->fail(Error(ErrorCode::kAborted, reason));
  } else {
    performer_->close();
  }
  for (const auto& work : queued) {
    work->end(std::make_exception_ptr(
        Error(ErrorCode::kAborted, Exchange::describe(work->label_) + " was aborted: " + reason)));
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
