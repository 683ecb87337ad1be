// What tests of the dynamic partition share: numbers for samples, and ranks that are threads.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tandem/dynamic_loader.h"
#include "tandem/error.h"

namespace tandem::dynamic_ranks {

using Ids = std::vector<std::int64_t>;

class Numbers : public Dataset {
 public:
  explicit Numbers(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<at::Tensor> get(std::int64_t i) override {
    if (i == broken) throw Error(ErrorCode::kDataLoss, "number " + std::to_string(i) + " is broken");
    return {at::full({1}, i, at::kLong)};
  }
  std::int64_t broken = -1;

 private:
  std::int64_t size_;
};

inline DynamicLoaderOptions options_of(std::int64_t batch_size, std::int64_t micro_batch) {
  DynamicLoaderOptions options;
  options.batch_size = batch_size;
  options.micro_batch = micro_batch;
  options.seed = 5;
  return options;
}

// What was computed: samples by (epoch, step), of all ranks.
class Ledger {
 public:
  void add(const DynamicLoader& loader, const LoadedBatch& part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Ids& samples = steps_[{loader.epoch(), loader.step()}];
    samples.insert(samples.end(), part.samples.begin(), part.samples.end());
  }
  // By epoch and number, each sorted.
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps() const {
    auto sorted = steps_;
    for (auto& [step, samples] : sorted) std::sort(samples.begin(), samples.end());
    return sorted;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps_;
};

// Meets all ranks, as the exchange of gradients does.
class Exchange {
 public:
  explicit Exchange(int ranks) : ranks_(ranks) {}
  void meet() {
    std::unique_lock<std::mutex> lock(mutex_);
    const long round = round_;
    if (++there_ == ranks_) {
      there_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ranks_;
  int there_ = 0;
  long round_ = 0;
};

using Log = std::vector<CommittedStep>;

// Trains up to `epochs`; checks counts.
inline Log train(DynamicLoader& loader, std::int64_t epochs, Exchange& exchange, Ledger* ledger, Ids* mine = nullptr) {
  Log log;
  while (loader.epoch() < epochs) {
    while (loader.next_step()) {
      std::int64_t own = 0;
      while (const auto part = loader.next()) {
        const at::Tensor& ids = part->tensors[0];
        EXPECT_EQ(Ids(ids.const_data_ptr<std::int64_t>(), ids.const_data_ptr<std::int64_t>() + ids.numel()),
                  part->samples);
        EXPECT_EQ(part->randomness.size(), part->samples.size());
        own += part->local_count;
        if (ledger) ledger->add(loader, *part);
        if (mine) mine->insert(mine->end(), part->samples.begin(), part->samples.end());
      }
      EXPECT_EQ(loader.local_count(), own);
      exchange.meet();
      log.push_back(loader.commit());
      std::int64_t all = 0;
      for (const auto& part : log.back().parts) all += part.samples;
      EXPECT_EQ(loader.global_count(), all);
    }
  }
  return log;
}

inline std::map<std::pair<std::int64_t, std::int64_t>, Ids> static_steps(const std::shared_ptr<Dataset>& data,
                                                                         std::int64_t batch_size, std::int64_t epochs,
                                                                         Tail tail) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.seed = 5;
  options.tail = tail;
  DataLoader loader(data, options);
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const LoadedBatch& batch : loader.epoch(epoch)) {
      Ids& samples = steps[{epoch, batch.number}];
      samples = batch.samples;
      std::sort(samples.begin(), samples.end());
    }
  }
  return steps;
}

}  // namespace tandem::dynamic_ranks
