#include "checkpoint/background.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "base/own_thread.h"

namespace tandem::checkpoint {

struct Background::State {
  std::atomic<bool> running{false};
  std::mutex joining;  // the thread is joined by its owner or by a shutdown
  std::thread thread;
  std::exception_ptr failure;  // the thread's, read once it is joined

  void join() {
    const std::lock_guard lock(joining);
    if (thread.joinable()) thread.join();
  }
};

Background::Background(const std::string& name)
    : state_(std::make_shared<State>()), hook_(name, [state = state_] { state->join(); }) {}

Background::~Background() {
  state_->join();
}

void Background::start(std::function<void()> work) {
  const std::lock_guard lock(state_->joining);
  state_->running = true;
  try {
    state_->thread = start_own_thread("tdm-checkpoint", [state = state_.get(), work = std::move(work)] {
      try {
        work();
      } catch (...) {
        state->failure = std::current_exception();
      }
      state->running = false;
    });
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

void Background::finish() {
  join();
  if (const auto failed = std::exchange(state_->failure, nullptr)) std::rethrow_exception(failed);
}

}  // namespace tandem::checkpoint
