#include "comm/shm/messenger.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/own_thread.h"
#include "comm/shm/spin.h"

namespace tandem::shm {
namespace {

using std::chrono::milliseconds;

// Between looks for ranks that died.
constexpr milliseconds kMessageLook{100};

Error ended_by(const FailureLatch& latch) {
  const Error reason = latch.reason_to_end();
  return Error(reason.code(), std::string("it ended with its group: ") + reason.what());
}

}  // namespace

Messenger::Messenger(std::unique_ptr<Mailbox> mailbox, EventCount& events, std::chrono::nanoseconds spin,
                     std::shared_ptr<FailureLatch> latch)
    : events_(events), spin_(spin), latch_(std::move(latch)), mailbox_(std::move(mailbox)), next_look_(Clock::now()) {}

Messenger::~Messenger() {
  stop();
}

void Messenger::post(Message message, bool soon) {
  if (latch_->has_ended()) return message.done(std::make_exception_ptr(ended_by(*latch_)), message.peer);
  Lock lock(mutex_);
  ++pending_;
  posted_.push_back(std::move(message));
  if (driving_) return nudge();
  if (soon) return;
  drive_once(lock);
  if (pending_ > 0 && !driving_) wake_thread();
}

void Messenger::help(const std::function<bool()>& is_done) {
  Lock lock(mutex_);
  while (!is_done()) {
    if (!driving_) {
      drive(lock, /*spins=*/true, is_done);
      continue;
    }
    ++helpers_;
    nudge();  // the messenger's own thread makes way
    for_helpers_.wait(lock, [&] { return !driving_ || is_done(); });
    --helpers_;
  }
  if (pending_ > 0 && !driving_) wake_thread();
}

// With the lock, which it gives up meanwhile. Ends early when another thread takes over.
template <typename Enough>
void Messenger::drive(Lock& lock, bool spins, Enough&& enough) {
  driving_ = true;
  while (!enough()) {
    news_ = false;
    std::vector<Message> posted = std::exchange(posted_, {});
    lock.unlock();
    const bool moved = step(&posted);
    std::vector<Mailbox::Ended> ended = mailbox_->take_ended();
    lock.lock();
    // What found no memory comes first the next time.
    if (!posted.empty()) {
      posted.insert(posted.end(), std::make_move_iterator(posted_.begin()), std::make_move_iterator(posted_.end()));
      posted_.swap(posted);
    }
    pending_ -= ended.size();
    if (!ended.empty()) {
      if (!tell(lock, std::move(ended))) return;
    } else if (!moved && !enough()) {
      lock.unlock();
      rest(spins);
      lock.lock();
    }
  }
  driving_ = false;
  for_helpers_.notify_all();
}

void Messenger::drive_once(Lock& lock) {
  bool done = false;
  drive(lock, /*spins=*/false, [&] { return std::exchange(done, true); });
}

bool Messenger::step(std::vector<Message>* posted) {
  bool moved = false;
  std::optional<Error> failure;
  try {
    hand_over(posted);
    if (!latch_->has_ended()) moved = move_and_look();
    failure = mailbox_->take_failure();
  } catch (const std::bad_alloc&) {
    failure = mailbox_->out_of_memory();
  }
  if (failure) latch_->fail(*failure);
  if (latch_->has_ended()) {
    try {
      mailbox_->fail_all(ended_by(*latch_));
    } catch (const std::bad_alloc&) {
      // Those that are left are next.
    }
  }
  return moved;
}

void Messenger::hand_over(std::vector<Message>* posted) {
  auto next = posted->begin();
  try {
    for (; next != posted->end(); ++next) {
      next_look_ = std::min(next_look_, next->deadline);
      mailbox_->post(std::move(*next));
    }
  } catch (const std::bad_alloc&) {
    posted->erase(posted->begin(), next);
    throw;
  }
  posted->clear();
}

bool Messenger::move_and_look() {
  const bool moved = mailbox_->move();
  const auto now = Clock::now();
  if (now >= next_look_ || (!moved && mailbox_->sees_end())) {
    mailbox_->look(now);
    next_look_ = std::min(now + kMessageLook, mailbox_->next_deadline());
  }
  return moved;
}

bool Messenger::has_moved() {
  try {
    return mailbox_->move();
  } catch (const std::bad_alloc&) {
    return true;  // the next step finds out, and says so
  }
}

void Messenger::rest(bool spins) {
  if (spins && spin_.count() > 0) {
    const auto until = Clock::now() + spin_;
    do {
      for (int i = 0; i < 16; ++i) {
        if (news_.load(std::memory_order_relaxed) || has_moved()) return;
        relax();
      }
    } while (Clock::now() < until);
  }
  const std::uint32_t key = events_.prepare_wait();
  const auto left = next_look_ - Clock::now();
  if (news_ || has_moved() || left.count() <= 0) return events_.cancel_wait();
  events_.wait(key, left);
}

// With the lock, which it gives up meanwhile, and the mailbox with it: whoever is told may wait for another message.
// False: another thread has taken the mailbox.
bool Messenger::tell(Lock& lock, std::vector<Mailbox::Ended> ended) {
  driving_ = false;
  lock.unlock();
  for (const auto& one : ended) one.tell();
  ended.clear();  // what goes with them must not go under the lock
  lock.lock();
  for_helpers_.notify_all();
  return !std::exchange(driving_, true);
}

bool Messenger::is_idle() {
  Lock lock(mutex_);
  return pending_ == 0;
}

void Messenger::end() {
  Lock lock(mutex_);
  if (driving_) nudge();
  while (pending_ > 0 && !driving_) drive_once(lock);
}

// With the lock.
void Messenger::nudge() {
  news_ = true;
  events_.notify();
}

// With the lock.
void Messenger::wake_thread() {
  if (thread_.joinable() || stopping_) {
    for_thread_.notify_one();
    return;
  }
  thread_ = start_own_thread("tandem-shm-msg", [self = shared_from_this()] { self->serve(); });
}

void Messenger::serve() {
  Lock lock(mutex_);
  for (;;) {
    for_thread_.wait(lock, [this] { return stopping_ || (pending_ > 0 && !driving_ && helpers_ == 0); });
    if (stopping_) return;
    drive(lock, /*spins=*/false, [this] { return stopping_ || pending_ == 0 || helpers_ > 0; });
  }
}

void Messenger::stop() {
  std::thread thread;
  {
    Lock lock(mutex_);
    stopping_ = true;
    for_thread_.notify_all();
    nudge();
    thread = std::move(thread_);
  }
  if (thread.joinable() && thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // the last user of the group was a callback on this thread, which is about to end
  } else if (thread.joinable()) {
    thread.join();
  }
  // What it did not get to, for those messages keep this alive.
  Lock lock(mutex_);
  while (pending_ > 0 && !driving_) drive_once(lock);
}

}  // namespace tandem::shm
