// What goes on beside training.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "tandem/runtime.h"

namespace tandem::checkpoint {

// One piece of work at a time, on a thread of its own that the object's end waits for, so that what is half written is
// finished. So does the program's shutdown; after ten seconds it calls `give_up`, which ends waits for others.
class Background {
 public:
  Background(const std::string& name, std::function<void()> give_up);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Nothing may be running.
  void start(std::function<void()> work);
  bool running() const;
  // Until nothing runs.
  void join();
  // The same, and throws what the work threw, once.
  void finish();
  // Until nothing runs, but calls `look` every so often, which may end the wait for others.
  void join(std::chrono::milliseconds interval, const std::function<void()>& look);

 private:
  struct State;

  const std::shared_ptr<State> state_;  // the hook keeps it, for a shutdown on another thread
  const ShutdownHook hook_;
};

}  // namespace tandem::checkpoint
