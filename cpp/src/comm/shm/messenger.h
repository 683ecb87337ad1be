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

#include "comm/shm/doorbell.h"
#include "comm/shm/mailbox.h"

namespace tandem::shm {

// Messages are moved by one thread at a time: by whoever posts one, as far as that needs no waiting; by whoever waits
// for one, so that nobody must be woken to tell him; else by a thread of the messenger's own, which the first message
// that needs it starts. Thread-safe.
class Messenger : public std::enable_shared_from_this<Messenger> {
 public:
  using Clock = Message::Clock;

  // `bell` is what peers ring. `failed` is told when a message fails, and all others with it, before their ends are.
  Messenger(std::unique_ptr<Mailbox> mailbox, Doorbell& bell, std::chrono::nanoseconds spin,
            std::function<void(const Error&)> failed);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  // `soon`: whoever posts will help() at once, so that nobody else is woken.
  void post(Message message, bool soon);
  // Moves messages, or has another thread do it, until `is_done`, which becomes true when a message's end is told.
  void help(const std::function<bool()>& is_done);

  // Ends all messages, and those that come, with an Error of this code. Gives whether there were any.
  bool fail(const Error& reason);
  // Joins the thread. After fail().
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;

  template <typename Enough>
  void drive(Lock& lock, bool spins, Enough&& enough);
  void drive_once(Lock& lock);
  // What the thread that drives does without the lock. Whether there was anything to do. Leaves in `posted` what found
  // no memory.
  bool step(std::vector<Message>* posted, std::optional<Error>* broken);
  void hand_over(std::vector<Message>* posted);
  bool move_and_look();
  bool has_moved();
  void rest(bool spins);
  bool tell(Lock& lock, std::vector<Mailbox::Ended> ended);
  void wake_thread();
  void serve();
  void nudge();

  Doorbell& bell_;
  const std::chrono::nanoseconds spin_;
  const std::function<void(const Error&)> failed_;

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
  std::optional<Error> broken_;  // why no message can be sent any more
  bool stopping_ = false;
  std::atomic<bool> news_{false};  // for the thread that drives, which may sleep
  std::thread thread_;
};

}  // namespace tandem::shm
