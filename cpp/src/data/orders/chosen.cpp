#include <algorithm>

#include "base/invalid.h"
#include "data/orders/order_hash.h"
#include "tandem/error.h"
#include "tandem/samplers.h"

namespace tandem {
namespace {

class Subset : public SampleOrder {
 public:
  Subset(std::vector<std::int64_t> samples, bool shuffle)
      : name_(std::string(shuffle ? "shuffled" : "listed") + " subset " + order_hash(samples)),
        samples_(std::move(samples)),
        places_(shuffle ? shuffled_order(size()) : sequential_order(size())) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    places_->samples(seed, epoch, first, out);
    for (std::int64_t& sample : out) sample = samples_[static_cast<std::size_t>(sample)];
  }

 private:
  std::string name_;
  std::vector<std::int64_t> samples_;
  std::shared_ptr<const SampleOrder> places_;
};

class Batches : public SampleOrder {
 public:
  Batches(std::vector<std::int64_t> samples, std::int64_t batch_size, bool shuffle)
      : name_(std::string(shuffle ? "shuffled" : "listed") + " batches of " + std::to_string(batch_size) + " " +
              order_hash(samples)),
        samples_(std::move(samples)),
        batch_(batch_size),
        shuffle_(shuffle) {
    if (batch_ < 1) invalid("batch_size is " + std::to_string(batch_) + ", but must be at least 1");
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    const std::int64_t whole = size() / batch_;
    const Permutation order(whole, seed, static_cast<std::uint64_t>(epoch));
    for (std::int64_t& sample : out) {
      const std::int64_t batch = first / batch_;
      const std::int64_t from = shuffle_ && batch < whole ? order(batch) : batch;
      sample = samples_[static_cast<std::size_t>(from * batch_ + first++ % batch_)];
    }
  }

 private:
  std::string name_;
  std::vector<std::int64_t> samples_;
  std::int64_t batch_;
  bool shuffle_;
};

class Distributed : public SampleOrder {
 public:
  Distributed(std::shared_ptr<const SampleOrder> all, std::int64_t rank, std::int64_t world_size)
      : all_(std::move(all)), rank_(rank), world_size_(world_size) {
    if (!all_) invalid("there is no order to distribute");
    if (world_size < 1 || rank < 0 || rank >= world_size) {
      invalid("rank " + std::to_string(rank) + " is not within a world of " + std::to_string(world_size));
    }
  }
  std::int64_t size() const override { return (all_->size() + world_size_ - 1) / world_size_; }
  // The same on every rank, as states are.
  std::string name() const override { return "1 of " + std::to_string(world_size_) + ": " + all_->name(); }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    for (std::int64_t& sample : out) {
      all_->samples(seed, epoch, (first++ * world_size_ + rank_) % all_->size(), {&sample, 1});
    }
  }

 private:
  std::shared_ptr<const SampleOrder> all_;
  std::int64_t rank_;
  std::int64_t world_size_;
};

}  // namespace

std::shared_ptr<const SampleOrder> subset_order(std::vector<std::int64_t> samples, bool shuffle) {
  return std::make_shared<Subset>(std::move(samples), shuffle);
}

std::shared_ptr<const SampleOrder> batch_order(std::vector<std::int64_t> samples, std::int64_t batch_size,
                                               bool shuffle) {
  return std::make_shared<Batches>(std::move(samples), batch_size, shuffle);
}

std::shared_ptr<const SampleOrder> distributed_order(std::shared_ptr<const SampleOrder> all, std::int64_t rank,
                                                     std::int64_t world_size) {
  return std::make_shared<Distributed>(std::move(all), rank, world_size);
}

}  // namespace tandem
