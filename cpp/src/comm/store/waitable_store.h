// Waiting for keys of a store without holding up other threads that use it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "tandem/store.h"

namespace tandem {

// Keys of a store under a prefix. A TCP store's client makes one call at a time, so threads that waited through one
// client for each other's ranks would never end: whoever waits has a connection of its own meanwhile, which is then
// kept for the next one. Copies share those. Thread-safe.
class TANDEM_API WaitableStore {
 public:
  using Clock = std::chrono::steady_clock;

  WaitableStore() = default;
  explicit WaitableStore(Store store);

  // Its keys under "prefix/".
  WaitableStore under(const std::string& prefix) const;
  // For calls that are answered at once.
  const Store& store() const { return store_; }
  // Whether it is a TCP store whose server is known to be gone. Asks nobody.
  bool has_lost_server() const;
  // As DeadlineStore has it, of another store nothing.
  void note_clients() const;

  // A connection to wait on. Of one thread.
  class TANDEM_API Waiter {
   public:
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Until the key is there; false when the deadline comes before. Errors: kAborted soon after a StoreLimit of this
    // thread is interrupted; else the store's.
    bool wait(const std::string& key, Clock::time_point deadline);
    // Of a key that is there.
    std::string get(const std::string& key);

   private:
    friend class WaitableStore;
    explicit Waiter(const WaitableStore& store);

    const WaitableStore& from_;
    Store connection_;  // without the prefix
    Store store_;
    bool is_broken_ = false;  // the next one gets a new connection
  };
  Waiter waiter() const { return Waiter(*this); }

 private:
  struct Connections;

  Store store_;
  std::string prefix_;
  std::shared_ptr<Connections> connections_;
};

}  // namespace tandem
