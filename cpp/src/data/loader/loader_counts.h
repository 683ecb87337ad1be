// Counts what a loader's threads and its program do.
#pragma once

#include <chrono>
#include <vector>

#include "data/loader/stage_clock.h"
#include "tandem/loader.h"

namespace tandem::loader {

// What tensors keep in memory: of views, all that they are views of.
std::int64_t bytes_of(const std::vector<at::Tensor>& tensors);

// One thread at a time: the loader's lock is held.
class LoaderCounts {
 public:
  using Clock = std::chrono::steady_clock;

  void add_times(const StageTimes& times);
  void add_batch(const LoadedBatch& batch, std::int64_t bytes);
  void add_wait_for_room(std::chrono::nanoseconds time) { counted_.waiting_for_room += time; }
  void set_ready(std::int64_t bytes);

  // The program asks for a batch …
  void ask();
  // … and gets it; what it computes with it counts until it asks again.
  void give();
  // The program computes without having got a batch.
  void compute();

  LoaderStatistics of(std::int64_t threads) const;

 private:
  LoaderStatistics counted_;
  Clock::time_point asked_, computes_since_;
  bool computes_ = false;
};

}  // namespace tandem::loader
