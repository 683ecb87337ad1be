// Whether the other ranks' processes still run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/store/store_limit.h"
#include "tandem/export.h"
#include "tandem/runtime.h"
#include "tandem/store.h"

namespace tandem::checkpoint {

// While it lives this rank counts up a number in a store, about once in a `beat`. Who waits for the others looks
// whether theirs go on: a process that is stopped, or gone, counts no further, and one that writes for long does.
class TANDEM_API Pulse {
 public:
  static constexpr std::chrono::milliseconds kBeat{1000};
  static constexpr int kSilent = 10;

  Pulse(Store store, int rank, int size, std::chrono::milliseconds beat = kBeat);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // Looks once how far the others are, and gives the ranks that have counted no further in the last kSilent looks, or
  // cannot be asked. Who waits calls it once in a beat: looks count and not time, in which this process may have stood
  // still, too. One thread at a time.
  std::vector<int> silent();

 private:
  struct Other {
    int rank;
    std::int64_t beats = -1;
    int looks = 0;  // since that changed
  };

  void run();
  void end();

  const Store store_;
  const int rank_;
  const std::chrono::milliseconds beat_;
  std::vector<Other> others_;
  const std::shared_ptr<StoreInterrupt> ending_ = std::make_shared<StoreInterrupt>();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::mutex joining_;  // by the object's end or a shutdown
  std::thread thread_;
  const ShutdownHook hook_{"a checkpoint's sign of life", [this] { end(); }};
};

}  // namespace tandem::checkpoint
