#include "checkpoint/background.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/own_thread.h"

namespace tandem::checkpoint {

namespace {

constexpr std::chrono::seconds kPatience{10};

}  // namespace

struct Background::State {
  std::atomic<bool> running{false};
  std::mutex ending;
  std::condition_variable ended;  // of `running`
  std::mutex joining;  // the thread is joined by its owner or by a shutdown
  std::thread thread;
  std::exception_ptr failure;  // the thread's, read once it is joined

  void run(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock(ending);
      running = false;
    }
    ended.notify_all();
  }

  void stop(const std::function<void()>& give_up) {
    {
      std::unique_lock lock(ending);
      if (!ended.wait_for(lock, kPatience, [&] { return !running; })) give_up();
    }
    join();
  }

  void join(std::chrono::milliseconds interval, const std::function<void()>& look) {
    for (std::unique_lock lock(ending); !ended.wait_for(lock, interval, [&] { return !running; });) {
      lock.unlock();
      look();
      lock.lock();
    }
    join();
  }

  void join() {
    const std::lock_guard lock(joining);
    if (thread.joinable()) thread.join();
  }
};

Background::Background(const std::string& name, std::function<void()> give_up)
    : state_(std::make_shared<State>()),
      hook_(name, [state = state_, give_up = std::move(give_up)] { state->stop(give_up); }) {}

Background::~Background() {
  state_->join();
}

void Background::start(std::function<void()> work) {
  const std::lock_guard lock(state_->joining);
  state_->running = true;
  try {
    state_->thread =
        start_own_thread("tdm-checkpoint", [state = state_.get(), work = std::move(work)] { state->run(work); });
  } catch (...) {
    state_->running = false;
    throw;
  }
}

bool Background::running() const {
  return state_->running;
}

void Background::join() {
  state_->join();
}

void Background::join(std::chrono::milliseconds interval, const std::function<void()>& look) {
  state_->join(interval, look);
}

void Background::finish() {
  join();
  if (const auto failed = std::exchange(state_->failure, nullptr)) std::rethrow_exception(failed);
}

}  // namespace tandem::checkpoint
