// Who moves a rank's messages, and who waits for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "comm/failure_latch.h"
#include "comm/shm/event_count.h"
#include "comm/shm/mailbox.h"

namespace tandem::shm {

// Messages are moved by one thread at a time: by whoever posts one, as far as that needs no waiting; by whoever waits
// for one, so that nobody must be woken to tell him; else by a thread of the messenger's own, which the first message
// that needs it starts. Thread-safe.
class Messenger : public std::enable_shared_from_this<Messenger> {
 public:
  using Clock = Message::Clock;

  // `events` is what peers notify. A message that fails fails the group, before its end is told, and all others with
  // it.
  Messenger(std::unique_ptr<Mailbox> mailbox, EventCount& events, std::chrono::nanoseconds spin,
            std::shared_ptr<FailureLatch> latch);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  // `soon`: whoever posts will help() at once, so that nobody else is woken.
  void post(Message message, bool soon);
  // Moves messages, or has another thread do it, until `is_done`, which becomes true when a message's end is told.
  void help(const std::function<bool()>& is_done);

  // Whether there are no messages under way.
  bool is_idle();
  // Once the group has ended: ends all messages.
  void end();
  // Joins the thread. With no messages under way, or after end().
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;

  template <typename Enough>
  void drive(Lock& lock, bool spins, Enough&& enough);
  void drive_once(Lock& lock);
  // What the thread that drives does without the lock. Whether there was anything to do. Leaves in `posted` what found
  // no memory.
  bool step(std::vector<Message>* posted);
  void hand_over(std::vector<Message>* posted);
  bool move_and_look();
  bool has_moved();
  void rest(bool spins);
  bool tell(Lock& lock, std::vector<Mailbox::Ended> ended);
  void wake_thread();
  void serve();
  void nudge();

  EventCount& events_;
  const std::chrono::nanoseconds spin_;
  const std::shared_ptr<FailureLatch> latch_;

  // Of the thread that drives.
  const std::unique_ptr<Mailbox> mailbox_;
  Clock::time_point next_look_;

  std::mutex mutex_;
  std::condition_variable for_thread_;
  std::condition_variable for_helpers_;
  std::vector<Message> posted_;  // that the mailbox does not have yet
  std::size_t pending_ = 0;      // messages that have not ended
  bool driving_ = false;         // a thread has the mailbox
  int helpers_ = 0;              // that wait for another thread
  bool stopping_ = false;
  std::atomic<bool> news_{false};  // for the thread that drives, which may sleep
  std::thread thread_;
};

}  // namespace tandem::shm
