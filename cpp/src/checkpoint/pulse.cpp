#include "checkpoint/pulse.h"

#include <exception>
#include <string>
#include <utility>

#include "base/own_thread.h"

namespace tandem::checkpoint {
namespace {

// Of one call on the store: it is only to be seen whether it answers.
constexpr std::chrono::milliseconds kOfStore{2000};

std::string key_of(int rank) {
  return "checkpoint.pulse/" + std::to_string(rank);
}

}  // namespace

Pulse::Pulse(Store store, int rank, int size, std::chrono::milliseconds beat)
    : store_(std::move(store)), rank_(rank), beat_(beat) {
  for (int one = 0; one < size; ++one) {
    if (one != rank) others_.push_back({one});
  }
  const std::lock_guard lock(joining_);  // a shutdown may come at once
  thread_ = start_own_thread("tdm-pulse", [this] { run(); });
}

Pulse::~Pulse() {
  end();
}

void Pulse::end() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_all();
  ending_->interrupt();
  const std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void Pulse::run() {
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    try {
      const StoreLimit limit(StoreLimit::Clock::now() + kOfStore, ending_);
      store_->add(key_of(rank_), 1);
    } catch (const std::exception&) {
      // The others take this rank for one that is gone, as they cannot be reached.
    }
    lock.lock();
  } while (!ended_.wait_for(lock, beat_, [this] { return is_ended_; }));
}

std::vector<int> Pulse::silent() {
  std::vector<int> ranks;
  bool answers = true;
  for (Other& other : others_) {
    std::int64_t beats = other.beats;
    try {
      const StoreLimit limit(StoreLimit::Clock::now() + kOfStore, ending_);
      if (answers) beats = store_->add(key_of(other.rank), 0);
    } catch (const std::exception&) {
      answers = false;
    }
    other.looks = beats == other.beats ? other.looks + 1 : 0;
    other.beats = beats;
    if (other.looks >= kSilent) ranks.push_back(other.rank);
  }
  return ranks;
}

}  // namespace tandem::checkpoint
