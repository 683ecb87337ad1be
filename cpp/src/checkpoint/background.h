// What goes on beside training.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "tandem/runtime.h"

namespace tandem::checkpoint {

// One piece of work at a time, on a thread of its own that the object's end waits for; so does the program's shutdown,
// so that what is half written is finished.
class Background {
 public:
  explicit Background(const std::string& name);
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

 private:
  struct State;

  const std::shared_ptr<State> state_;  // the hook keeps it, for a shutdown on another thread
  const ShutdownHook hook_;
};

}  // namespace tandem::checkpoint
