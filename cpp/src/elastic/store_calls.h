// Calls of a store that end in time also where its server stands still: LibTorch's client of a TCP store waits without
// a timeout for the answers to some.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tandem/store.h"

namespace tandem::elastic {

// Thread-safe. A thread of its own makes the calls, one after the other.
class StoreCalls {
 public:
  // What is done with the store, which is null before the first call sets it. It owns whatever it uses: it may be under
  // way still when its call has ended.
  using Body = std::function<void(Store&)>;

  explicit StoreCalls(std::chrono::milliseconds timeout);
  // Does not wait for a server that does not answer.
  ~StoreCalls();
  StoreCalls(const StoreCalls&) = delete;
  StoreCalls& operator=(const StoreCalls&) = delete;

  // Throws what the body throws, as rethrow_store_error(what) has it; Error(kTimeout) where the store does not answer,
  // from then on at once, for nobody knows what became of the call.
  void run(const std::string& what, Body body);
  // For a look at the store without which the caller can do: waits for a second at most, and nothing follows from that.
  void run_briefly(const std::string& what, Body body);
  // Calls, also later ones, wait for a second at most; Error(kAborted) where that is not enough. From any thread.
  void interrupt();

 private:
  struct State;

  void run(const std::string& what, Body body, bool briefly);
  static void work(const std::shared_ptr<State>& state);

  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<State> state_;  // shared with the thread
  std::thread thread_;
};

}  // namespace tandem::elastic
