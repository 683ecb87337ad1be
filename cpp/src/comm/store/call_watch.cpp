#include "comm/store/call_watch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/own_thread.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kEndAgain{5};
// A thread that wakes so late was stopped with its process, or had no core: the answer may have come meanwhile.
constexpr milliseconds kStoodStill{500};

}  // namespace

CallWatch::CallWatch(std::function<void()> end) : end_(std::move(end)), process_(::getpid()) {
  thread_ = start_own_thread("tandem-store", [this] { run(); });
}

CallWatch::~CallWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  sooner_.notify_all();
  thread_.join();
}

void CallWatch::InItsProcess::operator()(CallWatch* watch) const {
  if (watch->process_ == ::getpid()) delete watch;
}

void CallWatch::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    wakes_ = current_ ? current_->deadline_ : Clock::time_point::max();
    if (!current_) {
      sooner_.wait(lock);
      continue;
    }
    if (Clock::now() < wakes_) sooner_.wait_until(lock, wakes_);
    const auto now = Clock::now();
    if (!current_ || now < current_->deadline_) continue;
    if (!current_->ended_ && now > current_->deadline_ + kStoodStill) {
      current_->deadline_ = now + kStoodStill;
      continue;
    }
    current_->ended_ = true;
    end_();  // under the lock: it must not end the next call
    current_->deadline_ = now + kEndAgain;
  }
}

CallWatch::Turn::Turn(CallWatch& watch, std::string what, Clock::time_point deadline, milliseconds grace)
    : watch_(watch), what_(std::move(what)), grace_(grace), interrupts_(StoreLimit::interrupts()), deadline_(deadline) {
  for (const auto& one : interrupts_) one->begin(*this);
  try {
    await_turn();
  } catch (...) {
    for (const auto& one : interrupts_) one->end(*this);
    throw;
  }
}

void CallWatch::Turn::await_turn() {
  std::unique_lock<std::mutex> lock(watch_.mutex_);
  while (watch_.current_) {
    if (Clock::now() >= deadline_) give_up();
    watch_.turns_.wait_until(lock, deadline_);
  }
  watch_.current_ = this;
  if (deadline_ < watch_.wakes_) watch_.sooner_.notify_one();
}

CallWatch::Turn::~Turn() {
  {
    const std::lock_guard<std::mutex> lock(watch_.mutex_);
    watch_.current_ = nullptr;
  }
  watch_.turns_.notify_all();
  for (const auto& one : interrupts_) one->end(*this);
}

void CallWatch::Turn::give_up() const {
  const std::string text = what_ + (interrupted_ ? " was aborted" : " timed out") + " after " +
                           std::to_string(age().count()) + " ms: the store does not answer another thread's " +
                           watch_.current_->what_ + ", which has the connection; clone the store for calls that are " +
                           "not to wait for each other";
  throw Error(interrupted_ ? ErrorCode::kAborted : ErrorCode::kTimeout, text);
}

void CallWatch::Turn::interrupt() {
  {
    const std::lock_guard<std::mutex> lock(watch_.mutex_);
    if (interrupted_) return;
    interrupted_ = true;
    deadline_ = std::min(deadline_, Clock::now() + grace_);
  }
  watch_.sooner_.notify_one();
  watch_.turns_.notify_all();
}

bool CallWatch::Turn::was_ended() const {
  const std::lock_guard<std::mutex> lock(watch_.mutex_);
  return ended_;
}

bool CallWatch::Turn::was_interrupted() const {
  const std::lock_guard<std::mutex> lock(watch_.mutex_);
  return interrupted_;
}

milliseconds CallWatch::Turn::age() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begun_);
}

}  // namespace tandem
