#include "elastic/store_calls.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "own_thread.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A store that lives answers within this, on a busy machine as well.
constexpr milliseconds kShortest{2000}, kBriefly{1000};

struct Call {
  StoreCalls::Body body;
  bool done = false;
  std::exception_ptr failure;
};

}  // namespace

struct StoreCalls::State {
  Store store;  // the thread's alone

  std::mutex mutex;
  std::condition_variable wanted, changed;
  std::deque<std::shared_ptr<Call>> calls;  // that were not begun yet
  bool under_way = false;                   // one that was
  bool broken = false;
  bool ends = false;
  std::optional<Clock::time_point> interrupted;
};

StoreCalls::StoreCalls(milliseconds timeout)
    : timeout_(std::max(timeout, kShortest)), state_(std::make_shared<State>()) {
  thread_ = start_own_thread("tandem-store", [state = state_] { work(state); });
}

StoreCalls::~StoreCalls() {
  bool stands_still = false;
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->ends = true;
    state_->wanted.notify_all();
    const milliseconds patience = state_->broken ? milliseconds(0) : kBriefly;
    stands_still = !state_->changed.wait_for(lock, patience, [&] { return !state_->under_way; });
  }
  // Nothing ends LibTorch's wait for an answer but the answer, or the connection's end. Until then the thread is on its
  // own: it uses nothing but the state, of which it is an owner, and gives it up then.
  if (stands_still) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void StoreCalls::work(const std::shared_ptr<State>& state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  for (;;) {
    state->wanted.wait(lock, [&] { return state->ends || !state->calls.empty(); });
    if (state->ends) return;
    const std::shared_ptr<Call> call = std::move(state->calls.front());
    state->calls.pop_front();
    state->under_way = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      call->body(state->store);
    } catch (...) {
      failure = std::current_exception();
    }
    call->body = nullptr;  // and what it owns, without the lock
    lock.lock();
    call->failure = std::move(failure);
    call->done = true;
    state->under_way = false;
    state->changed.notify_all();
  }
}

void StoreCalls::run(const std::string& what, Body body) {
  run(what, std::move(body), false);
}

void StoreCalls::run_briefly(const std::string& what, Body body) {
  run(what, std::move(body), true);
}

void StoreCalls::run(const std::string& what, Body body, bool briefly) {
  const auto call = std::make_shared<Call>();
  call->body = std::move(body);
  State& state = *state_;
  std::unique_lock<std::mutex> lock(state.mutex);
  state.calls.push_back(call);
  state.wanted.notify_one();
  const Clock::time_point since = Clock::now();
  while (!call->done && !state.broken) {
    Clock::time_point end = since + (briefly ? kBriefly : timeout_);
    if (state.interrupted) end = std::min(end, std::max(since, *state.interrupted) + kBriefly);
    if (Clock::now() >= end) {
      if (briefly) break;
      state.broken = true;
      state.changed.notify_all();
    } else {
      state.changed.wait_until(lock, end);
    }
  }
  if (!call->done) {
    std::erase(state.calls, call);
    const std::string why = "the process that serves the store does not answer; it stands still, or its host is lost";
    if (state.interrupted)
      throw Error(ErrorCode::kAborted, what + " was given up, by abort() or shutdown, while " + why);
    throw Error(ErrorCode::kTimeout, what + " timed out: " + why);
  }
  if (!call->failure) return;
  lock.unlock();
  try {
    std::rethrow_exception(call->failure);
  } catch (...) {
    rethrow_store_error(what);
  }
}

void StoreCalls::interrupt() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->interrupted) state_->interrupted = Clock::now();
  state_->changed.notify_all();
}

}  // namespace tandem::elastic
