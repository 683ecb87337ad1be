#include "comm/shm/exchange.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "comm/shm/lost.h"

namespace tandem::shm {
namespace {

using std::chrono::milliseconds;

// Between looks for ranks that died, of a waiter who sleeps.
constexpr milliseconds kExchangeLook{100};

// Counts wrap around.
bool reached(std::uint32_t count, std::uint32_t wanted) {
  return static_cast<std::int32_t>(count - wanted) >= 0;
}

std::string join(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace

Exchange::Exchange(std::shared_ptr<const LocalConnections> peers, std::shared_ptr<const FailureLatch> latch)
    : peers_(std::move(peers)),
      latch_(std::move(latch)),
      rank_(peers_->ranks.self),
      size_(peers_->ranks.size()),
      spin_time_(SpinTime::for_ranks(size_)),
      spin_(spin_time_.own_thread) {
  for (const auto& segment : peers_->segments) boards_.push_back(reinterpret_cast<Board*>(segment->data()));
  seen_.resize(boards_.size());
  scratch_ = {std::vector<const void*>(boards_.size()), std::vector<double>(boards_.size())};
  verified_.resize(boards_.size());
}

void Exchange::begin(const Label& label, Clock::time_point deadline) {
  const bool goes_on = label.sequence == label_.sequence && label.collective == label_.collective;
  if (!goes_on) begun_ = Clock::now();
  label_ = label;
  deadline_ = deadline;
  board(rank_).collective.store(static_cast<std::uint32_t>(label.collective), std::memory_order_relaxed);
  board(rank_).sequence.store(label.sequence, std::memory_order_relaxed);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_ && has_failed(board(rank))) throw_lost(rank);
  }
}

std::byte* Exchange::open_slot() {
  check_latch();
  // The slot was published kSlots steps ago and may be read until its readers publish two steps later.
  const std::uint32_t free_when = step_ - kSlots + 3;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    await(rank, free_when);
    // Of those that nobody waits for, as of a broadcast's receivers.
    while (!reached(verified_[rank], free_when)) verify(rank, verified_[rank]);
  }
  return peers_->segments[rank_]->data() + kPage + (step_ % kSlots) * kSlotBytes;
}

void Exchange::publish() {
  Board& own = board(rank_);
  own.labels[step_ % kSlots].label = label_;
  own.published.store(++step_);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) board(rank).step_event.notify();
  }
}

const std::byte* Exchange::read(int rank, std::uint32_t step) {
  if (rank != rank_) {
    await(rank, step + 1);
    while (!reached(verified_[rank], step + 1)) verify(rank, verified_[rank]);
  }
  return peers_->segments[rank]->data() + kPage + (step % kSlots) * kSlotBytes;
}

void Exchange::await_all(std::uint32_t step) {
  for (int rank = 0; rank < size_; ++rank) read(rank, step);
}

bool Exchange::has_published(int rank, std::uint32_t count) {
  if (reached(seen_[rank], count)) return true;
  seen_[rank] = board(rank).published.load();
  return reached(seen_[rank], count);
}

void Exchange::await(int rank, std::uint32_t count) {
  if (has_published(rank, count)) return;
  // What comes soon is found before the clock is asked, which takes as long as some looks.
  std::optional<Clock::time_point> until;
  while (spin_.count() > 0 && !latch_->has_ended()) {
    for (int i = 0; i < 16; ++i) {
      if (has_published(rank, count)) return;
      relax();
    }
    const auto now = Clock::now();
    if (!until) until = now + spin_;
    if (now >= *until) break;
  }
  sleep_until_published(rank, count);
}

void Exchange::sleep_until_published(int rank, std::uint32_t count) {
  EventCount& event = board(rank_).step_event;
  auto next_look = Clock::now() + kExchangeLook;
  int ended = 0;  // ranks, at the last look
  for (;;) {
    const std::uint32_t key = event.prepare_wait();
    if (has_published(rank, count)) return event.cancel_wait();
    const auto now = Clock::now();
    if (latch_->has_ended() || now >= next_look || now >= deadline_) {
      event.cancel_wait();
      check_latch();
      look_around(count);
      if (now >= deadline_ && !has_published(rank, count)) time_out(count);
      next_look = now + kExchangeLook;
      continue;
    }
    if (const int now_ended = count_ended(); now_ended > ended) {
      event.cancel_wait();
      look_around(count);
      ended = now_ended;
      continue;
    }
    event.wait(key, std::min(next_look, deadline_) - now);
  }
}

int Exchange::count_ended() const {
  int ended = 0;
  for (int rank = 0; rank < size_; ++rank) ended += rank != rank_ && has_ended(board(rank));
  return ended;
}

// All ranks publish every step of a collective. Whoever failed, closed the group or is gone before this one will never
// publish it. One that closed the group after it has published it, and needs nobody.
void Exchange::look_around(std::uint32_t count) {
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_ || has_published(rank, count)) continue;
    if (has_failed(board(rank))) throw_lost(rank);
    if ((has_closed(board(rank)) || peers_->is_gone(rank)) && !has_published(rank, count)) throw_lost(rank);
  }
}

void Exchange::throw_lost(int rank) {
  // Whose calls did not fit may have found out first.
  while (verified_[rank] != step_ && has_published(rank, verified_[rank] + 1)) verify(rank, verified_[rank]);
  throw lost(board(rank), number(rank));
}

void Exchange::verify(int rank, std::uint32_t step) {
  const Label& theirs = label(rank, step);
  const Label& ours = label(rank_, step);
  verified_[rank] = step + 1;
  if (are_alike(theirs, ours)) return;
  char age[32];
  std::snprintf(age, sizeof age, "%.3f s", std::chrono::duration<double>(Clock::now() - begun_).count());
  throw Error(ErrorCode::kInvalidArgument,
              "ranks of " + whereabouts() + " call different collectives: this rank " + describe(ours) + ", begun " +
                  age + " ago, rank " + std::to_string(number(rank)) + " " + describe(theirs) +
                  "; all ranks must call the same ones in the same order, with tensors of the same shape and dtype");
}

void Exchange::time_out(std::uint32_t count) {
  std::vector<std::string> ranks;
  std::vector<std::string> where;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_ || has_published(rank, count)) continue;
    ranks.push_back(std::to_string(number(rank)));
    const std::string sequence = std::to_string(board(rank).sequence.load(std::memory_order_relaxed));
    const auto collective = static_cast<CollectiveKind>(board(rank).collective.load(std::memory_order_relaxed));
    where.push_back("rank " + ranks.back() +
                    (collective == CollectiveKind::kNone
                         ? " has begun no collective"
                         : " began " + std::string(name_of(collective)) + " #" + sequence + " last"));
  }
  const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - begun_).count();
  throw Error(ErrorCode::kTimeout, "timed out after " + std::to_string(waited) + " ms, for " +
                                       (ranks.size() == 1 ? "rank " : "ranks ") + join(ranks, ", ") +
                                       " did not take part (" + join(where, ", ") +
                                       "), being stopped, slow or busy with something else");
}

void Exchange::throw_ended() {
  const Error reason = latch_->reason_to_end();
  const char* how = reason.code() == ErrorCode::kAborted ? " was aborted: " : " failed after: ";
  throw Error(reason.code(), describe(label_) + how + reason.what());
}

void Exchange::fail(const std::string& reason) {
  std::lock_guard<std::mutex> lock(telling_);
  Board& own = board(rank_);
  const auto failed = static_cast<std::uint32_t>(Condition::kFailed);
  if (own.condition.load() == failed) return;
  std::strncpy(own.reason, reason.c_str(), sizeof own.reason - 1);
  own.condition.store(failed);
  notify_all();
}

void Exchange::close() {
  auto good = static_cast<std::uint32_t>(Condition::kGood);
  if (!board(rank_).condition.compare_exchange_strong(good, static_cast<std::uint32_t>(Condition::kClosed))) return;
  notify_all();
}

void Exchange::notify_all() {
  for (Board* other : boards_) {
    other->step_event.notify();
    other->message_event.notify();
  }
}

void Exchange::wake() {
  board(rank_).step_event.notify();
}

std::string Exchange::describe(const Label& label) {
  std::string text = std::string(name_of(label.collective)) + " #" + std::to_string(label.sequence);
  if (label.collective == CollectiveKind::kBarrier) return text;
  if (label.bytes > 0) text += " of " + std::to_string(label.bytes) + " bytes";
  if (label.operation != Operation::kNone) {
    text += std::string(" (") + name_of(label.element) + ", " + name_of(label.operation) + ")";
  }
  if (label.root >= 0) text += " with root " + std::to_string(label.root);
  return text;
}

}  // namespace tandem::shm
